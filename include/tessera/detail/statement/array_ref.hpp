#pragma once
/// @file
/// Arrays and scalars as templates know them: references to what only the library can look into.

#include <cstddef>
#include <memory>

#include "tessera/base/ids.hpp"
#include "tessera/base/source.hpp"
#include "tessera/index/index.hpp"

namespace tessera {

class ArrayModel;
class Layout;
class ScalarModel;

namespace detail {

/// The cells of an array on the devices of this process. Shared by arrays, views and expressions.
using StatePtr = std::shared_ptr<ArrayModel>;
/// The array under a pointer that keeps nothing alive and so costs no counting.
[[nodiscard]] inline StatePtr named(StatePtr const& state) {
  return {StatePtr(), state.get()};
}
/// A value that every device of the job holds. Shared by Scalars and expressions.
using ScalarPtr = std::shared_ptr<ScalarModel>;

/// The largest value that a scalar can hold.
inline constexpr std::size_t most_scalar_bytes = 16;

/// How the array is cut. Ranks: local. Lifetime: that of the array.
[[nodiscard]] std::shared_ptr<Layout const> const& layout_of(StatePtr const& state);
/// Throws: UsageError if the array must not be written any more.
void check_writable(StatePtr const& state);
/// Keeps the cells where they are in memory from now on.
void pin_cells(StatePtr const& state);

/// Memory of the caller for one box of a device.
struct BorrowedBox {
  DeviceId device;
  Box cells;
  std::byte* first;  ///< the first of the cells
  Index strides;     ///< in elements, the last one 1
};

/// The partials of an array that consists of them. The array has no shards of its own; its value is
/// added up when it is first read.
struct Partials {
  StatePtr cells;  ///< dimension 0 counts the partial results
  /// Adds `cells` up along dimension 0, into an array of the other dimensions with any layout.
  /// `kind`: what the program asked for, as Statement::kind.
  void (*sum_partials)(StatePtr const& cells, StatePtr const& into, char const* kind,
                       SourceLocation const& location) = nullptr;
  StatePtr value;  ///< null until the first read
};

}  // namespace detail
}  // namespace tessera
