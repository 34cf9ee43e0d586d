#pragma once
/// @file
/// Makes arrays and scalars, and numbers them.

#include <cstdint>
#include <memory>
#include <span>

#include "src/execution/storage/array_pool.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/execution/storage/scalar_pool.hpp"
#include "src/execution/storage/scalar_state.hpp"
#include "src/job/job.hpp"
#include "src/plan/ghost.hpp"
#include "src/runtime/devices/device_pool.hpp"
#include "src/runtime/devices/failure_policy.hpp"

namespace tessera {

/// Numbers count arrays and scalars together, alike on every process.
///
/// Ranks:   collective over the job, in the same order on every process; counts of references are
///          local.
/// Threads: the caller's.
class ArrayAllocator {
 public:
  /// `runtime`: the number of the Runtime, which arrays and scalars remember.
  ArrayAllocator(Job const& job, DevicePool& devices, FailurePolicy& failures,
                 std::uint64_t runtime)
      : job_(job),
        devices_(devices),
        failures_(failures),
        runtime_(runtime),
        scalars_(job.local_count()) {}

  /// Makes an array's state with memory for its cells, which are not set.
  /// Throws: ShardingError if the mesh names a device that the job does not have; ShapeError,
  ///         ShardingError as Layout; DeviceError if the memory cannot be had.
  [[nodiscard]] std::shared_ptr<ArrayState> make_array(std::shared_ptr<Layout const> layout,
                                                       std::int64_t element_bytes);
  /// An array whose cells lie in the caller's memory. Throws: ShardingError as make_array.
  [[nodiscard]] std::shared_ptr<ArrayState> adopt_array(std::shared_ptr<Layout const> layout,
                                                        std::int64_t element_bytes,
                                                        std::span<BorrowedBox const> borrowed);
  /// True if cells of a device of this process can lie at an address. Ranks: local.
  [[nodiscard]] bool is_reachable(DeviceId device, std::byte const* address) const;
  [[nodiscard]] std::shared_ptr<ScalarState> make_scalar();
  /// The number of the newest array or scalar.
  [[nodiscard]] std::uint64_t newest_number() const { return count_; }

  /// Makes room for an array's ghost cells of at least these widths. Waits for the statements so
  /// far.
  void grow_ghost_cells(ArrayState& array, GhostWidths const& widths);
  /// Returns how many references there are, without that of a pool. Waits for the statements so
  /// far.
  [[nodiscard]] std::int64_t reference_count(std::shared_ptr<ArrayState> const& array);
  [[nodiscard]] std::int64_t reference_count(std::shared_ptr<ScalarState> const& scalar);

 private:
  void check_devices(Layout const& layout) const;

  Job const& job_;
  DevicePool& devices_;
  FailurePolicy& failures_;
  std::uint64_t runtime_;
  ScalarPool scalars_;
  ArrayPool arrays_;
  std::uint64_t count_ = 0;
};

}  // namespace tessera
