#pragma once
/// @file
/// How the indices of a statement lead to the cells of an array in memory: what the plans of
/// statements and of loops have in common.

#include <cstdint>
#include <vector>

#include "src/index/affine_map.hpp"
#include "src/plan/access.hpp"
#include "src/statement/padded_shard_layout.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// An array as a statement finds it in a buffer: index i lies `strides` · i elements behind the
/// origin.
struct Operand {
  std::int64_t origin_bytes = 0;  ///< of index 0, from the start of the buffer
  Index strides;                  ///< in elements, per dimension of the statement
  std::int64_t element_bytes = 1;

  /// The place of an index in the buffer, in bytes.
  [[nodiscard]] std::int64_t offset_of(Index const& index) const;
  /// A box of indices as it lies in the buffer.
  [[nodiscard]] StridedBlock block_of(Box const& indices) const;
};

/// Index i of a statement of `rank` dimensions uses cell `cells(i)`, which lies in
/// `padded_layout`. An axis of stride 0 stays where it is.
[[nodiscard]] Operand operand_in(PaddedShardLayout const& padded_layout, std::int64_t element_bytes,
                                 AffineMap const& cells, std::size_t rank);

/// The cells that a statement reads over a box where the access is this one formula, as they lie
/// around a shard: past the ends of the domain are its periodic images.
[[nodiscard]] AffineMap cells_read(Access const& access, OperandFormula const& formula);

/// The place of the constant in the kernel that an operand reads past an edge, in bytes.
[[nodiscard]] std::int64_t constant_offset(OperandRequest const& operand,
                                           OperandFormula const& formula);

/// True if the cells of a row lie side by side. `row_cells`: the length of the row.
[[nodiscard]] bool has_unit_stride(Index const& strides, std::int64_t row_cells);

/// What one kernel call writes, on the way to choosing its stores.
struct KernelWrite {
  std::int64_t row_bytes = 0;    ///< of a row of the part
  std::int64_t bytes = 0;        ///< of all that is written at once
  bool has_unit_stride = false;  ///< rows of the target and of all operands
  bool reads_target = false;     ///< from the buffer that it writes
};
/// True if the target may be stored past the caches (by non-temporal stores): so much is written
/// that nothing of it stays in the caches. Which stores are faster is for the device to find out.
[[nodiscard]] bool may_store_non_temporal(KernelWrite const& write);
/// The same where nobody tries both: of long rows alone, which leave the caches before anybody
/// reads them.
[[nodiscard]] bool stores_non_temporal(KernelWrite const& write);
/// The same for cells that are moved to the target unchanged.
[[nodiscard]] bool copies_non_temporal(std::int64_t bytes);

/// The accesses of a statement's operands.
[[nodiscard]] std::vector<Access> accesses_of(Statement const& statement);
/// Operands that read one array share its ghost cells and shards: the first stands for the array.
[[nodiscard]] std::size_t first_operand_of(Statement const& statement, std::size_t operand);

}  // namespace tessera
