#include "tessera/detail/array/evaluate/axis_reduction.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/array/axes.hpp"
#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/affine_map.hpp"
#include "src/layout/placement.hpp"
#include "src/plan/recent_plans.hpp"
#include "src/statement/statement.hpp"

namespace tessera::detail {
namespace {

// Below this size an additional message costs more time than the bytes that it saves.
constexpr std::int64_t few_bytes = 16 * 1024;

// The dimension of the work's layout that the expression's dimension moves; none if it is
// repeated.
std::optional<std::size_t> dimension_of(ComputePlacement const& work, std::size_t of_expression) {
  for (std::size_t d = 0; d < work.map.rank(); ++d)
    if (work.map.axes[d].from == static_cast<int>(of_expression)) return d;
  return std::nullopt;
}

// The mesh axes that cut the work along dimensions which the result does not have.
AxisNames axes_between_parts(ComputePlacement const& work, DimensionSet reduced) {
  AxisNames names;
  auto const& spec = work.layout->sharding().spec();
  for (std::size_t d = 0; d < work.map.rank(); ++d) {
    auto const from = work.map.axes[d].from;
    if (from != AxisMap::fixed && !has_dimension(reduced, static_cast<std::size_t>(from))) continue;
    auto const& axes = spec[d].axes();
    names.insert(names.end(), axes.begin(), axes.end());
  }
  return names;
}

// The anchor's sharding without the reduced dimensions, or with one cell in each.
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
  return {std::make_shared<Layout const>(sharding_of_result(of_result, shape), shape), map};
}

// The work's layout, each device's part its own, with the slabs before it.
FoldArray place_parts(ComputePlacement const& work, DimensionSet reduced) {
  auto const& layout = *work.layout;
  auto const& extents = work.indices.hi;
  auto const between = axes_between_parts(work, reduced);
  Shape shape{devices_along(layout.mesh(), between)};
  AffineMap map{extents.size(), {}};
  map.axes.push_back({AxisMap::fixed, 0, 1});
  auto const of_work = placed_dimensions(layout.sharding());
  PlacedDimensions dimensions{{SpecEntry(between)}};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (has_dimension(reduced, d)) continue;
    auto const of_layout = dimension_of(work, d);
    auto const from = static_cast<int>(d);
    if (!of_layout) {
      shape.push_back(extents[d]);
      map.axes.push_back({from, 0, 1});
      dimensions.emplace_back();
      continue;
    }
    shape.push_back(layout.shape()[*of_layout]);
    map.axes.push_back(work.map.axes[*of_layout]);
    dimensions.push_back(of_work[*of_layout]);
  }
  return {std::make_shared<Layout const>(sharding_of(layout.mesh(), dimensions), shape), map};
}

// True if the devices that compute a cell of the result own all cells of the work's layout for it.
bool owns_all_terms(ComputePlacement const& work, DimensionSet reduced) {
  auto const& extents = work.indices.hi;
  if (count_terms(extents, reduced) == 0) return false;  // no device would write the result
  auto const& layout = *work.layout;
  for (std::size_t d = 0; d < work.map.rank(); ++d) {
    if (layout.sharding().ways(d) == 1) continue;
    auto const& axis = work.map.axes[d];
    if (axis.from == AxisMap::fixed) return false;
    auto const from = static_cast<std::size_t>(axis.from);
    bool const is_whole =
        axis.offset == 0 && axis.stride == 1 && extents[from] == layout.shape()[d];
    if (has_dimension(reduced, from) || !is_whole) return false;
  }
  return true;
}

// The most terms of a cell of the result that a device has.
std::int64_t terms_of_a_device(ComputePlacement const& work, DimensionSet reduced) {
  auto const& extents = work.indices.hi;
  auto const shard = work.layout->sharding().shard_shape(work.layout->shape());
  std::int64_t terms = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (!has_dimension(reduced, d)) continue;
    auto const of_layout = dimension_of(work, d);
    terms *= of_layout ? std::min(extents[d], shard[*of_layout]) : extents[d];
  }
  return terms;
}

// The result's cell for each index (slab, remaining dimensions …).
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

