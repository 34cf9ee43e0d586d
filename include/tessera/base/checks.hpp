#pragma once
/// @file
/// What TESSERA_CHECK asks for: comparisons that cost time, and find mistakes of programs.

namespace tessera {

/// The words of TESSERA_CHECK, with commas between them.
struct Checks {
  bool communication = false;  ///< all processes compare what they are about to do
  bool recording = false;      ///< the body of a loop runs in every step, and is compared

  /// Throws: ConfigError, listing the words that there are, for any other.
  [[nodiscard]] static Checks from_environment();
};

}  // namespace tessera
