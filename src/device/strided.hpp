#pragma once
/// @file
/// Copies of strided blocks of memory: into a message, out of one, and from array to array.

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/index/strided_block.hpp"

namespace tessera {

/// Copies element by element; the blocks have the same extents and element size and never overlap.
/// Threads: any. Allocates nothing.
void copy_block(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                StridedBlock const& from);

/// The same for a target that is far larger than the caches and is not read soon: long runs, and
/// copies that transpose, use non-temporal stores, so that the target's lines need not be read
/// first.
void copy_block_non_temporal(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
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
/// The same with non-temporal stores for long runs.
std::int64_t unpack_non_temporal(std::byte* base, StridedBlock const& block,
                                 std::int64_t first_byte, std::span<std::byte const> from);

}  // namespace tessera
