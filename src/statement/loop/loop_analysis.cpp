#include "src/statement/loop/loop_analysis.hpp"

#include <algorithm>
#include <optional>

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/affine_map.hpp"
#include "src/plan/access.hpp"
#include "src/plan/loop_array.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

// Farther neighbours would need very wide ghost cells.
constexpr std::int64_t most_reach = 64;

// The dimensions of two maps move alike.
bool moves_alike(AffineMap const& a, AffineMap const& b) {
  return std::equal(a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(),
                    [](AxisMap const& x, AxisMap const& y) {
                      return x.from == y.from && (x.from == AxisMap::fixed || x.stride == y.stride);
                    });
}

bool wraps_whole(Access const& access, std::size_t d, Shape const& shape) {
  auto const& boundary = access.boundaries[d];
  return boundary.first == 0 && boundary.count == shape[d] && access.map.axes[d].stride == 1;
}

// Every index of a dimension with several moves a cell of its own.
bool moves_all(AffineMap const& map, Box const& indices) {
  for (std::size_t d = 0; d < indices.rank(); ++d) {
    bool const moves = std::ranges::any_of(
        map.axes, [d](AxisMap const& axis) { return axis.from == static_cast<int>(d); });
    if (!moves && indices.extent(d) > 1) return false;
  }
  return true;
}

bool is_periodic(Access const& access) {
  return std::ranges::any_of(access.boundaries, [](AxisBoundary const& boundary) {
    return boundary.below == BoundaryKind::periodic;
  });
}

// Measures how far from the written cell an operand is read along dimension d; reads past a
// constant edge are no cells.
void measure(LoopRead& read, Access const& access, AffineMap const& target, std::size_t d,
             Box const& indices) {
  auto const& written = target.axes[d];
  bool const moves = written.from != AxisMap::fixed;
  bool is_first = true;
  for (auto const& affine_piece : affine_pieces_of(access, d, indices)) {
    if (affine_piece.constant()) continue;
    auto const step = affine_piece.step - (moves ? written.stride : 0);
    auto const one = affine_piece.frame() - written.offset + step * affine_piece.lo;
    auto const other = one + step * (affine_piece.hi - 1 - affine_piece.lo);
    read.lowest[d] = std::min({is_first ? one : read.lowest[d], one, other});
    read.highest[d] = std::max({is_first ? one : read.highest[d], one, other});
    is_first = false;
  }
}

class Analyzer {
 public:
  Analyzer(std::vector<RecordedStatement> const& step, ArrayBindings const& bindings)
      : step_(step), bindings_(bindings) {}

  LoopAnalysis analyze() {
    result_.body.next = bindings_.next_array;
    find_reference();
    note_written();
    for (auto const& recorded : step_)
      if (recorded.operation != nullptr)
        stop(text(recorded.operation->kind, " takes several exchanges"));
    for (std::size_t s = 0; s < step_.size() && result_.fallback_reason.empty(); ++s)
      add(s, step_[s].statement);
    if (result_.fallback_reason.empty()) measure_arrays();
    if (result_.fallback_reason.empty()) check_arrays();
    note_scalars();
    return std::move(result_);
  }

 private:
  void stop(std::string const& why) {
    if (result_.fallback_reason.empty()) result_.fallback_reason = why;
  }

  // Which scalars turn into others, and how many steps it takes until all have their old places.
  void note_scalars() {
    auto const& next = bindings_.next_scalar;
    std::vector<bool> changes(next.size(), false);
    for (std::size_t s = 0; s < next.size(); ++s) changes[s] = next[s] != s;
    for (auto const& recorded : step_) {
      if (!recorded.statement.is_reduction()) continue;
      auto const result = number_of(bindings_, recorded.statement.result);
      std::int64_t turns = 0;
      auto s = result;
      do {
        changes[s] = true;
        s = next[s];
        ++turns;
      } while (s != result);
      result_.body.kept_totals = std::max(result_.body.kept_totals, turns);
    }
    for (auto const& recorded : step_)
      for (auto const& scalar : recorded.statement.scalars)
        if (changes[number_of(bindings_, scalar)]) result_.scalars_change = true;
  }

  void find_reference() {
    for (auto const& recorded : step_)
      if (auto const& target = recorded.statement.target; target != nullptr) {
        result_.reference = target->layout();
        return;
      }
    stop("no statement writes an array");
  }

