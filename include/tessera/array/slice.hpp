#pragma once
/// @file
/// The arguments of u(...): ranges, whole dimensions, single indices and new dimensions.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>

#include "tessera/array/element.hpp"
#include "tessera/base/source.hpp"
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

/// The number of the loop's step in which a statement is computed, counted from 0. The body of
/// `iterate` receives it; it is the only number that may change from step to step.
///
/// In a slice it is an integer: u(t, all) is another row in every step.
///
/// Shapes:  no dimensions; an expression of std::int64_t.
/// Example: iterate(100, [&](Step t) { u = u + 0.1 * t; });
class Step : public ExpressionBase {
 public:
  using value_type = std::int64_t;
  static constexpr std::size_t rank = 0;

  explicit Step(std::int64_t number) : number_(number) {}

  [[nodiscard]] std::array<std::int64_t, 0> extents() const { return {}; }
  [[nodiscard]] SourceLocation location() const { return {}; }
  /// The number for the statement that is being built; a replay does not use it.
  [[nodiscard]] std::int64_t number() const { return number_; }

 private:
  std::int64_t number_;
};

namespace detail {
/// The number of a step and some more: t + 2, t - 1.
struct LaterStep : ExpressionBase {
  using value_type = std::int64_t;
  static constexpr std::size_t rank = 0;

  Step step;
  std::int64_t plus;

  LaterStep(Step const& from, std::int64_t more) : step(from), plus(more) {}
  [[nodiscard]] std::array<std::int64_t, 0> extents() const { return {}; }
  [[nodiscard]] SourceLocation location() const { return {}; }
  [[nodiscard]] std::int64_t number() const { return step.number() + plus; }
};

template <class S>
concept Integer = std::integral<S> && !std::same_as<S, bool>;
/// An integer of the loop.
template <class S>
concept StepNumber = std::same_as<S, Step> || std::same_as<S, LaterStep>;
}  // namespace detail

/// The number of a step and an integer: an expression, or the integer in a slice, u(t + 1, all).
[[nodiscard]] inline detail::LaterStep operator+(Step step, detail::Integer auto plus) {
  return {step, static_cast<std::int64_t>(plus)};
}
[[nodiscard]] inline detail::LaterStep operator+(detail::Integer auto plus, Step step) {
  return {step, static_cast<std::int64_t>(plus)};
}
[[nodiscard]] inline detail::LaterStep operator-(Step step, detail::Integer auto less) {
  return {step, -static_cast<std::int64_t>(less)};
}

/// What may stand in a slice: a Range, `all`, an integer or the number of a step, which drop the
/// dimension, or `newaxis`.
template <class S>
concept Selector = std::same_as<S, Range> || std::same_as<S, All> || std::same_as<S, NewAxis> ||
    detail::Integer<S> || detail::StepNumber<S>;

namespace detail {

/// The dimensions that remain: those not selected by an integer, and the new ones.
template <class... S>
inline constexpr std::size_t kept_dimensions = (std::size_t{Integer<S> || StepNumber<S> ? 0U : 1U} +
                                                ... + 0U);

/// The dimensions that are selected from.
template <class... S>
inline constexpr std::size_t selected_dimensions =
    (std::size_t{std::same_as<S, NewAxis> ? 0U : 1U} + ... + 0U);

/// A selector applied to a dimension of `extent` cells.
struct Selected {
  bool kept;
  ResolvedRange range;
  std::int64_t per_step = 0;  ///< by how many cells an integer grows in each step of the loop
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
[[nodiscard]] inline Selected select(StepNumber auto const& step, std::int64_t extent,
                                     std::size_t dimension) {
  auto result = select(step.number(), extent, dimension);
  result.per_step = 1;
  return result;
}

}  // namespace detail
}  // namespace tessera
