#pragma once
/// @file
/// Products with twice the digits, without naming their namespace.

#include "tessera/detail/ops/wide_product.hpp"

namespace tessera {

using detail::WideComplexProduct;
using detail::WideProduct;

}  // namespace tessera
