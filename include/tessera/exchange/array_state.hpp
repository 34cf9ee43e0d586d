#pragma once
/// @file
/// The cells of an array on the devices of this process, without their type.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tessera/base/source.hpp"
#include "tessera/device/device_memory.hpp"
#include "tessera/device/strided.hpp"
#include "tessera/index/box.hpp"
#include "tessera/layout/layout.hpp"
#include "tessera/plan/ghost.hpp"
#include "tessera/transport/shared_blocks.hpp"

namespace tessera {

/// The cells of a box where cell `first` lies at the base, and `strides`, in elements, lead from
/// cell to cell.
[[nodiscard]] StridedBlock strided_block(Box const& box, Index const& first, Index const& strides,
                                         std::int64_t element_bytes);

/// Where the cells of a shard lie in a buffer: its own box with ghost cells around it, row-major,
/// rows padded so that each row's first own cell is aligned to 64 bytes.
struct Frame {
  Box cells;                  ///< own cells and ghost cells, unwrapped
  Index strides;              ///< in elements
  std::int64_t lead = 0;      ///< elements before the first cell of `cells`
  std::int64_t elements = 0;  ///< of a buffer

  /// The buffer of a box of cells with its ghost cells.
  [[nodiscard]] static Frame around(Box const& own, GhostWidths const& widths,
                                    std::int64_t element_bytes);
  /// The place of a cell in a buffer, in elements. The cell lies in `cells`.
  [[nodiscard]] std::int64_t offset_of(Index const& cell) const;
  /// A box of cells as it lies in a buffer. Its cells lie in `cells`.
  [[nodiscard]] StridedBlock block_of(Box const& box, std::int64_t element_bytes) const;
};

/// A device of this process.
struct LocalDevice {
  DeviceId id;
  std::shared_ptr<GpuStream> stream;  ///< of a GPU; null on the host
};

/// One box that a device holds of an array.
///
/// Threads: the fields belong to the caller's thread; the worker reads and writes cells through
/// pointers that records hand it.
struct Shard {
  DeviceId device;
  std::shared_ptr<GpuStream> stream;  ///< of a GPU, whose memory this is; null on the host
  Box own;
  Frame frame;
  std::array<DeviceMemory, 2> memory;
  std::size_t current = 0;               ///< which buffer holds the array's cells
  InlineVector<Box, 5> differing;        ///< own cells in which the other buffer differs
  std::array<std::int64_t, 2> places{};  ///< of the buffers in the block of a shared array

  /// The first byte of a buffer. The second lies a few cache lines off, so that equal cells of both
  /// do not compete for the same lines of a cache.
  [[nodiscard]] std::byte* buffer(std::size_t which) {
    return memory[which].data() == nullptr ? nullptr : memory[which].data() + which * displacement;
  }
  [[nodiscard]] std::byte* cells() { return buffer(current); }
  [[nodiscard]] bool has_second() const { return memory[1 - current].data() != nullptr; }

  /// From buffer to buffer, where the blocks lie alike or not: on a GPU later, in the order of its
  /// work.
  void copy(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
            StridedBlock const& from) const {
    if (stream == nullptr)
      copy_block(to_base, to, from_base, from);
    else
      stream->copy_block(to_base, to, from_base, from);
  }

  static constexpr std::size_t displacement = 2112;
};

class ArrayState;
class Window;

/// The caller's memory for one box of a device.
struct BorrowedBox {
  DeviceId device;
  Box cells;
  std::byte* first;  ///< the first of the cells
  Index strides;     ///< in elements, the last one 1
};

/// What an array of addends is made of. It has no shards of its own; its value is added up when it
/// is first read.
struct Addends {
  std::shared_ptr<ArrayState> cells;  ///< dimension 0 counts the addends
  /// Adds `cells` up along dimension 0, into an array of the others that lies anywhere.
  void (*add_up)(std::shared_ptr<ArrayState> const& cells, std::shared_ptr<ArrayState> const& into,
                 Place const& place) = nullptr;
  std::shared_ptr<ArrayState> value;  ///< null until it was read
};

/// An array's layout, its shards on this process, and which ghost cells are fresh. Only where every
/// device holds one box are there ghost cells.
///
/// Lifetime: shared by arrays, views, expressions and queued records; the last of them may be
/// dropped by a worker.
class ArrayState {
 public:
  /// Allocates one buffer for each box of each local device of the layout, unless devices hold
  /// addends. `number` counts the arrays of the program.
  ArrayState(std::shared_ptr<Layout const> layout, std::int64_t element_bytes, std::uint64_t number,
             std::vector<LocalDevice> const& local_devices);
  /// Takes the cells from the caller's memory, which is pinned. Each box that is not empty has been
  /// checked to be among `borrowed` once.
  ArrayState(std::shared_ptr<Layout const> layout, std::int64_t element_bytes, std::uint64_t number,
             std::vector<LocalDevice> const& local_devices, std::span<BorrowedBox const> borrowed);

