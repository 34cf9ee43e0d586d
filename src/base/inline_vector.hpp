#pragma once
/// @file
/// The library uses short vectors without naming their namespace.

#include "tessera/detail/base/inline_vector.hpp"

namespace tessera {

using detail::InlineVector;

}  // namespace tessera
