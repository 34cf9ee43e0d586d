#pragma once
/// @file
/// Collectives on arrays. They change which devices hold which cells, and never a value: each is
/// `reshard` to another sharding.
///
///                     from                              to
///     all_gather      P("x", "model")                   P("x", none)
///     all_reduce      P("x", none).partial("model")     P("x", none)
///     reduce_scatter  P("x", none).partial("model")     P("x", "model")
///     all_to_all      P(none, "model")                  P("model", none)
///
/// A sum of partial results runs from the first of them to the last, whichever way they take: it
/// has the same bits on every device and in every run.
///
/// A dimension whose mesh axes change keeps its cut; sizes that are listed for another number of
/// pieces give way to a balanced cut.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>

#include "tessera/array/dist_array.hpp"
#include "tessera/detail/ops/collectives/change_layout.hpp"
#include "tessera/layout/cut.hpp"
#include "tessera/mesh/partition_spec.hpp"

namespace tessera {

/// Between which dimensions `all_to_all` moves mesh axes.
struct FromTo {
  std::int64_t from;            ///< the dimension that is cut now; negative ones count from the end
  std::int64_t to;              ///< the dimension that is cut afterwards
  std::optional<Cut> cut = {};  ///< of dimension `to`, in place of the one it has
};

/// The array, no longer cut by these mesh axes: along them, each device has a copy. An array that
/// is partial along other axes stays so.
///
/// Ranks:   collective.
/// Throws:  ShardingError if an axis cuts no dimension, is named twice or is not of the mesh.
/// Cost:    each device is sent the cells it lacks. Large pieces cross to each host once.
/// Example: all_gather(u, "model")
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> all_gather(
    DistArray<T, N> const& u, SpecEntry const& axes,
    std::source_location at = std::source_location::current()) {
  return DistArray<T, N>(detail::gathered(u.storage(), axes, at));
}

/// The value of a partial array, of which each device that held a partial result has a copy.
///
/// Ranks:   collective.
/// Throws:  ShardingError unless the array is partial along just these axes.
/// Cost:    each device is sent the partial results of its share of the cells, and then the sums
///          of the other shares. Up to four partial results of a few KiB: all of them at once.
/// Example: all_reduce(s, "model")
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> all_reduce(
    DistArray<T, N> const& u, SpecEntry const& axes,
    std::source_location at = std::source_location::current()) {
  return DistArray<T, N>(detail::summed(u.storage(), axes, at));
}

/// The value of a partial array; the axes along which it was partial cut a dimension, after those
/// that cut it already.
///
/// dimension: counted from 0; negative ones count from the end.
/// cut:       in place of the one it has, such as Cut::explicit_sizes({3, 1}).
/// Ranks:   collective.
/// Throws:  ShardingError unless the array is partial along just these axes, or if the dimension
///          cannot be cut so; ShapeError if there is no such dimension.
/// Cost:    each device is sent the partial results of its cells.
/// Example: reduce_scatter(s, "model", 1)
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> reduce_scatter(
    DistArray<T, N> const& u, SpecEntry const& axes, std::int64_t dimension,
    std::optional<Cut> const& cut = {}, std::source_location at = std::source_location::current()) {
  return DistArray<T, N>(detail::summed_and_cut(u.storage(), axes, dimension, cut, at));
}

/// The array, cut by these mesh axes along another dimension than before, after the axes that cut
/// it there already. An array that is partial along other axes stays so.
///
/// Ranks:   collective.
/// Throws:  ShardingError if an axis does not cut dimension `from`, both dimensions are the same,
///          or `to` cannot be cut so; ShapeError if there is no such dimension.
/// Cost:    each device is sent the cells it lacks.
/// Example: all_to_all(w, "model", {.from = 1, .to = 0})
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> all_to_all(
    DistArray<T, N> const& u, SpecEntry const& axes, FromTo const& dimensions,
    std::source_location at = std::source_location::current()) {
  return DistArray<T, N>(detail::cut_elsewhere(u.storage(), axes, dimensions, at));
}

}  // namespace tessera
