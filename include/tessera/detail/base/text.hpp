#pragma once
/// @file
/// Text for people: error messages, explanations, tables.

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

namespace tessera::detail {

/// All parts, written one after the other.
template <class... Parts>
[[nodiscard]] std::string text(Parts const&... parts) {
  std::ostringstream out;
  (static_cast<void>(out << parts), ...);
  return std::move(out).str();
}

/// The items of a range between `open` and `close`, with ", " between them.
template <class Range>
[[nodiscard]] std::string join(Range const& items, std::string_view open = "",
                               std::string_view close = "", std::string_view between = ", ") {
  std::ostringstream out;
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
