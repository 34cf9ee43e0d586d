#include "tessera/detail/ops/collectives/member_values.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/expr/arguments.hpp"

#include "src/base/text.hpp"
#include "src/device/row_walk.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"
#include "src/index/strided_block.hpp"
#include "src/ops/collectives/member_shapes.hpp"
#include "src/runtime/allocation.hpp"
#include "src/runtime/over_processes.hpp"
#include "src/runtime/statement_hooks.hpp"

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

bool have_same_cells(RawShard const& a, RawShard const& b, std::int64_t element_bytes) {
  if (a.box.empty()) return true;
  auto const in_a = strided_block(a.box, a.box.lo, a.strides, element_bytes);
  auto const in_b = strided_block(b.box, b.box.lo, b.strides, element_bytes);
  auto const row_bytes = static_cast<std::size_t>(row_length(in_a) * element_bytes);
  tessera::RowWalk walk_a(in_a, 0), walk_b(in_b, 0);
  for (auto row = a.box.cells() / row_length(in_a); row > 0; --row, walk_a.next(), walk_b.next())
    if (std::memcmp(a.cells + walk_a.place(), b.cells + walk_b.place(), row_bytes) != 0)
      return false;
  return true;
}

// Compares each value with that of the rank before, in its list.
// Ranks: collective. Throws: UsageError.
void check_copies(MemberValues const& values, SourceLocation const& location) {
  auto const size = values.shapes->group.size();
  MemberCall call{.kind = MemberCall::Kind::permute};
  for (std::int64_t rank = 0; rank < size; ++rank) call.moves.emplace_back(rank, (rank + 1) % size);
  auto const shifted = ready(values, call);
  copy_for(shifted, MemberCall::Kind::permute, location);
  std::array const both{values, shifted.result};
  std::atomic<unsigned char> differs{0};
  visit_members(both, std::array{false, false}, [&](auto const&, auto const& own) {
    if (!have_same_cells(own[0], own[1], values.cells->element_bytes())) differs = 1;
  });
  std::byte differ{differs.load()};
  or_unheard({&differ, 1}, location, {"where copies are compared"});
  if (differ != std::byte{0})
    throw UsageError(text("as_copies: members of ", values.shapes->group,
                          " have different values, found by TESSERA_CHECK=communication; broadcast "
                          "one of them, or take as_array"));
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

// Ranks: collective. Throws: as copied_as_copies.
Seen as_copies(MemberValues const& values, std::int64_t axis, SourceLocation const& location) {
  auto const& shapes = *values.shapes;
  check_all_exist(shapes);
  auto const d = resolve_axis(axis, shapes.shape.size());
  for (std::int64_t list = 0; list < shapes.group.count() && !shapes.sizes.empty(); ++list)
    for (std::int64_t rank = 1; rank < shapes.group.size(); ++rank)
      if (auto const shape = shapes.shape_of(rank, list); !(shape == shapes.shape_of(0, list)))
        throw ShapeError(text("as_copies: in list ", list, " of ", shapes.group, " rank ", rank,
                              " has the extents ", shape, " and rank 0 ", shapes.shape_of(0, list),
                              "; copies are equal"));
  auto const result = lists_side_by_side(shapes, d);
  if (checks_communication()) check_copies(values, location);
  return result;
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

namespace {

// The cells of all values of one dimension, list after list and rank after rank. Ranks: collective.
Sizes all_numbers(MemberValues const& values, SourceLocation const& location) {
  auto const& all = values.shapes->layout->shape();
  Sizes result(static_cast<std::size_t>(all[0]));
  read_to_host(values.cells, AffineMap::identity(1), whole(all),
               reinterpret_cast<std::byte*>(result.data()), location);
  return result;
}

// The only rank that has all operands; none if all members have them.
std::optional<std::int64_t> only_rank(std::span<MemberValues const> operands) {
  std::optional<std::int64_t> result;
  for (auto const& operand : operands) {
    auto const& only = operand.shapes->only;
    if (result && only && *only != *result)
      throw UsageError(text("per_member: one value exists for rank ", *result, " of ",
                            operand.shapes->group, " alone, another for rank ", *only,
                            "; no member has both"));
    if (only) result = only;
  }
  return result;
}

void check_groups(std::span<MemberValues const> values) {
  for (auto const& value : values)
    if (!(value.shapes->group == values[0].shapes->group))
      throw UsageError(text("per_member got values of ", values[0].shapes->group, " and of ",
                            value.shapes->group, "; give values of one group"));
}

void check_together(std::span<MemberValues const> values, std::span<bool const> written) {
  check_groups(values);
  for (std::size_t a = 0; a < values.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (values[a].cells == values[b].cells && (written[a] || written[b]))
        throw UsageError(
            "per_member got the same values twice, to be changed; give them once, or a copy");
}

}  // namespace

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
  return all_numbers(counts, location);
}

void visit_members(
    std::span<MemberValues const> values, std::span<bool const> written,
    std::function<void(tessera::Member const&, std::span<RawShard const>)> const& f) {
  check_together(values, written);
  std::vector<StatePtr> cells;
  for (auto const& value : values) cells.push_back(value.cells);
  visit_shards_together(cells, written, [&](std::span<RawShard const> shards) {
    std::vector<RawShard> own(shards.begin(), shards.end());
    std::optional<tessera::Member> member;
    for (std::size_t k = 0; k < own.size(); ++k) {
      member = member_of(*values[k].shapes, own[k]);
      if (!member) return;
    }
    f(*member, own);
  });
}

void check_results(std::span<MemberValues const> operands) {
  check_groups(operands);
  (void)only_rank(operands);
}

MemberShapesPtr shapes_of_results(std::span<MemberValues const> operands, std::int64_t count) {
  auto const& group = operands[0].shapes->group;
  auto const only = only_rank(operands);
  if (!only) return equal_shapes(group, {count});
  Sizes sizes(static_cast<std::size_t>(group.size() * group.count()), 0);
  for (std::int64_t list = 0; list < group.count(); ++list)
    sizes[static_cast<std::size_t>(list * group.size() + *only)] = count;
  return make_shapes(group, {count}, 0, std::move(sizes), only);
}

MemberShapesPtr shapes_of_results(std::span<MemberValues const> operands,
                                  std::function<std::int64_t(DeviceId)> const& count_of) {
  auto const& group = operands[0].shapes->group;
  auto const only = only_rank(operands);
  auto const counts = make_values(equal_shapes(group, {1}), sizeof(std::int64_t));
  write_shards(counts.cells, [&](RawShard const& shard) {
    *reinterpret_cast<std::int64_t*>(shard.cells) = count_of(shard.device);
  });
  return make_shapes(group, {0}, 0, all_numbers(counts, {}), only);
}

StatePtr copied_side_by_side(MemberValues const& values, std::int64_t axis,
                             SourceLocation const& location) {
  return copied_as(values, as_array(*values.shapes, axis), location);
}
StatePtr taken_side_by_side(MemberValues& values, std::int64_t axis) {
  return taken_as(values, as_array(*values.shapes, axis));
}

StatePtr copied_as_copies(MemberValues const& values, std::int64_t axis,
                          SourceLocation const& location) {
  return copied_as(values, as_copies(values, axis, location), location);
}
StatePtr taken_as_copies(MemberValues& values, std::int64_t axis, SourceLocation const& location) {
  return taken_as(values, as_copies(values, axis, location));
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
                             "permute",    "send_recv",  "barrier"};
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
