#include "tessera/detail/ops/collectives/member_values.hpp"

#include <array>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/expr/arguments.hpp"

#include "src/base/text.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"
#include "src/ops/collectives/member_shapes.hpp"
#include "src/runtime/allocation.hpp"
#include "src/runtime/over_processes.hpp"

namespace tessera::detail {
namespace {

// Throws: UsageError if one value exists alone.
void check_all_exist(MemberShapes const& shapes) {
  if (shapes.only)
    throw UsageError(text("only rank ", *shapes.only, " of ", shapes.group,
                          " has a value, which it received; broadcast or scatter it first"));
}

// True if somebody on any process names an array besides the caller. Waits for the statements so
// far. Ranks: collective.
bool is_named_elsewhere(std::shared_ptr<ArrayState> const& state) {
  std::byte is_named{reference_count(state) != 1};
  or_unheard({&is_named, 1}, {}, {"where values are taken over"});
  return is_named != std::byte{0};
}

// The cells under another layout, as an array of its own.
StatePtr copied_as(MemberValues const& values, Seen const& seen, SourceLocation const& location) {
  auto result = make_state(seen.layout, values.cells->element_bytes());
  copy_cells(result, storage_of(*values.cells).alias(seen.layout, seen.axes), location);
  return result;
}
// The same; the values are gone.
StatePtr taken_as(MemberValues& values, Seen const& seen) {
  auto state = storage_of(std::exchange(values.cells, nullptr));
  if (seen.layout == values.shapes->layout) return state;
  if (is_named_elsewhere(state)) return copied_as({values.shapes, state}, seen, {});
  state->lay_out(seen.layout);
  return state;
}

Seen as_array(MemberShapes const& shapes, std::int64_t axis) {
  check_all_exist(shapes);
  return side_by_side(shapes, resolve_axis(axis, shapes.shape.size()));
}

Seen as_layers(MemberShapes const& shapes) {
  check_all_exist(shapes);
  if (!shapes.sizes.empty())
    throw ShapeError(text("the values of ", shapes.group, " differ along dimension ", shapes.axis,
                          "; partial results have equal extents"));
  return one_by_one(shapes);
}

// True if the memory of an array can become that of values.
bool can_take(ArrayState& state) {
  return state.widths() == GhostWidths::none(state.layout()->rank()) && !state.is_pinned() &&
         !state.is_frozen() && state.window() == nullptr && state.partials() == nullptr;
}

}  // namespace

MemberValues make_values(MemberShapesPtr shapes, std::int64_t element_bytes) {
  auto cells = make_state(shapes->layout, element_bytes);
  return {std::move(shapes), std::move(cells)};
}

MemberValues copied(MemberValues const& values) {
  auto result = make_values(values.shapes, values.cells->element_bytes());
  copy_cells(result.cells, values.cells, {});
  return result;
}

void read_member(MemberValues const& values, std::int64_t rank, std::int64_t list, std::byte* into,
                 SourceLocation const& location) {
  auto const& shapes = *values.shapes;
  auto const box = shapes.layout->box_of(shapes.group.device(rank, list));
  AffineMap map{box.rank(), {}};
  for (std::size_t d = 0; d < box.rank(); ++d)
    map.axes.push_back({static_cast<int>(d), box.lo[d], 1, 0});
  read_to_host(values.cells, map, whole(box.extents()), into, location);
}

std::optional<tessera::Member> member_of(MemberShapes const& shapes, RawShard& shard) {
  shard.box = whole(shard.box.extents());
  auto const member = shapes.group.member(shard.device);
  if (shapes.only && member->rank != *shapes.only) return std::nullopt;
  return member;
}

std::vector<std::int64_t> counts_of(MemberValues const& values, MemberValues const& counts,
                                    SourceLocation const& location) {
  auto const& group = values.shapes->group;
  auto const& shapes = *counts.shapes;
  if (!(shapes.group == group))
    throw UsageError(text("all_to_all got values of ", group, " and counts of ", shapes.group,
                          "; give counts of the same group"));
  check_all_exist(shapes);
  if (!shapes.sizes.empty() || shapes.shape[0] != group.size())
    throw ShapeError(text("all_to_all in ", group, ": each member has ", group.size(),
                          " counts, one for each rank, not ", shapes.shape[0]));
  auto const& all = shapes.layout->shape();
  std::vector<std::int64_t> result(static_cast<std::size_t>(all[0]));
  read_to_host(counts.cells, AffineMap::identity(1), whole(all),
               reinterpret_cast<std::byte*>(result.data()), location);
  return result;
}

void check_together(std::span<MemberValues const> values, std::span<bool const> written) {
  for (std::size_t a = 0; a < values.size(); ++a) {
    if (!(values[a].shapes->group == values[0].shapes->group))
      throw UsageError(text("per_member got values of ", values[0].shapes->group, " and of ",
                            values[a].shapes->group, "; give values of one group"));
    for (std::size_t b = 0; b < a; ++b)
      if (values[a].cells == values[b].cells && (written[a] || written[b]))
        throw UsageError(
            "per_member got the same values twice, to be changed; give them once, or a copy");
  }
}

StatePtr copied_side_by_side(MemberValues const& values, std::int64_t axis,
                             SourceLocation const& location) {
  return copied_as(values, as_array(*values.shapes, axis), location);
}
StatePtr taken_side_by_side(MemberValues& values, std::int64_t axis) {
  return taken_as(values, as_array(*values.shapes, axis));
}

StatePtr copied_as_layers(MemberValues const& values, SourceLocation const& location) {
  return copied_as(values, as_layers(*values.shapes), location);
}
StatePtr taken_as_layers(MemberValues& values) {
  return taken_as(values, as_layers(*values.shapes));
}

MemberShapesPtr local_shapes(Layout const& layout, SpecEntry const& axes) {
  Group const group(layout.mesh(), axes);
  if (!layout.is_single_box())
    throw ShardingError(text("a device holds several boxes of an array of shape ", layout.shape(),
                             " on ", layout.sharding(), ", which are no single value; reshard it"));
  return shapes_by(group, layout.rank(), [&](tessera::Member const& member) {
    return layout.box_of(member.device).extents();
  });
}

MemberValues copied_values(MemberShapesPtr shapes, StatePtr const& array,
                           SourceLocation const& location) {
  auto result = make_values(std::move(shapes), array->element_bytes());
  auto const& layout = layout_of(array);
  copy_cells(storage_of(*result.cells).alias(layout, same_axes(layout->rank())), array, location);
  return result;
}

MemberValues taken_values(MemberShapesPtr shapes, StatePtr array) {
  auto const state = storage_of(std::exchange(array, nullptr));
  if (!can_take(*state) || is_named_elsewhere(state))
    return copied_values(std::move(shapes), state, {});
  state->lay_out(shapes->layout);
  return {std::move(shapes), state};
}

char const* name_of(MemberCall::Kind kind) {
  constexpr std::array names{"all_gather", "gather",     "scatter",        "broadcast",
                             "reduce",     "all_reduce", "reduce_scatter", "all_to_all",
                             "permute",    "send_recv"};
  return names[static_cast<std::size_t>(kind)];
}

void refuse_to_combine(char const* call, ReduceOp op) {
  if (op == ReduceOp::avg)
    throw UsageError(text(call,
                          ": integers and bools have no average of their own type; take the "
                          "sum, or make values of a floating type"));
  throw UsageError(text(call, ": complex numbers have no order, so there is no ", op,
                        " of them; use sum or prod, or values of their parts"));
}

}  // namespace tessera::detail
