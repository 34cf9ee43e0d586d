#include "build.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/hash.hpp"
#include "tessera/exchange/copy_kernel.hpp"
#include "tessera/plan/block_passes.hpp"
#include "tessera/plan/halo_plan.hpp"

namespace tessera {
namespace {

// Messages and copies that fill the ghost cells of some arrays on one device.
class HaloBuilder {
 public:
  HaloBuilder(BlockParts const& parts, DeviceId device) : parts_(parts), device_(device) {}

  // `numbers`: the arrays.
  DevicePlan build(std::vector<std::size_t> const& numbers) {
    auto const wraps = parts_.analysis.body.wraps();
    std::vector<HaloNeed> needs;
    for (auto const a : numbers)
      needs.push_back({array(a).layout(), parts_.schedule.widths[a], wraps});
    auto const plan = plan_halo(needs, device_);
    DevicePlan result;
    result.device = device_;
    for (auto const& transfer : plan.sends)
      add_block(result.sends, transfer, numbers[transfer.leaf], transfer.cells.owned_hull());
    for (auto const& transfer : plan.receives)
      add_block(result.receives, transfer, numbers[transfer.leaf], transfer.cells.frame_hull());
    for (auto const& transfer : plan.copies) {
      auto const a = numbers[transfer.leaf];
      auto const pair = normalized(
          BlockPair{block(a, transfer.cells.frame_hull()), block(a, transfer.cells.owned_hull())});
      result.copies.push_back({pair, a, Storage::shard, a});
    }
    return result;
  }

 private:
  ArrayState& array(std::size_t a) const { return *parts_.names.arrays[a]; }
  StridedBlock block(std::size_t a, Box const& cells) const {
    auto const& frame = array(a).shards_of(device_).front().frame;
    TESSERA_ASSERT(frame.cells.contains(cells), cells, " in ", frame.cells);
    return frame.block_of(cells, array(a).element_bytes());
  }

  void add_block(std::vector<Message>& messages, Transfer const& transfer, std::size_t a,
                 Box const& cells) const {
    if (messages.empty() || messages.back().peer != transfer.peer) {
      messages.emplace_back();
      messages.back().peer = transfer.peer;
    }
    auto const whole = block(a, cells);
    auto const bytes = stream_bytes(whole);
    messages.back().bytes += bytes;
    messages.back().blocks.push_back({normalized(whole), bytes, a, Storage::shard, a});
  }

  BlockParts const& parts_;
  DeviceId device_;
};

// The tasks of one device.
class TaskBuilder {
 public:
  TaskBuilder(BlockParts const& parts, DeviceId device) : parts_(parts) { result_.device = device; }

  LoopDevice build(BlockShape const& shape) {
    auto const& layout = *parts_.analysis.layout;
    if (!layout.mesh().position_of(result_.device)) return std::move(result_);
    auto const own = layout.box_of(result_.device);
    auto const& body = parts_.analysis.body;
    if (!shape.overlaps) {
      result_.late.push_back(pass_of(cells_of_block(body, parts_.schedule, own)));
    } else {
      auto const passes = passes_of_block(body, parts_.schedule, own);
      result_.early = pass_of(passes.early);
      for (auto const& pass : passes.late) result_.late.push_back(pass_of(pass));
    }
    align(result_.early, own, shape.alignment);
    for (auto& pass : result_.late) align(pass, own, shape.alignment);
    return std::move(result_);
  }

