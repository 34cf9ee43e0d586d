#pragma once
/// @file
/// The cells of an array on the devices of this process, without their type.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/base/source.hpp"
#include "tessera/detail/statement/array_ref.hpp"
#include "tessera/index/index.hpp"
#include "tessera/layout/layout.hpp"

#include "src/device/device_memory.hpp"
#include "src/device/strided.hpp"
#include "src/index/box.hpp"
#include "src/plan/ghost.hpp"
#include "src/statement/array_model.hpp"
#include "src/transport/host_memory/shared_blocks.hpp"

namespace tessera {

using detail::BorrowedBox;
using detail::Partials;

/// A device of this process.
struct LocalDevice {
  DeviceId id;
  std::shared_ptr<Queue> queue;
};

/// The bytes that an array's cells take of the memory of this host, without padding; 0 for partials
/// and where they are surely fewer than least_large_bytes.
[[nodiscard]] std::int64_t bytes_on_host(Layout const& layout, std::int64_t element_bytes,
                                         std::vector<LocalDevice> const& devices);

/// One box that a device holds of an array.
///
/// Threads: the fields belong to the caller's thread; the worker reads and writes cells through
///          pointers in its tasks.
struct Shard {
  DeviceId device;
  std::shared_ptr<Queue> queue;  ///< of the device
  Box own;
  PaddedShardLayout padded_layout;
  std::array<DeviceMemory, 2> memory;
  std::size_t current = 0;               ///< which buffer holds the array's cells
  std::size_t displacement = 0;          ///< bytes, of the cells in the second buffer
  std::vector<Box> differing;            ///< own cells in which the other buffer differs
  std::array<std::int64_t, 2> places{};  ///< of the buffers in the block of a shared array

  /// The first byte of a buffer. The second buffer of all but small shards is offset by a few cache
  /// lines, so that equal cells of both do not compete for the same lines of a cache.
  [[nodiscard]] std::byte* buffer(std::size_t which) {
    return memory[which].data() == nullptr ? nullptr : memory[which].data() + which * displacement;
  }
  [[nodiscard]] std::byte* cells() { return buffer(current); }
  [[nodiscard]] bool has_second() const { return memory[1 - current].data() != nullptr; }

  /// Copies from buffer to buffer; the blocks may have different strides. A queue that is
  /// not eager copies later.
  void copy(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
            StridedBlock const& from) const {
    queue->copy_block(to_base, to, from_base, from);
  }

  /// More differing boxes are replaced by one around them.
  static constexpr std::size_t most_differing = 4;
};

class Window;

/// How a dimension of an alias follows from one of the array's.
struct AliasAxis {
  static constexpr int added = -1;

  int from = added;       ///< the array's dimension; `added` for one more, of one cell
  std::int64_t step = 1;  ///< cells of that dimension from one cell of the alias to the next
};
using AliasAxes = detail::InlineVector<AliasAxis, max_rank>;

/// An array with its cells: its shards on this process.
///
/// Lifetime: shared by arrays, views, expressions and queued tasks; a worker may drop the last
///           reference.
class ArrayState : public ArrayModel {
 public:
  /// Allocates one buffer for each box of each local device of the layout, unless the array is
  /// partial. `number` counts the arrays of the program.
  ArrayState(std::shared_ptr<Layout const> layout, std::int64_t element_bytes, std::uint64_t number,
             std::vector<LocalDevice> const& local_devices);
  /// Takes the cells from the caller's memory, and pins the array. Each non-empty box has been
  /// checked to appear once in `borrowed`.
  ArrayState(std::shared_ptr<Layout const> layout, std::int64_t element_bytes, std::uint64_t number,
             std::vector<LocalDevice> const& local_devices, std::span<BorrowedBox const> borrowed);

  /// Returns all shards of this process, by device.
  [[nodiscard]] std::vector<Shard>& shards() { return shards_; }
  /// The shards of a device of this process, one for each of its boxes, as Layout::boxes_of lists
  /// them; none where the layout gives it none.
  [[nodiscard]] std::span<Shard> shards_of(DeviceId device);
  /// Null for most arrays.
  [[nodiscard]] Partials* partials() { return partials_ ? &*partials_ : nullptr; }
  /// Makes this array the sum of these partial results.
  void set_partials(Partials partials) { partials_ = std::move(partials); }
  /// Releases them, where nothing else names this array.
  void drop_partials() { partials_.reset(); }

