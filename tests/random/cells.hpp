#pragma once
/// @file
/// The oracle of random numbers: each cell's bits by the plain rule.

#include <cstdint>

#include "tessera/detail/kernels/random/philox.hpp"
#include "tessera/random/key.hpp"

#include "support/arrays.hpp"

namespace tessera::test {

/// [0, 1) of cell i: 24 bits of float, and 53 of double.
template <class T>
[[nodiscard]] T uniform_cell(random::Key key, std::int64_t i) {
  auto const number = static_cast<std::uint64_t>(i);
  if constexpr (sizeof(T) == 8) {
    auto const block = detail::philox(key.value(), 0, number / 2);
    auto const low = number % 2 * 2;
    auto const bits = block.words[low] | std::uint64_t{block.words[low + 1]} << 32U;
    return static_cast<double>(bits >> 11U) / 9007199254740992.0;
  } else {
    auto const block = detail::philox(key.value(), 0, number / 4);
    return static_cast<float>(block.words[number % 4] >> 8U) / 16777216.0F;
  }
}

/// The cells of a shape, and what f makes of the number of each.
template <class T, class F>
[[nodiscard]] Mirror<T> by_number(Shape const& shape, F const& f) {
  std::int64_t i = 0;
  return Mirror<T>::made_of(shape, [&](Index const&) { return f(i++); });
}
template <class T>
[[nodiscard]] Mirror<T> uniform_cells(random::Key key, Shape const& shape) {
  return by_number<T>(shape, [&](std::int64_t i) { return uniform_cell<T>(key, i); });
}

}  // namespace tessera::test
