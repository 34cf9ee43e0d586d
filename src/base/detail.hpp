#pragma once
/// @file
/// Names of tessera::detail that the library uses without their namespace.

#include "tessera/detail/base/hash.hpp"
#include "tessera/detail/base/inline_vector.hpp"
#include "tessera/detail/base/text.hpp"

namespace tessera {

using detail::bits_of;
using detail::bytes_text;
using detail::counted;
using detail::fold;
using detail::hash_text;
using detail::InlineVector;
using detail::join;
using detail::mix;
using detail::scramble;
using detail::text;
using detail::TextStream;

}  // namespace tessera
