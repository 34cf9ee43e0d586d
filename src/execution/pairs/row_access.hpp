#pragma once
/// @file
/// Which bytes the rows of a box touch, and how far a second statement must stay behind a first
/// one: arithmetic, no memory is touched.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tessera/index/index.hpp"

#include "src/index/strided_block.hpp"

namespace tessera {

/// The bytes that a box of indices touches of one operand, or of the target. A *row* is all that
/// has one index along the first dimension: a plane in three dimensions, a cell in one.
struct RowAccess {
  std::int64_t first = 0;   ///< address of the lowest byte of row 0
  std::int64_t stride = 0;  ///< bytes from a row to the next one
  std::int64_t span = 0;    ///< bytes from the lowest to behind the highest one of a row
  std::int64_t rows = 0;
  bool writes = false;

  /// The lowest address of all rows.
  [[nodiscard]] std::int64_t lowest() const { return stride < 0 ? last() : first; }
  /// The address behind the highest byte of all rows.
  [[nodiscard]] std::int64_t past() const { return (stride < 0 ? first : last()) + span; }

  friend bool operator==(RowAccess const&, RowAccess const&) = default;

 private:
  [[nodiscard]] std::int64_t last() const { return first + (rows - 1) * stride; }
};

/// Where elements lie in memory.
struct Elements {
  std::int64_t address = 0;  ///< of the box's first index
  std::int64_t bytes = 0;    ///< of one
};

/// `strides`: of the elements, in elements; as many as extents, at least one, none of them 0.
[[nodiscard]] RowAccess access_of_rows(Elements const& elements, Index const& extents,
                                       Index const& strides);

/// The bytes of a block as rows that lie `stride` apart, if it has a dimension with that stride;
/// else as one row.
[[nodiscard]] RowAccess access_of_block(std::int64_t base, StridedBlock const& block,
                                        std::int64_t stride);

/// True if no row of one touches what a row of the other one does, as far as the spans tell.
[[nodiscard]] bool are_apart(RowAccess const& a, RowAccess const& b);

/// By how many rows a second statement must stay behind a first one that is computed row by row
/// along with it: row r of the second one may be computed as soon as all rows up to r + skew of the
/// first one are. At least 0; nothing if no such number makes every cell read and write what it
/// does when one statement follows the other. The same distance serves cells that are read after
/// they are written, written after they are read, and written twice.
[[nodiscard]] std::optional<std::int64_t> skew_between(std::span<RowAccess const> first,
                                                       std::span<RowAccess const> second);

/// The bytes that one row touches of all memory that the accesses name; what several of them touch
/// counts once.
[[nodiscard]] std::int64_t bytes_of_a_row(std::span<RowAccess const> accesses);

}  // namespace tessera
