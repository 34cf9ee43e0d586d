#pragma once
/// @file
/// One value that every device of the job holds: the result of a reduction.

#include <cstddef>
#include <cstdint>

#include "tessera/device/memory.hpp"

namespace tessera {

/// A copy of at most 16 bytes per local device, each in a cache line of its own.
class ScalarState {
 public:
  ScalarState(std::int64_t local_devices, std::uint64_t number)
      : values_(local_devices * line), number_(number) {}

  /// The copy of a local device, counted from 0. Written by its worker.
  [[nodiscard]] std::byte* value(std::int64_t local_index) {
    return values_.data() + local_index * line;
  }
  /// Counts the arrays and scalars of the program; a state that serves again gets a new number.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// The number of its next use.
  void set_number(std::uint64_t number) { number_ = number; }

  static constexpr std::size_t most_bytes = 16;

 private:
  static constexpr std::int64_t line = 64;
  HostMemory values_;
  std::uint64_t number_;
};

}  // namespace tessera
