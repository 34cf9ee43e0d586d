#pragma once
/// @file
/// Indices, shapes, and arithmetic on them.

#include "tessera/detail/index/shape.hpp"
#include "tessera/index/index.hpp"

#include "src/base/detail.hpp"

namespace tessera {

using detail::ceil_div;
using detail::check_shape;
using detail::floor_div;
using detail::row_major_strides;

}  // namespace tessera
