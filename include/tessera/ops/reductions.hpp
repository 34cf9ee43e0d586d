#pragma once
/// @file
/// Whole arrays and expressions to one value, or along some dimensions to a smaller array: the same
/// bits for any number of devices.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <source_location>
#include <type_traits>

#include "tessera/expr/assign.hpp"
#include "tessera/expr/fold.hpp"
#include "tessera/expr/operators.hpp"
#include "tessera/expr/reduce.hpp"
#include "tessera/ops/accumulators.hpp"

namespace tessera {
namespace detail {

/// Throws: ShapeError if the expression has no cells.
template <class Node>
void check_not_empty(Node const& node, char const* kind) {
  auto const extents = node.extents();
  Shape const shape(extents.begin(), extents.end());
  if (cells_of(shape) == 0)
    throw ShapeError(text(kind, " of an array of shape ", shape, ", which has no cells"));
}
/// Throws: ShapeError if a cell of the result has no terms.
template <class Node, std::size_t K, bool keep>
void check_not_empty(Node const& node, Axes<K, keep> const& axes, char const* kind) {
  auto const extents = node.extents();
  Shape const shape(extents.begin(), extents.end());
  auto const reduced = resolve_axes(axes.numbers(), Node::rank);
  std::int64_t results = 1;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (!has_dimension(reduced, d)) results *= shape[d];
  if (count_terms(shape, reduced) == 0 && results != 0)
    throw ShapeError(text(kind, " of an array of shape ", shape, " along ",
                          join(axes.numbers(), "axis(", ")"), ", which has no cells"));
}

/// How many cells one value is made of.
template <class Node>
[[nodiscard]] double terms_of(Node const& node) {
  auto const extents = node.extents();
  return static_cast<double>(cells_of(Shape(extents.begin(), extents.end())));
}
template <class Node, std::size_t K, bool keep>
[[nodiscard]] double terms_of(Node const& node, Axes<K, keep> const& axes) {
  auto const extents = node.extents();
  return static_cast<double>(
      count_terms(Shape(extents.begin(), extents.end()), resolve_axes(axes.numbers(), Node::rank)));
}
/// What NumPy divides a sum of squares by: never less than zero.
[[nodiscard]] inline double degrees_of_freedom(double terms, std::int64_t ddof) {
  return std::max(terms - static_cast<double>(ddof), 0.0);
}

struct Square {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return a * a;
  }
};

/// The squares of the differences from a mean, computed in double.
template <class Node, class Mean>
[[nodiscard]] auto squared_differences(Node const& node, Mean const& mean) {
  using Difference = BinaryNode<Subtract, double, Node, Mean>;
  return UnaryNode<Square, double, Difference>(Difference(node, mean));
}

/// A cell as a term that depends on its row-major index.
template <class Inner, class Make>
struct IndexedKernel {
  Inner inner;
  std::int64_t strides[max_rank];
  template <bool unit>
  [[nodiscard]] auto row(RowPlace const& place) const {
    auto const rank = place.call().extents->size();
    std::int64_t start = 0;
    for (std::size_t d = 0; d < rank; ++d) start += place.index(d) * strides[d];
    auto const step = strides[rank - 1];
    auto const cells = inner.template row<unit>(place);
    return [=](std::int64_t j) { return Make::apply(start + step * j, cells(j)); };
  }
};
template <class Inner, class Make>
void note_constants(IndexedKernel<Inner, Make> const& kernel, std::byte const* start,
                    Statement& statement) {
  note_constants(kernel.inner, start, statement);
}

/// An expression whose cells are told their index.
template <class Inner, class Make>
struct IndexedNode : ExpressionBase {
  using value_type = decltype(Make::apply(std::int64_t{}, typename Inner::value_type{}));
  static constexpr std::size_t rank = Inner::rank;
  Inner inner;
  Index strides;  ///< from one cell's number to the next, per dimension
  IndexedNode(Inner of, Index const& s) : inner(std::move(of)), strides(s) {}
  [[nodiscard]] auto extents() const { return inner.extents(); }
};
template <class Inner, class Make>
void find_anchor(IndexedNode<Inner, Make> const& node, Builder const& builder, Anchor& anchor) {
  find_anchor(node.inner, builder, anchor);
}
template <class Inner, class Make>
[[nodiscard]] auto make_kernel(IndexedNode<Inner, Make> const& node, Builder& builder) {
  auto const inner = make_kernel(node.inner, builder);
  IndexedKernel<std::remove_cv_t<decltype(inner)>, Make> kernel{inner, {}};
  for (std::size_t d = 0; d < node.strides.size(); ++d) kernel.strides[d] = node.strides[d];
  return kernel;
}

struct WithIndex {
  template <class T>
  TESSERA_FUNCTION static Indexed<T> apply(std::int64_t index, T value) {
    return {value, index};
  }
};
/// A term of the hash.
struct MixedWithIndex {
  template <class T>
  static std::uint64_t apply(std::int64_t index, T const& value) {
    return mix(static_cast<std::uint64_t>(index), bits_of(value));
  }
};

template <class Make, class Node>
[[nodiscard]] auto with_flat_index(Node const& node) {
  auto const extents = node.extents();
  return IndexedNode<Node, Make>(node, row_major_strides(Shape(extents.begin(), extents.end())));
}
template <class Node, bool keep>
[[nodiscard]] auto with_index_along(Node const& node, Axes<1, keep> const& axes) {
  auto const reduced = resolve_axes(axes.numbers(), Node::rank);
  Index strides(Node::rank, 0);
  for (std::size_t d = 0; d < Node::rank; ++d) strides[d] = has_dimension(reduced, d) ? 1 : 0;
  return IndexedNode<Node, WithIndex>(node, strides);
}

template <class E>
using mean_type = floating_of<typename E::value_type>;

}  // namespace detail

