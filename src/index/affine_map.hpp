#pragma once
/// @file
/// Affine maps, and where strided ranges meet.

#include <cstdint>

#include "tessera/detail/index/affine_map.hpp"

#include "src/index/box.hpp"

namespace tessera {

using detail::AffineMap;
using detail::AxisMap;

/// True if two strided ranges of `count` cells have a cell in common. A stride of 0 is one cell.
[[nodiscard]] bool ranges_intersect(std::int64_t first_a, std::int64_t stride_a,
                                    std::int64_t count_a, std::int64_t first_b,
                                    std::int64_t stride_b, std::int64_t count_b);

}  // namespace tessera
