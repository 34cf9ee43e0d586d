#pragma once
/// @file
/// Reductions along dimensions, as new arrays, and sums of partial results.

#include <cstddef>

#include "tessera/array/axes.hpp"
#include "tessera/array/dist_array.hpp"
#include "tessera/detail/array/evaluate/axis_reduction.hpp"
#include "tessera/detail/array/evaluate/reduce.hpp"

namespace tessera::detail {

/// A new array for the sum of partial results, spread over the devices on which `into` holds
/// copies, so that each of them adds up a share; null where each is to add up all of its cells.
[[nodiscard]] StatePtr shares_of_sum(StatePtr const& partials, StatePtr const& into);
/// Submits `sum`, which writes the shares, and the copy of these to `into`, as one operation. With
/// null for the shares, `sum` writes `into` and is all.
void submit_sum(Statement const& sum, StatePtr const& shares, StatePtr const& into);

/// Reduces `node` over `axes` with accumulator A: to a new array, or to a scalar if no dimension is
/// left.
/// Ranks:   collective; does not wait.
/// Throws:  ShapeError for axes that do not exist or are named twice.
template <Accumulator A, class Node, std::size_t K, bool keep>
[[nodiscard]] auto reduce_over(Node const& node, Axes<K, keep> const& axes, char const* kind,
                               SourceLocation const& location, double parameter = 0) {
  constexpr auto rank = Node::rank;
  static_assert(K <= rank, "more axes than the expression has dimensions");
  auto const reduced = resolve_axes(axes.numbers(), rank);
  if constexpr (!keep && K == rank) {
    return reduce<A>(node, kind, location, parameter);
  } else {
    using T = decltype(std::declval<A const&>().value(0.0));
    IndexSpace<rank> const space(node.extents());
    auto const found = survey(node, kind);
    auto const plan = plan_fold({found.anchor, space.box().hi, reduced, keep, found.is_one_box,
                                 sizeof(A), sizeof(PackedOf<A>), found.term_bytes});
    FoldLabel const label{kind, location, parameter};
    ResultArray<T, keep ? rank : rank - K> result(make_state(plan->result.layout, sizeof(T)));
    if (plan->owns_all_terms)
      run_fold<A, T>(node, {result.storage(), {result.layout(), plan->result.map, space.box()}},
                     label);
    else if (plan->sends_terms)
      fold_by_terms<A, T>(node, *plan, result.storage(), label);
    else
      fold_by_parts<A, rank - K + 1, T>(node, *plan, result.storage(), label);
    return result;
  }
}

}  // namespace tessera::detail