FoldPlan make_plan(FoldRequest const& request) {
  auto const& [anchor, extents, reduced, keeps_dimensions, is_one_box, accumulator_bytes,
               packed_bytes, term_bytes] = request;
  FoldPlan plan;
  plan.result = place_result(anchor, extents, reduced, keeps_dimensions);
  plan.work = placement_of(anchor, whole(extents));
  plan.owns_all_terms = is_one_box && owns_all_terms(plan.work, reduced);
  if (plan.owns_all_terms) return plan;
  plan.parts = place_parts(plan.work, reduced);
  plan.merge_map = map_of_merge(plan.result, reduced);
  auto const& lies = *plan.result.layout;
  auto const bytes_of_terms = terms_of_a_device(plan.work, reduced) * term_bytes;
  bool const is_cut = plan.parts.layout->shape()[0] > 1;
  // Another operand may lie elsewhere, and be gathered: that is not what the program asks for.
  bool const has_one_operand = term_bytes == anchor.state->element_bytes();
  plan.sends_terms = is_one_box && is_cut && has_one_operand && count_terms(extents, reduced) > 0 &&
                     bytes_of_terms <= packed_bytes;
  // As if whole accumulators travelled: so packed ones, and terms, never take more bytes than those
  // would.
  auto const spread = spread_out(lies, *plan.parts.layout, accumulator_bytes);
  if (!(spread == lies.sharding()))
    plan.shares_layout = std::make_shared<Layout const>(spread, lies.shape());
  return plan;
}

// The inputs that determine a plan.
struct FoldKey {
  explicit FoldKey(FoldRequest const& request)
      : layout(layout_of(request.anchor.state)),
        map(request.anchor.access.map),
        is_on_two_meshes(request.anchor.is_on_two_meshes),
        extents(request.extents),
        reduced(request.reduced),
        keeps_dimensions(request.keeps_dimensions),
        is_one_box(request.is_one_box),
        accumulator_bytes(request.accumulator_bytes),
        packed_bytes(request.packed_bytes),
        term_bytes(request.term_bytes) {}

  friend bool operator==(FoldKey const&, FoldKey const&) = default;

  std::shared_ptr<Layout const> layout;  // the same object, which lives as long as this
  AffineMap map;
  bool is_on_two_meshes;
  Shape extents;
  DimensionSet reduced;
  bool keeps_dimensions;
  bool is_one_box;
  std::int64_t accumulator_bytes;
  std::int64_t packed_bytes;
  std::int64_t term_bytes;
};

// Cuts each piece of a dimension into so many shares, so that none crosses to the devices of
// another piece; balanced over all pieces where they come out alike, or are many.
Cut cut_of_shares(Layout const& result, std::size_t d, std::int64_t shares) {
  constexpr std::int64_t most_listed = 1024;
  auto const ways = result.sharding().ways(d), extent = result.shape()[d];
  auto const& cut = result.sharding().cut(d);
  bool const is_even = cut.kind() == Cut::Kind::balanced && extent % (ways * shares) == 0;
  if (ways == 1 || is_even || cut.may_repeat() || ways * shares > most_listed)
    return Cut::balanced();
  std::vector<std::int64_t> sizes;
  for (std::int64_t k = 0; k < ways; ++k)
    for (std::int64_t s = 0; s < shares; ++s)
      sizes.push_back(Cut::balanced().piece(cut.piece(extent, ways, k).size(), shares, s).size());
  return Cut::explicit_sizes(std::move(sizes));
}

}  // namespace

std::int64_t count_terms(Shape const& extents, DimensionSet reduced) {
  std::int64_t terms = 1;
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (has_dimension(reduced, d)) terms *= extents[d];
  return terms;
}

std::int64_t bytes_of_operands(Statement const& statement) {
  std::int64_t bytes = 0;
  for (auto const& operand : statement.operands) bytes += operand.array->element_bytes();
  return bytes;
}

NamedSharding spread_out(Layout const& result, Layout const& parts,
                         std::int64_t accumulator_bytes) {
  auto const slabs = parts.shape()[0];
  auto const cells = result.cells();
  bool const is_little = slabs <= 4 && slabs * cells * accumulator_bytes <= few_bytes;
  if (slabs == 1 || cells == 0 || is_little) return result.sharding();
  auto const& sharding = result.sharding();
  std::size_t longest = 0;
  auto const piece = [&](std::size_t d) { return result.shape()[d] / sharding.ways(d); };
  for (std::size_t d = 1; d < result.rank(); ++d)
    if (piece(d) > piece(longest)) longest = d;
  auto dimensions = placed_dimensions(sharding);
  auto names = dimensions[longest].axes.axes();
  auto const& between = parts.sharding().spec()[0].axes();
  names.insert(names.end(), between.begin(), between.end());
  auto const shares = devices_along(sharding.mesh(), between);
  dimensions[longest] = {SpecEntry(names), cut_of_shares(result, longest, shares)};
  return sharding_of(sharding.mesh(), dimensions);
}

std::shared_ptr<FoldPlan const> plan_fold(FoldRequest const& request) {
  static RecentPlans<FoldKey, FoldPlan> plans;
  return plans.plan_for(FoldKey(request), [&] { return make_plan(request); });
}

}  // namespace tessera::detail
