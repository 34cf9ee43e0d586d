#pragma once
/// @file
/// Whole numbers on a command line, by their places.

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace examples {

/// The number in place `k` of the command line, at least `least`; `otherwise` if there is none.
/// Throws: std::invalid_argument for anything else.
[[nodiscard]] inline std::int64_t argument(int argc, char const* const* argv, int k,
                                           std::int64_t otherwise, std::int64_t least = 1) {
  if (k >= argc) return otherwise;
  std::string_view const word = argv[k];
  std::int64_t number = 0;
  auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < least)
    throw std::invalid_argument("argument " + std::to_string(k) + ": a whole number from " +
                                std::to_string(least) + " on, not " + std::string(word));
  return number;
}

}  // namespace examples