  /// Returns the bytes of the cells on this process.
  [[nodiscard]] std::int64_t local_bytes() const;
  /// Reuses this object as a new array whose cells are not set, if that is possible: it has no
  /// ghost cells, is neither pinned nor partial, and was never fenced. There must be no other
  /// reference to it.
  [[nodiscard]] bool renew(std::uint64_t number);
  /// The same cells under another layout: each device's box there is its box here, seen along
  /// `axes`, or it is empty. A device's several boxes there lie one after the other along dimension
  /// `joined` of its box here. This array keeps a few aliases, which are pinned, for the next call;
  /// a pointer to an alias keeps this array alive. The array has single boxes and no ghost cells.
  [[nodiscard]] std::shared_ptr<ArrayState> alias(std::shared_ptr<Layout const> const& layout,
                                                  AliasAxes const& axes, std::size_t joined = 0);
  /// Gives the array itself another layout in which each device's box lies in memory as it does
  /// now: one with the same extents, and perhaps more dimensions of one cell in front. Nobody else
  /// may name the array, no queued task either. The array has single boxes and no ghost cells.
  void lay_out(std::shared_ptr<Layout const> layout);
  /// Makes room for ghost cells; all become invalid. No queued task may name the array.
  void grow(GhostWidths const& widths);
  /// Moves the cells into memory that the other processes of the host can map, and keeps all
  /// buffers there from now on. No queued task may name the array.
  /// Throws: TransportError, DeviceError.
  void share(SharedBlocks& blocks);
  /// The memory block that other processes may map; null unless the array is shared.
  [[nodiscard]] SharedBlock* shared_block() const { return block_.get(); }

  /// The array's state for one-sided access; null before its first fence.
  [[nodiscard]] std::shared_ptr<Window> const& window() const { return window_; }
  /// Sets that state; the first fence does so.
  void set_window(std::shared_ptr<Window> window) { window_ = std::move(window); }
  /// Allocates a shard's second buffer if it has none.
  void need_second_buffer(Shard& shard) const;

 private:
  // Storage grows with the widths: `grow`.
  using ArrayModel::adopt_boxes;
  using ArrayModel::set_widths;

  // The range of a device's shards among all of them.
  struct DeviceShards {
    DeviceId device;
    std::size_t first;
    std::size_t count;
  };

  void place_cells(Shard& shard, PaddedShardLayout const& padded_layout) const;
  [[nodiscard]] std::shared_ptr<ArrayState> make_alias(std::shared_ptr<Layout const> const& layout,
                                                       AliasAxes const& axes, std::size_t joined);
  void follow_cells(ArrayState& alias, std::size_t joined);
  void add_shards_of(LocalDevice const& device, std::vector<StoredBox> const& boxes);
  [[nodiscard]] std::int64_t cell_bytes(PaddedShardLayout const& padded_layout) const;
  [[nodiscard]] std::int64_t buffer_bytes(Shard const& shard) const;
  [[nodiscard]] DeviceMemory buffer_for(Shard const& shard, std::size_t which) const;
  void replace_storage(GhostWidths const& widths);
  [[nodiscard]] std::shared_ptr<SharedBlock> make_block(std::vector<Shard>& shards) const;

  std::vector<Shard> shards_;
  std::vector<DeviceShards> devices_;
  std::optional<Partials> partials_;
  std::vector<std::shared_ptr<ArrayState>> aliases_;
  static constexpr std::size_t most_aliases = 16;  ///< that are kept
  SharedBlocks* blocks_ = nullptr;                 ///< where buffers of a shared array come from
  std::shared_ptr<SharedBlock> block_;
  std::shared_ptr<Window> window_;
};

/// The array that a statement names. Of a program that runs each has its cells.
[[nodiscard]] inline ArrayState& storage_of(ArrayModel& array) {
  return static_cast<ArrayState&>(array);
}
[[nodiscard]] inline std::shared_ptr<ArrayState> storage_of(
    std::shared_ptr<ArrayModel> const& array) {
  return std::static_pointer_cast<ArrayState>(array);
}

/// The header of a shared array's block, for processes that map it: the number of shards, followed
/// by one entry for each, in the order of `ArrayState::shards()`.
struct SharedShard {
  std::int64_t device = 0;
  std::int64_t current = 0;  ///< the first byte of the buffer that holds the cells
};

}  // namespace tessera