  void note_written() {
    written_.assign(bindings_.arrays.size(), false);
    beside_.assign(bindings_.arrays.size(), false);
    for (auto const& recorded : step_)
      if (auto const& target = recorded.statement.target; target != nullptr)
        mark(written_, number_of(bindings_, target));
  }

  // An array and all that it turns into.
  void mark(std::vector<bool>& marks, std::size_t array) const {
    for (auto a = array; !marks[a]; a = bindings_.next_array[a]) marks[a] = true;
  }

  [[nodiscard]] bool may_be_table(std::size_t array) const {
    auto const& layout = *bindings_.arrays[array]->layout();
    return !written_[array] && is_whole(layout) && layout.mesh() == result_.reference->mesh();
  }

  // "one of shape (9, 8) on P("x") and one of shape (8, 8) on P(none, "x")"
  [[nodiscard]] std::string beside_reference(Layout const& layout) const {
    return text("one of shape ", layout.shape(), " on ", layout.sharding(), " and one of shape ",
                result_.reference->shape(), " on ", result_.reference->sharding());
  }

  void measure_arrays() {
    auto const rank = result_.reference->rank();
    GhostWidths const most_widths{Index(rank, most_reach), Index(rank, most_reach)};
    for (std::size_t a = 0; a < bindings_.arrays.size(); ++a) {
      auto const& array = bindings_.arrays[a];
      auto const& layout = *array->layout();
      bool const moves = bindings_.next_array[a] != a;
      if (!beside_[a] && may_be_table(a) && !(moves && array->is_pinned())) {
        result_.body.arrays.push_back(table_array(layout.shape()));
        continue;
      }
      if (!layout.is_single_box()) return stop("an array lies in several boxes on each device");
      if (array->is_pinned()) return stop("the memory of an array is pinned");
      auto const measured = loop_array(layout, *result_.reference);
      if (!measured)
        return stop(text("its arrays are cut differently: ", beside_reference(layout)));
      if (!most_widths.covers(measured->beyond) || !most_widths.covers(measured->short_of))
        return stop(text("the cuts of its arrays lie far apart: ", beside_reference(layout)));
      result_.body.arrays.push_back(*measured);
    }
  }

  // What the statements ask of the arrays.
  void check_arrays() {
    auto const written = result_.body.written();
    auto const wraps = result_.body.wraps();
    auto const& reference = *result_.reference;
    for (std::size_t a = 0; a < bindings_.arrays.size(); ++a) {
      auto const& layout = *bindings_.arrays[a]->layout();
      auto const& next = *bindings_.arrays[bindings_.next_array[a]]->layout();
      if (result_.body.arrays[a].is_table) continue;
      if (!(layout == next) || (written[a] && !(layout.sharding() == reference.sharding())))
        return stop(text("its arrays are cut differently: ", beside_reference(layout)));
      for (std::size_t d = 0; d < layout.rank(); ++d)
        if (wraps[d] && layout.shape()[d] != reference.shape()[d])
          return stop(text("its reads wrap around, and its arrays have different shapes: ",
                           beside_reference(layout)));
    }
  }

  // A statement that reads the value of a reduction begins a part, unless that value is known since
  // an earlier part.
  void find_part(Statement const& statement) {
    bool const waits = std::ranges::any_of(statement.scalars, [&](auto const& scalar) {
      return std::ranges::find(combined_, scalar) != combined_.end();
    });
    if (waits) {
      ++part_;
      combined_.clear();
    }
    result_.part_of.push_back(part_);
    if (!statement.is_reduction()) return;
    result_.reduces = true;
    combined_.push_back(statement.result);
  }

  // An array that lies where a reduction is computed: cut as the arrays that are written, so that
  // what a device adds up lies beside its own cells of these.
  [[nodiscard]] std::optional<std::size_t> array_of_reduction(Statement const& statement) const {
    auto const& layout = *statement.work.layout;
    if (!(layout.sharding() == result_.reference->sharding())) return std::nullopt;
    for (std::size_t a = 0; a < bindings_.arrays.size(); ++a)
      if (*bindings_.arrays[a]->layout() == layout) return a;
    return std::nullopt;
  }

