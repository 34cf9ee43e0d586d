#pragma once
/// @file
/// Names of tessera::detail that the library and its tests use without their namespace.

#include "tessera/detail/ops/binned_sum.hpp"
#include "tessera/detail/ops/wide_product.hpp"

namespace tessera {

using detail::BinnedSum;
using detail::WideComplexProduct;
using detail::WideProduct;

}  // namespace tessera
