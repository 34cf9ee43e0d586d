#pragma once
/// @file
/// Partial arrays: along some axes of the mesh each device holds a partial result of its cells, and
/// the value is the sum, product, minimum, maximum or average of the partial results.
///
///     from_partials(a)       a is (2, 4), dimension 0 cut by "y"; u is P(none).partial("y")
///     device 0  1 2 3 4     u = 11 22 33 44, which nobody holds yet
///     device 1  10 20 30 40
///
/// When an expression reads such an array, it is first added up, once. Only `reshard` and the
/// collectives see the partial results: they add them up where the result lies, so that each device
/// receives the partial results of its own cells.

#include <cstddef>
#include <limits>
#include <source_location>
#include <type_traits>
#include <utility>

#include "tessera/array/creation.hpp"
#include "tessera/detail/ops/accumulators.hpp"
#include "tessera/detail/ops/reduce_over.hpp"

namespace tessera {
namespace detail {

/// The type in which partial results of type T are added up: float for floats of 16 bits, double
/// for float and double.
template <class T>
using WideFloat = std::conditional_t<sizeof(T) == 2, float, double>;

/// The sum from the first partial result to the last, or its average, rounded once. A sum of
/// negative zeros is a negative zero.
template <class T, bool averages = false>
struct SumInOrder {
  static constexpr bool adds_singly = true;
  static constexpr bool adds_in_order = true;
  WideFloat<T> sum = -0.0F;
  template <class Row>
  TESSERA_FUNCTION void add_row(Row const& row, std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j) add_term(row(j));
  }
  template <class Term>
  TESSERA_FUNCTION void add_term(Term const& term) {
    sum += static_cast<WideFloat<T>>(term);
  }
  TESSERA_FUNCTION void merge(SumInOrder const& other) { sum += other.sum; }
  [[nodiscard]] TESSERA_FUNCTION T value(double count) const {
    return static_cast<T>(averages ? sum / static_cast<WideFloat<T>>(count) : sum);
  }
};
/// The same of complex numbers, by parts.
template <class T, bool averages = false>
struct ComplexSumInOrder {
  static constexpr bool adds_singly = true;
  static constexpr bool adds_in_order = true;
  SumInOrder<typename T::value_type, averages> real;
  SumInOrder<typename T::value_type, averages> imaginary;
  template <class Row>
  TESSERA_FUNCTION void add_row(Row const& row, std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j) add_term(row(j));
  }
  TESSERA_FUNCTION void add_term(T const& term) {
    real.add_term(term.real());
    imaginary.add_term(term.imag());
  }
  TESSERA_FUNCTION void merge(ComplexSumInOrder const& other) {
    real.merge(other.real);
    imaginary.merge(other.imaginary);
  }
  [[nodiscard]] TESSERA_FUNCTION T value(double count) const {
    return {real.value(count), imaginary.value(count)};
  }
};

/// The accumulator for partial results of type T.
template <class T, ReduceOp op>
struct PartialsOf;
template <class T>
struct PartialsOf<T, ReduceOp::sum> {
  using type =
      std::conditional_t<std::is_integral_v<T>, IntegerSum<T>,
                         std::conditional_t<is_complex<T>, ComplexSumInOrder<T>, SumInOrder<T>>>;
};
template <class T>
struct PartialsOf<T, ReduceOp::prod> {
  using type = std::conditional_t<std::is_integral_v<T>, IntegerProduct<T>, ProductOf<T>>;
};
template <class T>
struct PartialsOf<T, ReduceOp::avg> {
  static_assert(!std::is_integral_v<T>,
                "the average of integers is no integer: take the sum, or cast<double>(u)");
  using type = std::conditional_t<is_complex<T>, ComplexSumInOrder<T, true>, SumInOrder<T, true>>;
};
template <class T>
struct PartialsOf<T, ReduceOp::min> {
  using type = Extreme<T, Minimum>;
};
template <class T>
struct PartialsOf<T, ReduceOp::max> {
  using type = Extreme<T, Maximum>;
};

/// The sharding of the partial array made from an array whose dimension 0 counts the partial
/// results.
/// Throws: ShardingError unless each place along the mesh axes of dimension 0 holds one partial
///         result.
[[nodiscard]] NamedSharding sharding_of_sum(NamedSharding const& partials, Shape const& shape,
                                            ReduceOp op);
