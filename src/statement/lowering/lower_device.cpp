#include "src/statement/lowering/lower_device.hpp"

#include <algorithm>

#include "src/base/detail.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"
#include "src/plan/access.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

DeviceArrays::DeviceArrays(StatementUse const& use, DeviceId device) : boxes_(use.operands.size()) {
  auto const& statement = use.statement;
  for (std::size_t l = 0; l < use.operands.size(); ++l) {
    first_operand_.push_back(use.operands[l].array);
    if (first_operand_[l] == l) boxes_[l] = statement.operands[l].array->boxes_on(device);
  }
  if (statement.target != nullptr) target_ = statement.target->boxes_on(device);
}

std::size_t DeviceLowering::buffer(std::size_t operand, std::size_t box) {
  auto const first = use.operands[operand].array;
  auto const [found, is_new] = buffers.try_emplace({first, box}, plan.buffers.size());
  if (is_new) plan.buffers.push_back({first, box});
  return found->second;
}

namespace {

constexpr std::int64_t scratch_alignment = 64;

// Gives the operands and the cells written their places.
class DevicePlacer {
 public:
  explicit DevicePlacer(DeviceLowering& lowering)
      : lowering_(lowering), statement_(lowering.use.statement), plan_(lowering.plan) {}

  void place_temporaries() {
    for (auto const& temporary : lowering_.exchange.temporaries.list) {
      auto const bytes = lowering_.element_bytes(temporary.array);
      auto const layout = PaddedShardLayout::dense(temporary.places, bytes);
      lowering_.temporaries.push_back({layout, reserve_scratch(layout.elements * bytes)});
    }
  }

  void place_target(Work& work) {
    if (statement_.target == nullptr) return;
    auto const cells = target_cells();
    plan_.whole_parts = statement_.folds();
    work.write = plan_.writes.size();
    BoxWrite write;
    write.box = target_box(work, cells);
    write.written = cells.image(work.indices);
    write.without_holes = write.written.cells() == work.indices.cells();
    auto const& placed = lowering_.arrays.target_box(write.box);
    work.target = operand_in(placed.padded_layout, statement_.target->element_bytes(), cells,
                             work.indices.rank());
    if (has_conflict()) {
      // Half of the shard: if fewer cells are written, copying the untouched cells costs more than
      // a temporary.
      write.swaps = 2 * work.indices.cells() >= placed.own.cells();
      write.staged = !write.swaps;
      if (write.staged) place_stage(work);
    }
    plan_.writes.push_back(write);
  }

 private:
  std::int64_t reserve_scratch(std::int64_t bytes) {
    auto const offset = plan_.scratch_bytes;
    plan_.scratch_bytes += ceil_div(bytes, scratch_alignment) * scratch_alignment;
    return offset;
  }

  // The cell that each index writes. All boxes of a target of slabs lie in the device's own slab.
  [[nodiscard]] AffineMap target_cells() const {
    if (!statement_.writes_slabs()) return statement_.work.map;
    auto cells = statement_.slab_map;
    cells.axes[0] = {AxisMap::fixed, lowering_.arrays.target_box(0).own.lo[0], 1};
    return cells;
  }

  [[nodiscard]] std::size_t target_box(Work const& work, AffineMap const& cells) const {
    if (!statement_.writes_slabs()) return work.box;
    return statement_.target->layout()->box_holding(plan_.device, cells(work.indices.lo));
  }

  [[nodiscard]] bool has_conflict() const {
    for (std::size_t l = 0; l < lowering_.use.operands.size(); ++l)
      if (lowering_.use.modes.in_place[l] && lowering_.use.reads_overwritten(l)) return true;
    return false;
  }

  void place_stage(Work& work) {
    auto const bytes = statement_.target->element_bytes();
    auto const rank = work.indices.rank();
    auto const layout = PaddedShardLayout::dense(work.indices, bytes);
    work.stage = operand_in(layout, bytes, AffineMap::identity(rank), rank);
    work.stage.origin_bytes += reserve_scratch(layout.elements * bytes);
    plan_.stages.push_back(normalized(
        BlockPair{work.target.block_of(work.indices), work.stage.block_of(work.indices)}));
  }

  DeviceLowering& lowering_;
  Statement const& statement_;
  LoweredDevice& plan_;
};

// The parts of a few boxes stay as they are: then a kernel's call finds them at once.
void make_compact(LoweredDevice& plan, std::size_t works) {
  bool const has_many = works >= least_compact_size;
  has_many ? plan.parts.compact() : plan.parts.shrink_to_fit();
  has_many ? plan.operands.compact() : plan.operands.shrink_to_fit();
  plan.buffers.compact();
  plan.copies.compact();
  plan.writes.compact();
  plan.stages.compact();
  for (auto* const messages :
       {&plan.sends, &plan.receives, &plan.forwarded.sends, &plan.forwarded.receives})
    for (auto& message : *messages) message.blocks.compact();
}

}  // namespace

LoweredDevice lower_device(StatementUse const& use, DeviceId device, Forwarding const& forwarding) {
  auto const& statement = use.statement;
  DeviceArrays const arrays(use, device);
  DeviceLowering lowering{use, arrays, {}, {}, {}, {}, {}};
  lowering.plan.device = device;
  auto& works = lowering.works;
  auto const boxes = statement.work.work_of(device);
  for (auto const& [box, indices] : boxes) works.push_back({works.size(), indices, box});
  // Each cell of a reduction counts once, unless each device computes its value.
  bool const computes = !statement.is_reduction() || statement.reduction.on_each || works.empty() ||
                        statement.work.layout->replica_of(device) == 0;

  DevicePlacer placer(lowering);
  lowering.exchange = plan_exchange(use.operands, statement.work, device, forwarding);
  placer.place_temporaries();
  if (computes)
    for (auto& work : works) placer.place_target(work);
  for (std::size_t l = 0; l < use.operands.size(); ++l)
    if (!use.modes.in_place[l] && !use.lands() && reads_others(use.operands[l], boxes, device))
      lowering.plan.gathered.insert(l);
  lower_transfers(lowering);
  if (computes && !use.lands())
    for (auto const& work : works) lower_parts(lowering, work);
  make_compact(lowering.plan, works.size());
  return std::move(lowering.plan);
}

}  // namespace tessera
