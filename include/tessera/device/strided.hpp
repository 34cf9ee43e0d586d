#pragma once
/// @file
/// Copies of strided blocks of memory: into a message, out of one, and from array to array.

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>

#include "tessera/base/inline_vector.hpp"

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

/// Copies element by element; the blocks have the same extents and element size and never overlap.
/// Threads: any. Allocates nothing.
void copy_block(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                StridedBlock const& from);

/// The same where the target is far larger than the caches and is not read soon: long runs are
/// stored past them, so that the target's lines need not be read first.
void copy_block_past_caches(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                            StridedBlock const& from);

/// Copies bytes [first_byte, first_byte + to.size()) of the block's stream to `to`, or as many as
/// there are; a long block is sent in pieces of any size. Returns the number of bytes written.
/// Threads: any. Allocates nothing.
std::int64_t pack(std::byte const* base, StridedBlock const& block, std::int64_t first_byte,
                  std::span<std::byte> to);

/// The reverse: bytes [first_byte, first_byte + from.size()) of the block's stream are in `from`.
/// Returns the number of bytes read.
/// Threads: any. Allocates nothing.
std::int64_t unpack(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
                    std::span<std::byte const> from);
/// The same with stores as those of `copy_block_past_caches`.
std::int64_t unpack_past_caches(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
                                std::span<std::byte const> from);

}  // namespace tessera
