#pragma once
/// @file
/// Steps of longer formulas, in forms that keep vector units busy.

#include <cstdint>

#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

/// c0 + c2 x^2 + ... of the coefficients with even numbers, where `square` is x^2.
TESSERA_FORMULA double even_terms(double /*square*/, double c0) {
  return c0;
}
TESSERA_FORMULA double even_terms(double /*square*/, double c0, double /*c1*/) {
  return c0;
}
template <class... More>
TESSERA_FORMULA double even_terms(double square, double c0, double /*c1*/, double c2,
                                  More... more) {
  return fused(square, even_terms(square, c2, more...), c0);
}
/// c0 + c1 x + c2 x^2 + ... as horner() has it, but in two chains of steps that do not wait for
/// each other. The last step is the same, so that the error is about as small.
template <class... More>
TESSERA_FORMULA double polynomial(double x, double c0, double c1, double c2, More... more) {
  double const square = x * x;
  double const rest =
      fused(x, even_terms(square, c2, more...), even_terms(square, c1, c2, more...));
  return fused(x, rest, c0);
}

/// selected(), by bits: where a or b is a constant that is compared later, the compiler else makes
/// a path of its own of it, and blends the results of both.
TESSERA_FORMULA double blended(bool condition, double a, double b) {
  auto const mask = std::uint64_t{0} - static_cast<std::uint64_t>(condition);
  return of_bits<double>(as_bits(b) ^ ((as_bits(a) ^ as_bits(b)) & mask));
}

}  // namespace tessera::detail::formula
