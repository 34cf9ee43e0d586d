#pragma once
/// @file
/// The cells of an array on the devices of this process, without their type.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "tessera/device/memory.hpp"
#include "tessera/device/strided.hpp"
#include "tessera/index/box.hpp"
#include "tessera/layout/layout.hpp"
#include "tessera/plan/ghost.hpp"

namespace tessera {

/// Where the cells of a shard lie in a buffer: its own box with ghost cells around it, row-major,
/// rows padded so that each row's first own cell is aligned to 64 bytes.
struct Frame {
  Box cells;                  ///< own cells and ghost cells, unwrapped
  Index strides;              ///< in elements
  std::int64_t lead = 0;      ///< elements before the first cell of `cells`
  std::int64_t elements = 0;  ///< of a buffer

  [[nodiscard]] static Frame around(Box const& own, GhostWidths const& widths,
                                    std::int64_t element_bytes);
  /// The place of a cell in a buffer, in elements. The cell lies in `cells`.
  [[nodiscard]] std::int64_t offset_of(Index const& cell) const;
  /// A box of cells as it lies in a buffer. Its cells lie in `cells`.
  [[nodiscard]] StridedBlock block_of(Box const& box, std::int64_t element_bytes) const;
};

/// What one device holds of an array.
///
/// Threads: the fields belong to the caller's thread; the worker reads and writes cells through
/// pointers that records hand it.
struct Shard {
  DeviceId device;
  Box own;
  Frame frame;
  std::array<HostMemory, 2> memory;
  std::size_t current = 0;         ///< which buffer holds the array's cells
  InlineVector<Box, 5> differing;  ///< own cells in which the other buffer differs

  /// The first byte of a buffer. The second lies a few cache lines off, so that equal cells of both
  /// do not compete for the same lines of a cache.
  [[nodiscard]] std::byte* buffer(std::size_t which) {
    return memory[which].data() == nullptr ? nullptr : memory[which].data() + which * displacement;
  }
  [[nodiscard]] std::byte* cells() { return buffer(current); }
  [[nodiscard]] bool has_second() const { return memory[1 - current].data() != nullptr; }

  static constexpr std::size_t displacement = 2112;
};

/// An array's layout, its shards on this process, and which ghost cells are fresh.
///
/// Lifetime: shared by arrays, views, expressions and queued records; the last of them may be
/// dropped by a worker.
class ArrayState {
 public:
  /// Allocates one buffer per local device of the layout. `number` counts the arrays of the
  /// program.
  ArrayState(std::shared_ptr<Layout const> layout, std::int64_t element_bytes, std::uint64_t number,
             std::vector<DeviceId> const& local_devices);

  [[nodiscard]] std::shared_ptr<Layout const> const& layout() const { return layout_; }
  [[nodiscard]] std::int64_t element_bytes() const { return element_bytes_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] GhostWidths const& widths() const { return widths_; }
  [[nodiscard]] std::vector<Shard>& shards() { return shards_; }
  /// The shard of a device of this process; null where the layout gives it none.
  [[nodiscard]] Shard* shard_of(DeviceId device);
  [[nodiscard]] Freshness& freshness() { return freshness_; }

  /// Makes room for ghost cells; all become stale. No queued record may name the array.
  void grow(GhostWidths const& widths);
  /// Makes sure that a shard has its second buffer.
  void need_second_buffer(Shard& shard) const;

 private:
  [[nodiscard]] HostMemory buffer_for(Frame const& frame) const;

  std::shared_ptr<Layout const> layout_;
  std::int64_t element_bytes_;
  std::uint64_t number_;
  GhostWidths widths_;
  std::vector<Shard> shards_;
  Freshness freshness_;
};

}  // namespace tessera
