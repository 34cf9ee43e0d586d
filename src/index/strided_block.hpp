#pragma once
/// @file
/// A box of elements in memory as extents, strides and an offset: arithmetic, no memory is touched.

#include <cstddef>
#include <cstdint>
#include <ostream>

#include "tessera/index/index.hpp"

#include "src/base/detail.hpp"

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

  /// Visits the numbers that may differ by a step where a pair repeats.
  template <class Visit>
  void visit_steps(Visit const& visit) {
    visit(to.offset_bytes);
    visit(from.offset_bytes);
  }
  friend bool operator==(BlockPair const&, BlockPair const&) = default;
};

/// The dimension along which the elements of a block lie side by side; if there is none, the number
/// of its dimensions.
[[nodiscard]] std::size_t dense_dimension(StridedBlock const& block);

/// True if elements lie side by side along one dimension of `to` and along another one of `from`,
/// enough of them to fill lines on both sides: then a copy in tiles of whole lines reads and writes
/// every line once. False for elements of other sizes than 1, 2, 4, 8 or 16 bytes. The blocks have
/// the same extents and elements. Ranks: pure.
[[nodiscard]] bool is_transposing(StridedBlock const& to, StridedBlock const& from);

/// The same copy in the fewest dimensions: merges only what can be merged on both sides.
/// Ranks: pure.
[[nodiscard]] BlockPair normalized(BlockPair const& pair);

}  // namespace tessera