 private:
  LoopPass pass_of(CellsOfInstances const& cells) {
    auto const rank = parts_.analysis.body.shape.size();
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

  Frame const& frame(std::size_t a) const {
    return parts_.names.arrays[a]->shards_of(result_.device).front().frame;
  }
  std::int64_t element_bytes(std::size_t a) const {
    return parts_.names.arrays[a]->element_bytes();
  }
  static std::size_t number(BlockBuffer const& buffer) { return 2 * buffer.array + buffer.which; }

  // Tiles begin where rows of the shard are aligned.
  static void align(LoopPass& pass, Box const& own, std::int64_t alignment) {
    if (pass.tasks.empty()) return;
    auto& lo = pass.tiles.lo.back();
    lo -= floor_mod(lo - own.lo.back(), alignment);
  }

  // Cell `first` + `step` · index along each dimension of the array, of which `from` says the
  // statement's.
  LoopOperand operand(std::size_t a, std::size_t rank, Index const& first, Index const& steps,
                      AffineMap const& map) const {
    auto const& around = frame(a);
    auto const bytes = element_bytes(a);
    LoopOperand result{0, Index(rank, 0), Index(rank, 0), false};
    auto elements = around.lead;
    for (std::size_t d = 0; d < first.size(); ++d) {
      elements += (first[d] - around.cells.lo[d]) * around.strides[d];
      if (map.axes[d].from == AxisMap::fixed) continue;
      auto const from = static_cast<std::size_t>(map.axes[d].from);
      result.strides[from] = steps[d] * around.strides[d];
      result.strides_bytes[from] = result.strides[from] * bytes;
    }
    result.origin_bytes = elements * bytes;
    return result;
  }

  void add_task(BlockInstance const& instance, std::size_t part, Box const& cells) {
    LoopTask task{part, cells, instance.skew, instance.step, number(instance.target), {}};
    for (auto const& read : instance.reads) task.leaves.push_back(number(read));
    for (std::size_t d = 0; d < cells.rank(); ++d) {
      pass_.tiles.lo[d] = std::min(pass_.tiles.lo[d], cells.lo[d] + instance.skew[d]);
      pass_.tiles.hi[d] = std::max(pass_.tiles.hi[d], cells.hi[d] + instance.skew[d]);
    }
    pass_.tasks.push_back(std::move(task));
  }

  void add_carry(BlockInstance const& instance, BlockCells const& box) {
    auto const a = instance.target.array;
    auto const rank = box.cells.rank();
    auto const identity = AffineMap::identity(rank);
    // Behind the statements' kernels, one for each array.
    auto const [found, is_new] =
        known_.try_emplace({parts_.step.size() + a, 0, Index(rank, 0)}, result_.parts.size());
    if (is_new) {
      auto const cells = operand(a, rank, Index(rank, 0), Index(rank, 1), identity);
      result_.parts.push_back({parts_.step.size() + a, true, identity.axes, cells, {cells}});
    }
    add_task(instance, found->second, box.cells);
  }

  void add_statement(BlockInstance const& instance, BlockCells const& box) {
    auto const s = parts_.analysis.statements[instance.statement];
    auto const& statement = parts_.step[s].statement;
    std::vector<Access> accesses;
    for (auto const& leaf : statement.leaves) accesses.push_back(leaf.access);
    auto const formulas = boxes_of_one_formula(accesses, statement.work.indices);
    for (std::size_t f = 0; f < formulas.size(); ++f) {
      auto const image = statement.work.map.image(formulas[f]).shifted(box.moved);
      auto const cells = intersect(image, box.cells);
      if (cells.empty()) continue;
      auto const [found, is_new] = known_.try_emplace({s, f, box.moved}, result_.parts.size());
      if (is_new) result_.parts.push_back(part_of(s, formulas[f], box.moved));
      add_task(instance, found->second, cells);
    }
  }

  LoopPart part_of(std::size_t s, Box const& formula, Index const& moved) const {
    auto const& statement = parts_.step[s].statement;
    auto const& map = statement.work.map;
    auto const rank = formula.rank();
    LoopPart part{s, true, map.axes, {}, {}};
    Index first;
    Index steps;
    for (std::size_t d = 0; d < map.rank(); ++d) {
      part.axes[d].offset += moved[d];
      first.push_back(part.axes[d].offset);
      steps.push_back(map.axes[d].stride);
    }
    part.target = operand(number_of(parts_.names, statement.target), rank, first, steps, map);
    part.unit_stride = is_unit(part.target, formula);
    for (auto const& leaf : statement.leaves) {
      part.leaves.push_back(leaf_of(leaf, formula, moved));
      part.unit_stride = part.unit_stride && is_unit(part.leaves.back(), formula);
    }
    return part;
  }

  static bool is_unit(LoopOperand const& operand, Box const& formula) {
    return operand.strides.back() == 1 || formula.extent(formula.rank() - 1) == 1;
  }

  LoopOperand leaf_of(LeafRequest const& leaf, Box const& indices, Index const& moved) const {
    auto const rank = indices.rank();
    auto const formula = formula_over(leaf.access, indices);
    if (formula.constant >= 0) {
      auto const bytes = leaf.array->element_bytes();
      return {leaf.constants_offset + formula.constant * bytes, Index(rank, 0), Index(rank, 0),
              true};
    }
    Index first;
    Index steps;
    for (std::size_t d = 0; d < formula.stretches.size(); ++d) {
      first.push_back(formula.stretches[d].frame() + moved[d]);
      steps.push_back(formula.stretches[d].step);
    }
    return operand(number_of(parts_.names, leaf.array), rank, first, steps, leaf.access.map);
  }

  BlockParts const& parts_;
  LoopDevice result_;
  LoopPass pass_;  // that is being made
  std::map<std::tuple<std::size_t, std::size_t, Index>, std::size_t> known_;
};

std::vector<LoopKernel> kernels_of(BlockParts const& parts) {
  std::vector<LoopKernel> kernels;
  for (auto const& recorded : parts.step) {
    auto const& statement = recorded.statement;
    auto& entry = kernels.emplace_back();
    entry.forms = statement.forms;
    entry.bytes = recorded.kernel;
    entry.copied_bytes = statement.copied_bytes();
    entry.scalars.assign(statement.scalars.begin(), statement.scalars.end());
    entry.step = recorded.step;
    entry.has_fixed_step = recorded.has_fixed_step;
    entry.counts_steps = statement.uses_step && !recorded.has_fixed_step;
  }
  for (auto const& array : parts.names.arrays) {
    CopyKernel const copy{array->element_bytes()};
    auto const* const bytes = reinterpret_cast<std::byte const*>(&copy);
    auto& entry = kernels.emplace_back();
    entry.forms = copy_forms();
    entry.bytes.assign(bytes, bytes + sizeof copy);
    entry.copied_bytes = array->element_bytes();
  }
  return kernels;
}

// The ghost cells of arrays with two buffers, as messages and copies fill them.
void add_ghosts(DevicePlan const& plan, std::vector<bool> const& swapped, LoopDevice& device) {
  for (auto const& message : plan.receives)
    for (auto const& block : message.blocks)
      if (swapped[block.buffer]) device.received.push_back({block.buffer, block.block});
  for (auto const& copy : plan.copies)
    if (swapped[copy.to]) device.copied.push_back({copy.to, copy.pair.to});
}

std::uint64_t hash_of(BlockParts const& parts, std::int64_t steps) {
  auto hash = mix(parts.step.size(), static_cast<std::uint64_t>(steps));
  for (auto const& recorded : parts.step) {
    auto const& statement = recorded.statement;
    hash = mix(hash, mix(statement.type_hash, statement.work.fingerprint()));
    hash = mix(hash, recorded.numbers);
    for (auto const& leaf : statement.leaves) hash = mix(hash, leaf.access.fingerprint());
  }
  for (auto const& array : parts.names.arrays) hash = mix(hash, array->number());
  return hash;
}

}  // namespace

std::vector<GhostWidths> widths_for(Names const& names, BlockSchedule const& schedule) {
  auto widths = schedule.widths;
  for (std::size_t a = 0; a < widths.size(); ++a)
    widths[a] = widths[a].merged(names.arrays[a]->widths());
  for (std::size_t round = 0; round < widths.size(); ++round)
    for (std::size_t a = 0; a < widths.size(); ++a) {
      auto& next = widths[names.next_array[a]];
      next = next.merged(widths[a]);
    }
  return widths;
}

std::unique_ptr<Loop> build_loop(BlockParts const& parts, BlockShape const& shape, Job const& job) {
  auto loop = std::make_unique<Loop>();
  auto const& body = parts.analysis.body;
  loop->steps = shape.steps;
  loop->statements = std::ssize(parts.step);
  loop->tile = shape.tile;
  loop->kernels = kernels_of(parts);
  loop->after = parts.schedule.after;
  loop->written = body.written();
  loop->swapped = body.swapped();
  loop->differing = body.differing();
  loop->hash = hash_of(parts, shape.steps);
  loop->first = std::make_shared<CompiledStatement>();
  loop->later = std::make_shared<CompiledStatement>();
  std::vector<std::size_t> all;
  std::vector<std::size_t> changing;
  for (std::size_t a = 0; a < body.arrays(); ++a) {
    all.push_back(a);
    loop->widths.push_back(parts.names.arrays[a]->widths());
    bool const keeps_its_name = body.next[a] == a;
    if (loop->written[a] || !keeps_its_name) changing.push_back(a);
  }
  for (std::int64_t i = 0; i < job.local_count(); ++i) {
    DeviceId const device{job.first_local().value() + i};
    loop->first->devices.push_back(HaloBuilder(parts, device).build(all));
    loop->later->devices.push_back(HaloBuilder(parts, device).build(changing));
    loop->devices.push_back(TaskBuilder(parts, device).build(shape));
    add_ghosts(loop->first->devices.back(), loop->swapped, loop->devices.back());
    if (shape.keeps_graphs) loop->devices.back().graphs = make_loop_graphs();
  }
  return loop;
}

}  // namespace tessera
