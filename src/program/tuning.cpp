#include "src/program/tuning.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/float_state.hpp"
#include "src/base/text.hpp"
#include "src/plan/loop_variables.hpp"

namespace tessera {
namespace {

// Statements of one part of a step read or write cells that others of it need too.
bool shares_cells(LoopBody const& body) {
  return std::ranges::adjacent_find(body.statements, {}, &LoopStatement::part) !=
         body.statements.end();
}

// What the statements move, and the memory of the cells.
void add_bytes(LoopBody const& body, ArrayBindings const& bindings, LoopFacts& facts) {
  auto const swapped = body.swapped();
  for (std::size_t a = 0; a < body.arrays.size(); ++a)
    if (!body.arrays[a].is_table)
      facts.buffers_bytes += bindings.arrays[a]->element_bytes() * (swapped[a] ? 2 : 1);
  for (auto const& statement : body.statements) {
    facts.reads_per_cell += static_cast<double>(statement.reads.size()) + 1;
    std::vector<bool> read(body.arrays.size(), false);
    for (auto const& operand : statement.reads)
      if (!operand.is_table) read[operand.array] = true;
    auto const target = static_cast<double>(bindings.arrays[statement.array]->element_bytes());
    if (!statement.reduces) facts.bytes_per_cell += 2 * target;
    for (std::size_t a = 0; a < body.arrays.size(); ++a)
      if (read[a]) facts.bytes_per_cell += static_cast<double>(bindings.arrays[a]->element_bytes());
  }
}

LoopFacts facts_of(LoopAnalysis const& analysis, ArrayBindings const& bindings) {
  LoopFacts facts;
  facts.shares_cells = analysis.scalars_change && shares_cells(analysis.body);
  facts.statements = std::max<std::int64_t>(std::ssize(analysis.body.statements), 1);
  auto const& body = analysis.body;
  auto const& sharding = analysis.reference->sharding();
  auto const rank = body.rank();
  facts.extents = Shape(rank, 0);
  for (std::size_t a = 0; a < body.arrays.size(); ++a) {
    auto const& layout = *bindings.arrays[a]->layout();
    if (body.arrays[a].is_table || !(layout.sharding() == sharding)) continue;
    auto const extents = sharding.shard_shape(layout.shape());
    for (std::size_t d = 0; d < rank; ++d)
      facts.extents[d] = std::max(facts.extents[d], extents[d]);
  }
  facts.reach = Index(rank, 0);
  auto const one = schedule_block(body, 1, 1);
  auto const two = schedule_block(body, 2, 1);
  auto const wraps = body.wraps();
  for (std::size_t d = 0; d < rank; ++d) {
    facts.sides.push_back(wraps[d] ? 2 : std::min<std::int64_t>(sharding.ways(d) - 1, 2));
    for (std::size_t a = 0; a < body.arrays.size(); ++a) {
      if (body.arrays[a].is_table) continue;
      auto const& [below, above] = two.widths[a];
      auto const grows = below[d] + above[d] - one.widths[a].below[d] - one.widths[a].above[d];
      facts.reach[d] = std::max(facts.reach[d], grows);
    }
  }
  add_bytes(body, bindings, facts);
  return facts;
}

}  // namespace

void LoopOptions::check() const {
  bool const is_right =
      depth >= 0 && std::all_of(tile.begin(), tile.end(), [](auto extent) { return extent >= 0; });
  if (!is_right)
    throw UsageError(text("a loop cannot run in blocks of ", depth, " steps and tiles of ", tile,
                          " cells; pass 0 to let the library choose"));
}

LoopOptions LoopOptions::with_environment() const {
  auto result = *this;
  auto const found = LoopVariables::from_environment();
  result.depth = found.depth.value_or(depth);
  result.tile = found.tile.value_or(tile);
  result.graphs = found.graphs.value_or(graphs);
  if (found.overlap) result.overlap = found.overlap;
  return result;
}

BlockChoice choose_block(LoopAnalysis const& analysis, ArrayBindings const& bindings,
                         LoopOptions const& options, MachineFacts const& machine) {
  auto const rank = analysis.body.rank();
  if (!environment("TESSERA_TILE") && !options.tile.empty() && options.tile.size() != rank)
    throw UsageError(text("tiles of ", counted(std::ssize(options.tile), "dimension"),
                          " do not fit the arrays of a loop, which have ", rank));
  DefaultFloatState const computing;  // the processes choose alike, whatever each has set
  auto const facts = facts_of(analysis, bindings);
  BlockChoice choice;
  auto& shape = choice.shape;
  BlockModel const model(facts, machine);
  // Numbers beyond any array are as good as the largest sensible ones, with which sums do not
  // overflow.
  choice.is_depth_asked = options.depth > 0;
  shape.steps =
      choice.is_depth_asked ? std::min(options.depth, model.most_depth()) : model.best_depth();
  if (analysis.scalars_change) shape.steps = 1;
  shape.tile = model.best_tile(shape.steps);
  for (std::size_t d = 0; d < std::min(options.tile.size(), shape.tile.size()); ++d)
    shape.tile[d] = options.tile[d] > 0 ? std::min(options.tile[d], whole_extent) : whole_extent;
  // Rows whose ends have equal alignment are stored faster.
  if (shape.tile[rank - 1] % cells_per_line == 0) shape.alignment = cells_per_line;
  choice.step_seconds = model.step_seconds(shape.steps, shape.tile);
  // Within a host a message takes no longer than the tasks at the edges do.
  constexpr double least_hidden_seconds = 20e-6;
  shape.overlaps = analysis.part_of.back() == 0 &&
                   options.overlap.value_or(machine.message_seconds > least_hidden_seconds);
  shape.keeps_graphs = options.graphs;
  choice.reason = model.bottleneck(shape.steps, shape.tile);
  return choice;
}

}  // namespace tessera
