#pragma once
/// @file
/// Text from outside, such as variables, the contents of files and what parsers read, goes into
/// messages by `excerpt` or `printable`.

#include <string>
#include <string_view>

#include "src/base/detail.hpp"

namespace tessera {

/// Returns the text for a terminal: writes control characters, and bytes that are no UTF-8, as
/// "\\x1b", so that text from outside cannot steer the terminal. `kept`: those that stay.
[[nodiscard]] std::string printable(std::string_view words, std::string_view kept = "");

/// At most this many bytes of a text from outside go into a message.
inline constexpr std::size_t most_in_excerpt = 80;

/// Returns the beginning of a text from outside, printable, in at most `most` bytes; of a longer
/// one also its length: "segments(seg... (20000 bytes)". `kept`: control characters that stay.
[[nodiscard]] std::string excerpt(std::string_view words, std::size_t most = most_in_excerpt,
                                  std::string_view kept = "");

/// Takes the next word, up to a blank, off the front of `line`; empty if there is none.
[[nodiscard]] std::string_view take_word(std::string_view& line);

}  // namespace tessera
