#pragma once
/// @file
/// Copies that transpose: elements that lie side by side in the origin lie a stride apart in the
/// target, and the other way round.

#include <cstddef>

#include "src/index/strided_block.hpp"

namespace tessera {

/// Copies blocks that are `is_transposing`, in tiles of whole lines, so that every line is read and
/// written once, wherever rows lie. `is_non_temporal`: whole lines are stored without the caches.
/// Threads: any. Allocates nothing.
void copy_transposed(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                     StridedBlock const& from, bool is_non_temporal);

}  // namespace tessera
