#pragma once
/// @file
/// Text for people and for machines: error messages, explanations, tables, files.

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

namespace tessera::detail {

/// A stream into memory in the classic locale, whatever locales the program has set: programs read
/// this text too, such as the header of a file or a sharding.
class TextStream : public std::ostringstream {
 public:
  TextStream();
};

/// All parts, written one after the other.
template <class... Parts>
[[nodiscard]] std::string text(Parts const&... parts) {
  TextStream out;
  (static_cast<void>(out << parts), ...);
  return std::move(out).str();
}

/// The items of a range between `open` and `close`, with ", " between them.
template <class Range>
[[nodiscard]] std::string join(Range const& items, std::string_view open = "",
                               std::string_view close = "", std::string_view between = ", ") {
  TextStream out;
  out << open;
  bool first = true;
  for (auto const& item : items) {
    if (!first) out << between;
    out << item;
    first = false;
  }
  out << close;
  return std::move(out).str();
}

/// "1 message", "2 messages".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view singular);

/// A number of bytes as people read it: "8 B", "64.0 KiB".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);

}  // namespace tessera::detail
