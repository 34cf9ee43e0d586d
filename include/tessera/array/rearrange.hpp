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

/// The dimensions of `e` in another order: dimension k is its dimension order[k].
template <class E>
[[nodiscard]] auto in_order(E& e, std::array<std::size_t, rank_of<E>> const& order,
                            SourceLocation const& location) {
  auto how = all_of(e.extents(), location);
  for (std::size_t k = 0; k < order.size(); ++k) how.dimensions[order[k]].to = static_cast<int>(k);
  if constexpr (Viewable<E>)
    return rearranged<rank_of<E>>(e.view(location), how);
  else if constexpr (rank_of<E> < 2)
    return e;
  else
    return moved(e, Rearrange<rank_of<E>, false>{how});
}

/// The dimensions `axes` from the last position to the first.
template <class E>
[[nodiscard]] auto flipped(E& e, std::span<std::size_t const> axes,
                           SourceLocation const& location) {
  auto how = all_of(e.extents(), location);
  for (auto const d : axes) {
    auto const extent = how.dimensions[d].extent;
    if (extent > 1) how.dimensions[d].range = {extent - 1, -1, extent};
  }
  if constexpr (Viewable<E>)
    return rearranged<rank_of<E>>(e.view(location), how);
  else
    return moved(e, Rearrange<rank_of<E>, true>{how});
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

/// The cells backwards, along all dimensions or only the given ones: NumPy's flip. Of an array or a
/// view a view, of any other expression an expression.
/// Throws: ShapeError if there is no such axis, or one is named twice; negative ones count from the
///         end.
template <detail::Operand E>
[[nodiscard]] auto flip(E&& u, std::source_location at = std::source_location::current()) {
  return detail::flipped(u, detail::reversed_order<detail::rank_of<E>>(), at);
}
template <detail::Operand E>
[[nodiscard]] auto flip(E&& u, std::int64_t axis,
                        std::source_location at = std::source_location::current()) {
  std::size_t const d[] = {detail::resolve_axis(axis, detail::rank_of<E>)};
  return detail::flipped(u, d, at);
}
template <detail::Operand E>
[[nodiscard]] auto flip(E&& u, std::initializer_list<std::int64_t> axes,
                        std::source_location at = std::source_location::current()) {
  std::array<std::size_t, max_rank> order{};
  auto const used = detail::resolve_axes({axes.begin(), axes.size()}, detail::rank_of<E>, order);
  return detail::flipped(u, std::span<std::size_t const>(order).first(used), at);
}

}  // namespace tessera
