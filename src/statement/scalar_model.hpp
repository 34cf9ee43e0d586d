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
  /// The number of the Runtime that made the scalar, as of ArrayModel.
  [[nodiscard]] std::uint64_t runtime() const { return runtime_; }
  void set_runtime(std::uint64_t number) { runtime_ = number; }

  static constexpr std::size_t most_bytes = 16;

 private:
  std::uint64_t number_;
  std::uint64_t runtime_ = 0;
};

}  // namespace tessera
