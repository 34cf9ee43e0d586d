#pragma once
/// @file
/// Ghost cells: how far past its own cells a device keeps cells of others, and which of them are
/// valid.

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "tessera/detail/plan/compute_placement.hpp"
#include "tessera/layout/layout.hpp"

#include "src/index/region.hpp"
#include "src/plan/access.hpp"

namespace tessera {

using detail::ComputePlacement;
using detail::WorkBox;

/// Cells kept below and above a shard along each dimension, equal on all devices.
struct GhostWidths {
  Index below;
  Index above;

  /// Returns widths of 0: no ghost cells.
  [[nodiscard]] static GhostWidths none(std::size_t rank) {
    return {Index(rank, 0), Index(rank, 0)};
  }
  /// True if no width of `other` is larger.
  [[nodiscard]] bool covers(GhostWidths const& other) const;
  /// Returns the larger of each two widths.
  [[nodiscard]] GhostWidths merged(GhostWidths const& other) const;
  friend bool operator==(GhostWidths const&, GhostWidths const&) = default;
  friend std::ostream& operator<<(std::ostream& out, GhostWidths const& widths);
};

/// Decides the width of a halo: returns the ghost cells that an access needs to read an array in
/// place. The same mesh axes cut array and work, but their extents and cuts may differ, and the
/// access may step otherwise than the work does, such as that of a coarse mesh that reads a fine
/// one. Returns nothing if other axes cut them, or if pieces that should lie beside each other lie
/// so far apart that the reach exceeds the largest piece: then a device assembles the cells that it
/// needs in a temporary. Arrays with several boxes per device have no ghost cells:
/// they are read in place only if every device owns all cells that it needs. An array has the
/// largest widths that any statement so far needed, and they never shrink: `growth_for`
/// (src/statement/lowering) asks for more when a statement needs them. A block of steps takes its
/// widths from block_schedule.hpp.
///
/// Ranks: pure, and the same on every process: it depends on no device.
[[nodiscard]] std::optional<GhostWidths> ghost_widths_for(Layout const& owned, Access const& access,
                                                          ComputePlacement const& place);

/// The ghost cells of one array that one statement has filled: those that these accesses read.
struct Fill {
  std::vector<Access> accesses;
  ComputePlacement place;
  std::uint64_t fingerprint;

  /// Returns nothing if no access fills boxes: ghost cells that are filled with a step never count
  /// as valid.
  [[nodiscard]] static std::shared_ptr<Fill const> make(std::vector<Access> accesses,
                                                        ComputePlacement const& place);
};

/// Halo validity: which ghost cells of an array hold the current version, as a list of fills and
/// overwrites. Both ends of a channel derive the same list from global boxes.
///
/// Cost: a list of few entries, which allocates nothing once it has been as long before. A full one
/// is emptied.
class HaloValidity {
 public:
  /// The cells of `fill` have been received.
  void note_fill(std::shared_ptr<Fill const> fill);
  /// The cells of `written` changed in place: ghost cells that hold copies of them or of their
  /// images become invalid.
  void note_write(Box const& written);
  /// Invalidates all ghost cells, because the buffers were swapped or replaced.
  void clear();

  [[nodiscard]] bool empty() const { return events_.empty(); }
  /// Returns the unwrapped cells past its own box of which `device` holds valid copies, for an
  /// array laid out as `owned`.
  [[nodiscard]] Region valid_on(DeviceId device, Layout const& owned) const;
  [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  struct Event {
    std::shared_ptr<Fill const> fill;  ///< null for a write of `written`
    Box written;
    std::uint64_t fingerprint = 0;
  };
  static constexpr std::size_t most_events = 8;

  void add(Event event);

  std::vector<Event> events_;  ///< in place they would take more than all else of a small array
  std::uint64_t fingerprint_ = 0;
};

}  // namespace tessera
