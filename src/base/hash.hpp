#pragma once
/// @file
/// The library uses these hashes without naming their namespace.

#include "tessera/detail/base/hash.hpp"

namespace tessera {

using detail::bits_of;
using detail::fold;
using detail::hash_text;
using detail::mix;
using detail::scramble;

}  // namespace tessera
