#pragma once
/// @file
/// The checks that TESSERA_CHECK switches on: comparisons that cost time and find mistakes in
/// programs.

namespace tessera {

/// The words of TESSERA_CHECK, with commas between them.
struct Checks {
  bool communication = false;  ///< all processes compare what they are about to do
  bool numbers = false;        ///< their numbers too; includes `communication`
  bool recording = false;      ///< the body of a loop runs in every step, and is compared

  /// Throws: ConfigError for any other word, with a list of the valid ones.
  [[nodiscard]] static Checks from_environment();
};

}  // namespace tessera
