#include "src/program/recorded_slices.hpp"

#include <algorithm>
#include <vector>

#include "src/index/affine_map.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

// By which fixed cells a statement sees its arrays.
std::vector<std::int64_t> fixed_cells_of(Statement statement) {
  std::vector<std::int64_t> cells;
  visit_fixed_axes(statement,
                   [&](AxisMap const& axis, std::int64_t) { cells.push_back(axis.offset); });
  return cells;
}

bool is_same_map(AffineMap const& one, AffineMap const& other, std::int64_t steps_later) {
  return one.rank_in == other.rank_in &&
         std::equal(one.axes.begin(), one.axes.end(), other.axes.begin(), other.axes.end(),
                    [&](AxisMap const& x, AxisMap const& y) {
                      return x.from == y.from && x.stride == y.stride &&
                             x.offset + x.per_step * steps_later == y.offset;
                    });
}

}  // namespace

void find_slices(RecordedStatement& one, RecordedStatement const& second) {
  auto const cells = fixed_cells_of(second.statement);
  std::size_t i = 0;
  visit_fixed_axes(one.statement, [&](AxisMap& axis, std::int64_t) {
    if (i < cells.size() && axis.offset == cells[i]) axis.per_step = 0;
    ++i;
  });
}

bool counts_from_end(RecordedStatement const& first, RecordedStatement const& second) {
  auto const cells = fixed_cells_of(second.statement);
  auto statement = first.statement;
  bool counts = false;
  std::size_t i = 0;
  visit_fixed_axes(statement, [&](AxisMap const& axis, std::int64_t extent) {
    if (i < cells.size() && axis.per_step != 0 && extent > 1)
      counts = counts || cells[i] == axis.offset + axis.per_step - extent;
    ++i;
  });
  return counts;
}

bool shows_same_cells(RecordedStatement const& one, RecordedStatement const& other) {
  auto const later = other.recorded_in - one.recorded_in;
  auto const& operands = one.statement.operands;
  auto const& others = other.statement.operands;
  return is_same_map(one.statement.work.map, other.statement.work.map, later) &&
         std::equal(operands.begin(), operands.end(), others.begin(), others.end(),
                    [&](OperandRequest const& x, OperandRequest const& y) {
                      return is_same_map(x.access.map, y.access.map, later) &&
                             x.access.boundaries == y.access.boundaries;
                    });
}

}  // namespace tessera
