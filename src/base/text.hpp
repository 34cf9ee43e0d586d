#pragma once
/// @file
/// The library writes text without naming its namespace.

#include <string>
#include <string_view>

#include "tessera/detail/base/text.hpp"

namespace tessera {

using detail::bytes_text;
using detail::counted;
using detail::join;
using detail::text;
using detail::TextStream;

/// Takes the next word, up to a blank, off the front of `line`; empty if there is none.
[[nodiscard]] std::string_view take_word(std::string_view& line);

}  // namespace tessera
