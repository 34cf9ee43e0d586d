#include "tessera/expr/fold.hpp"

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/expr/shift.hpp"

namespace tessera::detail {
namespace {

// Below that a message more costs longer than the bytes it saves.
constexpr std::int64_t few_bytes = 16 * 1024;

// The dimension of the anchor's array that the expression's dimension moves; none if it is
// repeated.
std::optional<std::size_t> dimension_of(Anchor const& anchor, std::size_t of_expression) {
  for (std::size_t d = 0; d < anchor.access.rank(); ++d)
    if (anchor.access.map.axes[d].from == static_cast<int>(of_expression)) return d;
  return std::nullopt;
}

// The mesh axes that cut the anchor along dimensions which the result does not have.
std::vector<std::string> axes_between_parts(Anchor const& anchor, DimensionSet reduced) {
  std::vector<std::string> names;
  auto const& spec = anchor.state->layout()->sharding().spec();
  for (std::size_t d = 0; d < anchor.access.rank(); ++d) {
    auto const from = anchor.access.map.axes[d].from;
    if (from != AxisMap::fixed && !has_dimension(reduced, static_cast<std::size_t>(from))) continue;
    auto const& axes = spec[d].axes();
    names.insert(names.end(), axes.begin(), axes.end());
  }
  return names;
}

std::int64_t devices_along(Mesh const& mesh, std::vector<std::string> const& names) {
  std::int64_t devices = 1;
  for (auto const& name : names) devices *= mesh.axes()[mesh.axis(name)].size;
  return devices;
}

}  // namespace

DimensionSet resolve_axes(std::span<std::int64_t const> numbers, std::size_t rank) {
  DimensionSet set = 0;
  for (auto const number : numbers) {
    auto const d = resolve_axis(number, rank);
    if (has_dimension(set, d))
      throw ShapeError(text("axis ", number, " names dimension ", d, " a second time in ",
                            join(numbers, "axis(", ")"), "; name each dimension once"));
    set |= DimensionSet{1} << d;
  }
  return set;
}

std::int64_t count_terms(Shape const& extents, DimensionSet reduced) {
  std::int64_t terms = 1;
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (has_dimension(reduced, d)) terms *= extents[d];
  return terms;
}

FoldArray place_result(Anchor const& anchor, Shape const& extents, DimensionSet reduced,
                       bool keep) {
  Shape shape;
  AffineMap map{extents.size(), {}};
  InlineVector<int, max_rank> place(extents.size(), AxisMap::fixed);  // of each dimension
  for (std::size_t d = 0; d < extents.size(); ++d) {
    bool const is_gone = has_dimension(reduced, d);
    if (is_gone && !keep) continue;
    if (!is_gone) place[d] = static_cast<int>(shape.size());
    map.axes.push_back({is_gone ? AxisMap::fixed : static_cast<int>(d), 0, 1});
    shape.push_back(is_gone ? 1 : extents[d]);
  }
  auto of_result = anchor;
  for (auto& axis : of_result.access.map.axes)
    if (axis.from != AxisMap::fixed) axis.from = place[static_cast<std::size_t>(axis.from)];
  return {shape, sharding_of_result(of_result, shape), map};
}

FoldArray place_parts(Anchor const& anchor, Shape const& extents, DimensionSet reduced) {
  auto const& layout = *anchor.state->layout();
  auto const between = axes_between_parts(anchor, reduced);
  Shape shape{devices_along(layout.mesh(), between)};
  AffineMap map{extents.size(), {}};
  map.axes.push_back({AxisMap::fixed, 0, 1});
  std::vector<SpecEntry> entries{SpecEntry(between)};
  std::vector<Cut> cuts{Cut::balanced()};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (has_dimension(reduced, d)) continue;
    auto const of_anchor = dimension_of(anchor, d);
    auto const from = static_cast<int>(d);
    if (!of_anchor) {
      shape.push_back(extents[d]);
      map.axes.push_back({from, 0, 1});
      entries.emplace_back(none);
      cuts.push_back(Cut::balanced());
      continue;
    }
    shape.push_back(layout.shape()[*of_anchor]);
    map.axes.push_back(anchor.access.map.axes[*of_anchor]);
    entries.push_back(layout.sharding().spec()[*of_anchor]);
    cuts.push_back(layout.sharding().cut(*of_anchor));
  }
  return {shape, {layout.mesh(), PartitionSpec(entries), cuts}, map};
}

bool owns_all_terms(Anchor const& anchor, Shape const& extents, DimensionSet reduced) {
  if (count_terms(extents, reduced) == 0) return false;  // nobody would write the result
  auto const& layout = *anchor.state->layout();
  for (std::size_t d = 0; d < anchor.access.rank(); ++d) {
    if (layout.sharding().ways(d) == 1) continue;
    auto const& axis = anchor.access.map.axes[d];
    if (axis.from == AxisMap::fixed) return false;
    auto const from = static_cast<std::size_t>(axis.from);
    bool const is_whole =
        axis.offset == 0 && axis.stride == 1 && extents[from] == layout.shape()[d];
    if (has_dimension(reduced, from) || !is_whole) return false;
  }
  return true;
}

NamedSharding spread_out(FoldArray const& result, FoldArray const& parts,
                         std::int64_t accumulator_bytes) {
  auto const slabs = parts.shape[0];
  auto const cells = cells_of(result.shape);
  bool const is_little = slabs <= 4 && slabs * cells * accumulator_bytes <= few_bytes;
  if (slabs == 1 || cells == 0 || is_little) return result.sharding;
  auto const& sharding = result.sharding;
  std::size_t longest = 0;
  auto const piece = [&](std::size_t d) { return result.shape[d] / sharding.ways(d); };
  for (std::size_t d = 1; d < result.shape.size(); ++d)
    if (piece(d) > piece(longest)) longest = d;
  auto entries = sharding.spec().entries();
  std::vector<Cut> cuts;
  for (std::size_t d = 0; d < entries.size(); ++d) cuts.push_back(sharding.cut(d));
  auto names = entries[longest].axes();
  auto const& between = parts.sharding.spec()[0].axes();
  names.insert(names.end(), between.begin(), between.end());
  entries[longest] = SpecEntry(names);
  cuts[longest] = Cut::balanced();
  return {sharding.mesh(), PartitionSpec(entries), cuts};
}

AffineMap map_of_merge(FoldArray const& result, DimensionSet reduced) {
  auto map = result.map;
  std::size_t remaining = 0;
  for (std::size_t d = 0; d < map.rank_in; ++d) remaining += has_dimension(reduced, d) ? 0U : 1U;
  map.rank_in = remaining + 1;
  int next = 1;
  for (auto& axis : map.axes)
    if (axis.from != AxisMap::fixed) axis.from = next++;
  return map;
}

}  // namespace tessera::detail
