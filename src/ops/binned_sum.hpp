#pragma once
/// @file
/// Order-independent sums, without naming their namespace.

#include "tessera/detail/ops/binned_sum.hpp"

namespace tessera {

using detail::BinnedSum;

}  // namespace tessera
