#include <algorithm>
#include <optional>
#include <vector>

#include "tessera/detail/base/assert.hpp"

#include "src/index/affine_map.hpp"
#include "src/plan/access.hpp"
#include "src/statement/lowering/lower_device.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

class PartLowering {
 public:
  PartLowering(DeviceLowering& lowering, Work const& work)
      : lowering_(lowering), statement_(lowering.use.statement), work_(work) {}

  /// Adds the call of the kernel over a box, or a copy that does the same.
  void add(Box const& box) {
    auto& plan = lowering_.plan;
    auto const part = lower(box);
    if (auto const copy = transposing_copy(part)) return plan.copies.push_back(*copy);
    plan.parts.push_back(part);
    for (auto const& operand : operands_) plan.operands.push_back(operand);
  }

 private:
  [[nodiscard]] Part lower(Box const& box) {
    Part part;
    part.first = box.lo;
    part.extents = box.extents();
    part.rows = part.extents.back() == 0 ? 0 : box.cells() / part.extents.back();
    part.target_strides = Index(box.rank(), 0);
    part.unit_stride = true;
    if (statement_.target != nullptr) add_target(part);
    operands_.clear();
    for (std::size_t l = 0; l < lowering_.use.operands.size(); ++l) {
      auto& operand = operands_.emplace_back(operand_formula_in(l, box));
      operand.element_bytes = lowering_.element_bytes(l);
      part.unit_stride = part.unit_stride && is_unit(part, operand.strides);
    }
    part.operand_count = operands_.size();
    part.may_store_non_temporal =
        statement_.target != nullptr && may_store_non_temporal(write_of(part));
    return part;
  }

  // The copy that gives the part its cells, if it only moves them and transposes: tiles of whole
  // lines are faster than the rows of a kernel.
  [[nodiscard]] std::optional<LocalCopy> transposing_copy(Part const& part) const {
    bool const only_moves = statement_.copied_bytes != 0 && operands_.size() == 1 &&
                            !statement_.writes_slabs() &&
                            statement_.operands[0].array != statement_.target;
    if (!only_moves || operands_[0].storage != Storage::shard) return std::nullopt;
    auto const& from = operands_[0];
    auto const pair =
        normalized(BlockPair{block_of(part, part.target_strides, part.target_offset_bytes),
                             block_of(part, from.strides, from.offset_bytes)});
    if (!is_transposing(pair.to, pair.from)) return std::nullopt;
    return LocalCopy{pair, from.buffer, Storage::target, part.write,
                     copies_non_temporal(stream_bytes(pair.to))};
  }

  [[nodiscard]] StridedBlock block_of(Part const& part, Index const& strides,
                                      std::int64_t offset_bytes) const {
    auto const bytes = statement_.target->element_bytes();
    auto block = strided_block({Index(strides.size(), 0), part.extents}, Index(strides.size(), 0),
                               strides, bytes);
    block.offset_bytes = offset_bytes;
    return block;
  }

  void add_target(Part& part) const {
    part.write = work_.write;
    part.is_staged = write().staged;
    auto const& operand = part.is_staged ? work_.stage : work_.target;
    part.target_strides = operand.strides;
    part.target_element_bytes = statement_.target->element_bytes();
    part.target_offset_bytes = operand.offset_of(part.first);
    // A fold's kernel steps over the target by itself.
    part.unit_stride = statement_.folds() || is_unit(part, part.target_strides);
  }

  [[nodiscard]] BoxWrite write() const { return lowering_.plan.writes[work_.write]; }

  static bool is_unit(Part const& part, Index const& strides) {
    return has_unit_stride(strides, part.extents.back());
  }

  [[nodiscard]] KernelWrite write_of(Part const& part) const {
    auto const bytes = statement_.target->element_bytes();
    return {part.extents.back() * bytes, work_.indices.cells() * bytes, part.unit_stride,
            reads_target()};
  }

  // A staged write is read again at once.
  [[nodiscard]] bool reads_target() const {
    if (write().swaps || write().staged) return write().staged;
    return std::ranges::any_of(statement_.operands, [&](auto const& operand) {
      return operand.array == statement_.target;
    });
  }

  // How the box reads an operand. The box lies in one affine piece of each dimension.
  PartOperand operand_formula_in(std::size_t l, Box const& box) {
    auto const formula = formula_over(lowering_.use.operands[l].access, box);
    if (formula.constant >= 0)
      return {Storage::constant, constant_offset(statement_.operands[l], formula),
              Index(box.rank(), 0), 0};
    auto const cells = cells_read(lowering_.use.operands[l].access, formula);
    if (lowering_.use.modes.in_place[l]) return in_shard(l, box, cells);
    auto const& temporaries = lowering_.exchange.temporaries;
    auto const from = temporaries.read_of(l, work_.number, formula).temporary;
    if (from == TemporaryRead::own_box) return in_shard(l, box, cells);
    return in_temporary(l, box, temporaries.list[from].places_of(cells, box.lo),
                        lowering_.temporaries[from]);
  }

  [[nodiscard]] PartOperand in_temporary(std::size_t l, Box const& box, AffineMap const& places,
                                         TemporaryMemory const& memory) const {
    auto const operand =
        operand_in(memory.padded_layout, lowering_.element_bytes(l), places, box.rank());
    return {Storage::scratch, memory.offset_bytes + operand.offset_of(box.lo), operand.strides, 0};
  }

  PartOperand in_shard(std::size_t l, Box const& box, AffineMap const& cells) {
    auto const& use = lowering_.use.operands[l];
    auto const first = cells(box.lo);
    auto const own = use.owned->box_holding(lowering_.plan.device, first);
    auto const& padded_layout = lowering_.arrays.box(l, own).padded_layout;
    TESSERA_ASSERT(padded_layout.cells.contains(first), use.access, " over ", box, " on device ",
                   lowering_.plan.device, " with ", padded_layout.cells);
    auto const operand = operand_in(padded_layout, lowering_.element_bytes(l), cells, box.rank());
    return {Storage::shard, operand.offset_of(box.lo), operand.strides, lowering_.buffer(l, own)};
  }

  DeviceLowering& lowering_;
  Statement const& statement_;
  Work const& work_;
  std::vector<PartOperand> operands_;  // of the part
};

}  // namespace

void lower_parts(DeviceLowering& lowering, Work const& work) {
  PartLowering parts(lowering, work);
  for (auto const& box : boxes_of_one_formula(accesses_of(lowering.use.statement), work.indices))
    parts.add(box);
}

}  // namespace tessera
