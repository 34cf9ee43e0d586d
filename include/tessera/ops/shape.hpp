#pragma once
/// @file
/// Arrays assembled from others, and arrays of another shape: NumPy's concatenate, stack, repeat,
/// pad and reshape. transpose and flip, which need no new array, are in array/rearrange.hpp.

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <source_location>
#include <span>

#include "tessera/array/dist_array.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

namespace tessera {

/// Which axis a function works along, with the place of the call. Made of a number.
struct Axis {
  std::int64_t number;
  SourceLocation location;
  Axis(std::int64_t n,  // NOLINT: a number is an axis
       std::source_location at = std::source_location::current())
      : number(n), location(at) {}
};

namespace detail {

/// Widens `shape` by the extent of `other` along `axis`.
/// Throws: ShapeError if they differ along another axis; `what` names the function.
void join_shape(Shape& shape, Shape const& other, std::size_t axis, char const* what);
/// Throws: ShapeError without any arrays.
void check_any(std::int64_t count, char const* what);
/// Throws: ShapeError if the shapes differ.
void check_same_shape(Shape const& shape, Shape const& other, char const* what);
/// Makes an extent `count` times as long.
/// Throws: ShapeError if `count` is negative or the number of cells overflows.
void repeat_extent(std::int64_t& extent, std::int64_t count);
/// The sharding of a new array of `shape`; UsageError if the arrays lie on different meshes.
[[nodiscard]] NamedSharding sharding_of_joined(Anchor const& anchor, Shape const& shape,
                                               char const* what);
/// Inserts at `axis` a dimension that the anchor's statement does not have.
void add_dimension(Anchor& anchor, std::size_t axis);
/// The extents with `low` and `high` cells more.
/// Throws: ShapeError if one is negative, their number is wrong, or there is no cell to repeat.
void pad_extents(std::span<std::int64_t> extents, std::span<std::int64_t const> low,
                 std::span<std::int64_t const> high, std::span<Boundaries const> boundaries);
/// New cells of another shape, in the same row-major order. One extent may be -1.
[[nodiscard]] StatePtr reshaped(StatePtr const& from, Shape const& shape,
                                SourceLocation const& location);

/// Offers the operands of an expression to the anchor, in the expression's own dimensions.
template <Expression E>
void offer_operands(E const& e, Anchor& anchor) {
  auto const node = as_node(e);
  IndexSpace<E::rank> const space(node.extents());
  find_anchor(node, AccessBuilder(space.box().hi, E::rank), anchor);
}

template <class A, class... B>
struct PromotedAll {
  using type = A;
};
template <class A, class B, class... C>
struct PromotedAll<A, B, C...> {
  using type = typename PromotedAll<promoted<A, B>, C...>::type;
};
template <Expression... E>
using element_of_all = typename PromotedAll<typename E::value_type...>::type;

/// A new array of `shape`, placed like the anchor.
template <Element T, std::size_t N>
[[nodiscard]] ResultArray<T, N> make_joined(Anchor const& anchor, Shape const& shape,
                                            char const* what) {
  return ResultArray<T, N>(shape, sharding_of_joined(anchor, shape, what));
}

/// concatenate; each(f) calls f for each of the arrays, which are of N dimensions.
template <Element T, std::size_t N, class Each>
[[nodiscard]] ResultArray<T, N> concatenated(Axis axis, Each const& each) {
  auto const d = resolve_axis(axis.number, N);
  Shape shape;
  Anchor anchor;
  each([&](auto const& part) {
    if (shape.empty())
      shape = shape_of(part);
    else
      join_shape(shape, shape_of(part), d, "concatenate");
    offer_operands(part, anchor);
  });
  check_any(std::ssize(shape), "concatenate");
  auto result = make_joined<T, N>(anchor, shape, "concatenate");
  std::int64_t first = 0;
  each([&](auto const& part) {
    auto const count = shape_of(part)[d];
    narrowed(result.view(axis.location), d, {first, 1, count}) = part;
    first += count;
  });
  return result;
}

/// The same for stack.
template <Element T, std::size_t N, class Each>
[[nodiscard]] ResultArray<T, N + 1> stacked(Axis axis, Each const& each) {
  auto const d = resolve_axis(axis.number, N + 1);
  Shape of_one;
  Anchor anchor;
  std::int64_t count = 0;
  each([&](auto const& part) {
    if (count++ == 0) of_one = shape_of(part);
    check_same_shape(of_one, shape_of(part), "stack");
    offer_operands(part, anchor);
  });
  check_any(count, "stack");
  add_dimension(anchor, d);
  Shape shape(of_one.begin(), of_one.begin() + d);
  shape.push_back(count);
  for (auto k = d; k < of_one.size(); ++k) shape.push_back(of_one[k]);
  auto result = make_joined<T, N + 1>(anchor, shape, "stack");
  std::int64_t next = 0;
  each([&](auto const& part) { layer(result.view(axis.location), d, next++) = part; });
  return result;
}

/// A range of arrays, views or expressions of one type: a vector, a span.
template <class Parts>
concept RangeOfExpressions =
    std::ranges::forward_range<Parts const> && Expression<std::ranges::range_value_t<Parts const>>;

template <class B, class E>
[[nodiscard]] auto make_padded(E const& e, std::span<std::int64_t const> low,
                               std::span<std::int64_t const> high,
                               std::span<Boundaries const> boundaries,
                               SourceLocation const& location) {
  auto const extents = e.extents();
  auto shown = extents;
  pad_extents(shown, low, high, boundaries);
  std::array<std::int64_t, E::rank> offsets;
  for (std::size_t d = 0; d < E::rank; ++d) offsets[d] = -low[d];
  return make_shift<B>(e, {offsets, boundaries, extents, shown, location});
}

}  // namespace detail

/// The arrays one after the other along an existing axis: NumPy's concatenate. Given one by one, or
/// as a vector or a span.
///
/// Shapes:  equal except for that axis. Types are promoted as by +.
/// Ranks:   collective: one statement per array.
/// Throws:  ShapeError, also without any array; UsageError if they lie on different meshes.
/// Cost:    the result lies as the first of them that is cut, its sizes cut again by the same rule;
///          each device is sent the cells it lacks.
/// Example: concatenate(0, u, v) has v's rows below u's; -1 is the last axis.
template <Expression A, Expression... B>
requires(((A::rank == B::rank) && ...) && A::rank > 0)
    [[nodiscard]] auto concatenate(Axis axis, A const& a, B const&... b) {
  return detail::concatenated<detail::element_of_all<A, B...>, A::rank>(axis, [&](auto const& f) {
    f(a);
    (f(b), ...);
  });
}
template <detail::RangeOfExpressions Parts>
[[nodiscard]] auto concatenate(Axis axis, Parts const& parts) {
  using E = std::ranges::range_value_t<Parts const>;
  return detail::concatenated<typename E::value_type, E::rank>(
      axis, [&](auto const& f) { std::ranges::for_each(parts, f); });
}

/// The arrays side by side along a new axis, which counts them: NumPy's stack. Given one by one, or
/// as a vector or a span.
///
/// Shapes:  all equal; the result has one dimension more, `axis` of it.
/// Ranks:   collective: one statement per array.
/// Throws:  ShapeError, also without any array; UsageError if they lie on different meshes.
/// Cost:    as concatenate; the new axis is not cut.
template <Expression A, Expression... B>
requires((A::rank == B::rank) && ...)
    [[nodiscard]] auto stack(Axis axis, A const& a, B const&... b) {
  return detail::stacked<detail::element_of_all<A, B...>, A::rank>(axis, [&](auto const& f) {
    f(a);
    (f(b), ...);
  });
}
template <detail::RangeOfExpressions Parts>
[[nodiscard]] auto stack(Axis axis, Parts const& parts) {
  using E = std::ranges::range_value_t<Parts const>;
  return detail::stacked<typename E::value_type, E::rank>(
      axis, [&](auto const& f) { std::ranges::for_each(parts, f); });
}

/// Each cell `count` times along an axis: NumPy's repeat.
///
/// Ranks:   collective: as many statements as the axis has cells, or `count` if that is less.
/// Throws:  ShapeError for a negative count or a missing axis.
/// Cost:    the result lies as u, its sizes cut again by the same rule.
/// Example: repeat(u, 2, 0) of 1 2 3 is 1 1 2 2 3 3.
template <detail::Viewable E>
requires(E::rank > 0)
    [[nodiscard]] auto repeat(E const& u, std::int64_t count, std::int64_t axis,
                              std::source_location at = std::source_location::current()) {
  auto const d = detail::resolve_axis(axis, E::rank);
  auto const view = u.view(at);
  auto shape = view.shape();
  auto const extent = shape[d];
  detail::repeat_extent(shape[d], count);
  detail::Anchor anchor;
  detail::offer_operands(view, anchor);
  auto result = detail::make_joined<typename E::value_type, E::rank>(anchor, shape, "repeat");
  auto const all_of = result.view(at);
  if (count <= extent)
    for (std::int64_t k = 0; k < count; ++k) detail::narrowed(all_of, d, {k, count, extent}) = view;
  else
    for (std::int64_t i = 0; i < extent; ++i)
      detail::narrowed(all_of, d, {i * count, 1, count}) = detail::narrowed(view, d, {i, 1, 1});
  return result;
}

/// The array with `low` additional cells in front and `high` behind along each dimension, filled by
/// its boundaries: NumPy's pad. An expression: one statement, no temporary. As for shift, the
/// constant past the edge of an expression is selected cell by cell.
///
/// Shapes:  one number per dimension, or one for all; one boundary for all dimensions, or a list of
///          one per dimension, as for shift. In a corner the last dimension decides.
/// Throws:  ShapeError for a negative number, or if there is no cell to repeat; UsageError for a
///          boundary periodic on one side only.
/// Example: pad(u, {1, 0}, {1, 2}, constant(0)) has a row more above and below and two columns more
///          on the right.
template <Expression E, detail::AnyBoundary B = Boundaries>
[[nodiscard]] auto pad(E const& u, std::initializer_list<std::int64_t> low,
                       std::initializer_list<std::int64_t> high, B const& boundary,
                       std::source_location at = std::source_location::current()) {
  Boundaries const both(boundary);
  return detail::make_padded<B>(u, {low.begin(), low.size()}, {high.begin(), high.size()},
                                {&both, 1}, at);
}
template <Expression E>
[[nodiscard]] auto pad(E const& u, std::initializer_list<std::int64_t> low,
                       std::initializer_list<std::int64_t> high,
                       std::initializer_list<Boundaries> boundaries,
                       std::source_location at = std::source_location::current()) {
  return detail::make_padded<Boundaries>(u, {low.begin(), low.size()}, {high.begin(), high.size()},
                                         {boundaries.begin(), boundaries.size()}, at);
}
template <Expression E, detail::AnyBoundary B = Boundaries>
[[nodiscard]] auto pad(E const& u, std::int64_t low, std::int64_t high, B const& boundary,
                       std::source_location at = std::source_location::current()) {
  std::array<std::int64_t, E::rank> below;
  std::array<std::int64_t, E::rank> above;
  below.fill(low);
  above.fill(high);
  Boundaries const both(boundary);
  return detail::make_padded<B>(u, below, above, {&both, 1}, at);
}

/// A new array with the same cells in row-major order in another shape; one extent may be -1, and
/// is then computed. NumPy's reshape, except that it never shares cells.
///
/// Ranks:   collective; waits.
/// Throws:  ShapeError if the shapes have not equally many cells.
/// Cost:    dimensions that are split or fused are cut by all their mesh axes along the first of
///          them, in whole rows of the others. Nothing is sent if the dimensions are not cut, or
///          are already cut in this way, by any rule; otherwise cells are sent to the device of
///          their row. If dimensions are fused and split again (6 x 4 to 8 x 3), the same happens
///          again for the rows of the new shape.
/// Example: reshape(u, {3, -1}) of 12 cells is 3 x 4. Rows of 5 cells under cyclic(2) become one
///          dimension under cyclic(10), and that becomes rows under cyclic(2).
template <Element T, std::size_t N, std::size_t M>
[[nodiscard]] ResultArray<T, M> reshape(DistArray<T, N> const& u, std::int64_t const (&shape)[M],
                                        std::source_location at = std::source_location::current()) {
  return ResultArray<T, M>(detail::reshaped(u.readable(), Shape(shape, shape + M), at));
}
template <Expression E, std::size_t M>
[[nodiscard]] auto reshape(E const& e, std::int64_t const (&shape)[M],
                           std::source_location at = std::source_location::current()) {
  return reshape(DistArray<typename E::value_type, E::rank>(e), shape, at);
}

}  // namespace tessera
