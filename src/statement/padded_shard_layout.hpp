#pragma once
/// @file
/// How a device's part of an array lies in memory: padded rows with ghost cells around them.

#include <cstdint>

#include "tessera/index/index.hpp"

#include "src/index/strided_block.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {

/// Where cells lie in a buffer, row-major. In a shard they are its own box with ghost cells around
/// it, and rows of 256 bytes and more are padded so that each row's first own cell is aligned to 64
/// bytes, unless elements do not divide 64. Rows and planes of a shard or a temporary are also
/// padded where they would lie whole pages of 4 KiB apart.
struct PaddedShardLayout {
  Box cells;                  ///< own cells and ghost cells, unwrapped
  Index strides;              ///< in elements
  std::int64_t lead = 0;      ///< elements before the first cell of `cells`
  std::int64_t elements = 0;  ///< of a buffer

  /// The buffer of a box of cells with its ghost cells.
  [[nodiscard]] static PaddedShardLayout around(Box const& own, GhostWidths const& widths,
                                                std::int64_t element_bytes);
  /// A buffer of these cells alone, padded only where rows or planes would lie whole pages apart.
  [[nodiscard]] static PaddedShardLayout dense(Box const& cells, std::int64_t element_bytes);
  /// The place of a cell in a buffer, in elements. The cell lies in `cells`.
  [[nodiscard]] std::int64_t offset_of(Index const& cell) const;
  /// A box of cells as it lies in a buffer. Its cells lie in `cells`.
  [[nodiscard]] StridedBlock block_of(Box const& box, std::int64_t element_bytes) const;
};

/// A box that a device holds of an array, and how it lies in a buffer.
struct StoredBox {
  Box own;
  PaddedShardLayout padded_layout;
};

}  // namespace tessera
