#pragma once
/// @file
/// Reductions over some dimensions: the statements behind sum(u, axis(0)).
///
/// Where every device has all terms of the cells it computes, one statement does it and nothing is
/// sent. Where a device has so few terms of a cell that they are no more bytes than a packed
/// accumulator, they travel to where the result lies. Else each device reduces its own terms to
/// parts, one per cell, in its slab of an array of packed accumulators; a second statement, which
/// reads all slabs, merges them where the result lies.
///
///     u, cut by rows        parts (2, 4)            result (4,), a copy on each
///     device 0  a a a a  →  device 0  A A A A   →   A+B A+B A+B A+B
///     device 1  b b b b     device 1  B B B B

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "tessera/array/axes.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"
#include "tessera/detail/array/evaluate/reduce.hpp"
#include "tessera/detail/array/expr/arguments.hpp"
#include "tessera/detail/array/gpu/gpu.hpp"

namespace tessera::detail {

/// The terms of each cell, and the parameter for finishing a value.
template <class Terms>
struct FoldKernel {
  static constexpr KernelEnds ends = Terms::ends;
  Terms terms;
  double parameter;
};

/// Walks a box along the dimensions that move the target's cell, or along the others; the last
/// dimension is a row and is not walked.
class RowWalk {
 public:
  RowWalk(KernelCall const& call, bool moves_target) : extents_(*call.extents) {
    for (std::size_t d = 0; d + 1 < extents_.size(); ++d)
      if (((*call.target_strides)[d] != 0) == moves_target) dimensions_[count_++] = d;
  }
  /// Moves a row, or anything else with move(d, n), to the next position and returns true; after
  /// the last position, moves it back to the first and returns false.
  template <class Cursor>
  bool next(Cursor& cursor) {
    for (std::size_t i = count_; i-- > 0;) {
      auto const d = dimensions_[i];
      auto const before = at_[d];
      at_[d] = before + 1 < extents_[d] ? before + 1 : 0;
      cursor.move(d, at_[d] - before);
      if (at_[d] != 0) return true;
    }
    return false;
  }

 private:
  Index const& extents_;
  std::size_t count_ = 0;
  std::size_t dimensions_[max_rank] = {};
  std::int64_t at_[max_rank] = {};
};

/// Reduces a box: each target cell takes all indices that differ only along dimensions that do not
/// move it.
template <class Terms, class A, class Out, bool unit>
class Fold {
 public:
  explicit Fold(KernelCall const& call)
      : call_(call),
        parameter_(kernel_of(call).parameter),
        row_(kernel_of(call).terms.template row<unit>(call)),
        target_{reinterpret_cast<Out*>(call.target), call.target_strides},
        cells_(call, true),
        terms_(call, false) {}

  void run() {
    do {
      if (call_.target_strides->back() == 0)
        fold_rows();
      else
        fold_columns();
    } while (cells_.next(*this));
  }

  /// To other cells and their terms.
  void move(std::size_t d, std::int64_t n) {
    row_.move(d, n);
    target_.move(d, n);
  }

 private:
  [[nodiscard]] static FoldKernel<Terms> const& kernel_of(KernelCall const& call) {
    return *static_cast<FoldKernel<Terms> const*>(call.kernel);
  }

  // Rows are terms: one cell takes several of them.
  void fold_rows() {
    A sum;
    do add_row_to(sum, row_, call_.extents->back());
    while (terms_.next(row_));
    put_result(*target_.first, sum, parameter_);
  }

  // Rows are cells. Unless accumulators take single terms as fast, these are turned around a block
  // at a time, so that an accumulator gets many at once.
  void fold_columns() {
    auto const count = call_.extents->back();
    auto const stride = call_.target_strides->back();
    auto* const first = target_.first;
    if constexpr (AddsSingly<A>) {
      if (count <= width) return fold_rows_of_cells<width>(0, count, first, stride);
      for (std::int64_t j = 0; j < count; j += most_cells)
        fold_rows_of_cells<most_cells>(j, std::min(most_cells, count - j), first + j * stride,
                                       stride);
    } else {
      for (std::int64_t j = 0; j < count; j += width)
        fold_block(j, std::min(width, count - j), first + j * stride, stride);
    }
  }

