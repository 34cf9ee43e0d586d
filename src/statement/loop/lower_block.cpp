#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "src/index/affine_map.hpp"
#include "src/index/box.hpp"
#include "src/plan/block_passes.hpp"
#include "src/statement/loop/lower_loop.hpp"
#include "src/statement/lowering/operand.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

// The tasks of one device.
class BlockLowering {
 public:
  BlockLowering(BlockParts const& parts, BlockShape const& shape, DeviceId device)
      : parts_(parts), shape_(shape) {
    result_.device = device;
  }

  LoopWork lower() {
    auto const& reference = *parts_.analysis.reference;
    if (!reference.mesh().position_of(result_.device)) return std::move(result_);
    std::vector<Box> own;
    for (auto const& array : parts_.bindings.arrays) {
      padded_layouts_.push_back(array->boxes_on(result_.device).front().padded_layout);
      own.push_back(array->layout()->box_of(result_.device));
    }
    auto const first_cell = reference.box_of(result_.device).lo.back();
    auto const& body = parts_.analysis.body;
    if (parts_.analysis.part_of.back() > 0) {
      auto const cells = cells_of_block(body, parts_.schedule, own);
      for (std::size_t part = 0; part <= parts_.analysis.part_of.back(); ++part)
        result_.late.push_back(pass_of(cells_of_part(cells, part)));
    } else if (!shape_.overlaps) {
      result_.late.push_back(pass_of(cells_of_block(body, parts_.schedule, own)));
    } else {
      auto const passes = passes_of_block(body, parts_.schedule, own);
      result_.early = pass_of(passes.early);
      for (auto const& pass : passes.late) result_.late.push_back(pass_of(pass));
    }
    finish(result_.early, first_cell);
    for (auto& pass : result_.late) finish(pass, first_cell);
    return std::move(result_);
  }

 private:
  // One formula for each operand of a statement, over a box of its indices.
  struct Formula {
    std::size_t statement = 0;  // of the recorded ones
    Box indices;
    Index moved;  // by which the cells lie off, in an image of the domain
  };

  // The cells of the instances in one part of a step.
  [[nodiscard]] CellsOfInstances cells_of_part(CellsOfInstances const& cells,
                                               std::size_t part) const {
    CellsOfInstances result(cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      auto const& instance = parts_.schedule.instances[i];
      if (parts_.analysis.body.statements[instance.statement].part == part) result[i] = cells[i];
    }
    return result;
  }

