#pragma once
/// @file
/// The dimensions that a reduction removes: sum(u, axis(0, 2)).

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tessera {

/// Dimensions of an expression to be reduced: made by `axis`.
template <std::size_t K, bool keep = false>
class Axes {
 public:
  static constexpr std::size_t size = K;
  static constexpr bool keeps_dimensions = keep;

  explicit constexpr Axes(std::array<std::int64_t, K> const& numbers) : numbers_(numbers) {}

  /// The same dimensions, kept with one cell each, so that the result broadcasts against the
  /// operand.
  [[nodiscard]] constexpr Axes<K, true> keep_dimensions() const { return Axes<K, true>(numbers_); }
  [[nodiscard]] std::span<std::int64_t const> numbers() const { return numbers_; }

 private:
  std::array<std::int64_t, K> numbers_;
};

/// Dimensions by number; negative ones count from the end. Those that do not exist or are named
/// twice throw ShapeError where they are used.
/// Example: sum(u, axis(-1)) adds along the last dimension, sum(u, axis(0, 2)) along two.
template <class... D>
requires(sizeof...(D) >= 1 && (std::integral<D> && ...))
    [[nodiscard]] constexpr auto axis(D... numbers) {
  std::array<std::int64_t, sizeof...(D)> const list{static_cast<std::int64_t>(numbers)...};
  return Axes<sizeof...(D)>(list);
}

namespace detail {

/// A set of dimensions: bit d for dimension d.
using DimensionSet = std::uint32_t;
[[nodiscard]] constexpr bool has_dimension(DimensionSet set, std::size_t d) {
  return ((set >> d) & 1U) != 0;
}

/// Throws: ShapeError if there is no such axis. Negative ones count from the end.
[[nodiscard]] std::size_t resolve_axis(std::int64_t axis, std::size_t rank);
/// Throws: ShapeError if a dimension does not exist or is named twice.
[[nodiscard]] DimensionSet resolve_axes(std::span<std::int64_t const> numbers, std::size_t rank);

}  // namespace detail
}  // namespace tessera
