#pragma once
/// @file
/// The place in a user's source where a statement stands.

#include <cstdint>
#include <ostream>
#include <source_location>
#include <string_view>

namespace tessera {

/// File and line of a statement; an empty file means unknown (a whole-array copy has no place).
/// Lifetime: `file` points at a literal of the program.
struct SourceLocation {
  char const* file = "";
  std::uint32_t line = 0;

  constexpr SourceLocation() = default;
  constexpr SourceLocation(char const* f, std::uint32_t l) : file(f), line(l) {}
  constexpr SourceLocation(std::source_location const& location)  // NOLINT: a place is a location
      : file(location.file_name()), line(location.line()) {}

  [[nodiscard]] constexpr bool known() const { return line != 0; }
  /// The file's name without its folders.
  [[nodiscard]] constexpr std::string_view file_name() const {
    std::string_view const whole(file);
    auto const slash = whole.rfind('/');
    return slash == std::string_view::npos ? whole : whole.substr(slash + 1);
  }

  friend std::ostream& operator<<(std::ostream& out, SourceLocation const& location) {
    if (!location.known()) return out << "(unknown place)";
    return out << location.file_name() << ':' << location.line;
  }
};

}  // namespace tessera