  using Row =
      decltype(std::declval<Terms const&>().template row<unit>(std::declval<KernelCall const&>()));
  using Term = std::remove_cvref_t<decltype(std::declval<Row const&>()(std::int64_t{}))>;
  static constexpr std::int64_t width = 32;
  static constexpr std::int64_t depth =
      std::clamp<std::int64_t>(std::int64_t{512} / static_cast<std::int64_t>(sizeof(Term)), 4, 64);
  static constexpr std::int64_t most_cells = 512;

  // The accumulators of up to so many neighbouring cells take a term each, row after row: a vector
  // loop.
  template <std::int64_t most>
  void fold_rows_of_cells(std::int64_t first, std::int64_t count, Out* into, std::int64_t stride) {
    A sums[static_cast<std::size_t>(most)];
    do {
      visit_blocks(row_, first, first + count,
                   [&](auto const& cells, std::int64_t at, std::int64_t n) {
                     auto* const sum = sums + (at - first);
                     for (std::int64_t j = 0; j < n; ++j) sum[j].add_term(cells(j));
                   });
    } while (terms_.next(row_));
    for (std::int64_t j = 0; j < count; ++j) put_result(into[j * stride], sums[j], parameter_);
  }

  void fold_block(std::int64_t first, std::int64_t count, Out* into, std::int64_t stride) {
    A sums[static_cast<std::size_t>(width)];
    Term block[static_cast<std::size_t>(width * depth)];
    std::int64_t filled = 0;
    for (bool more = true; more;) {
      visit_blocks(row_, first, first + count,
                   [&](auto const& cells, std::int64_t, std::int64_t n) {
                     for (std::int64_t j = 0; j < n; ++j) block[j * depth + filled] = cells(j);
                   });
      ++filled;
      more = terms_.next(row_);
      if (more && filled < depth) continue;
      for (std::int64_t j = 0; j < count; ++j)
        sums[j].add_row(UnitRow<Term>{{block + j * depth}}, filled);
      filled = 0;
    }
    for (std::int64_t j = 0; j < count; ++j) put_result(into[j * stride], sums[j], parameter_);
  }

  KernelCall const& call_;
  double parameter_;
  Row row_;
  RowOfCells<Out> target_;
  RowWalk cells_;
  RowWalk terms_;
};

/// The function behind a fold's KernelFunction: always processes the whole box and ignores the row
/// range.
template <class Terms, class A, class Out, bool unit>
void fold_box(void const* context, std::int64_t, std::int64_t) {
  Fold<Terms, A, Out, unit>(*static_cast<KernelCall const*>(context)).run();
}

/// Accumulators as terms.
template <Accumulator A>
struct Merged {
  A sum;
  template <class Row>
  void add_row(Row const& row, std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j) sum.merge(row(j));
  }
  TESSERA_FUNCTION void add_term(PackedOf<A> const& part) { sum.merge(part); }
  TESSERA_FUNCTION void merge(Merged const& other) { sum.merge(other.sum); }
  [[nodiscard]] TESSERA_FUNCTION auto value(double parameter) const { return sum.value(parameter); }
};

// ---- Where a fold's arrays lie: arithmetic.

/// An array that a fold writes, and its cell for each index of the expression.
struct FoldArray {
  std::shared_ptr<Layout const> layout;
  AffineMap map;
};

/// The first layout of merged cells: spread over the devices that hold copies of the result, unless
/// there are few cells.
[[nodiscard]] NamedSharding spread_out(Layout const& result, Layout const& parts,
                                       std::int64_t accumulator_bytes);

