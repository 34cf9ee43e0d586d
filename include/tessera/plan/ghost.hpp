#pragma once
/// @file
/// Ghost cells: how far past its own cells a device keeps those of others, and which of them are
/// fresh.

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "tessera/index/region.hpp"
#include "tessera/layout/layout.hpp"
#include "tessera/plan/access.hpp"

namespace tessera {

/// Cells kept below and above a shard along each dimension, equal on all devices.
struct GhostWidths {
  Index below;
  Index above;

  /// No ghost cells.
  [[nodiscard]] static GhostWidths none(std::size_t rank) {
    return {Index(rank, 0), Index(rank, 0)};
  }
  /// True if no width of `other` is larger.
  [[nodiscard]] bool covers(GhostWidths const& other) const;
  /// The larger of each two widths.
  [[nodiscard]] GhostWidths merged(GhostWidths const& other) const;
  friend bool operator==(GhostWidths const&, GhostWidths const&) = default;
  friend std::ostream& operator<<(std::ostream& out, GhostWidths const& widths);
};

/// What a device computes of a statement on one of the boxes that it owns.
struct WorkBox {
  std::size_t box = 0;  ///< counted as Layout::boxes_of lists them
  Box indices;

  friend bool operator==(WorkBox const&, WorkBox const&) = default;
  friend std::ostream& operator<<(std::ostream& out, WorkBox const& work);
};

/// What a statement computes where: index i is computed by the devices that own cell `map(i)` of an
/// array laid out as `layout`.
struct WorkPlace {
  std::shared_ptr<Layout const> layout;
  AffineMap map;
  Box indices;

  /// The indices that `device` computes: for each of its boxes that has some, in order.
  [[nodiscard]] std::vector<WorkBox> work_of(DeviceId device) const;
  [[nodiscard]] std::uint64_t fingerprint() const;
};

/// The ghost cells with which an access reads one array only: nothing where most of what a device
/// needs is not its own, so that the need is better put together in a temporary. Around several
/// boxes no ghost cells are kept: such an array is read so where every device owns what it needs.
///
/// Ranks: pure, and the same on every process: it depends on no device.
[[nodiscard]] std::optional<GhostWidths> ghost_widths_for(Layout const& owned, Access const& access,
                                                          WorkPlace const& place);

/// What one statement filled: the ghost cells of one array that these accesses read.
struct Fill {
  std::vector<Access> accesses;
  WorkPlace place;
  std::uint64_t fingerprint;

  /// Nothing where no access fills boxes: such ghost cells are never called fresh.
  [[nodiscard]] static std::shared_ptr<Fill const> make(std::vector<Access> accesses,
                                                        WorkPlace const& place);
};

/// Which ghost cells of an array hold the current version, as the list of what filled and what
/// overwrote them: both ends of a channel keep the same list, from global boxes.
///
/// Cost: noting allocates nothing; the list is bounded, and a full one is emptied.
class Freshness {
 public:
  /// The cells of `fill` have been received.
  void note_fill(std::shared_ptr<Fill const> fill);
  /// The cells of `written` changed in place: ghost cells that hold them or their images are stale.
  void note_write(Box const& written);
  /// Nothing is fresh: the buffers were swapped or replaced.
  void clear();

  [[nodiscard]] bool empty() const { return events_.empty(); }
  /// The unwrapped cells of an array laid out as `owned` that `device` holds fresh past its own.
  [[nodiscard]] Region fresh_on(DeviceId device, Layout const& owned) const;
  [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  struct Event {
    std::shared_ptr<Fill const> fill;  ///< null for a write of `written`
    Box written;
    std::uint64_t fingerprint = 0;
  };
  static constexpr std::size_t most_events = 8;

  void add(Event const& event);

  InlineVector<Event, most_events + 1> events_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace tessera
