#pragma once
/// @file
/// New arrays: from a value, from a function of the index, from memory of the host, from another
/// array.

#include <array>
#include <cstdint>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/array/dist_array.hpp"
#include "tessera/base/error.hpp"
#include "tessera/detail/array/evaluate/build.hpp"
#include "tessera/detail/base/text.hpp"
#include "tessera/detail/index/shape.hpp"

namespace tessera {
namespace detail {

/// Calls visit(cell, offset in elements) for each cell of the shard, in row-major order.
template <std::size_t N, class Visit>
void visit_cells(RawShard const& shard, Visit const& visit) {
  if (shard.box.empty()) return;
  std::array<std::int64_t, N> cell{};
  if constexpr (N == 0) {
    visit(std::as_const(cell), std::int64_t{0});
  } else {
    for (std::size_t d = 0; d < N; ++d) cell[d] = shard.box.lo[d];
    for (;;) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < N; ++d) offset += (cell[d] - shard.box.lo[d]) * shard.strides[d];
      for (; cell[N - 1] < shard.box.hi[N - 1]; ++cell[N - 1]) visit(std::as_const(cell), offset++);
      cell[N - 1] = shard.box.lo[N - 1];
      std::size_t d = N - 1;
      for (; d > 0; --d) {
        if (++cell[d - 1] < shard.box.hi[d - 1]) break;
        cell[d - 1] = shard.box.lo[d - 1];
      }
      if (d == 0) return;
    }
  }
}

/// Cell i of a new array = f(i), by the host.
template <Element T, std::size_t N, class F>
void set_cells(DistArray<T, N> const& array, F const& f) {
  write_shards(array.storage(), [&](RawShard const& shard) {
    auto* cells = reinterpret_cast<T*>(shard.cells);
    visit_cells<N>(shard, [&](std::array<std::int64_t, N> const& i, std::int64_t offset) {
      cells[offset] = static_cast<T>(f(i));
    });
  });
}

/// As compare_numbers, for cells.
template <Element T>
void compare_cells(StatePtr const& array, char const* kind, std::span<T const> cells) {
  compare_numbers(array, kind, [&](NumberVisitor& visitor) {
    for (auto const& cell : cells) visit_number(cell, visitor);
  });
}

}  // namespace detail

/// Cell i = f(i), where i is a std::array of N global indices.
///
/// Ranks:   collective. `f` runs on all workers at the same time, for the cells that each device
///          holds (copies too), so it must be thread-safe; it has finished when this returns. For
///          GPUs, too, `f` runs on the host, and its cells are copied; a warning says so once.
/// Throws:  what `f` throws; ShapeError, ShardingError.
/// Example: from_index<double>({8}, rows, [](auto i) { return i[0] == 4 ? 1.0 : 0.0; })
template <Element T, std::size_t N, class F>
requires(std::is_invocable_v<F const&, std::array<std::int64_t, N>>)
    [[nodiscard]] DistArray<T, N> from_index(std::array<std::int64_t, N> const& shape,
                                             NamedSharding const& sharding, F const& f) {
  detail::note_cells_of_host();
  DistArray<T, N> result(Shape(shape), sharding);
  detail::set_cells(result, f);
  return result;
}

template <Element T, std::size_t N, class F>
[[nodiscard]] DistArray<T, N> from_index(std::int64_t const (&shape)[N],
                                         NamedSharding const& sharding, F const& f) {
  return from_index<T, N>(std::to_array(shape), sharding, f);
}

/// Every cell = value. Ranks: collective.
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> full(std::array<std::int64_t, N> const& shape, T const& value,
                                   NamedSharding const& sharding) {
  DistArray<T, N> result(Shape(shape), sharding);
  detail::compare_cells(result.storage(), "full", std::span<T const>(&value, 1));
  if (!detail::fill_shards(result.storage(), std::as_bytes(std::span(&value, 1))))
    detail::set_cells(result, [&](auto const&) { return value; });
  return result;
}
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> full(std::int64_t const (&shape)[N],
                                   std::type_identity_t<T> const& value,
                                   NamedSharding const& sharding) {
  return full<T, N>(std::to_array(shape), value, sharding);
}

/// An array without dimensions: one cell = value, by P().
template <Element T>
[[nodiscard]] DistArray<T, 0> full(T const& value, NamedSharding const& sharding) {
  DistArray<T, 0> result(Shape{}, sharding);
  detail::compare_cells(result.storage(), "full", std::span<T const>(&value, 1));
  detail::write_shards(result.storage(), [&](detail::RawShard const& shard) {
    *reinterpret_cast<T*>(shard.cells) = value;
  });
  return result;
}

/// Every cell = 0. Ranks: collective.
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> zeros(std::array<std::int64_t, N> const& shape,
                                    NamedSharding const& sharding) {
  return full<T, N>(shape, T{}, sharding);
}
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> zeros(std::int64_t const (&shape)[N], NamedSharding const& sharding) {
  return full<T, N>(std::to_array(shape), T{}, sharding);
}

/// The cells 0, 1, 2, … in row-major order. Ranks: collective.
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> iota(std::array<std::int64_t, N> const& shape,
                                   NamedSharding const& sharding) {
  Shape const extents(shape);
  detail::check_shape(extents);
  auto const strides = detail::row_major_strides(extents);
  DistArray<T, N> result(extents, sharding);
  detail::set_cells(result, [&](auto const& i) {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < N; ++d) number += i[d] * strides[d];
    return static_cast<T>(static_cast<detail::real_of<T>>(number));
  });
  return result;
}
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> iota(std::int64_t const (&shape)[N], NamedSharding const& sharding) {
  return iota<T, N>(std::to_array(shape), sharding);
}

/// The cells of a whole row-major array that every process passes alike; nothing is sent.
/// Throws: ShapeError if `cells` has another length than the shape.
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> from_host(std::span<T const> cells,
                                        std::array<std::int64_t, N> const& shape,
                                        NamedSharding const& sharding) {
  Shape const extents(shape);
  detail::check_shape(extents);
  if (std::ssize(cells) != cells_of(extents))
    throw ShapeError(detail::text("from_host: ", detail::counted(std::ssize(cells), "cell"),
                                  " given, but the shape ", extents, " has ", cells_of(extents)));
  DistArray<T, N> result(extents, sharding);
  detail::compare_cells(result.storage(), "from_host", cells);
  detail::take_from_host(result.storage(), reinterpret_cast<std::byte const*>(cells.data()));
  return result;
}
template <Element T, std::size_t N, class Allocator>
[[nodiscard]] DistArray<T, N> from_host(std::vector<T, Allocator> const& cells,
                                        std::int64_t const (&shape)[N],
                                        NamedSharding const& sharding) {
  return from_host<T, N>(std::span<T const>(cells), std::to_array(shape), sharding);
}

/// A copy of the array with this sharding: any sharding to any other, on any mesh. Partial results
/// are added up where the result lies. Ranks: collective. Cost: each device is sent the cells it
/// lacks.
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> reshard(DistArray<T, N> const& u, NamedSharding const& sharding,
                                      std::source_location at = std::source_location::current()) {
  DistArray<T, N> result(u.shape(), sharding);
  detail::copy_value(result.storage(), u.storage(), at);
  return result;
}

}  // namespace tessera
