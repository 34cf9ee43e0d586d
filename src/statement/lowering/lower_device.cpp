#include "src/statement/lowering/lower_device.hpp"

#include <algorithm>
#include <optional>

#include "src/base/inline_vector.hpp"
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

Box lattice_of_work(Access const& access, Box const& work) {
  Box lattice{Index(access.rank(), 0), Index(access.rank(), 1)};
  for (std::size_t d = 0; d < access.rank(); ++d) {
    if (access.map.axes[d].from == AxisMap::fixed) continue;
    auto const from = static_cast<std::size_t>(access.map.axes[d].from);
    lattice.lo[d] = work.lo[from];
    lattice.hi[d] = work.hi[from];
  }
  return lattice;
}

// The sources of the cells that a work box needs of an operand.
struct Sources {
  bool others = false;  // other devices, or another end of the domain
  bool several = false;
  std::optional<std::size_t> box;  // the device's own

  void add_own(std::size_t own) {
    several = several || box.value_or(own) != own;
    box = own;
  }
};

// Gives the operands and the cells written their places.
class DevicePlacer {
 public:
  explicit DevicePlacer(DeviceLowering& lowering)
      : lowering_(lowering), statement_(lowering.use.statement), plan_(lowering.plan) {}

  [[nodiscard]] bool lands_in_target() const {
    if (statement_.copied_bytes == 0 || statement_.operands.size() != 1 ||
        lowering_.use.modes.in_place[0])
      return false;
    auto const& operand = statement_.operands[0];
    if (operand.array == statement_.target || statement_.writes_slabs()) return false;
    InlineVector<int, max_rank> uses(statement_.work.indices.rank(), 0);
    for (std::size_t d = 0; d < operand.access.rank(); ++d) {
      auto const& boundary = operand.access.boundaries[d];
      if (boundary.any() && boundary.below != BoundaryKind::periodic) return false;
      auto const from = operand.access.map.axes[d].from;
      if (from != AxisMap::fixed) ++uses[static_cast<std::size_t>(from)];
    }
    return std::all_of(uses.begin(), uses.end(), [](int count) { return count == 1; });
  }

  // An operand that is not read in place gets a temporary for each work box, unless one box of this
  // device holds all cells that are needed there.
  void place_operands() {
    auto const sources = find_sources();
    auto const count = lowering_.use.operands.size();
    for (auto& work : lowering_.works) {
      work.temporaries.resize(count);
      work.direct.assign(count, false);
      for (std::size_t l = 0; l < count; ++l) {
        if (lowering_.use.modes.in_place[l] || lowering_.lands) continue;
        auto const& from = sources[work.number * count + l];
        work.direct[l] = may_read_shards(l) && !from.others && !from.several;
        if (work.direct[l]) continue;
        auto const lattice = lattice_of_work(lowering_.use.operands[l].access, work.indices);
        auto const bytes = lowering_.element_bytes(l);
        auto const layout = PaddedShardLayout::dense(lattice, bytes);
        work.temporaries[l] = {layout, reserve_scratch(layout.elements * bytes)};
      }
    }
  }

  void place_target(Work& work) {
    if (statement_.target == nullptr) return;
    auto const cells = target_cells();
    plan_.whole_parts = statement_.folds();
    work.write = plan_.writes.size();
    auto& write = plan_.writes.emplace_back();
    write.box = target_box(work, cells);
    write.written = cells.image(work.indices);
    write.without_holes = write.written.cells() == work.indices.cells();
    auto const& placed = lowering_.arrays.target_box(write.box);
    work.target = operand_in(placed.padded_layout, statement_.target->element_bytes(), cells,
                             work.indices.rank());
    if (!has_conflict()) return;
    // Half of the shard: if fewer cells are written, copying the untouched cells costs more than a
    // temporary.
    write.swaps = 2 * work.indices.cells() >= placed.own.cells();
    write.staged = !write.swaps;
    if (write.staged) place_stage(work, write);
  }

 private:
  std::int64_t reserve_scratch(std::int64_t bytes) {
    auto const offset = plan_.scratch_bytes;
    plan_.scratch_bytes += ceil_div(bytes, scratch_alignment) * scratch_alignment;
    return offset;
  }

  [[nodiscard]] std::vector<Sources> find_sources() const {
    auto const operands = lowering_.use.operands.size();
    std::vector<Sources> sources(lowering_.works.size() * operands);
    auto const of = [&](Transfer const& transfer) -> Sources& {
      return sources[transfer.work * operands + transfer.operand];
    };
    for (auto const& transfer : lowering_.exchange.receives) of(transfer).others = true;
    for (auto const& transfer : lowering_.exchange.copies) {
      of(transfer).add_own(transfer.box);
      if (transfer.cells.wraps()) of(transfer).others = true;
    }
    return sources;
  }

  [[nodiscard]] bool may_read_shards(std::size_t operand) const {
    return !lowering_.use.reads_overwritten(operand) && lowering_.arrays.has_boxes(operand);
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

  void place_stage(Work& work, BoxWrite& write) {
    auto const bytes = statement_.target->element_bytes();
    auto const rank = work.indices.rank();
    auto const layout = PaddedShardLayout::dense(work.indices, bytes);
    work.stage = operand_in(layout, bytes, AffineMap::identity(rank), rank);
    work.stage.origin_bytes += reserve_scratch(layout.elements * bytes);
    write.stage = normalized(
        BlockPair{work.target.block_of(work.indices), work.stage.block_of(work.indices)});
  }

  DeviceLowering& lowering_;
  Statement const& statement_;
  LoweredDevice& plan_;
};

}  // namespace

LoweredDevice lower_device(StatementUse const& use, DeviceId device) {
  auto const& statement = use.statement;
  DeviceArrays const arrays(use, device);
  DeviceLowering lowering{use, arrays, {}, {}, false, {}, {}};
  lowering.plan.device = device;
  auto& works = lowering.works;
  for (auto const& [box, indices] : statement.work.work_of(device))
    works.push_back({works.size(), indices, box});
  // Each cell of a reduction counts once.
  bool const computes =
      !statement.is_reduction() || works.empty() || statement.work.layout->replica_of(device) == 0;

  DevicePlacer placer(lowering);
  lowering.lands = placer.lands_in_target();
  lowering.exchange = plan_exchange(use.operands, statement.work, device);
  placer.place_operands();
  if (computes)
    for (auto& work : works) placer.place_target(work);
  lower_transfers(lowering);
  if (computes && !lowering.lands)
    for (auto const& work : works) lower_parts(lowering, work);
  return std::move(lowering.plan);
}

}  // namespace tessera
