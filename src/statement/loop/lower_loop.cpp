#include "src/statement/loop/lower_loop.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tessera/detail/base/assert.hpp"

#include "src/base/detail.hpp"
#include "src/plan/exchange/halo_plan.hpp"
#include "src/plan/ghost.hpp"
#include "src/statement/copy_statement.hpp"

namespace tessera {
namespace {

// Messages and copies that fill the ghost cells of some arrays on one device.
class HaloLowering {
 public:
  // `numbers`: the arrays.
  HaloLowering(BlockParts const& parts, std::vector<std::size_t> const& numbers, DeviceId device)
      : parts_(parts), numbers_(numbers), device_(device) {}

  LoweredDevice lower() const {
    auto const plan = plan_halo(needs(), device_);
    LoweredDevice result;
    result.device = device_;
    for (auto const& transfer : plan.sends)
      add(result.sends, transfer, transfer.cells.owned_hull());
    for (auto const& transfer : plan.receives)
      add(result.receives, transfer, transfer.cells.frame_hull());
    for (auto const& transfer : plan.copies) {
      auto const a = numbers_[transfer.operand];
      auto const pair = normalized(
          BlockPair{block(a, transfer.cells.frame_hull()), block(a, transfer.cells.owned_hull())});
      result.copies.push_back({pair, a, Storage::shard, a, false});
    }
    return result;
  }

 private:
  [[nodiscard]] std::vector<HaloNeed> needs() const {
    auto const wraps = parts_.analysis.body.wraps();
    std::vector<HaloNeed> needs;
    for (auto const a : numbers_)
      needs.push_back({array(a).layout(), parts_.schedule.widths[a], wraps});
    return needs;
  }

  [[nodiscard]] ArrayModel const& array(std::size_t a) const { return *parts_.bindings.arrays[a]; }

  [[nodiscard]] StridedBlock block(std::size_t a, Box const& cells) const {
    auto const padded_layout = array(a).boxes_on(device_).front().padded_layout;
    TESSERA_ASSERT(padded_layout.cells.contains(cells), cells, " in ", padded_layout.cells);
    return padded_layout.block_of(cells, array(a).element_bytes());
  }

  void add(std::vector<MessagePlan>& messages, Transfer const& transfer, Box const& cells) const {
    auto const a = numbers_[transfer.operand];
    add_block(messages, transfer.peer, {block(a, cells), 0, a, Storage::shard, a});
  }

