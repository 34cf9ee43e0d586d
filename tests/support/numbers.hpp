#pragma once
/// @file
/// Numbers to send between GPUs, as bytes.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "src/base/text.hpp"

namespace tessera::test {

using Numbers = std::vector<std::int64_t>;

/// first, first + 1 …
[[nodiscard]] inline Numbers counted(std::size_t count, std::int64_t first) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}
[[nodiscard]] inline std::byte* bytes_of(Numbers& numbers) {
  return reinterpret_cast<std::byte*>(numbers.data());
}
[[nodiscard]] inline std::int64_t bytes_in(Numbers const& numbers) {
  return std::ssize(numbers) * std::int64_t{sizeof(std::int64_t)};
}

}  // namespace tessera::test
