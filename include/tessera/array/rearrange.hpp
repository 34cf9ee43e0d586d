#pragma once
/// @file
/// The same cells with their dimensions in another order, or backwards.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <span>

#include "tessera/array/shift.hpp"
#include "tessera/array/view.hpp"
#include "tessera/detail/array/expr/arguments.hpp"
#include "tessera/detail/array/expr/nodes.hpp"

namespace tessera {
namespace detail {

/// Arrays and views: expressions whose cells can be written.
template <class E>
concept Viewable = Operand<E> && requires(E& e) {
  e.view(SourceLocation{}).axes();
};

template <class E>
inline constexpr std::size_t rank_of = std::remove_cvref_t<E>::rank;

template <std::size_t N>
[[nodiscard]] std::array<std::size_t, N> resolved_order(std::span<std::int64_t const> axes) {
  std::array<std::size_t, N> order{};
  resolve_order(axes, order);
  return order;
}

template <std::size_t N>
[[nodiscard]] std::array<std::size_t, N> reversed_order() {
  std::array<std::size_t, N> order{};
  for (std::size_t d = 0; d < N; ++d) order[d] = N - 1 - d;
  return order;
}

template <class E>
[[nodiscard]] auto in_order(E& e, std::array<std::size_t, rank_of<E>> const& order,
                            SourceLocation const& location) {
  if constexpr (Viewable<E>)
    return reordered(e.view(location), order);
  else if constexpr (E::rank < 2)
    return e;
  else
    return PermutedNode<node_of<E>>(as_node(e), order);
}

/// All positions of a dimension, from the last to the first.
[[nodiscard]] inline ResolvedRange backwards(std::int64_t extent) {
  return extent < 2 ? ResolvedRange{0, 1, extent} : ResolvedRange{extent - 1, -1, extent};
}

template <class T, std::size_t N, std::size_t R>
[[nodiscard]] View<T, N, R> flipped(View<T, N, R> const& view, std::span<std::size_t const> axes) {
  if (axes.empty()) return view;
  auto const d = axes.front();
  return flipped(narrowed(view, d, backwards(view.extents()[d])), axes.subspan(1));
}

}  // namespace detail

/// The dimensions in reverse order, or dimension k = dimension axes[k] of `e`: NumPy's transpose.
///
/// The transpose of an array or a view is a view, which can be sliced and assigned to; that of any
/// other expression is an expression. Nothing is computed or sent before it is assigned.
/// Shapes: one axis per dimension, each once; negative ones count from the end.
/// Throws: ShapeError.
/// Example: v = transpose(u) + 1; transpose(v)(0, all) = 0 clears column 0 of v.
template <detail::Operand E>
[[nodiscard]] auto transpose(E&& e, std::source_location at = std::source_location::current()) {
  return detail::in_order(e, detail::reversed_order<detail::rank_of<E>>(), at);
}
template <detail::Operand E>
[[nodiscard]] auto transpose(E&& e, std::initializer_list<std::int64_t> axes,
                             std::source_location at = std::source_location::current()) {
  return detail::in_order(
      e, detail::resolved_order<detail::rank_of<E>>({axes.begin(), axes.size()}), at);
}

/// The cells of an array or a view backwards, along all dimensions or only the given ones: NumPy's
/// flip, as a view.
/// Throws: ShapeError if there is no such axis, or one is named twice; negative ones count from the
///         end.
template <detail::Viewable E>
[[nodiscard]] auto flip(E&& u, std::source_location at = std::source_location::current()) {
  return detail::flipped(u.view(at), detail::reversed_order<detail::rank_of<E>>());
}
template <detail::Viewable E>
[[nodiscard]] auto flip(E&& u, std::int64_t axis,
                        std::source_location at = std::source_location::current()) {
  std::size_t const d[] = {detail::resolve_axis(axis, detail::rank_of<E>)};
  return detail::flipped(u.view(at), d);
}
template <detail::Viewable E>
[[nodiscard]] auto flip(E&& u, std::initializer_list<std::int64_t> axes,
                        std::source_location at = std::source_location::current()) {
  std::array<std::size_t, max_rank> order{};
  auto const used = detail::resolve_axes({axes.begin(), axes.size()}, detail::rank_of<E>, order);
  return detail::flipped(u.view(at), std::span<std::size_t const>(order).first(used));
}

}  // namespace tessera
