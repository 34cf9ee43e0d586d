#pragma once
/// @file
/// What is known of a scalar without its value.

#include <cstddef>
#include <cstdint>

namespace tessera {

/// One value that every device of the job holds, of at most 16 bytes: which one it is.
/// `ScalarState` adds the value.
class ScalarModel {
 public:
  explicit ScalarModel(std::uint64_t number) : number_(number) {}

  /// Counts the arrays and scalars of the program; a reused state gets a new number.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// Sets the number for the next use.
  void set_number(std::uint64_t number) { number_ = number; }

  static constexpr std::size_t most_bytes = 16;

 private:
  std::uint64_t number_;
};

}  // namespace tessera
