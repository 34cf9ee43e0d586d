#pragma once
/// @file
/// Copies that transpose: elements that lie side by side in the origin lie a stride apart in the
/// target, and the other way round.

#include <cstddef>

#include "src/index/strided_block.hpp"

namespace tessera {

/// Copies blocks that are `is_transposing`, in tiles of whole lines, so that every line is read and
/// written once where the target's rows begin with a line.
/// Threads: any. Allocates nothing.
void copy_transposed(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                     StridedBlock const& from);

/// The same for a target that is far larger than the caches and is not read soon: lines are stored
/// without the caches where the target's rows begin with one.
void copy_transposed_non_temporal(std::byte* to_base, StridedBlock const& to,
                                  std::byte const* from_base, StridedBlock const& from);

}  // namespace tessera