/// The inputs for placing a reduction along dimensions.
struct FoldRequest {
  Anchor const& anchor;
  Shape extents;         ///< of the expression
  DimensionSet reduced;  ///< of its dimensions
  bool keeps_dimensions;
  bool is_one_box;  ///< every device's work is one box: no operand has boundaries
  std::int64_t accumulator_bytes;
  std::int64_t packed_bytes;  ///< of an accumulator as it travels
  std::int64_t term_bytes;    ///< of a cell of each operand together
};

/// The arrays of a reduction along dimensions, and how they lie.
struct FoldPlan {
  /// The anchor's sharding without the reduced dimensions, or with one cell in each.
  FoldArray result;
  ComputePlacement work;  ///< where the terms are reduced to parts
  /// True if the devices that compute a cell of the result own all of its terms. Then the other
  /// fields are unused.
  bool owns_all_terms = false;
  /// True if terms travel in place of parts: then only `shares_layout` of what follows is used. Not
  /// where several operands are read: one of them may have to be gathered, and that is no transfer.
  bool sends_terms = false;
  /// Dimension 0 has one slab for each piece into which the reduced dimensions are cut; the others
  /// are those of the work's layout, so that each device's part is its own.
  FoldArray parts;
  /// The layout of spread-out merged cells: each device merges its share, and all devices take the
  /// values from there. Null if cells are merged directly in their final layout.
  std::shared_ptr<Layout const> shares_layout;
  /// The result's cell for each index (slab, remaining dimensions …).
  AffineMap merge_map;
};

/// The plan of a request. The last few are kept, so that a reduction in a loop makes none.
/// Throws: UsageError as for any new array; ShardingError.
/// Threads: the caller's.
[[nodiscard]] std::shared_ptr<FoldPlan const> plan_fold(FoldRequest const& request);
/// The cells of the reduced dimensions together: terms of each cell of the result.
[[nodiscard]] std::int64_t count_terms(Shape const& extents, DimensionSet reduced);
/// The bytes of a cell of each operand together.
[[nodiscard]] std::int64_t bytes_of_operands(Statement const& statement);

// ---- Statements.

/// The name of a reduction, its place in the source, and the parameter for finishing its values.
struct FoldLabel {
  char const* kind;
  SourceLocation location;
  double parameter;
};

/// A statement's target: `work` says where each index is computed.
struct FoldTarget {
  StatePtr state;
  ComputePlacement work;
  AffineMap const* slab_map = nullptr;  ///< of parts: the cell in the device's own slab
  bool is_transfer = false;             ///< reads parts, or terms in their place
};

/// Calls use(statement) with the statement of a fold, which is valid during the call.
template <Accumulator A, class Out, class Node, class Use>
void with_fold(Node const& node, FoldTarget const& target, FoldLabel const& label, Use const& use) {
  IndexSpace<Node::rank> const space(node.extents());
  Statement statement;
  Builder builder(statement, {space.box().hi, Node::rank});
  auto const terms = make_kernel(node, builder);
  using Terms = std::remove_cv_t<decltype(terms)>;
  FoldKernel<Terms> const kernel{terms, label.parameter};
  statement.kind = label.kind;
  statement.location = label.location;
  statement.type_hash = mix(type_hash<FoldKernel<Terms>, A, Out>(), bits_of(label.parameter));
  statement.work = target.work;
  statement.target = target.state;
  statement.mode = target.slab_map == nullptr ? WriteMode::fold : WriteMode::fold_slabs;
  if (target.slab_map != nullptr) statement.slab_map = *target.slab_map;
  if (target.is_transfer) statement.purpose = Purpose::transfer;
  statement.forms = {&fold_box<Terms, A, Out, true>, &fold_box<Terms, A, Out, false>, nullptr,
                     gpu_slot_of_fold<FoldKernel<Terms>, A, Out, space.rank>()};
  set_kernel(statement, kernel);
  use(statement);
}
template <Accumulator A, class Out, class Node>
void run_fold(Node const& node, FoldTarget const& target, FoldLabel const& label) {
  with_fold<A, Out>(node, target, label, [](Statement const& fold) { submit(fold); });
}

