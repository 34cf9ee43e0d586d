#pragma once
/// @file
/// Terms of reductions: squares, differences, and cells with their numbers; and the checks before a
/// reduction.

#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include "tessera/array/operators.hpp"
#include "tessera/detail/array/evaluate/axis_reduction.hpp"
#include "tessera/detail/index/shape.hpp"
#include "tessera/detail/ops/accumulators.hpp"

namespace tessera::detail {

/// Throws: ShapeError unless the shapes of dot's operands are equal.
void check_dot(Shape const& a, Shape const& b);

/// How many cells one value is made of, for the whole or for each cell of a result.
/// Throws: ShapeError for axes that do not exist or are named twice.
[[nodiscard]] double terms_of(Shape const& shape);
[[nodiscard]] double terms_of(Shape const& shape, std::span<std::int64_t const> axes);
/// Throws: ShapeError if a value has no terms.
void check_not_empty(Shape const& shape, char const* kind);
void check_not_empty(Shape const& shape, std::span<std::int64_t const> axes, char const* kind);
/// The node of an expression whose cells have an order. Throws: ShapeError as check_not_empty.
template <class E, class... A>
[[nodiscard]] node_of<E> ordered(E const& e, char const* kind, A const&... axes) {
  static_assert(!is_complex<typename E::value_type>,
                "complex numbers have no order: reduce abs(u), real(u) or imag(u)");
  check_not_empty(shape_of(e), axes.numbers()..., kind);
  return as_node(e);
}
/// Throws: UsageError for an order that norm does not have.
void check_order(double order);

/// The square of the magnitude.
struct Square {
  template <class C>
  TESSERA_FUNCTION static real_of<C> apply(C a) {
    if constexpr (is_complex<C>)
      return a.real() * a.real() + a.imag() * a.imag();
    else
      return a * a;
  }
};

/// The type in which cells of type T are reduced: double, or complex<double>.
template <class T>
using double_of = std::conditional_t<is_complex<T>, std::complex<double>, double>;

/// The squares of the differences from a mean, computed in double.
template <class Node, class Mean>
[[nodiscard]] auto squared_differences(Node const& node, Mean const& mean) {
  using C = double_of<typename Node::value_type>;
  using Difference = BinaryNode<Subtract, C, Node, Mean>;
  return UnaryNode<Square, C, Difference>(Difference(node, mean));
}

/// Terms made of cells and their numbers.
template <class Cells, class Make>
struct NumberedRow {
  Cells cells;
  std::int64_t start;
  std::int64_t const* strides;  ///< from one cell's number to the next
  std::int64_t step;            ///< the last of them
  TESSERA_FUNCTION auto operator()(std::int64_t j) const {
    return Make::apply(start + step * j, cells(j));
  }
  TESSERA_FUNCTION void move(std::size_t d, std::int64_t n) {
    cells.move(d, n);
    start += n * strides[d];
  }
};

template <class Cells, class Make>
inline constexpr bool has_functions<NumberedRow<Cells, Make>> = has_functions<Cells>;
template <class Cells, class Make>
inline constexpr std::int64_t let_depth<NumberedRow<Cells, Make>> = let_depth<Cells>;
template <class Cells, class Make>
requires(has_functions<Cells>) struct Block<NumberedRow<Cells, Make>> {
  Block<Cells> cells;
  [[nodiscard]] auto compute(NumberedRow<Cells, Make> const& row, std::int64_t first,
                             std::int64_t count) {
    return NumberedRow<ComputedRow<Cells>, Make>{cells.compute(row.cells, first, count),
                                                 row.start + row.step * first, row.strides,
                                                 row.step};
  }
};

/// A cell as a term that depends on its row-major index.
template <class Terms, class Make>
struct IndexedKernel {
  static constexpr KernelEnds ends = Terms::ends;
  Terms terms;
  std::int64_t strides[max_rank];
  template <bool unit, class Call>
  [[nodiscard]] TESSERA_FUNCTION auto row(Call const& call) const {
    auto const rank = call.extents->size();
    std::int64_t start = 0;
    for (std::size_t d = 0; d < rank; ++d) start += (*call.first)[d] * strides[d];
    using Cells = decltype(terms.template row<unit>(call));
    return NumberedRow<Cells, Make>{terms.template row<unit>(call), start, strides,
                                    strides[rank - 1]};
  }
};

/// An expression whose cells get their index.
template <class A, class Make>
struct IndexedNode : ExpressionBase {
  using value_type = decltype(Make::apply(std::int64_t{}, typename A::value_type{}));
  static constexpr std::size_t rank = A::rank;
  A a;
  Index strides;  ///< from one cell's number to the next, per dimension
  IndexedNode(A of, Index const& s) : a(std::move(of)), strides(s) {}
  [[nodiscard]] auto extents() const { return a.extents(); }
};
template <class A, class Make>
[[nodiscard]] auto make_kernel(IndexedNode<A, Make> const& node, Builder& builder) {
  auto const terms = make_kernel(node.a, builder);
  IndexedKernel<std::remove_cv_t<decltype(terms)>, Make> kernel{terms, {}};
  for (std::size_t d = 0; d < node.strides.size(); ++d) kernel.strides[d] = node.strides[d];
  return kernel;
}

struct WithIndex {
  template <class T>
  TESSERA_FUNCTION static Indexed<T> apply(std::int64_t index, T value) {
    return {value, index};
  }
};
/// A cell whose NaNs are the same one: their signs and payloads depend on what computed them.
template <class T>
[[nodiscard]] TESSERA_FUNCTION decltype(auto) with_one_nan(T const& value) {
  if constexpr (is_complex<T>)
    return T(with_one_nan(value.real()), with_one_nan(value.imag()));
  else if constexpr (is_floating<T>)
    return value == value ? T(value) : std::numeric_limits<T>::quiet_NaN();
  else
    return (value);
}
/// A term of the hash.
struct MixedWithIndex {
  template <class T>
  TESSERA_FUNCTION static std::uint64_t apply(std::int64_t index, T const& value) {
    auto const& cell = with_one_nan(value);
    if constexpr (sizeof(T) <= 8) {
      return mix(static_cast<std::uint64_t>(index), bits_of(cell));
    } else {
      // The last bytes of a long double of 80 bits are no part of it.
      constexpr auto bytes = std::numeric_limits<T>::digits == 64 ? 10 : sizeof(T);
      std::uint64_t words[(sizeof(T) + 7) / 8] = {};
      std::memcpy(words, &cell, bytes);
      auto hash = static_cast<std::uint64_t>(index);
      for (auto const word : words) hash = mix(hash, word);
      return hash;
    }
  }
};

template <class Make, class Node>
[[nodiscard]] auto with_flat_index(Node const& node) {
  return IndexedNode<Node, Make>(node, row_major_strides(Shape(node.extents())));
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
/// The type of magnitudes.
template <class E>
using norm_type = real_of<mean_type<E>>;

}  // namespace tessera::detail
