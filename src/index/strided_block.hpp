#pragma once
/// @file
/// A box of elements in memory as extents, strides and an offset: arithmetic, no memory is touched.

#include <cstdint>
#include <ostream>

#include "tessera/index/index.hpp"

#include "src/base/inline_vector.hpp"

namespace tessera {

/// Where the elements of a box lie in memory, relative to a base address.
///
/// No dimensions mean one element. An extent may be 0; a stride may be negative, zero (when read)
/// or larger than dense. The block's *stream* is its bytes in row-major order, without gaps.
struct StridedBlock {
  InlineVector<std::int64_t, 8> extents;  ///< elements per dimension
  InlineVector<std::int64_t, 8>
      strides_bytes;               ///< from one element to the next; as many as extents
  std::int64_t offset_bytes = 0;   ///< of element (0, ..., 0)
  std::int64_t element_bytes = 1;  ///< bytes that lie together

  friend bool operator==(StridedBlock const&, StridedBlock const&) = default;
  friend std::ostream& operator<<(std::ostream& out, StridedBlock const& block);
};

/// The strided block of a box whose cell `first` lies at the base; `strides` are the distances
/// between neighbouring cells, in elements.
[[nodiscard]] StridedBlock strided_block(Box const& box, Index const& first, Index const& strides,
                                         std::int64_t element_bytes);

/// The bytes of a line of the caches.
inline constexpr std::int64_t line_bytes = 64;

/// True if cells side by side in a row lie pages of 4 KiB apart, and those of successive rows in
/// one line: as in a transpose of rows whose length is a power of two. All lines of such a row fall
/// on one place of the nearest cache, which holds about eight. Rows whose cells lie otherwise apart
/// find their lines again in the second cache, and are faster whole. The arguments are the bytes
/// from row to row, and from cell to cell of a row.
[[nodiscard]] bool runs_across_lines(std::int64_t row_step_bytes, std::int64_t cell_step_bytes);

/// The length of the block's stream.
[[nodiscard]] std::int64_t stream_bytes(StridedBlock const& block);

/// The same stream from the same places, in the fewest dimensions: extents of 1 are dropped,
/// dimensions that continue each other are merged, and a contiguous run becomes one long element. A
/// block without elements keeps one dimension of extent 0. Ranks: pure. Planners call this once;
/// the copies below take any block but are fast on these.
[[nodiscard]] StridedBlock normalized(StridedBlock const& block);

/// Two blocks of the same extents, for `copy_block`.
struct BlockPair {
  StridedBlock to;
  StridedBlock from;

  friend bool operator==(BlockPair const&, BlockPair const&) = default;
};

/// The same copy in the fewest dimensions: merges only what can be merged on both sides.
/// Ranks: pure.
[[nodiscard]] BlockPair normalized(BlockPair const& pair);

}  // namespace tessera