/// Asks for a sum that may differ in its last bits when the number of devices changes.
struct Fast {};
inline constexpr Fast fast{};

/// Infinity, as the order of a norm.
inline constexpr double inf = std::numeric_limits<double>::infinity();

// All of these take an array, a slice or any expression, and make no temporary of it.
//
// Ranks:  collective; every process gets the value. The operand is read at the call; nobody waits
//         but who converts a Scalar to a number.
// Shapes: without axes, all cells to one Scalar. With axis(…), a new array of the remaining
//         dimensions that lies as the operand does without the reduced ones, or a Scalar if none
//         remain; axis(…).keep_dimensions() leaves one cell in each.
// Throws: ShapeError for axes that do not exist or are named twice; UsageError if the expression
//         reads no array; ShardingError where the smaller array cannot be cut as the operand is.
// Cost:   one value up and down a tree of the devices. With axes: nothing is sent where the reduced
//         dimensions are not cut; else one accumulator (at most 64 bytes) per device and cell of
//         its part.

/// The sum: exact for integers (modulo 2^64), order-independent for floating types and at least as
/// accurate as adding in pairs. Float stays float; integers and bool become 64 bits wide. A sum of
/// nothing is 0.
/// Source: Demmel & Nguyen, Parallel Reproducible Summation (2015).
template <Expression E>
[[nodiscard]] auto sum(E const& e, std::source_location at = std::source_location::current()) {
  return detail::reduce<detail::SumOf<typename E::value_type>>(detail::as_node(e), "sum", at);
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto sum(E const& e, Axes<K, keep> const& axes,
                       std::source_location at = std::source_location::current()) {
  return detail::reduce_over<detail::SumOf<typename E::value_type>>(detail::as_node(e), axes, "sum",
                                                                    at);
}
/// The sum as each device's terms come, then over the devices: the last bits of a floating sum
/// depend on how the array is cut.
template <Expression E>
[[nodiscard]] auto sum(E const& e, Fast,
                       std::source_location at = std::source_location::current()) {
  using T = typename E::value_type;
  using A = std::conditional_t<std::is_floating_point_v<T>, detail::FastSum<T>, detail::SumOf<T>>;
  return detail::reduce<A>(detail::as_node(e), "sum", at);
}

/// The product. Integers multiply exactly modulo 2^64, and become 64 bits wide. A floating product
/// is kept with twice the digits and rounded once, so that it is the exact product correctly
/// rounded but for a chance of n * 2^-49, in which its last bit may depend on the number of
/// devices; only the whole product overflows, never a part of it. A product of nothing is 1.
template <Expression E>
[[nodiscard]] auto prod(E const& e, std::source_location at = std::source_location::current()) {
  return detail::reduce<detail::ProductOf<typename E::value_type>>(detail::as_node(e), "prod", at);
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto prod(E const& e, Axes<K, keep> const& axes,
                        std::source_location at = std::source_location::current()) {
  return detail::reduce_over<detail::ProductOf<typename E::value_type>>(detail::as_node(e), axes,
                                                                        "prod", at);
}

/// The smallest element; NaN if there is one. A zero is +0.
/// Throws: ShapeError if there are no cells.
template <Expression E>
[[nodiscard]] auto min(E const& e, std::source_location at = std::source_location::current()) {
  auto const node = detail::as_node(e);
  detail::check_not_empty(node, "min");
  return detail::reduce<detail::Extreme<typename E::value_type, detail::Minimum>>(node, "min", at);
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto min(E const& e, Axes<K, keep> const& axes,
                       std::source_location at = std::source_location::current()) {
  auto const node = detail::as_node(e);
  detail::check_not_empty(node, axes, "min");
  using A = detail::Extreme<typename E::value_type, detail::Minimum>;
  return detail::reduce_over<A>(node, axes, "min", at);
}

/// The largest element; NaN if there is one. A zero is +0.
/// Throws: ShapeError if there are no cells.
template <Expression E>
[[nodiscard]] auto max(E const& e, std::source_location at = std::source_location::current()) {
  auto const node = detail::as_node(e);
  detail::check_not_empty(node, "max");
  return detail::reduce<detail::Extreme<typename E::value_type, detail::Maximum>>(node, "max", at);
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto max(E const& e, Axes<K, keep> const& axes,
                       std::source_location at = std::source_location::current()) {
  auto const node = detail::as_node(e);
  detail::check_not_empty(node, axes, "max");
  using A = detail::Extreme<typename E::value_type, detail::Maximum>;
  return detail::reduce_over<A>(node, axes, "max", at);
}

/// The sum, as `sum` makes it in double, over the number of cells. Float stays float, all other
/// types become double. A mean of nothing is NaN.
template <Expression E>
[[nodiscard]] auto mean(E const& e, std::source_location at = std::source_location::current()) {
  using A = detail::FloatingSum<detail::mean_type<E>, detail::Divided>;
  auto const node = detail::as_node(e);
  return detail::reduce<A>(node, "mean", at, detail::terms_of(node));
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto mean(E const& e, Axes<K, keep> const& axes,
                        std::source_location at = std::source_location::current()) {
  using A = detail::FloatingSum<detail::mean_type<E>, detail::Divided>;
  auto const node = detail::as_node(e);
  return detail::reduce_over<A>(node, axes, "mean", at, detail::terms_of(node, axes));
}

namespace detail {

/// The mean in double first, then the squared differences from it: two ways through the cells.
template <class Finish, class Node>
[[nodiscard]] auto spread_of(Node const& node, char const* kind, std::int64_t ddof,
                             Place const& place) {
  auto const terms = terms_of(node);
  auto const middle = reduce<FloatingSum<double, Divided>>(node, kind, place, terms);
  using A = FloatingSum<mean_type<Node>, Finish>;
  return reduce<A>(squared_differences(node, middle), kind, place, degrees_of_freedom(terms, ddof));
}
template <class Finish, class Node, std::size_t K, bool keep>
[[nodiscard]] auto spread_of(Node const& node, Axes<K, keep> const& axes, char const* kind,
                             std::int64_t ddof, Place const& place) {
  auto const terms = terms_of(node, axes);
  auto const middle =
      reduce_over<FloatingSum<double, Divided>>(node, axes.keep_dimensions(), kind, place, terms);
  using A = FloatingSum<mean_type<Node>, Finish>;
  return reduce_over<A>(squared_differences(node, as_node(middle)), axes, kind, place,
                        degrees_of_freedom(terms, ddof));
}

}  // namespace detail

/// The mean of the squared differences from the mean, which is divided by the number of cells less
/// `ddof` (0 at the least). Computed in double; float stays float, all other types become double.
/// Cost: twice that of `mean`.
template <Expression E>
[[nodiscard]] auto var(E const& e, std::int64_t ddof = 0,
                       std::source_location at = std::source_location::current()) {
  return detail::spread_of<detail::Divided>(detail::as_node(e), "var", ddof, at);
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto var(E const& e, Axes<K, keep> const& axes, std::int64_t ddof = 0,
                       std::source_location at = std::source_location::current()) {
  return detail::spread_of<detail::Divided>(detail::as_node(e), axes, "var", ddof, at);
}

/// The root of the variance: NumPy's std.
template <Expression E>
[[nodiscard]] auto stddev(E const& e, std::int64_t ddof = 0,
                          std::source_location at = std::source_location::current()) {
  return detail::spread_of<detail::RootOfDivided>(detail::as_node(e), "stddev", ddof, at);
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto stddev(E const& e, Axes<K, keep> const& axes, std::int64_t ddof = 0,
                          std::source_location at = std::source_location::current()) {
  return detail::spread_of<detail::RootOfDivided>(detail::as_node(e), axes, "stddev", ddof, at);
}

/// True if any element is not zero; false where there are none.
template <Expression E>
[[nodiscard]] Scalar<bool> any(E const& e,
                               std::source_location at = std::source_location::current()) {
  return detail::reduce<detail::AnyTrue>(detail::as_node(e), "any", at);
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto any(E const& e, Axes<K, keep> const& axes,
                       std::source_location at = std::source_location::current()) {
  return detail::reduce_over<detail::AnyTrue>(detail::as_node(e), axes, "any", at);
}

/// True if no element is zero, also where there are none: `all(e)` and `all(e, axis(0))`.
template <Expression E>
[[nodiscard]] Scalar<bool> reduce_all(E const& e, Place const& place) {
  return detail::reduce<detail::AllTrue>(detail::as_node(e), "all", place);
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto reduce_all(E const& e, Axes<K, keep> const& axes, Place const& place) {
  return detail::reduce_over<detail::AllTrue>(detail::as_node(e), axes, "all", place);
}

/// How many elements are not zero, as int64: count(u > 1).
template <Expression E>
[[nodiscard]] Scalar<std::int64_t> count(
    E const& e, std::source_location at = std::source_location::current()) {
  return detail::reduce<detail::CountTrue>(detail::as_node(e), "count", at);
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto count(E const& e, Axes<K, keep> const& axes,
                         std::source_location at = std::source_location::current()) {
  return detail::reduce_over<detail::CountTrue>(detail::as_node(e), axes, "count", at);
}

/// The row-major number of the smallest element, as int64: the first of equal ones (-0 and +0 are
/// equal), the first NaN if there is one. Along an axis: the index along it.
/// Throws: ShapeError if there are no cells.
template <Expression E>
[[nodiscard]] Scalar<std::int64_t> argmin(
    E const& e, std::source_location at = std::source_location::current()) {
  auto const node = detail::as_node(e);
  detail::check_not_empty(node, "argmin");
  return detail::reduce<detail::ArgExtreme<typename E::value_type, detail::Less>>(
      detail::with_flat_index<detail::WithIndex>(node), "argmin", at);
}
template <Expression E, bool keep>
[[nodiscard]] auto argmin(E const& e, Axes<1, keep> const& axes,
                          std::source_location at = std::source_location::current()) {
  auto const node = detail::as_node(e);
  detail::check_not_empty(node, axes, "argmin");
  return detail::reduce_over<detail::ArgExtreme<typename E::value_type, detail::Less>>(
      detail::with_index_along(node, axes), axes, "argmin", at);
}

/// The row-major number of the largest element, as int64; otherwise as `argmin`.
/// Throws: ShapeError if there are no cells.
template <Expression E>
[[nodiscard]] Scalar<std::int64_t> argmax(
    E const& e, std::source_location at = std::source_location::current()) {
  auto const node = detail::as_node(e);
  detail::check_not_empty(node, "argmax");
  return detail::reduce<detail::ArgExtreme<typename E::value_type, detail::Greater>>(
      detail::with_flat_index<detail::WithIndex>(node), "argmax", at);
}
template <Expression E, bool keep>
[[nodiscard]] auto argmax(E const& e, Axes<1, keep> const& axes,
                          std::source_location at = std::source_location::current()) {
  auto const node = detail::as_node(e);
  detail::check_not_empty(node, axes, "argmax");
  return detail::reduce_over<detail::ArgExtreme<typename E::value_type, detail::Greater>>(
      detail::with_index_along(node, axes), axes, "argmax", at);
}

/// The sum of the products of equal cells, in the type of a sum of the promoted type. Floating
/// products are rounded to double (of two floats they are exact), then summed as `sum` does.
/// Shapes: equal, of any number of dimensions.
/// Throws: ShapeError, with both shapes.
template <Expression A, Expression B>
[[nodiscard]] auto dot(A const& a, B const& b,
                       std::source_location at = std::source_location::current()) {
  static_assert(A::rank == B::rank, "dot takes two operands of equal shape");
  using T = detail::sum_type<detail::promoted<typename A::value_type, typename B::value_type>>;
  using C = std::conditional_t<std::is_floating_point_v<T>, double, T>;
  auto const first = detail::as_node(a);
  auto const second = detail::as_node(b);
  auto const of_first = first.extents();
  auto const of_second = second.extents();
  if (of_first != of_second)
    throw ShapeError(text("dot of shapes ", Shape(of_first.begin(), of_first.end()), " and ",
                          Shape(of_second.begin(), of_second.end()), ", which must be equal"));
  using Product = detail::BinaryNode<detail::Multiply, C, detail::node_of<A>, detail::node_of<B>>;
  return detail::reduce<detail::SumOf<T>>(Product(first, second), "dot", at);
}

/// The root of the sum of squares. Computed in double, where a square beyond its range is infinity;
/// float stays float, all other types become double.
template <Expression E>
[[nodiscard]] auto norm(E const& e, std::source_location at = std::source_location::current()) {
  using Squares = detail::UnaryNode<detail::Square, double, detail::node_of<E>>;
  using A = detail::FloatingSum<detail::mean_type<E>, detail::Root>;
  return detail::reduce<A>(Squares(detail::as_node(e)), "norm", at);
}
/// The norm of order 1 (the sum of magnitudes), 2, or `inf` (the largest magnitude).
/// Throws: UsageError for another order; ShapeError for order `inf` if there are no cells.
template <Expression E>
[[nodiscard]] auto norm(E const& e, double order,
                        std::source_location at = std::source_location::current()) {
  using T = detail::mean_type<E>;
  if (order == 2) return norm(e, at);
  auto const node = detail::as_node(e);
  if (order == 1) {
    using Magnitudes = detail::UnaryNode<detail::Absolute, double, detail::node_of<E>>;
    return detail::reduce<detail::FloatingSum<T>>(Magnitudes(node), "norm", at);
  }
  if (order != inf) throw UsageError(text("a norm of order ", order, "; there are 1, 2 and inf"));
  detail::check_not_empty(node, "norm");
  using Magnitudes = detail::UnaryNode<detail::Absolute, T, detail::node_of<E>>;
  return detail::reduce<detail::Extreme<T, detail::Maximum>>(Magnitudes(node), "norm", at);
}

/// True if shapes and all elements are equal, wherever they lie.
/// Ranks: collective; waits.
template <Element T, std::size_t N>
[[nodiscard]] bool all_equal(DistArray<T, N> const& u, DistArray<T, N> const& v,
                             std::source_location at = std::source_location::current()) {
  if (u.shape() != v.shape()) return false;
  return reduce_all(u == v, at);
}

/// One number to compare two runs by: the sum of mix(i, bits of element i) modulo 2^64 over the
/// global row-major index i. Equal for any sharding and any number of devices. Ranks: collective;
/// waits. Elements have at most 8 bytes.
template <Element T, std::size_t N>
[[nodiscard]] std::uint64_t hash(DistArray<T, N> const& u,
                                 std::source_location at = std::source_location::current()) {
  using A = detail::IntegerSum<std::uint64_t>;
  return detail::reduce<A>(detail::with_flat_index<detail::MixedWithIndex>(u.view(at)), "hash", at);
}

}  // namespace tessera
