#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/detail/ops/collectives/member_values.hpp"
#include "tessera/detail/runtime/submit.hpp"

#include "src/base/text.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"
#include "src/ops/collectives/member_shapes.hpp"
#include "src/plan/recent_plans.hpp"
#include "src/runtime/allocation.hpp"
#include "src/statement/copy_statement.hpp"

namespace tessera::detail {
namespace {

using Kind = MemberCall::Kind;

bool are_equal(MemberShapes const& a, MemberShapes const& b) {
  return &a == &b || (a.group == b.group && a.shape == b.shape && a.axis == b.axis &&
                      a.sizes == b.sizes && a.only == b.only);
}

struct CallKey {
  MemberShapesPtr shapes;
  MemberCall call;

  friend bool operator==(CallKey const& a, CallKey const& b) {
    return a.call == b.call && are_equal(*a.shapes, *b.shapes);
  }
};

// How a collective sees the values, and its result.
struct CallPlan {
  MemberShapesPtr result;
  Seen from;
  Seen to;
  bool needs_zeros = false;
  std::optional<std::int64_t> root = {};
};

// Decides how one collective works. Throws: as ready.
class CallPlanner {
 public:
  explicit CallPlanner(CallKey const& key)
      : shapes_(key.shapes), values_(*key.shapes), group_(values_.group), call_(key.call) {}

  [[nodiscard]] CallPlan plan() const;

 private:
  [[nodiscard]] CallPlan all_gather() const;
  [[nodiscard]] CallPlan gather() const;
  [[nodiscard]] CallPlan broadcast() const;
  [[nodiscard]] CallPlan scatter() const;
  [[nodiscard]] CallPlan reduce() const;
  [[nodiscard]] CallPlan all_reduce() const;
  [[nodiscard]] CallPlan reduce_scatter() const;
  [[nodiscard]] CallPlan all_to_all() const;
  [[nodiscard]] CallPlan exchange_pieces(std::size_t axis) const;
  [[nodiscard]] CallPlan exchange_counts(std::size_t axis) const;
  [[nodiscard]] CallPlan permute() const;

  [[nodiscard]] std::size_t axis_of(std::int64_t axis) const;
  [[nodiscard]] std::string call_text() const { return text(name_of(call_.kind), " in ", group_); }
  // True if the values can be seen as layers of an array, one for each member.
  [[nodiscard]] bool has_layers() const {
    return values_.sizes.empty() && !values_.only && values_.shape.size() < max_rank;
  }
  void check_all_exist() const;
  void check_root() const;
  void check_equal() const;
  [[nodiscard]] Sizes pieces(std::int64_t extent) const;
  [[nodiscard]] CallPlan from_root(MemberShapesPtr result, Seen to) const;
  [[nodiscard]] std::pair<Shape, std::size_t> root_shape() const;
  [[nodiscard]] MemberShapesPtr joined(Shape shape, std::size_t axis) const;
  [[nodiscard]] Sizes at_root(std::function<std::int64_t(std::int64_t)> const& extent) const;

