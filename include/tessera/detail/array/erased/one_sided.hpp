#pragma once
/// @file
/// One-sided access that needs no element type, in the Runtime that lives, and lists of what it
/// read.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "tessera/base/source.hpp"
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

/// How cells of type T are kept in a list: std::vector<bool> has none in memory.
template <class T>
using StoredAs = std::conditional_t<std::same_as<T, bool>, unsigned char, T>;

/// A list of `count` cells, which read(to) writes. There is room for all before that.
/// Throws: Error, with the size, where this process cannot have the memory.
template <class T, class Read>
[[nodiscard]] std::vector<T> list_read(std::int64_t count, Read const& read) {
  std::vector<StoredAs<T>> cells;
  std::vector<T> bools;
  make_room_to_read(count, sizeof(T), [&](std::size_t n) {
    cells.resize(n);
    if constexpr (std::same_as<T, bool>) bools.resize(n);
  });
  read(reinterpret_cast<std::byte*>(cells.data()));
  if constexpr (!std::same_as<T, bool>) return cells;
  bools.assign(cells.begin(), cells.end());
  return bools;
}

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
    return list_read<T>(static_cast<std::int64_t>(cells.size() / sizeof(T)),
                        [&](std::byte* to) { std::copy(cells.begin(), cells.end(), to); });
  }
};

}  // namespace tessera::detail