/// The inputs for placing an expression's new array, found without a statement.
struct FoldSurvey {
  Anchor anchor;
  bool is_one_box = true;       ///< every device's work is one box: no operand has boundaries
  std::int64_t term_bytes = 0;  ///< of a cell of each operand together
};
template <class Node>
[[nodiscard]] FoldSurvey survey(Node const& node, char const* kind) {
  IndexSpace<Node::rank> const space(node.extents());
  AccessBuilder const accesses(space.box().hi, Node::rank);
  FoldSurvey result;
  find_anchor(node, accesses, result.anchor);
  if (result.anchor.state == nullptr) refuse_without_array(kind);
  Statement unused;
  Builder builder(unused, accesses);
  (void)make_kernel(node, builder);
  for (auto const& operand : unused.operands)
    result.is_one_box = result.is_one_box && !operand.access.has_boundaries();
  result.term_bytes = bytes_of_operands(unused);
  return result;
}

/// The cells of `parts` that a fold uses, with the slabs as dimension 0.
template <class A, std::size_t M>
[[nodiscard]] ArrayNode<A, M, M> cells_of_parts(StatePtr const& parts, FoldArray const& where,
                                                Shape const& extents,
                                                SourceLocation const& location) {
  typename ArrayNode<A, M, M>::Axes axes;
  std::array<std::int64_t, M> shape;
  axes[0] = {0, 0, 1};
  shape[0] = where.layout->shape()[0];
  for (std::size_t m = 1; m < M; ++m) {
    auto const& axis = where.map.axes[m];
    axes[m] = {static_cast<int>(m), axis.offset, axis.stride};
    shape[m] = extents[static_cast<std::size_t>(axis.from)];
  }
  return {parts, axes, shape, location};
}

/// Calls reduce(array) for the result, or first for the shares of it that each device computes.
template <class T, class Reduce>
void spread_fold(FoldPlan const& plan, StatePtr const& result, SourceLocation const& location,
                 Reduce const& reduce) {
  if (plan.shares_layout == nullptr) return reduce(result);
  auto const shares = make_state(plan.shares_layout, sizeof(T));
  reduce(shares);
  copy_cells(result, shares, location);
}

/// Reduces the terms of all devices where the result, or a share of it, lies.
template <Accumulator A, class T, class Node>
void fold_by_terms(Node const& node, FoldPlan const& plan, StatePtr const& result,
                   FoldLabel const& label) {
  spread_fold<T>(plan, result, label.location, [&](StatePtr const& into) {
    IndexSpace<Node::rank> const space(node.extents());
    run_fold<A, T>(node, {into, {layout_of(into), plan.result.map, space.box()}, nullptr, true},
                   label);
  });
}

/// Reduces each device's own terms to parts, and merges the parts into `result`.
template <Accumulator A, std::size_t M, class T, class Node>
void fold_by_parts(Node const& node, FoldPlan const& plan, StatePtr const& result,
                   FoldLabel const& label) {
  using Part = PackedOf<A>;
  auto const parts = make_state(plan.parts.layout, sizeof(Part));
  auto const used =
      cells_of_parts<Part, M>(parts, plan.parts, plan.work.indices.hi, label.location);
  assign_to_view(used, Part(), label.location);
  run_fold<A, Part>(node, {parts, plan.work, &plan.parts.map}, label);

  spread_fold<T>(plan, result, label.location, [&](StatePtr const& into) {
    IndexSpace<M> const of_parts(used.extents());
    ComputePlacement const work{layout_of(into), plan.merge_map, of_parts.box()};
    run_fold<Merged<A>, T>(used, {into, work, nullptr, true}, label);
  });
}

}  // namespace tessera::detail
