#pragma once
/// @file
/// Arrays and scalars of the Runtime that lives.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tessera/index/index.hpp"
#include "tessera/layout/layout.hpp"
#include "tessera/layout/named_sharding.hpp"

#include "src/execution/storage/array_state.hpp"
#include "src/execution/storage/scalar_state.hpp"
#include "src/plan/ghost.hpp"
#include "src/runtime/current_runtime.hpp"

namespace tessera::detail {

/// The layout that an array made shortly before had, or a new one. Ranks: pure.
/// Throws: ShapeError, ShardingError as Layout.
[[nodiscard]] std::shared_ptr<Layout const> recent_layout(NamedSharding const& sharding,
                                                          Shape const& shape);

// All that follow throw UsageError as `engine()` does. They are collective, in the same order on
// every process, except is_reachable, newest_number and reference_count, which are local.

/// An array's state with room for its cells, which are not set.
/// Throws: ShardingError if the mesh names a device that the job does not have; ShapeError,
///         ShardingError as Layout; DeviceError if the memory cannot be had.
[[nodiscard]] std::shared_ptr<ArrayState> make_array(std::shared_ptr<Layout const> layout,
                                                     std::int64_t element_bytes);
/// An array whose cells lie in the caller's memory. Throws: ShardingError as make_array.
[[nodiscard]] std::shared_ptr<ArrayState> adopt_array(std::shared_ptr<Layout const> layout,
                                                      std::int64_t element_bytes,
                                                      std::span<BorrowedBox const> borrowed);
/// True if cells of a device of this process can lie at an address.
[[nodiscard]] bool is_reachable(DeviceId device, std::byte const* address);
/// A scalar that nobody else names; its value is not set.
[[nodiscard]] std::shared_ptr<ScalarState> make_scalar();

/// The number of the newest array or scalar.
[[nodiscard]] std::uint64_t newest_number();

[[noreturn]] void refuse_other_runtime(ArrayModel const& array);
[[noreturn]] void refuse_other_runtime(ScalarModel const& scalar);

/// Throws: UsageError if the Runtime that lives has not made the array or scalar. Its cells lie on
///         devices that have ended, and which may have been more than there are now.
/// Ranks:  local, and alike on every process that has kept it.
inline void check_runtime(ArrayModel const& array) {
  if (array.runtime() != current_runtime.number) refuse_other_runtime(array);
}
inline void check_runtime(ScalarModel const& scalar) {
  if (scalar.runtime() != current_runtime.number) refuse_other_runtime(scalar);
}

/// Makes room for ghost cells of an array, at least of these widths. Waits for the statements so
/// far.
void grow_ghost_cells(ArrayState& array, GhostWidths const& widths);
/// Returns how many references there are, without the runtime's own. Waits for the statements so
/// far. Equal on all processes that hold the same handles.
[[nodiscard]] std::int64_t reference_count(std::shared_ptr<ArrayState> const& array);
[[nodiscard]] std::int64_t reference_count(std::shared_ptr<ScalarState> const& scalar);

}  // namespace tessera::detail
