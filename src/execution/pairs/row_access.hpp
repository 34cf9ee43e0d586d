#pragma once
/// @file
/// Computes which bytes the rows of a box touch, and how far a second statement has to stay behind
/// the first one. This is arithmetic on addresses; no memory is touched.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tessera/index/index.hpp"

#include "src/index/strided_block.hpp"

namespace tessera {

/// The bytes of one operand, or of the target, that a box of indices touches. A *row* is all cells
/// with one index along the first dimension: a plane in three dimensions, a cell in one.
struct RowAccess {
  std::int64_t first = 0;   ///< address of the lowest byte of row 0
  std::int64_t stride = 0;  ///< bytes from one row to the next
  std::int64_t span = 0;    ///< bytes from the lowest byte of a row to the end of its highest
  std::int64_t rows = 0;
  bool writes = false;

  /// The address of the lowest byte of all rows.
  [[nodiscard]] std::int64_t lowest() const { return stride < 0 ? last() : first; }
  /// The address after the highest byte of all rows.
  [[nodiscard]] std::int64_t past() const { return (stride < 0 ? first : last()) + span; }

  friend bool operator==(RowAccess const&, RowAccess const&) = default;

 private:
  [[nodiscard]] std::int64_t last() const { return first + (rows - 1) * stride; }
};

/// The place and size of the elements of a box in memory.
struct Elements {
  std::int64_t address = 0;  ///< of the element at the first index
  std::int64_t bytes = 0;    ///< of one element
};

/// The rows that a box with these extents touches. Strides are in elements, one for each extent.
/// There is at least one extent, and none is 0.
[[nodiscard]] RowAccess access_of_rows(Elements const& elements, Index const& extents,
                                       Index const& strides);

/// The bytes of a block whose offset counts from address `base`. If the block has a dimension with
/// this stride, in bytes, that one counts its rows; else the block is one row.
[[nodiscard]] RowAccess access_of_block(std::int64_t base, StridedBlock const& block,
                                        std::int64_t stride);

/// True if no row of one has a byte in common with a row of the other. All bytes of a span count as
/// touched.
[[nodiscard]] bool are_apart(RowAccess const& a, RowAccess const& b);

/// By how many rows the second statement has to stay behind the first one if both are computed row
/// by row: row r of the second one may be computed once the rows up to r + skew of the first one
/// are. At least 0; none if no skew keeps the order in which the two statements read and write each
/// cell. The same skew serves cells that are read after they are written, written after they are
/// read, and written twice.
[[nodiscard]] std::optional<std::int64_t> skew_between(std::span<RowAccess const> first,
                                                       std::span<RowAccess const> second);

/// The bytes from one row to the next, added up over the accesses. Memory that several of them
/// touch counts once.
[[nodiscard]] std::int64_t bytes_of_a_row(std::span<RowAccess const> accesses);

}  // namespace tessera