  MemberShapesPtr const& shapes_;
  MemberShapes const& values_;
  Group const& group_;
  MemberCall const& call_;
};

std::size_t CallPlanner::axis_of(std::int64_t axis) const {
  auto const rank = std::ssize(values_.shape);
  if (axis < -rank || axis >= rank)
    throw ShapeError(text(call_text(), ": there is no dimension ", axis, " in values of ",
                          counted(rank, "dimension"), "; there are ", -rank, " to ", rank - 1));
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

void CallPlanner::check_all_exist() const {
  if (values_.only)
    throw UsageError(text(call_text(), ": only rank ", *values_.only,
                          " has a value, which it received; broadcast or scatter it first"));
}

void CallPlanner::check_root() const {
  if (call_.root < 0 || call_.root >= group_.size())
    throw IndexError(text(call_text(), ": there is no root ", call_.root,
                          "; ranks of this group are 0 to ", group_.size() - 1));
  if (values_.only && *values_.only != call_.root)
    throw UsageError(text(call_text(), ": root ", call_.root, " has no value, only rank ",
                          *values_.only, " has, which received it"));
}

void CallPlanner::check_equal() const {
  check_all_exist();
  if (!values_.sizes.empty())
    throw ShapeError(text(call_text(), ": the values differ along dimension ", values_.axis,
                          "; they need equal extents to be combined cell by cell"));
  if (values_.shape.size() == max_rank)
    throw ShapeError(text(call_text(), ": values of ", max_rank,
                          " dimensions cannot be combined; reshape them to fewer"));
}

// The pieces into which an extent is cut for the members, list after list; none if all are alike.
Sizes CallPlanner::pieces(std::int64_t extent) const {
  auto const size = group_.size();
  auto sizes = call_.sizes;
  if (sizes.empty()) {
    if (extent % size == 0) return {};
    for (std::int64_t k = 0; k < size; ++k)
      sizes.push_back(Cut::balanced().piece(extent, size, k).size());
  }
  std::int64_t sum = 0;
  for (auto const cells : sizes) {
    if (cells < 0 || cells > extent)
      throw ShapeError(text(call_text(), ": a size is ", cells, " for ", counted(extent, "cell"),
                            "; sizes are 0 or more and add up to the extent"));
    sum += cells;
  }
  if (std::ssize(sizes) != size || sum != extent)
    throw ShapeError(text(call_text(), ": ", counted(std::ssize(sizes), "size"), " of together ",
                          counted(sum, "cell"), " for ", counted(size, "member"), " and ",
                          counted(extent, "cell"), "; give one size for each member"));
  if (std::all_of(sizes.begin(), sizes.end(), [&](auto cells) { return cells == sizes[0]; }))
    return {};
  Sizes repeated;
  for (std::int64_t list = 0; list < group_.count(); ++list)
    repeated.insert(repeated.end(), sizes.begin(), sizes.end());
  return repeated;
}

// Each member has the values of its list, joined along an axis.
MemberShapesPtr CallPlanner::joined(Shape shape, std::size_t axis) const {
  Sizes sizes;
  shape[axis] = joined_extent(values_, axis, 0);
  if (axis == values_.axis && !values_.sizes.empty())
    for (std::int64_t list = 0; list < group_.count(); ++list)
      sizes.insert(sizes.end(), static_cast<std::size_t>(group_.size()),
                   joined_extent(values_, axis, list));
  return make_shapes(group_, shape, axis, std::move(sizes));
}

// Sizes where only the root of each list has cells.
Sizes CallPlanner::at_root(std::function<std::int64_t(std::int64_t)> const& extent) const {
  Sizes sizes(static_cast<std::size_t>(group_.size() * group_.count()), 0);
  for (std::int64_t list = 0; list < group_.count(); ++list)
    sizes[static_cast<std::size_t>(list * group_.size() + call_.root)] = extent(list);
  return sizes;
}

CallPlan CallPlanner::all_gather() const {
  check_all_exist();
  auto const axis = axis_of(call_.axis);
  auto const from = side_by_side(values_, axis);
  auto const result = joined(values_.shape, axis);
  return {result, from, lists_side_by_side(*result, axis)};
}

CallPlan CallPlanner::gather() const {
  check_all_exist();
  check_root();
  auto const axis = axis_of(call_.axis);
  auto const from = side_by_side(values_, axis);
  auto const sizes = at_root([&](std::int64_t list) { return joined_extent(values_, axis, list); });
  auto const result = make_shapes(group_, values_.shape, axis, sizes, call_.root);
  return {result, from, side_by_side(*result, axis)};
}

// The extents of the roots' values, and the dimension along which those of several lists lie.
std::pair<Shape, std::size_t> CallPlanner::root_shape() const {
  auto const shape = values_.shape_of(call_.root, 0);
  for (std::int64_t list = 1; list < group_.count(); ++list) {
    if (values_.sizes.empty()) break;
    if (auto const other = values_.shape_of(call_.root, list); !(other == shape))
      throw ShapeError(text(call_text(), ": the roots' values have the shapes ", shape, " and ",
                            other, "; those of all lists need equal extents"));
  }
  return {shape, has_layers() ? 0 : values_.axis};
}

CallPlan CallPlanner::from_root(MemberShapesPtr result, Seen to) const {
  if (has_layers())
    return {std::move(result), one_by_one(values_), std::move(to), false, call_.root};
  return {std::move(result), of_ranks(values_, {call_.root}), std::move(to)};
}

CallPlan CallPlanner::broadcast() const {
  check_root();
  auto const [shape, lists] = root_shape();
  auto const result = make_shapes(group_, shape, lists, {});
  return from_root(result, lists_side_by_side(*result, lists));
}

CallPlan CallPlanner::scatter() const {
  check_root();
  auto const axis = axis_of(call_.axis);
  auto const [shape, lists] = root_shape();
  auto piece = shape;
  piece[axis] = shape[axis] / group_.size();
  auto const result = make_shapes(group_, piece, axis, pieces(shape[axis]));
  auto const to = axis == lists ? side_by_side(*result, axis) : crosswise(*result, axis, lists);
  return from_root(result, to);
}

CallPlan CallPlanner::reduce() const {
  check_equal();
  check_root();
  auto const sizes = at_root([&](std::int64_t) { return values_.shape[0]; });
  auto const result = make_shapes(group_, values_.shape, 0, sizes, call_.root);
  return {result, one_by_one(values_), side_by_side(*result, 0)};
}

CallPlan CallPlanner::all_reduce() const {
  check_equal();
  auto const result = values_.axis == 0 ? shapes_ : equal_shapes(group_, values_.shape);
  return {result, one_by_one(values_), lists_side_by_side(*result, 0)};
}

CallPlan CallPlanner::reduce_scatter() const {
  check_equal();
  auto const axis = axis_of(call_.axis);
  auto piece = values_.shape;
  piece[axis] /= group_.size();
  auto const result = make_shapes(group_, piece, axis, pieces(values_.shape[axis]));
  auto const to = axis == 0 ? side_by_side(*result, 0) : crosswise(*result, axis, 0);
  return {result, one_by_one(values_), to};
}

CallPlan CallPlanner::all_to_all() const {
  check_all_exist();
  auto const axis = axis_of(call_.axis), into = axis_of(call_.joined);
  if (!call_.counts.empty()) return exchange_counts(axis);
  if (axis == into) return exchange_pieces(axis);
  auto const from = side_by_side(values_, into);
  auto piece = values_.shape;
  piece[into] = joined_extent(values_, into, 0);
  for (std::int64_t list = 1; list < group_.count(); ++list)
    if (auto const other = joined_extent(values_, into, list); other != piece[into])
      throw ShapeError(text(call_text(), ": the values of list 0 have ", piece[into],
                            " cells along dimension ", into, " and those of list ", list, " ",
                            other, "; they need equally many"));
  piece[axis] /= group_.size();
  auto const result = make_shapes(group_, piece, axis, pieces(values_.shape[axis]));
  return {result, from, crosswise(*result, axis, into)};
}

CallPlan CallPlanner::exchange_pieces(std::size_t axis) const {
  auto const extent = values_.shape[axis];
  bool const is_plain = values_.sizes.empty() && values_.shape.size() < max_rank;
  if (!is_plain || !pieces(extent).empty())
    throw ShapeError(text(call_text(), ": dimension ", axis,
                          " is split and joined again, which takes equal values of at most ",
                          max_rank - 1, " dimensions and equal pieces, but there are ",
                          counted(extent, "cell"), " for ", counted(group_.size(), "member"),
                          "; use an extent that divides, or join along another dimension"));
  auto const result = make_shapes(group_, values_.shape, axis, {});
  return {result, in_pieces(values_, axis), pieces_joined(*result, axis)};
}

CallPlan CallPlanner::exchange_counts(std::size_t axis) const {
  auto const size = group_.size();
  auto const from = side_by_side(values_, axis);
  Sizes received(static_cast<std::size_t>(size * group_.count()), 0);
  auto count = call_.counts.begin();
  for (std::int64_t list = 0; list < group_.count(); ++list)
    for (std::int64_t rank = 0; rank < size; ++rank) {
      auto const extent = values_.shape_of(rank, list)[axis];
      std::int64_t sum = 0;
      for (std::int64_t to = 0; to < size; ++to, ++count) {
        if (*count < 0 || *count > extent - sum)
          throw ShapeError(text(call_text(), ": rank ", rank, " sends ", *count, " cells to rank ",
                                to, " after ", sum, " to others, and has ", extent,
                                " along dimension ", axis, "; counts add up to the extent"));
        sum += *count;
        received[static_cast<std::size_t>(list * size + to)] += *count;
      }
      if (sum != extent)
        throw ShapeError(text(call_text(), ": the counts of rank ", rank, " add up to ", sum,
                              ", but it has ", extent, " cells along dimension ", axis,
                              "; counts add up to the extent"));
    }
  auto const result = make_shapes(group_, values_.shape, axis, std::move(received));
  return {result, from, pieces_by_counts(*result, axis, call_.counts)};
}

CallPlan CallPlanner::permute() const {
  check_all_exist();
  auto const size = group_.size();
  std::vector<bool> sends(static_cast<std::size_t>(size)), receives(sends);
  Sizes from, to;
  for (auto const& [source, target] : call_.moves) {
    for (auto const rank : {source, target})
      if (rank < 0 || rank >= size)
        throw IndexError(text(call_text(), ": there is no rank ", rank,
                              "; ranks of this group are 0 to ", size - 1));
    if (sends[static_cast<std::size_t>(source)])
      throw ShapeError(text(call_text(), ": rank ", source, " sends twice; it sends once"));
    if (receives[static_cast<std::size_t>(target)])
      throw ShapeError(text(call_text(), ": rank ", target, " receives twice; it receives once"));
    sends[static_cast<std::size_t>(source)] = receives[static_cast<std::size_t>(target)] = true;
    from.push_back(source);
    to.push_back(target);
  }
  bool const is_rooted = call_.kind == Kind::send_recv;
  Sizes sizes;
  if (is_rooted || !values_.sizes.empty()) {
    sizes.assign(static_cast<std::size_t>(size * group_.count()), 0);
    auto const place = [&](std::int64_t rank, std::int64_t list) {
      return static_cast<std::size_t>(list * size + rank);
    };
    if (!is_rooted) sizes = values_.sizes;
    for (std::size_t m = 0; m < from.size(); ++m)
      for (std::int64_t list = 0; list < group_.count(); ++list)
        sizes[place(to[m], list)] = values_.shape_of(from[m], list)[values_.axis];
  }
  auto const result = make_shapes(group_, values_.shape, values_.axis, std::move(sizes),
                                  is_rooted ? std::optional(to[0]) : std::nullopt);
  bool const is_whole = is_rooted || std::ssize(to) == size;
  if (to.empty()) return {result, {nullptr}, {nullptr}, true};
  return {result, of_ranks(values_, from), of_ranks(*result, to), !is_whole};
}

// By kind.
CallPlan CallPlanner::plan() const {
  constexpr std::array plans{
      &CallPlanner::all_gather,     &CallPlanner::gather,     &CallPlanner::scatter,
      &CallPlanner::broadcast,      &CallPlanner::reduce,     &CallPlanner::all_reduce,
      &CallPlanner::reduce_scatter, &CallPlanner::all_to_all, &CallPlanner::permute,
      &CallPlanner::permute,        &CallPlanner::all_reduce};
  return (this->*plans[static_cast<std::size_t>(call_.kind)])();
}

// Always an alias, which is pinned: as an operand, the array itself might get ghost cells.
StatePtr seen(MemberValues const& values, Seen const& how) {
  if (how.layout == nullptr) return nullptr;
  return storage_of(*values.cells).alias(how.layout, how.axes, how.joined);
}

}  // namespace

ReadyCall ready(MemberValues const& values, MemberCall const& call) {
  static RecentPlans<CallKey, CallPlan> plans;
  check_runtime(*values.cells);
  CallKey const key{values.shapes, call};
  auto const plan = plans.plan_for(key, [&] { return CallPlanner(key).plan(); });
  ReadyCall result;
  result.result = make_values(plan->result, values.cells->element_bytes());
  result.from = seen(values, plan->from);
  result.to = seen(result.result, plan->to);
  result.needs_zeros = plan->needs_zeros;
  result.root = plan->root;
  return result;
}

void copy_for(ReadyCall const& ready, MemberCall::Kind kind, SourceLocation const& location) {
  if (ready.to == nullptr) return;
  auto const& to = ready.to;
  auto const name = name_of(kind);
  if (!ready.root) return submit(CopyStatement(to, ready.from, location, name).statement());
  auto const rank = to->layout()->rank();
  AffineMap of_root{rank, {{AxisMap::fixed, *ready.root, 1, 0}}};
  for (std::size_t d = 0; d < rank; ++d) of_root.axes.push_back({static_cast<int>(d), 0, 1, 0});
  submit(CopyStatement(to, AffineMap::identity(rank), ready.from, of_root, to->layout()->shape(),
                       location, name)
             .statement());
}

}  // namespace tessera::detail
