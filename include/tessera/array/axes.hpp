#pragma once
/// @file
/// The dimensions that a reduction removes: sum(u, axis(0, 2)).

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

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

}  // namespace tessera