  BlockParts const& parts_;
  std::vector<std::size_t> const& numbers_;
  DeviceId device_;
};

// Adds the reductions of one step of a block, whose scalars have these roles when it starts.
void add_reductions(BlockParts const& parts, std::int64_t step,
                    std::vector<std::size_t> const& scalars,
                    std::vector<LoopReduction>& reductions) {
  for (std::size_t s = 0; s < parts.step.size(); ++s) {
    auto const& statement = parts.step[s].statement;
    if (!statement.is_reduction()) continue;
    reductions.push_back({s, step, scalars[number_of(parts.bindings, statement.result)],
                          parts.analysis.part_of[s], statement.reduction});
  }
}

// Follows the scalars through a block.
void add_scalars(BlockParts const& parts, LoopPlan& loop) {
  auto const& next = parts.bindings.next_scalar;
  std::vector<std::size_t> scalars(next.size());
  std::iota(scalars.begin(), scalars.end(), std::size_t{0});
  for (std::int64_t step = 0; step < loop.steps; ++step) {
    if (step >= loop.steps - parts.analysis.body.kept_totals)
      add_reductions(parts, step, scalars, loop.reductions);
    auto const before = scalars;
    for (std::size_t s = 0; s < scalars.size(); ++s) scalars[s] = before[next[s]];
  }
  loop.scalars_after = scalars;
}

// Some of its slices lie elsewhere in every step.
bool follows_steps(Statement const& statement) {
  return std::ranges::any_of(statement.operands, [](OperandRequest const& operand) {
    return operand.access.map.follows_steps();
  });
}

std::vector<LoopKernel> kernels_of(BlockParts const& parts) {
  std::vector<LoopKernel> kernels;
  for (auto const& recorded : parts.step) {
    auto const& statement = recorded.statement;
    auto& entry = kernels.emplace_back();
    entry.forms = statement.forms;
    entry.bytes = recorded.kernel;
    entry.copied_bytes = statement.copied_bytes;
    for (auto const& scalar : statement.scalars)
      entry.scalars.push_back(number_of(parts.bindings, scalar));
    entry.step = recorded.step;
    entry.has_fixed_step = recorded.has_fixed_step;
    entry.counts_steps =
        (statement.step.has_value() && !recorded.has_fixed_step) || follows_steps(statement);
  }
  for (auto const& array : parts.bindings.arrays) {
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
void add_ghosts(LoweredDevice const& plan, std::vector<bool> const& swapped, LoopWork& device) {
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
    for (auto const& operand : statement.operands) hash = mix(hash, operand.access.fingerprint());
  }
  for (auto const& array : parts.bindings.arrays) hash = mix(hash, array->number());
  return hash;
}

// The arrays whose ghost cells are stale after a block.
std::vector<std::size_t> changing_arrays(LoopBody const& body, std::vector<bool> const& written) {
  std::vector<std::size_t> changing;
  for (std::size_t a = 0; a < body.arrays.size(); ++a) {
    bool const keeps_its_name = body.next[a] == a;
    if (!body.arrays[a].is_table && (written[a] || !keeps_its_name)) changing.push_back(a);
  }
  return changing;
}

LoweredLoop without_devices(BlockParts const& parts, BlockShape const& shape) {
  LoweredLoop loop;
  auto const& body = parts.analysis.body;
  loop.steps = shape.steps;
  loop.statements = std::ssize(parts.step);
  loop.tile = shape.tile;
  loop.keeps_graphs = shape.keeps_graphs;
  loop.kernels = kernels_of(parts);
  loop.parts = parts.analysis.part_of.back() + 1;
  add_scalars(parts, loop);
  loop.after = parts.schedule.after;
  loop.written = body.written();
  loop.swapped = body.swapped();
  loop.differing = body.differing();
  loop.hash = hash_of(parts, shape.steps);
  for (auto const& array : parts.bindings.arrays) loop.widths.push_back(array->widths());
  return loop;
}

}  // namespace

std::vector<GhostWidths> ghost_widths_of_loop(ArrayBindings const& bindings,
                                              BlockSchedule const& schedule) {
  auto widths = schedule.widths;
  for (std::size_t a = 0; a < widths.size(); ++a)
    widths[a] = widths[a].merged(bindings.arrays[a]->widths());
  for (std::size_t round = 0; round < widths.size(); ++round)
    for (std::size_t a = 0; a < widths.size(); ++a) {
      auto& next = widths[bindings.next_array[a]];
      next = next.merged(widths[a]);
    }
  return widths;
}

LoweredDevice lower_halo(BlockParts const& parts, std::vector<std::size_t> const& arrays,
                         DeviceId device) {
  return HaloLowering(parts, arrays, device).lower();
}

LoweredLoop lower_loop(BlockParts const& parts, BlockShape const& shape,
                       DeviceSpan const& devices) {
  auto loop = without_devices(parts, shape);
  std::vector<std::size_t> all;
  for (std::size_t a = 0; a < parts.analysis.body.arrays.size(); ++a)
    if (!parts.analysis.body.arrays[a].is_table) all.push_back(a);
  auto const changing = changing_arrays(parts.analysis.body, loop.written);
  for (std::int64_t i = 0; i < devices.count; ++i) {
    DeviceId const device{devices.first.value() + i};
    loop.first.devices.push_back(lower_halo(parts, all, device));
    loop.later.devices.push_back(lower_halo(parts, changing, device));
    loop.devices.push_back(lower_block(parts, shape, device));
    add_ghosts(loop.first.devices.back(), loop.swapped, loop.devices.back());
  }
  note_totals(loop.first);
  note_totals(loop.later);
  return loop;
}

}  // namespace tessera
