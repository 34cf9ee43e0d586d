#pragma once
/// @file
/// Arrays beside their mirrors.

#include <cstdint>
#include <vector>

#include "tessera/array/creation.hpp"
#include "tessera/runtime/runtime.hpp"

#include "support/agree.hpp"
#include "support/layouts.hpp"
#include "support/mirror.hpp"

namespace tessera::test {

/// The first `devices` devices in a row, along axis "x".
[[nodiscard]] inline Mesh row(std::int64_t devices) {
  return Mesh({{"x", devices}});
}
/// One dimension over that row.
[[nodiscard]] inline NamedSharding over(std::int64_t devices) {
  return {row(devices), P("x")};
}
/// Two dimensions over a grid.
[[nodiscard]] inline NamedSharding over(std::int64_t rows, std::int64_t columns) {
  return {Mesh({{"y", rows}, {"x", columns}}), P("y", "x")};
}

/// True if the array's cells are just these, as this process reads them. Ranks: collective.
template <class T, std::size_t N>
[[nodiscard]] bool holds(DistArray<T, N> const& u, std::vector<T> const& cells) {
  return same_bits(u.to_host(), cells);
}
template <class T, std::size_t N>
[[nodiscard]] bool holds(DistArray<T, N> const& u, Mirror<T> const& mirror) {
  return holds(u, mirror.cells);
}

/// The same cells, lying on devices.
template <class T, std::size_t N>
[[nodiscard]] DistArray<T, N> spread_out(Mirror<T> const& mirror, NamedSharding const& sharding) {
  std::array<std::int64_t, N> extents;
  for (std::size_t d = 0; d < N; ++d) extents[d] = mirror.shape[d];
  return from_host<T, N>(std::span<T const>(mirror.cells), extents, sharding);
}

/// Numbers without a pattern that a shifted or lost cell could hide in.
template <class T>
[[nodiscard]] Mirror<T> scrambled(Shape const& shape) {
  return Mirror<T>::made_of(shape, [](Index const& i) {
    std::int64_t v = 3;
    for (auto const c : i) v = (v * 31 + c * 7 + 1) % 1009;
    return static_cast<T>(v) / static_cast<T>(10);
  });
}

/// Layouts for an array of one dimension: 1, 2, 3 and 8 devices, in another order, cut in other
/// ways.
[[nodiscard]] inline std::vector<NamedSharding> layouts_of_row(std::int64_t extent) {
  Random random(static_cast<std::uint64_t>(extent) + 1);
  Mesh const grid({{"a", 2}, {"b", 4}});
  return {over(1),
          over(2),
          over(3),
          over(8),
          {row(8), P("x"), Cut::ceil()},
          {row(4), P("x"), Cut::explicit_sizes(random_sizes(random, extent, 4))},
          {Mesh({5, 2, 7, 0}, {4}, {"x"}), P("x")},
          {grid, P({"b", "a"})},
          {grid, P("b")},
          {grid, P(none)},
          {row(3), P("x"), Cut::cyclic(2)},
          {grid, P("b"), Cut::segments({extent / 3, extent - extent / 3})}};
}

/// Layouts for an array of two dimensions.
[[nodiscard]] inline std::vector<NamedSharding> layouts_of_plane(std::int64_t rows,
                                                                 std::int64_t columns) {
  Random random(static_cast<std::uint64_t>(rows * 100 + columns));
  Mesh const grid({{"a", 2}, {"b", 4}});
  Mesh const cube({{"a", 2}, {"b", 2}, {"c", 2}});
  return {{grid, P("a", "b")},
          {grid, P("b", "a")},
          {grid, P(none, "b")},
          {grid, P({"a", "b"}, none)},
          {cube, P({"a", "c"}, "b")},
          {Mesh({6, 3, 1, 4}, {2, 2}, {"p", "q"}), P("q", "p")},
          {grid, P("a", "b"),
           std::vector{Cut::explicit_sizes(random_sizes(random, rows, 2)), Cut::ceil()}},
          {row(1), P(none, none)},
          {row(3), P("x", none)},
          {grid, P("a", "b"),
           std::vector{Cut::cyclic(1), Cut::segments({columns / 2, columns - columns / 2})}},
          {Mesh({6, 3, 1}, {3}, {"x"}), P(none, "x"), Cut::cyclic(2)},
          {Mesh({{"a", 8}, {"b", 1}}), P("b", "a"),
           std::vector{Cut::balanced(), Cut::explicit_sizes(random_sizes(random, columns, 8))}}};
}

}  // namespace tessera::test