  [[nodiscard]] std::shared_ptr<Layout const> const& layout() const { return layout_; }
  [[nodiscard]] std::int64_t element_bytes() const { return element_bytes_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] GhostWidths const& widths() const { return widths_; }
  /// All shards of this process, by device.
  [[nodiscard]] std::vector<Shard>& shards() { return shards_; }
  /// The shards of a device of this process, one for each of its boxes, as Layout::boxes_of lists
  /// them; none where the layout gives it none.
  [[nodiscard]] std::span<Shard> shards_of(DeviceId device);
  [[nodiscard]] Freshness& freshness() { return freshness_; }
  /// Null for most arrays.
  [[nodiscard]] Addends* addends() { return addends_.get(); }
  /// From now on it is a sum of these.
  void set_addends(Addends addends) { addends_ = std::make_unique<Addends>(std::move(addends)); }
  /// True if it may not be written any more: it is a sum of addends, or they.
  [[nodiscard]] bool is_frozen() const { return is_frozen_; }
  void freeze() { is_frozen_ = true; }

  /// True if cells stay where they are in memory: their buffers are never swapped nor given ghost
  /// cells, so what is read past a shard's edge goes through a temporary.
  [[nodiscard]] bool is_pinned() const { return is_pinned_; }
  void pin() { is_pinned_ = true; }

  /// Of the cells on this process.
  [[nodiscard]] std::int64_t local_bytes() const;
  /// Makes it a new array, whose cells are not set, if it can be one: it has no ghost cells, is
  /// neither pinned nor frozen, and was never fenced. Nobody else names it.
  [[nodiscard]] bool renew(std::uint64_t number);
  /// Makes room for ghost cells; all become stale. No queued record may name the array.
  void grow(GhostWidths const& widths);
  /// From now on all buffers lie in memory that the other processes of the host can map: the cells
  /// move there. No queued record may name the array.
  /// Throws: TransportError, DeviceError.
  void share(SharedBlocks& blocks);
  /// Where the cells lie that others may map; null unless it is shared.
  [[nodiscard]] SharedBlock* shared_block() const { return block_.get(); }

  /// True between two fences: one-sided access is all that may be done.
  [[nodiscard]] bool has_open_epoch() const { return has_open_epoch_; }
  /// A fence has been passed.
  void set_open_epoch(bool is_open) { has_open_epoch_ = is_open; }
  /// What one-sided access knows of the array; null before its first fence.
  [[nodiscard]] std::shared_ptr<Window> const& window() const { return window_; }
  /// At the first fence.
  void set_window(std::shared_ptr<Window> window) { window_ = std::move(window); }
  /// Makes sure that a shard has its second buffer.
  void need_second_buffer(Shard& shard) const;

 private:
  // Where the shards of a device are among all of them.
  struct DeviceShards {
    DeviceId device;
    std::size_t first;
    std::size_t count;
  };

  void add_boxes_of(std::vector<LocalDevice> const& local_devices);
  [[nodiscard]] std::int64_t buffer_bytes(Frame const& frame) const;
  [[nodiscard]] DeviceMemory buffer_for(Shard const& shard, std::size_t which) const;
  void replace_storage(GhostWidths const& widths);
  [[nodiscard]] std::shared_ptr<SharedBlock> make_block(std::vector<Shard>& shards) const;

  std::shared_ptr<Layout const> layout_;
  std::int64_t element_bytes_;
  std::uint64_t number_;
  GhostWidths widths_;
  std::vector<Shard> shards_;
  std::vector<DeviceShards> devices_;
  Freshness freshness_;
  std::unique_ptr<Addends> addends_;
  SharedBlocks* blocks_ = nullptr;  ///< where buffers of a shared array come from
  std::shared_ptr<SharedBlock> block_;
  std::shared_ptr<Window> window_;
  bool is_frozen_ = false;
  bool is_pinned_ = false;
  bool has_open_epoch_ = false;
};

/// What the first bytes of a shared array's block say, for those who map it: how many shards there
/// are, and behind that one entry for each, in the order of `ArrayState::shards()`.
struct SharedShard {
  std::int64_t device = 0;
  std::int64_t current = 0;  ///< the first byte of the buffer that holds the cells
};

/// Throws: UsageError if the array may not be written any more.
void check_writable(ArrayState const& array);

namespace detail {
[[noreturn]] void refuse_open_epoch(ArrayState const& array, char const* what);
}  // namespace detail

/// Throws: UsageError if nothing but one-sided access may be done: every process throws it. `what`
/// is for people, as "a statement".
inline void check_closed(ArrayState const& array, char const* what) {
  if (array.has_open_epoch()) detail::refuse_open_epoch(array, what);
}

}  // namespace tessera
