#pragma once
/// @file
/// One-sided access that needs no element type, in the Runtime that lives, and what it read.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tessera/base/source.hpp"
#include "tessera/detail/array/erased/handle.hpp"
#include "tessera/detail/execution/cell_update.hpp"
#include "tessera/detail/statement/array_ref.hpp"
#include "tessera/index/index.hpp"

namespace tessera::detail {

using Cell = std::span<std::int64_t const>;

/// The cell of an index. Throws: IndexError unless it has `rank` dimensions.
[[nodiscard]] Cell cell_of(Index const& index, std::size_t rank);
[[nodiscard]] Box box_of_cell(Cell cell);
void pass_fence(StatePtr const& state, SourceLocation const& location);
void read_cell(StatePtr const& state, Cell cell, std::byte* into);
void write_cell(StatePtr const& state, Cell cell, std::byte const* from);
void update_cell(StatePtr const& state, Cell cell, CellUpdate const& update, std::byte* old);
/// How many cells a box has. Throws: as begin_read.
[[nodiscard]] std::int64_t cells_to_read(StatePtr const& state, Box const& box);
/// Calls `make`, which allocates that many cells. Throws: Error, with the size, without memory.
void make_room_to_read(std::int64_t count, std::size_t bytes_each,
                       std::function<void(std::size_t)> const& make);
[[nodiscard]] std::shared_ptr<OneSidedRequest> begin_read(StatePtr const& state, Box const& box,
                                                          std::byte* into);
/// Throws: ShapeError if there are not as many cells as the box has.
[[nodiscard]] std::shared_ptr<OneSidedRequest> begin_write(StatePtr const& state, Box const& box,
                                                           std::byte const* from,
                                                           std::int64_t cells);
[[nodiscard]] std::shared_ptr<OneSidedRequest> begin_update(StatePtr const& state, Cell cell,
                                                            CellUpdate const& update);
/// Throws: ShapeError unless there is room for the cells of the box.
void check_room(Box const& box, std::int64_t cells);
[[nodiscard]] bool is_done(OneSidedRequest const& request);
void wait_for(OneSidedRequest const& request);
/// The bytes that a read brought. They live as long as the request.
[[nodiscard]] std::span<std::byte const> cells_read(OneSidedRequest const& request);

/// The cells that were read, as one value or as a list.
template <class T>
struct FromCells {
  [[nodiscard]] static T value(std::span<std::byte const> cells) {
    T cell;
    std::memcpy(static_cast<void*>(&cell), cells.data(), sizeof cell);
    return cell;
  }
};
template <class T>
struct FromCells<std::vector<T>> {
  [[nodiscard]] static std::vector<T> value(std::span<std::byte const> cells) {
    auto const count = static_cast<std::int64_t>(cells.size() / sizeof(T));
    return list_read<T>([&](auto const& make) { make_room_to_read(count, sizeof(T), make); },
                        [&](std::byte* to) { std::copy(cells.begin(), cells.end(), to); });
  }
};

}  // namespace tessera::detail
