#pragma once
/// @file
/// The arguments of u(...): ranges, whole dimensions, single indices and new dimensions.

#include <concepts>
#include <cstdint>
#include <source_location>

#include "tessera/array/element.hpp"
#include "tessera/detail/index/shape.hpp"
#include "tessera/index/range.hpp"

namespace tessera {

template <Element T>
class Scalar;

/// `all` is a whole dimension in a slice, u(all, 0), and the reduction all(u > 0), which is defined
/// with the other reductions.
struct All {
  /// True if every element is. A statement; the value is the same on every process.
  template <Expression E>
  [[nodiscard]] Scalar<bool> operator()(
      E const& expression, std::source_location place = std::source_location::current()) const;
  /// The same along some dimensions: all(u > 0, axis(0)) is an array of the others.
  template <Expression E, class Axes>
  [[nodiscard]] auto operator()(E const& expression, Axes const& axes,
                                std::source_location place = std::source_location::current()) const;
};
/// The whole of a dimension, in a slice; and the reduction: u(all, 3), all(u > 0).
inline constexpr All all{};

/// `newaxis` in a slice adds a dimension of one cell, which broadcasts: NumPy's None.
struct NewAxis {};
/// The new dimension of a slice: u(newaxis, all).
inline constexpr NewAxis newaxis{};

/// What may stand in a slice: a Range, `all`, an integer, which drops the dimension, or `newaxis`.
template <class S>
concept Selector = std::same_as<S, Range> || std::same_as<S, All> || std::same_as<S, NewAxis> ||
    (std::integral<S> && !std::same_as<S, bool>);

namespace detail {

/// The dimensions that remain: those not selected by an integer, and the new ones.
template <class... S>
inline constexpr std::size_t kept_dimensions = (std::size_t{std::integral<S> ? 0U : 1U} + ... + 0U);

/// The dimensions that are selected from.
template <class... S>
inline constexpr std::size_t selected_dimensions =
    (std::size_t{std::same_as<S, NewAxis> ? 0U : 1U} + ... + 0U);

/// A selector applied to a dimension of `extent` cells.
struct Selected {
  bool kept;
  ResolvedRange range;
};
[[nodiscard]] inline Selected select(Range const& range, std::int64_t extent, std::size_t) {
  auto const [first, step, count] = range.resolve(extent);
  return {true, {first, count <= 1 ? 1 : step, count}};  // one cell is the same with any step
}
[[nodiscard]] inline Selected select(All, std::int64_t extent, std::size_t) {
  return {true, {0, 1, extent}};
}
[[nodiscard]] inline Selected select(std::integral auto index, std::int64_t extent,
                                     std::size_t dimension) {
  return {false, {resolve_index(static_cast<std::int64_t>(index), extent, dimension), 1, 1}};
}

}  // namespace detail
}  // namespace tessera
