#pragma once
/// @file
/// The value of a function for one argument, as the library computes it: the same bits as in a
/// block.

#include "tessera/detail/formulas/functions.hpp"

namespace tessera::detail {

template <Function function, class R>
[[nodiscard]] R value_of(R x) {
  compute(function, &x, 1);
  return x;
}
template <Function2 function, class R>
[[nodiscard]] R value_of(R x, R y) {
  compute(function, &x, &y, 1);
  return x;
}

}  // namespace tessera::detail
