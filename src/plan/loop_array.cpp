#include "src/plan/loop_array.hpp"

#include "tessera/layout/layout.hpp"

#include "src/layout/border_lead.hpp"

namespace tessera {
namespace {

// The extent of a layout along one dimension, and how it is cut.
ScaledCut cut_of(Layout const& layout, std::size_t d) {
  return {layout.sharding().cut(d), layout.shape()[d], 1};
}

bool every_way_has_cells(ScaledCut const& of, std::int64_t ways) {
  return of.cut.ways_with_cells(of.extent, ways) == ways;
}

// Measures an array beside the reference along dimension d; false if nothing bounds them.
bool measure(LoopArray& result, ScaledCut const& array, ScaledCut const& reference,
             std::int64_t ways, std::size_t d) {
  if (ways == 1 || array == reference) return true;
  if (!every_way_has_cells(array, ways) || !every_way_has_cells(reference, ways)) return false;
  Piece const begins{0, ways};
  Piece const ends{1, ways + 1};
  auto const beyond_below = border_lead(reference, array, ways, begins);
  auto const beyond_above = border_lead(array, reference, ways, ends);
  auto const short_below = border_lead(array, reference, ways, begins);
  auto const short_above = border_lead(reference, array, ways, ends);
  if (!beyond_below || !beyond_above || !short_below || !short_above) return false;
  result.beyond.below[d] = *beyond_below;
  result.beyond.above[d] = *beyond_above;
  result.short_of.below[d] = *short_below;
  result.short_of.above[d] = *short_above;
  return true;
}

}  // namespace

LoopArray reference_array(Shape const& shape) {
  return {shape, GhostWidths::none(shape.size()), GhostWidths::none(shape.size())};
}

LoopArray table_array(Shape const& shape) {
  auto table = reference_array(shape);
  table.is_table = true;
  return table;
}

bool is_whole(Layout const& layout) {
  for (std::size_t d = 0; d < layout.rank(); ++d)
    if (layout.sharding().ways(d) != 1) return false;
  return true;
}

std::optional<LoopArray> loop_array(Layout const& layout, Layout const& reference) {
  auto result = reference_array(layout.shape());
  if (layout == reference) return result;
  if (!(layout.mesh() == reference.mesh()) || layout.rank() != reference.rank())
    return std::nullopt;
  if (!(layout.sharding() == reference.sharding())) {
    if (!is_whole(layout)) return std::nullopt;
    return result;
  }
  for (std::size_t d = 0; d < reference.rank(); ++d)
    if (!measure(result, cut_of(layout, d), cut_of(reference, d), reference.sharding().ways(d), d))
      return std::nullopt;
  return result;
}

}  // namespace tessera
