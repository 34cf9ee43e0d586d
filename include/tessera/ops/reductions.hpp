#pragma once
/// @file
/// Reduces whole arrays and expressions to one value, or along some dimensions to a smaller array,
/// with the same bits for any number of devices.

#include <algorithm>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include "tessera/array/operators.hpp"
#include "tessera/detail/ops/accumulators.hpp"
#include "tessera/detail/ops/reduce_over.hpp"
#include "tessera/detail/ops/terms.hpp"
#include "tessera/ops/norms.hpp"

namespace tessera {

/// Asks for a sum that may differ in its last bits when the number of devices changes.
struct Fast {};
/// The argument of `sum` that requests this.
inline constexpr Fast fast{};

// All of these take an array, a slice or any expression, and make no temporary of it.
//
// Ranks:  collective; every process gets the value. The operand is read at the call; only the
//         conversion of a Scalar to a number waits.
// Shapes: without axes, all cells to one Scalar. With axis(…), a new array of the remaining
//         dimensions that lies as the operand does without the reduced ones, or a Scalar if none
//         remain; axis(…).keep_dimensions() leaves one cell in each.
// Throws: ShapeError for axes that do not exist or are named twice; UsageError if the expression
//         reads no array; ShardingError where the smaller array cannot be cut as the operand is.
// Cost:   one value up and down a tree of the devices. With axes: nothing is sent where the reduced
//         dimensions are not cut; else one accumulator (at most 32 bytes, of complex numbers 64)
//         per device and cell of its part, or its terms where these are no more bytes.

/// The sum: exact for integers (modulo 2^64), order-independent for floating types and at least as
/// accurate as adding in pairs. Float stays float; integers and bool become 64 bits wide. For
/// complex numbers the real and the imaginary parts are summed separately. A sum of nothing is 0.
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
namespace detail {

template <class T>
using FastSumOf = std::conditional_t<is_floating<T>, FastSum<T>, SumOf<T>>;

}  // namespace detail

/// The sum of each device's terms in their order, and then over the devices; along cut dimensions
/// with few terms, of all terms where the result lies. The last bits of a floating sum depend on
/// how the array is cut.
template <Expression E>
[[nodiscard]] auto sum(E const& e, Fast,
                       std::source_location at = std::source_location::current()) {
  return detail::reduce<detail::FastSumOf<typename E::value_type>>(detail::as_node(e), "sum", at);
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto sum(E const& e, Axes<K, keep> const& axes, Fast,
                       std::source_location at = std::source_location::current()) {
  return detail::reduce_over<detail::FastSumOf<typename E::value_type>>(detail::as_node(e), axes,
                                                                        "sum", at);
}

/// The product. Integers multiply exactly modulo 2^64, and become 64 bits wide. A floating product
/// is kept with twice the digits and rounded once. It is the correctly rounded exact product,
/// except with a chance of n * 2^-49; then its last bit may depend on the number of devices. Only
/// the whole product overflows, never a part of it. For complex numbers, the error is at most n *
/// 2^-97 of the product's magnitude; a part that is that much smaller than the other may depend on
/// the number of devices. A product of nothing is 1.
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
  using A = detail::Extreme<typename E::value_type, detail::Minimum>;
  return detail::reduce<A>(detail::ordered(e, "min"), "min", at);
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto min(E const& e, Axes<K, keep> const& axes,
                       std::source_location at = std::source_location::current()) {
  using A = detail::Extreme<typename E::value_type, detail::Minimum>;
  return detail::reduce_over<A>(detail::ordered(e, "min", axes), axes, "min", at);
}

/// The largest element; NaN if there is one. A zero is +0.
/// Throws: ShapeError if there are no cells.
template <Expression E>
[[nodiscard]] auto max(E const& e, std::source_location at = std::source_location::current()) {
  using A = detail::Extreme<typename E::value_type, detail::Maximum>;
  return detail::reduce<A>(detail::ordered(e, "max"), "max", at);
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto max(E const& e, Axes<K, keep> const& axes,
                       std::source_location at = std::source_location::current()) {
  using A = detail::Extreme<typename E::value_type, detail::Maximum>;
  return detail::reduce_over<A>(detail::ordered(e, "max", axes), axes, "max", at);
}

/// The sum, as `sum` makes it in double, over the number of cells. Float stays float, all other
/// types become double. A mean of nothing is NaN.
template <Expression E>
[[nodiscard]] auto mean(E const& e, std::source_location at = std::source_location::current()) {
  using A = detail::FinishedSum<detail::mean_type<E>, detail::Divided>;
  return detail::reduce<A>(detail::as_node(e), "mean", at, detail::terms_of(detail::shape_of(e)));
}
template <Expression E, std::size_t K, bool keep>
[[nodiscard]] auto mean(E const& e, Axes<K, keep> const& axes,
                        std::source_location at = std::source_location::current()) {
  using A = detail::FinishedSum<detail::mean_type<E>, detail::Divided>;
  auto const terms = detail::terms_of(detail::shape_of(e), axes.numbers());
  return detail::reduce_over<A>(detail::as_node(e), axes, "mean", at, terms);
}

namespace detail {

/// Computes the mean in double first, then the squared differences from it: two passes over the
/// cells.
template <class Finish, class Node>
[[nodiscard]] auto spread_of(Node const& node, char const* kind, std::int64_t ddof,
                             SourceLocation const& location) {
  auto const terms = terms_of(shape_of(node));
  using Mean = FinishedSum<double_of<typename Node::value_type>, Divided>;
  auto const middle = reduce<Mean>(node, kind, location, terms);
  using A = FloatingSum<norm_type<Node>, Finish>;
  return reduce<A>(squared_differences(node, middle), kind, location,
                   std::max(terms - static_cast<double>(ddof), 0.0));
}
template <class Finish, class Node, std::size_t K, bool keep>
[[nodiscard]] auto spread_of(Node const& node, Axes<K, keep> const& axes, char const* kind,
                             std::int64_t ddof, SourceLocation const& location) {
  auto const terms = terms_of(shape_of(node), axes.numbers());
  using Mean = FinishedSum<double_of<typename Node::value_type>, Divided>;
  auto const middle = reduce_over<Mean>(node, axes.keep_dimensions(), kind, location, terms);
  using A = FloatingSum<norm_type<Node>, Finish>;
  return reduce_over<A>(squared_differences(node, as_node(middle)), axes, kind, location,
                        std::max(terms - static_cast<double>(ddof), 0.0));
}

}  // namespace detail

/// The sum of the squared differences from the mean, divided by the number of cells minus `ddof`
/// (at least 0). Computed in double; float stays float, all other types become double. Of complex
/// numbers it is real: the mean of the squared magnitudes of the differences. Cost: twice that of
/// `mean`.
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
Scalar<bool> All::operator()(E const& e, std::source_location location) const {
  return detail::reduce<detail::AllTrue>(detail::as_node(e), "all", location);
}
template <Expression E, class Axes>
auto All::operator()(E const& e, Axes const& axes, std::source_location location) const {
  return detail::reduce_over<detail::AllTrue>(detail::as_node(e), axes, "all", location);
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
  using A = detail::ArgExtreme<typename E::value_type, detail::Less>;
  auto const node = detail::ordered(e, "argmin");
  return detail::reduce<A>(detail::with_flat_index<detail::WithIndex>(node), "argmin", at);
}
template <Expression E, bool keep>
[[nodiscard]] auto argmin(E const& e, Axes<1, keep> const& axes,
                          std::source_location at = std::source_location::current()) {
  using A = detail::ArgExtreme<typename E::value_type, detail::Less>;
  auto const node = detail::ordered(e, "argmin", axes);
  return detail::reduce_over<A>(detail::with_index_along(node, axes), axes, "argmin", at);
}

/// The row-major number of the largest element, as int64; otherwise as `argmin`.
/// Throws: ShapeError if there are no cells.
template <Expression E>
[[nodiscard]] Scalar<std::int64_t> argmax(
    E const& e, std::source_location at = std::source_location::current()) {
  using A = detail::ArgExtreme<typename E::value_type, detail::Greater>;
  auto const node = detail::ordered(e, "argmax");
  return detail::reduce<A>(detail::with_flat_index<detail::WithIndex>(node), "argmax", at);
}
template <Expression E, bool keep>
[[nodiscard]] auto argmax(E const& e, Axes<1, keep> const& axes,
                          std::source_location at = std::source_location::current()) {
  using A = detail::ArgExtreme<typename E::value_type, detail::Greater>;
  auto const node = detail::ordered(e, "argmax", axes);
  return detail::reduce_over<A>(detail::with_index_along(node, axes), axes, "argmax", at);
}

/// True if shapes and all elements are equal, wherever they lie.
/// Ranks: collective; waits.
template <Expression A, Expression B>
[[nodiscard]] bool all_equal(A const& u, B const& v,
                             std::source_location at = std::source_location::current()) {
  static_assert((A::rank > 0 || !detail::has_index<detail::node_of<A>>()) &&
                    (B::rank > 0 || !detail::has_index<detail::node_of<B>>()),
                "index(d) and random numbers have no shape of their own: make an array of them");
  if (detail::shape_of(u) != detail::shape_of(v)) return false;
  if constexpr (A::rank == 0 && B::rank == 0)
    return u == v;
  else
    return all(u == v, at);
}

/// One number to compare two runs by: the sum of mix(i, bits of element i) modulo 2^64 over the
/// global row-major index i. Equal for any sharding and any number of devices. Ranks: collective;
/// waits. Every NaN counts as one. Of structs all bytes count, also those between the members.
template <Element T, std::size_t N>
[[nodiscard]] std::uint64_t hash(DistArray<T, N> const& u,
                                 std::source_location at = std::source_location::current()) {
  using A = detail::IntegerSum<std::uint64_t>;
  return detail::reduce<A>(detail::with_flat_index<detail::MixedWithIndex>(detail::as_node(u)),
                           "hash", at);
}

}  // namespace tessera