/// The sharding of an array's partial results along `axes`, with a new first dimension that counts
/// them.
/// Throws: ShardingError if an axis cuts the array, is not of its mesh, or none is given.
[[nodiscard]] NamedSharding with_partials_first(NamedSharding const& sharding,
                                                SpecEntry const& axes);
/// All cells of an array, as dimensions of a statement.
template <class T, std::size_t N>
[[nodiscard]] View<T, N, N> whole_view(StatePtr const& state, SourceLocation const& location) {
  return DistArray<T, N>(state).view(location);
}

/// Adds up along dimension 0 where `into` lies; this is Partials::sum_partials.
template <class T, std::size_t N, class A>
void sum_partials(StatePtr const& partials, StatePtr const& into, char const* kind,
                  SourceLocation const& location) {
  auto const terms = whole_view<T, N + 1>(partials, location);
  auto const shares = shares_of_sum(partials, into);
  auto const& target = shares == nullptr ? into : shares;
  AffineMap map{N + 1, {}};
  for (int d = 1; d <= static_cast<int>(N); ++d) map.axes.push_back({d, 0, 1});
  with_fold<A, T>(terms, {target, {layout_of(target), map, whole(terms.shape())}, nullptr, true},
                  {kind, location, static_cast<double>(terms.shape()[0])},
                  [&](Statement const& sum) { submit_sum(sum, shares, into); });
}

/// The neutral element of a sum, product, minimum or maximum.
template <class T, ReduceOp op>
[[nodiscard]] constexpr T neutral() {
  static_assert(op != ReduceOp::avg, "an average has no neutral element: take the sum");
  using Limits = std::numeric_limits<T>;
  if constexpr (op == ReduceOp::sum)
    return is_floating<T> ? static_cast<T>(-0.0F) : T(0);  // -0 + 0 is 0, -0 + -0 is -0
  else if constexpr (op == ReduceOp::prod)
    return T(1);
  else if constexpr (op == ReduceOp::min)
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  else
    return Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
}

}  // namespace detail

/// The partial array made of these partial results: dimension 0 of the argument counts them, and is
/// cut so that each place along its mesh axes holds one. They are not copied, and must not be
/// written any more.
///
/// Ranks:   collective; nothing is sent.
/// Throws:  ShardingError if a device holds several partial results, or dimension 0 is not cut.
/// Cost:    the first read computes the sum: each device receives the partial results of its share
///          of the cells, and then the sums of other shares of which it holds copies. reshard: each
///          device receives the partial results of the cells that it gets.
/// Example: from_partials(a), from_partials<ReduceOp::max>(a)
template <ReduceOp op = ReduceOp::sum, Element T, std::size_t N>
requires(N >= 2) [[nodiscard]] DistArray<T, N - 1> from_partials(DistArray<T, N> partials) {
  auto const& shape = partials.shape();
  auto const sharding = detail::sharding_of_sum(partials.sharding(), shape, op);
  using Terms = typename detail::PartialsOf<T, op>::type;
  return DistArray<T, N - 1>(detail::make_partial_state(
      sharding, Shape(shape.begin() + 1, shape.end()),
      {partials.storage(), &detail::sum_partials<T, N - 1, Terms>, nullptr}));
}

/// The array as a partial array along mesh axes that do not cut it: the first partial result is the
/// array, the others are neutral.
///
/// Ranks:   collective.
/// Throws:  ShardingError if an axis cuts the array or is not of its mesh.
/// Cost:    nothing is sent.
template <ReduceOp op = ReduceOp::sum, Element T, std::size_t N>
requires(N >= 1 && N < max_rank) [[nodiscard]] DistArray<T, N> to_partial(
    DistArray<T, N> const& u, SpecEntry const& axes,
    std::source_location at = std::source_location::current()) {
  auto const& from = detail::layout_of(u.readable())->sharding();
  auto const sharding = detail::with_partials_first(from, axes);
  Shape shape{sharding.ways(0)};
  for (auto const extent : u.shape()) shape.push_back(extent);
  DistArray<T, N + 1> partials(shape, sharding);
  auto const cells = partials.view(at);
  detail::assign_to_view(detail::layer(cells, 0, 0), u, at);
  detail::assign_to_view(detail::narrowed(cells, 0, {.first = 1, .step = 1, .count = shape[0] - 1}),
                         detail::neutral<T, op>(), at);
  return from_partials<op>(std::move(partials));
}

}  // namespace tessera
