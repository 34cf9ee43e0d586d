#include "src/statement/lowering/operand.hpp"

#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"
#include "src/plan/access.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

// Copies of more bytes leave nothing of the target in the caches of a core.
constexpr std::int64_t least_non_temporal = std::int64_t{16} << 20;

// Longer rows leave the caches before a stencil reads them again for a neighbouring row. Of shorter
// ones some machines write the ends slowly, as lines in parts.
constexpr std::int64_t least_row_non_temporal = std::int64_t{1} << 20;

}  // namespace

std::int64_t Operand::offset_of(Index const& index) const {
  std::int64_t elements = 0;
  for (std::size_t d = 0; d < index.size(); ++d) elements += index[d] * strides[d];
  return origin_bytes + elements * element_bytes;
}

StridedBlock Operand::block_of(Box const& indices) const {
  StridedBlock block;
  block.element_bytes = element_bytes;
  block.offset_bytes = offset_of(indices.lo);
  for (std::size_t d = 0; d < indices.rank(); ++d) {
    block.extents.push_back(indices.extent(d));
    block.strides_bytes.push_back(strides[d] * element_bytes);
  }
  return block;
}

Operand operand_in(PaddedShardLayout const& padded_layout, std::int64_t element_bytes,
                   AffineMap const& cells, std::size_t rank) {
  Operand result{0, Index(rank, 0), element_bytes};
  auto elements = padded_layout.lead;
  for (std::size_t d = 0; d < cells.rank(); ++d) {
    auto const& axis = cells.axes[d];
    elements += (axis.offset - padded_layout.cells.lo[d]) * padded_layout.strides[d];
    if (axis.from == AxisMap::fixed) continue;
    result.strides[static_cast<std::size_t>(axis.from)] = axis.stride * padded_layout.strides[d];
  }
  result.origin_bytes = elements * element_bytes;
  return result;
}

AffineMap cells_read(Access const& access, OperandFormula const& formula) {
  auto cells = access.map;
  for (std::size_t d = 0; d < formula.affine_pieces.size(); ++d) {
    cells.axes[d].offset = formula.affine_pieces[d].frame();
    cells.axes[d].stride = formula.affine_pieces[d].step;
  }
  return cells;
}

std::int64_t constant_offset(OperandRequest const& operand, OperandFormula const& formula) {
  return operand.constants_offset + formula.constant * operand.array->element_bytes();
}

bool has_unit_stride(Index const& strides, std::int64_t row_cells) {
  return strides.back() == 1 || row_cells == 1;
}

bool may_store_non_temporal(KernelWrite const& write) {
  return write.has_unit_stride && !write.reads_target && write.bytes >= least_non_temporal;
}

bool stores_non_temporal(KernelWrite const& write) {
  return may_store_non_temporal(write) && write.row_bytes >= least_row_non_temporal;
}

bool copies_non_temporal(std::int64_t bytes) {
  return bytes >= least_non_temporal;
}

std::vector<Access> accesses_of(Statement const& statement) {
  std::vector<Access> accesses;
  for (auto const& operand : statement.operands) accesses.push_back(operand.access);
  return accesses;
}

std::size_t first_operand_of(Statement const& statement, std::size_t operand) {
  std::size_t first = 0;
  while (statement.operands[first].array != statement.operands[operand].array) ++first;
  return first;
}

}  // namespace tessera