  // Where a statement is computed, by the number of an array; nothing, with the reason, if it
  // cannot be part of a block.
  std::optional<std::size_t> place_of(Statement const& statement) {
    auto const name = name_of(statement);
    if (statement.folds()) {
      stop(text(name, " combines values of several cells"));
    } else if (statement.is_reduction()) {
      if (statement.reduction.on_each)
        stop("a Scalar is made of others; auto in its place needs no statement");
      else if (statement.reduction.depends_on_order)
        stop(text(name, " depends on the order of the cells"));
      else if (!moves_all(statement.work.map, statement.work.indices))
        stop(text(name, " repeats the cells of the array where it is computed"));
      else if (auto const found = array_of_reduction(statement); found)
        return found;
      else
        stop(text(name, " is computed elsewhere than the arrays that are written"));
    } else if (!(*statement.work.layout == *statement.target->layout())) {
      stop(text(name, " is computed elsewhere than it is written"));
    } else {
      return number_of(bindings_, statement.target);
    }
    return std::nullopt;
  }

  void add(std::size_t s, Statement const& statement) {
    find_part(statement);
    auto const place = place_of(statement);
    if (!place || statement.work.indices.empty()) return;
    auto const& map = statement.work.map;
    if (map.follows_steps())
      return stop(text(name_of(statement), statement.is_reduction() ? " reads" : " writes",
                       " another slice in every step"));
    for (auto const& axis : map.axes)
      if (axis.from != AxisMap::fixed && axis.stride < 1)
        return stop(text(name_of(statement), statement.is_reduction() ? " reads" : " writes",
                         " cells backwards"));
    LoopStatement entry;
    entry.array = *place;
    mark(beside_, *place);
    entry.reduces = statement.is_reduction();
    entry.part = part_;
    entry.written = map.image(statement.work.indices);
    entry.has_holes = entry.written.cells() != statement.work.indices.cells();
    for (auto const& operand : statement.operands) add_read(entry, statement, operand);
    if (entry.swaps && 2 * statement.work.indices.cells() < statement.target->layout()->cells())
      return stop(
          text(name_of(statement), " reads what it overwrites, in less than half of its array"));
    result_.body.statements.push_back(std::move(entry));
    result_.statements.push_back(s);
  }

  void add_read(LoopStatement& entry, Statement const& statement, OperandRequest const& operand) {
    auto const array = number_of(bindings_, operand.array);
    LoopRead read{array, {}, {}, {}, false};
    auto const reason = measure_read(read, statement, operand);
    if (reason.empty()) {
      mark(beside_, array);
    } else if (may_be_table(array) && !is_periodic(operand.access)) {
      read.is_table = true;
    } else {
      return stop(text(name_of(statement), reason));
    }
    bool const is_target = operand.array == statement.target;
    entry.swaps =
        entry.swaps || (is_target && could_read_overwritten(operand.access, statement.work.map,
                                                            statement.work.indices));
    entry.reads.push_back(read);
  }

  // Finds out how far a read lies from the written cell. Returns why there is no such distance;
  // empty if there is one.
  [[nodiscard]] std::string measure_read(LoopRead& read, Statement const& statement,
                                         OperandRequest const& operand) const {
    auto const& map = statement.work.map;
    auto const& access = operand.access;
    auto const rank = map.rank();
    if (access.rank() != rank || !moves_alike(access.map, map))
      return text(" reads ", access, " for cell ", map,
                  ", which is no neighbour at a fixed distance");
    if (access.map.follows_steps()) return " reads another slice in every step";
    read.lowest = read.highest = Index(rank, 0);
    read.wraps = InlineVector<bool, max_rank>(rank, false);
    for (std::size_t d = 0; d < rank; ++d) {
      auto const& shape = operand.array->layout()->shape();
      read.wraps[d] = access.boundaries[d].below == BoundaryKind::periodic;
      if (read.wraps[d] && !wraps_whole(access, d, shape))
        return " wraps around within a part of an array";
      measure(read, access, map, d, statement.work.indices);
      auto const reach = std::max(-read.lowest[d], read.highest[d]);
      if (reach > most_reach) return text(" reads cells ", reach, " away");
    }
    return {};
  }

  std::vector<RecordedStatement> const& step_;
  ArrayBindings const& bindings_;
  LoopAnalysis result_;
  std::vector<bool> written_;  // per array, in any role
  std::vector<bool> beside_;   // per array: read at a distance from what is written, in any role
  std::size_t part_ = 0;       ///< of the current statement
  std::vector<std::shared_ptr<ScalarModel>> combined_;  ///< at the end of that part
};

}  // namespace

LoopAnalysis analyze(std::vector<RecordedStatement> const& step, ArrayBindings const& bindings) {
  return Analyzer(step, bindings).analyze();
}

}  // namespace tessera
