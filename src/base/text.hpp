#pragma once
/// @file
/// The library writes text without naming its namespace.

#include "tessera/detail/base/text.hpp"

namespace tessera {

using detail::bytes_text;
using detail::counted;
using detail::join;
using detail::text;

}  // namespace tessera