  LoopPass pass_of(CellsOfInstances const& cells) {
    auto const rank = parts_.analysis.body.rank();
    pass_ = {{},
             {Index(rank, std::numeric_limits<std::int64_t>::max()),
              Index(rank, std::numeric_limits<std::int64_t>::min())}};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      auto const& instance = parts_.schedule.instances[i];
      for (auto const& box : cells[i])
        if (instance.carries)
          add_carry(instance, box);
        else
          add_statement(instance, box);
    }
    return std::move(pass_);
  }

  // Tiles begin where long rows of the shard are aligned, which begin with `first_cell`.
  void finish(LoopPass& pass, std::int64_t first_cell) const {
    if (pass.tasks.empty()) return;
    auto& lo = pass.tiles.lo.back();
    lo -= floor_mod(lo - first_cell, shape_.alignment);
    if (is_one_tile(pass)) return;
    for (auto& task : pass.tasks) task.non_temporal = false;
  }

  // What a tile writes is read in its next step, from the caches.
  [[nodiscard]] bool is_one_tile(LoopPass const& pass) const {
    if (shape_.steps != 1) return false;
    for (std::size_t d = 0; d < shape_.tile.size(); ++d)
      if (shape_.tile[d] < pass.tiles.extent(d)) return false;
    return true;
  }

  [[nodiscard]] ArrayModel const& array(std::size_t a) const { return *parts_.bindings.arrays[a]; }
  static std::size_t number(BlockBuffer const& buffer) { return 2 * buffer.array + buffer.which; }

  // Index i of a statement uses cell `cells(i)` of an array.
  [[nodiscard]] LoopOperand operand_with(std::size_t a, AffineMap const& cells,
                                         std::size_t rank) const {
    auto const bytes = array(a).element_bytes();
    auto const found = operand_in(padded_layouts_[a], bytes, cells, rank);
    LoopOperand result{found.origin_bytes, found.strides, found.strides, 0, false};
    for (auto& stride : result.strides_bytes) stride *= bytes;
    return result;
  }

  void add_task(BlockInstance const& instance, LoopTask task) {
    task.skew = instance.skew;
    task.step = instance.step;
    if (instance.target) task.target = number(*instance.target);
    for (auto const& read : instance.reads) task.operands.push_back(number(read));
    for (std::size_t d = 0; d < task.cells.rank(); ++d) {
      pass_.tiles.lo[d] = std::min(pass_.tiles.lo[d], task.cells.lo[d] + instance.skew[d]);
      pass_.tiles.hi[d] = std::max(pass_.tiles.hi[d], task.cells.hi[d] + instance.skew[d]);
    }
    pass_.tasks.push_back(std::move(task));
  }

  void add_carry(BlockInstance const& instance, BlockCells const& box) {
    auto const a = instance.target->array;
    auto const rank = box.cells.rank();
    // Behind the statements' kernels, one for each array.
    auto const kernel = parts_.step.size() + a;
    auto const [found, is_new] =
        known_.try_emplace({kernel, 0, Index(rank, 0)}, result_.parts.size());
    if (is_new) {
      auto const identity = AffineMap::identity(rank);
      auto const cells = operand_with(a, identity, rank);
      result_.parts.push_back({kernel, true, identity.axes, cells, {cells}});
    }
    add_task(instance, {.part = found->second, .cells = box.cells});
  }

  void add_statement(BlockInstance const& instance, BlockCells const& box) {
    auto const s = parts_.analysis.statements[instance.statement];
    auto const& statement = parts_.step[s].statement;
    bool const reduces = statement.is_reduction();
    if (reduces && statement.work.layout->replica_of(result_.device) != 0) return;
    auto const formulas = boxes_of_one_formula(accesses_of(statement), statement.work.indices);
    for (std::size_t f = 0; f < formulas.size(); ++f) {
      auto const image = statement.work.map.image(formulas[f]).shifted(box.moved);
      auto const cells = intersect(image, box.cells);
      if (cells.empty()) continue;
      Formula const formula{s, formulas[f], box.moved};
      auto const [found, is_new] = known_.try_emplace({s, f, box.moved}, result_.parts.size());
      if (is_new) result_.parts.push_back(part_of(formula));
      if (reduces) {
        add_task(instance, {.part = found->second,
                            .cells = cells,
                            .target = number_of_reduction(s, instance.step),
                            .reduces = true});
        continue;
      }
      auto const bytes = statement.target->element_bytes();
      auto const map = cells_written(formula);
      auto const row = map.preimage(cells, formula.indices).extents().back();
      auto const all = map.preimage(box.cells, statement.work.indices).cells();
      KernelWrite const write{row * bytes, all * bytes, result_.parts[found->second].unit_stride,
                              reads_target(instance)};
      add_task(instance,
               {.part = found->second, .cells = cells, .non_temporal = stores_non_temporal(write)});
    }
  }

  // The place of a recorded statement, in one step of the block, among LoopPlan::reductions.
  [[nodiscard]] std::size_t number_of_reduction(std::size_t s, std::int64_t step) const {
    auto const& statements = parts_.step;
    auto const count_to = [&](std::size_t end) {
      return std::count_if(statements.begin(),
                           statements.begin() + static_cast<std::ptrdiff_t>(end),
                           [](auto const& recorded) { return recorded.statement.is_reduction(); });
    };
    auto const first_kept =
        std::max<std::int64_t>(shape_.steps - parts_.analysis.body.kept_totals, 0);
    return static_cast<std::size_t>((step - first_kept) * count_to(statements.size()) +
                                    count_to(s));
  }

  // The cells that a formula writes, in its image of the domain.
  [[nodiscard]] AffineMap cells_written(Formula const& formula) const {
    auto cells = parts_.step[formula.statement].statement.work.map;
    for (std::size_t d = 0; d < cells.rank(); ++d) cells.axes[d].offset += formula.moved[d];
    return cells;
  }

  [[nodiscard]] LoopPart part_of(Formula const& formula) const {
    auto const& statement = parts_.step[formula.statement].statement;
    auto const cells = cells_written(formula);
    auto const rank = formula.indices.rank();
    auto const row = formula.indices.extent(rank - 1);
    LoopPart part{formula.statement, true, cells.axes, {}, {}};
    if (statement.is_reduction()) {
      part.target.strides = Index(rank, 0);
    } else {
      part.target = operand_with(number_of(parts_.bindings, statement.target), cells, rank);
      part.unit_stride = has_unit_stride(part.target.strides, row);
    }
    for (std::size_t l = 0; l < statement.operands.size(); ++l) {
      part.operands.push_back(operand_of(statement.operands[l], formula, is_table(formula, l)));
      part.unit_stride = part.unit_stride && has_unit_stride(part.operands.back().strides, row);
    }
    return part;
  }

  // A table lies alike in all images of the domain.
  [[nodiscard]] bool is_table(Formula const& formula, std::size_t operand) const {
    auto const& recorded = parts_.analysis.statements;
    auto const found = std::ranges::find(recorded, formula.statement);
    auto const& statement =
        parts_.analysis.body.statements[static_cast<std::size_t>(found - recorded.begin())];
    return statement.reads[operand].is_table;
  }

  [[nodiscard]] LoopOperand operand_of(OperandRequest const& operand, Formula const& formula,
                                       bool is_table) const {
    auto const rank = formula.indices.rank();
    auto const found = formula_over(operand.access, formula.indices);
    if (found.constant >= 0)
      return {constant_offset(operand, found), Index(rank, 0), Index(rank, 0), 0, true};
    auto cells = cells_read(operand.access, found);
    for (std::size_t d = 0; d < cells.rank() && !is_table; ++d)
      cells.axes[d].offset += formula.moved[d];
    auto const array = number_of(parts_.bindings, operand.array);
    auto result = operand_with(array, cells, rank);
    for (std::size_t d = 0; d < cells.rank(); ++d)
      result.step_bytes += operand.access.map.axes[d].per_step * padded_layouts_[array].strides[d] *
                           this->array(array).element_bytes();
    result.origin_bytes -= result.step_bytes * parts_.step[formula.statement].recorded_in;
    return result;
  }

  static bool reads_target(BlockInstance const& instance) {
    return std::ranges::any_of(instance.reads, [&](BlockBuffer const& read) {
      return number(read) == number(*instance.target);
    });
  }

  BlockParts const& parts_;
  BlockShape const& shape_;
  LoopWork result_;
  std::vector<PaddedShardLayout> padded_layouts_;  // by the number of the array
  LoopPass pass_;                                  // that is being made
  std::map<std::tuple<std::size_t, std::size_t, Index>, std::size_t> known_;
};

}  // namespace

LoopWork lower_block(BlockParts const& parts, BlockShape const& shape, DeviceId device) {
  return BlockLowering(parts, shape, device).lower();
}

}  // namespace tessera
