#include "tessera/detail/array/evaluate/build.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/affine_map.hpp"
#include "src/layout/placement.hpp"
#include "src/plan/access.hpp"

namespace tessera::detail {

void refuse_without_array(char const* kind) {
  throw UsageError(text(kind, " of an expression that reads no array; assign it to one first"));
}

Access AccessBuilder::access(std::span<ViewAxis const> axes,
                             std::span<std::int64_t const> view_extents) const {
  Access access;  // constructed in its final place: a copy would wait until all of it has been
                  // stored
  access.map.rank_in = extents_.size();
  auto const missing = dimensions_ - view_extents.size();  // leading ones the view lacks
  for (auto const& axis : axes) {
    int from = AxisMap::fixed;
    if (axis.from != ViewAxis::fixed) {
      auto const k = static_cast<std::size_t>(axis.from);
      auto const dimension = k + missing;
      // One cell against many is repeated.
      if (view_extents[k] != 1 || extents_[dimension] == 1) from = static_cast<int>(dimension);
    }
    access.map.axes.push_back({from, axis.offset, axis.stride, axis.per_step});
  }
  access.boundaries.resize(axes.size());
  return access;
}

void AccessBuilder::shift(Access& access, std::span<ViewAxis const> axes,
                          std::span<std::int64_t const> view_extents, std::size_t k,
                          Reach const& reach) const {
  auto const moved_by_k = [k](ViewAxis const& axis) { return axis.from == static_cast<int>(k); };
  auto const found = std::find_if(axes.begin(), axes.end(), moved_by_k);
  auto const r = static_cast<std::size_t>(found - axes.begin());
  if (found == axes.end() || access.map.axes[r].from == AxisMap::fixed) {
    if (reach.below == BoundaryKind::constant || reach.above == BoundaryKind::constant)
      throw UsageError(text("dimension ", k,
                            " of one cell is shifted past a constant edge and repeated; assign the "
                            "shifted array to one of its own first"));
    return;  // one cell, repeated: its neighbour is itself
  }
  auto& axis = access.map.axes[r];
  access.boundaries[r] = {reach.below, reach.above, axis.offset, view_extents[k], reach.number};
  axis.offset += axis.stride * reach.offset;
}

std::size_t Builder::operand(StatePtr const& storage, Access const& access,
                             std::int64_t constants_offset) {
  return statement_.add_operand(readable(storage), access, constants_offset);
}

void Anchor::offer(StatePtr const& storage, Access const& how) {
  auto const& candidate = readable(storage);
  auto const& sharding = layout_of(candidate)->sharding();
  bool cut = false;
  std::size_t moves = 0;
  for (std::size_t d = 0; d < how.rank(); ++d) {
    if (how.map.axes[d].from == AxisMap::fixed) continue;
    ++moves;
    cut = cut || sharding.ways(d) > 1;
  }
  if (state != nullptr && !(layout_of(state)->mesh() == layout_of(candidate)->mesh()))
    is_on_two_meshes = true;
  bool const better = state == nullptr || moves > rank || (moves == rank && cut && !is_cut);
  if (!better) return;
  state = candidate;
  access = how;
  rank = moves;
  is_cut = cut;
}

namespace {

// True if all indices move along cells of dimension `d` of the layout.
bool stays_inside(ComputePlacement const& place, std::size_t d) {
  auto const& axis = place.map.axes[d];
  if (axis.from == AxisMap::fixed) return true;
  auto const extent = place.indices.hi[static_cast<std::size_t>(axis.from)];
  auto const last = axis.offset + axis.stride * (extent - 1);
  return extent == 0 || (std::min(axis.offset, last) >= 0 &&
                         std::max(axis.offset, last) < place.layout->shape()[d]);
}

// The placement with the dimensions that the indices leave as long as the indices.
ComputePlacement widened(ComputePlacement place) {
  auto shape = place.layout->shape();
  auto dimensions = placed_dimensions(place.layout->sharding());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (stays_inside(place, d)) continue;
    auto& axis = place.map.axes[d];
    shape[d] = place.indices.hi[static_cast<std::size_t>(axis.from)];
    dimensions[d] = placed_like(*place.layout, d, shape[d]);
    axis = {axis.from, 0, 1};
  }
  place.layout =
      std::make_shared<Layout const>(sharding_of(place.layout->mesh(), dimensions), shape);
  return place;
}

}  // namespace

ComputePlacement placement_of(Anchor const& anchor, Box const& indices) {
  ComputePlacement place{layout_of(anchor.state), anchor.access.map, indices};
  for (std::size_t d = 0; d < place.map.rank(); ++d)
    if (!stays_inside(place, d)) return widened(std::move(place));
  return place;
}

ComputePlacement placement_on_all() {
  return {layout_on_all(), AffineMap::identity(1), {{0}, {1}}};
}

NamedSharding sharding_of_result(Anchor const& anchor, Shape const& shape) {
  if (anchor.state == nullptr)
    throw UsageError(
        "a new array from an expression that reads none has no shape and no sharding; make "
        "the array first and assign to it");
  if (anchor.is_on_two_meshes)
    throw UsageError(
        "a new array from arrays on different meshes (on one device such meshes may be equal) "
        "needs a sharding: DistArray(expression, sharding)");
  auto const& layout = *layout_of(anchor.state);
  PlacedDimensions dimensions(shape.size());
  for (std::size_t d = 0; d < anchor.access.rank(); ++d) {
    auto const from = anchor.access.map.axes[d].from;
    if (from == AxisMap::fixed) continue;
    auto const r = static_cast<std::size_t>(from);
    dimensions[r] = placed_like(layout, d, shape[r]);
  }
  return sharding_of(layout.mesh(), dimensions);
}

}  // namespace tessera::detail
