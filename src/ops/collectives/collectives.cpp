#include "tessera/ops/collectives.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/erased/handle.hpp"
#include "tessera/detail/array/expr/arguments.hpp"
#include "tessera/ops/partial.hpp"

#include "src/base/text.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/layout/placement.hpp"
#include "src/plan/recent_plans.hpp"

namespace tessera::detail {
namespace {

// What a call asks of a layout. Each axis lies along `from`, or is partial, and then along `to`;
// none of these where devices have copies.
struct Change {
  char const* call;  // "all_gather"
  AxisNames axes;
  bool adds_up = false;
  std::optional<std::size_t> from = {};
  std::optional<std::size_t> to = {};
  std::optional<Cut> cut = {};

  friend bool operator==(Change const&, Change const&) = default;
};

// The call with its axes, and the array, for messages: "all_gather along "x" of an array of …".
std::string call_on(Change const& change, Layout const& layout) {
  return text(change.call, " along ", SpecEntry(change.axes), " of an array of shape ",
              layout.shape(), " on ", layout.sharding());
}

// Throws: ShardingError if no axis is named, one twice, or one that is not of the mesh.
void check_axes(Change const& change, Layout const& layout) {
  if (change.axes.empty())
    throw ShardingError(text(change.call, " names no axis of ", layout.mesh(),
                             "; name one or more, as in ", change.call, "(u, \"",
                             layout.mesh().axes()[0].name, "\", ...)"));
  for (auto name = change.axes.begin(); name != change.axes.end(); ++name) {
    (void)layout.mesh().axis(*name);
    if (std::find(change.axes.begin(), name, *name) != name)
      throw ShardingError(text(change.call, " names mesh axis '", *name, "' twice"));
  }
}

bool is_partial_along(Layout const& layout, std::string const& axis) {
  return contains(layout.sharding().spec().partial_axes().axes(), axis);
}

// Throws: ShardingError unless the axes are just those along which the array is partial.
void check_partial(Change const& change, Layout const& layout) {
  auto const& partial = layout.sharding().spec().partial_axes();
  for (auto const& axis : change.axes)
    if (!is_partial_along(layout, axis))
      throw ShardingError(text(
          call_on(change, layout), ": there are no partial results along '", axis, "', devices ",
          is_cut_by(layout.sharding().spec(), axis) ? "hold different cells" : "hold copies",
          "; from_partials and to_partial make partial arrays, and reshard changes others"));
  if (partial.axes().size() != change.axes.size())
    throw ShardingError(text(call_on(change, layout), ": partial results along all of ", partial,
                             " are added up at once; name all of these axes"));
}

// Throws: ShardingError unless each axis cuts dimension `from`, or any if there is none.
void check_cut(Change const& change, Layout const& layout) {
  auto const& spec = layout.sharding().spec();
  for (auto const& axis : change.axes) {
    bool const is_cut =
        change.from ? contains(spec[*change.from].axes(), axis) : is_cut_by(spec, axis);
    if (is_cut) continue;
    auto const lack = change.from ? text("does not cut dimension ", *change.from)
                                  : std::string("cuts no dimension");
    throw ShardingError(
        text(call_on(change, layout), ": '", axis, "' ", lack,
             is_partial_along(layout, axis)
                 ? "; devices along it hold partial results, which all_reduce adds up"
                 : "; name an axis that does, or use reshard"));
  }
}

// The cut of a dimension of which the mesh axes change. Listed sizes fit one number of pieces only.
Cut changed_cut(Cut const& cut, std::int64_t extent, std::int64_t ways) {
  return cut.lists_cells() && !fits(cut, extent, ways) ? Cut::balanced() : cut;
}

// How the dimensions of the result are placed.
PlacedDimensions changed_dimensions(Change const& change, Layout const& layout) {
  auto dimensions = placed_dimensions(layout.sharding());
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    auto& [axes, cut] = dimensions[d];
    auto names = without(axes.axes(), change.axes);
    if (d == change.to) names.insert(names.end(), change.axes.begin(), change.axes.end());
    if (names == axes.axes()) continue;
    cut = d == change.to && change.cut
              ? *change.cut
              : changed_cut(cut, layout.shape()[d], devices_along(layout.mesh(), names));
    axes = SpecEntry(std::move(names));
  }
  return dimensions;
}

// The layout of the partial results of an array that stays partial; else null.
std::shared_ptr<Layout const> layout_of_partials(Change const& change, StatePtr const& from) {
  auto const* const partials = storage_of(*from).partials();
  return partials == nullptr || change.adds_up ? nullptr : layout_of(partials->cells);
}

bool is_same(std::shared_ptr<Layout const> const& a, std::shared_ptr<Layout const> const& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

struct ChangeKey {
  ChangeKey(Change asked, StatePtr const& from)
      : change(std::move(asked)),
        layout(layout_of(from)),
        partials(layout_of_partials(change, from)) {}

  Change change;
  std::shared_ptr<Layout const> layout;
  std::shared_ptr<Layout const> partials;

  friend bool operator==(ChangeKey const& a, ChangeKey const& b) {
    return a.change == b.change && is_same(a.layout, b.layout) && is_same(a.partials, b.partials);
  }
};

// The layout of the result; of an array that stays partial, that of its partial results, whose
// dimension 0 counts them.
Layout changed_layout(ChangeKey const& asked) {
  auto const& [change, layout, partials] = asked;
  check_axes(change, *layout);
  if (change.adds_up)
    check_partial(change, *layout);
  else
    check_cut(change, *layout);
  auto dimensions = changed_dimensions(change, *layout);
  auto shape = layout->shape();
  if (partials != nullptr) {
    dimensions.insert(dimensions.begin(), placed_dimensions(partials->sharding())[0]);
    shape = partials->shape();
  }
  return {sharding_of(layout->mesh(), dimensions), shape};
}

StatePtr changed(Change const& change, StatePtr const& from, SourceLocation const& location) {
  static RecentPlans<ChangeKey, Layout> layouts;
  ChangeKey const asked(change, from);
  auto const layout = layouts.plan_for(asked, [&] { return changed_layout(asked); });
  auto result = make_state(layout, from->element_bytes());
  if (asked.partials == nullptr) {
    copy_value(result, from, location, change.call);
    return result;
  }
  auto const& partials = *storage_of(*from).partials();
  copy_cells(result, partials.cells, location, change.call);
  auto const& spec = layout_of(from)->sharding().spec();
  auto const sharding = sharding_of_sum(layout->sharding(), layout->shape(), spec.partial_op());
  return make_partial_state(sharding, layout_of(from)->shape(),
                            {std::move(result), partials.sum_partials, nullptr});
}

}  // namespace

StatePtr gathered(StatePtr const& from, SpecEntry const& axes, SourceLocation const& location) {
  return changed({.call = "all_gather", .axes = axes.axes()}, from, location);
}

StatePtr summed(StatePtr const& from, SpecEntry const& axes, SourceLocation const& location) {
  return changed({.call = "all_reduce", .axes = axes.axes(), .adds_up = true}, from, location);
}

StatePtr summed_and_cut(StatePtr const& from, SpecEntry const& axes, std::int64_t dimension,
                        std::optional<Cut> const& cut, SourceLocation const& location) {
  return changed({.call = "reduce_scatter",
                  .axes = axes.axes(),
                  .adds_up = true,
                  .to = resolve_axis(dimension, layout_of(from)->rank()),
                  .cut = cut},
                 from, location);
}

StatePtr cut_elsewhere(StatePtr const& from, SpecEntry const& axes, FromTo const& dimensions,
                       SourceLocation const& location) {
  auto const rank = layout_of(from)->rank();
  Change const change{.call = "all_to_all",
                      .axes = axes.axes(),
                      .from = resolve_axis(dimensions.from, rank),
                      .to = resolve_axis(dimensions.to, rank),
                      .cut = dimensions.cut};
  if (change.from == change.to)
    throw ShardingError(text(call_on(change, *layout_of(from)), ": dimension ", *change.from,
                             " is named for both `from` and `to`; name two dimensions"));
  return changed(change, from, location);
}

}  // namespace tessera::detail
