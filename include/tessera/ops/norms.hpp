#pragma once
/// @file
/// Products of two arrays and norms of one: collective, with the same bits for any number of
/// devices, as all reductions (ops/reductions.hpp).

#include <limits>
#include <source_location>
#include <type_traits>

#include "tessera/array/operators.hpp"
#include "tessera/detail/ops/accumulators.hpp"
#include "tessera/detail/ops/reduce_over.hpp"
#include "tessera/detail/ops/terms.hpp"

namespace tessera {

/// Infinity, as the order of a norm.
inline constexpr double inf = std::numeric_limits<double>::infinity();

namespace detail {

/// The type in which dot sums.
template <class A, class B>
using dot_type = sum_type<promoted<typename A::value_type, typename B::value_type>>;

/// The products of equal cells. Throws: ShapeError unless the shapes are equal.
template <class A, class B>
[[nodiscard]] auto products_of(A const& a, B const& b) {
  static_assert(A::rank == B::rank, "dot takes two operands of equal shape");
  using T = dot_type<A, B>;
  using C = std::conditional_t<std::is_integral_v<T>, T, double_of<T>>;
  check_dot(shape_of(a), shape_of(b));
  return BinaryNode<Multiply, C, node_of<A>, node_of<B>>(as_node(a), as_node(b));
}

}  // namespace detail

/// The sum of the products of equal cells, in the type of a sum of the promoted type. Floating
/// products are rounded to double (of two floats they are exact), then summed as `sum` does.
/// Complex numbers are not conjugated, as in NumPy's dot: vdot does that. Shapes: equal, of any
/// number of dimensions. Throws: ShapeError, with both shapes.
template <Expression A, Expression B>
[[nodiscard]] auto dot(A const& a, B const& b,
                       std::source_location at = std::source_location::current()) {
  using Sum = detail::SumOf<detail::dot_type<A, B>>;
  return detail::reduce<Sum>(detail::products_of(a, b), "dot", at);
}
template <Expression A, Expression B, std::size_t K, bool keep>
[[nodiscard]] auto dot(A const& a, B const& b, Axes<K, keep> const& axes,
                       std::source_location at = std::source_location::current()) {
  using Sum = detail::SumOf<detail::dot_type<A, B>>;
  return detail::reduce_over<Sum>(detail::products_of(a, b), axes, "dot", at);
}

/// dot of the conjugate of `a` with `b`, as NumPy's vdot: vdot(u, u) is the square of norm(u). Of
/// real numbers it is dot.
template <Expression A, Expression B>
[[nodiscard]] auto vdot(A const& a, B const& b,
                        std::source_location at = std::source_location::current()) {
  return dot(conj(a), b, at);
}
template <Expression A, Expression B, std::size_t K, bool keep>
[[nodiscard]] auto vdot(A const& a, B const& b, Axes<K, keep> const& axes,
                        std::source_location at = std::source_location::current()) {
  return dot(conj(a), b, axes, at);
}

namespace detail {

/// Calls run.template operator()<Accumulator>(terms) with the accumulator and the terms for the
/// norm of an order.
template <class E, class Run>
[[nodiscard]] auto norm_of(E const& e, double order, Run const& run) {
  using T = norm_type<E>;
  using C = double_of<typename E::value_type>;
  using Node = node_of<E>;
  auto const node = as_node(e);
  if (order == 2)
    return run.template operator()<FloatingSum<T, Root>>(UnaryNode<Square, C, Node>(node));
  if (order == 1)
    return run.template operator()<FloatingSum<T>>(UnaryNode<Absolute, C, Node>(node));
  return run.template operator()<Extreme<T, Maximum>>(
      UnaryNode<Absolute, mean_type<E>, Node>(node));
}

}  // namespace detail

/// The norm of order 2 (the root of the sum of squares, of complex numbers of squared magnitudes),
/// 1 (the sum of magnitudes), or `inf` (the largest magnitude). Computed in double, where a square
/// beyond its range is infinity; float stays float, all other types become double, complex ones the
/// type of their parts. Along axes: the norm of the cells that belong to one cell of the result.
/// Throws: UsageError for another order; ShapeError for order `inf` if there are no cells.
template <Expression E>
[[nodiscard]] auto norm(E const& e, double order = 2,
                        std::source_location at = std::source_location::current()) {
  detail::check_order(order);
  if (order == inf) detail::check_not_empty(detail::shape_of(e), "norm");
  return detail::norm_of(
      e, order, [&]<class A>(auto const& terms) { return detail::reduce<A>(terms, "norm", at); });
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto norm(E const& e, Axes<K, keep> const& axes, double order = 2,
                        std::source_location at = std::source_location::current()) {
  detail::check_order(order);
  if (order == inf) detail::check_not_empty(detail::shape_of(e), axes.numbers(), "norm");
  return detail::norm_of(e, order, [&]<class A>(auto const& terms) {
    return detail::reduce_over<A>(terms, axes, "norm", at);
  });
}

}  // namespace tessera
