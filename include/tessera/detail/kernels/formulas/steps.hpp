#pragma once
/// @file
/// The steps of which elementary functions are made: each a fixed sequence of IEEE operations, so
/// that its bits depend neither on the compiler nor on the width of a vector nor on the device.
///
/// Rounding is to nearest. Every fused step is written as one, and compilers must not fuse others.
///
/// A formula is a struct with a function `usual` that has no branches. Errors are the largest that
/// were found with MPFR as the oracle, in units of the last place (ulp) of the exact result: among
/// all floats, and for doubles and for functions of two arguments among 10^7 and hard cases.

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "tessera/detail/base/function.hpp"

namespace tessera::detail::formula {

/// How the bits of a float or a double mean a number.
template <class R>
struct Format {
  static constexpr bool is_double = sizeof(R) == 8;
  using Bits = std::conditional_t<is_double, std::uint64_t, std::uint32_t>;
  static constexpr int fraction_bits = is_double ? 52 : 23;
  static constexpr Bits bias = is_double ? 1023 : 127;
  static constexpr Bits one = bias << fraction_bits;  ///< the bits of 1
  static constexpr Bits sign = ~(~Bits{0} >> 1U);     ///< the bits of -0
  static constexpr Bits infinity = (2 * bias + 1) << fraction_bits;
  static constexpr Bits fraction = (Bits{1} << fraction_bits) - 1;
};
template <class R>
using Bits = typename Format<R>::Bits;

template <class R>
TESSERA_FORMULA constexpr Bits<R> as_bits(R x) {
  return std::bit_cast<Bits<R>>(x);
}
template <class R>
TESSERA_FORMULA constexpr R of_bits(Bits<R> bits) {
  return std::bit_cast<R>(bits);
}

/// The bits of a float, or the upper half of those of a double.
template <class R>
TESSERA_FORMULA constexpr std::uint32_t high_bits(R x) {
  return static_cast<std::uint32_t>(as_bits(x) >> (Format<R>::is_double ? 32U : 0U));
}

template <class R>
TESSERA_FORMULA constexpr R infinity() {
  return of_bits<R>(Format<R>::infinity);
}
template <class R>
TESSERA_FORMULA constexpr R not_a_number() {
  return of_bits<R>(Format<R>::infinity | (Format<R>::infinity >> 1U));
}
/// The constant of the type at hand: one for double, one for float.
template <class R>
TESSERA_FORMULA constexpr R either(double for_double, float for_float) {
  if constexpr (Format<R>::is_double)
    return for_double;
  else
    return for_float;
}

/// condition ? a : b, of values that are both known already, so that no branch is made of it.
template <class R>
TESSERA_FORMULA R selected(bool condition, R a, R b) {
  return condition ? a : b;
}
template <class R>
TESSERA_FORMULA R magnitude(R x) {
  return of_bits<R>(as_bits(x) & ~Format<R>::sign);
}
/// x, negated if `sign_of` has a minus sign.
template <class R>
TESSERA_FORMULA R with_sign_flipped_by(R x, R sign_of) {
  return of_bits<R>(as_bits(x) ^ (as_bits(sign_of) & Format<R>::sign));
}

/// x >= 0 with the sign of `sign_of`.
template <class R>
TESSERA_FORMULA R with_sign_of(R sign_of, R x) {
  return of_bits<R>(as_bits(x) | (as_bits(sign_of) & Format<R>::sign));
}
/// x, but at least `lowest` and at most `highest`. NaN stays.
template <class R>
TESSERA_FORMULA R clamped(R x, R lowest, R highest) {
  R const below = selected(x > highest, highest, x);
  return selected(below < lowest, lowest, below);
}

/// a * b + c, rounded once.
template <class R>
TESSERA_FORMULA R fused(R a, R b, R c) {
  return std::fma(a, b, c);
}
/// c0 + c1 x + c2 x^2 + ... by fused steps.
template <class R>
TESSERA_FORMULA R horner(R /*x*/, R c0) {
  return c0;
}
template <class R, class... More>
TESSERA_FORMULA R horner(R x, R c0, R c1, More... more) {
  return fused(x, horner(x, c1, more...), c0);
}

/// The same in half the time: the even and the odd powers side by side, from the lowest pair on.
template <class R>
TESSERA_FORMULA R even_powers(R /*square*/, R c0) {
  return c0;
}
template <class R>
TESSERA_FORMULA R even_powers(R /*square*/, R c0, R /*c1*/) {
  return c0;
}
template <class R, class... More>
TESSERA_FORMULA R even_powers(R square, R c0, R /*c1*/, R c2, More... more) {
  return fused(square, even_powers(square, c2, more...), c0);
}
template <class R, class... More>
TESSERA_FORMULA R two_horners(R x, R c0, R c1, More... more) {
  R const square = x * x;
  return fused(x, even_powers(square, c1, more...), even_powers(square, c0, c1, more...));
}

/// The unevaluated sum of two numbers; `low` is much smaller than `high`.
template <class R>
struct Pair {
  R high;
  R low;
};
/// a + b exactly.
/// Source: Knuth, The Art of Computer Programming 2 (1969), 4.2.2.
template <class R>
TESSERA_FORMULA Pair<R> two_sum(R a, R b) {
  R const sum = a + b;
  R const of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}
/// a + b exactly, if |a| >= |b| or a = 0.
/// Source: Dekker, A floating-point technique for extending the available precision (1971).
template <class R>
TESSERA_FORMULA Pair<R> fast_two_sum(R a, R b) {
  R const sum = a + b;
  return {sum, b - (sum - a)};
}
/// a * b exactly, if nothing underflows.
template <class R>
TESSERA_FORMULA Pair<R> two_product(R a, R b) {
  R const product = a * b;
  return {product, fused(a, b, -product)};
}

/// log(2). Products of the first part and exponents of an R are exact.
template <class R>
TESSERA_FORMULA constexpr Pair<R> log_of_two() {
  return {either<R>(0x1.62e42fefa38p-1, 0x1.62e4p-1F),
          either<R>(0x1.ef35793c7673p-45, 0x1.7f7d1cp-20F)};
}

/// An integer k, |k| < 2^(fraction bits - 2), as a number and in the low bits of `shifted`.
template <class R>
struct Rounded {
  R value;
  R shifted;  ///< k + 1.5 * 2^(fraction bits)
};
template <class R>
inline constexpr R integer_shift = Format<R>::is_double ? R(0x1.8p52) : R(0x1.8p23);

/// The integer nearest to a * b.
template <class R>
TESSERA_FORMULA Rounded<R> rounded_product(R a, R b) {
  R const shifted = fused(a, b, integer_shift<R>);
  return {shifted - integer_shift<R>, shifted};
}
/// The integer nearest to x.
template <class R>
TESSERA_FORMULA Rounded<R> rounded(R x) {
  R const shifted = x + integer_shift<R>;
  return {shifted - integer_shift<R>, shifted};
}
/// 2^k, which must be a normal number, from the low bits of any number that ends in k.
template <class R>
TESSERA_FORMULA R power_of_two(Bits<R> ends_in_k) {
  return of_bits<R>((ends_in_k << unsigned{Format<R>::fraction_bits}) + Format<R>::one);
}
/// x * 2^k, rounded once, for 0.5 <= x <= 2. Two factors, because 2^k alone may be 0 or infinite.
template <class R>
TESSERA_FORMULA R times_power_of_two(R x, Rounded<R> k) {
  auto const all = as_bits(k.shifted);
  auto const half = all >> 1U;
  return x * power_of_two<R>(half) * power_of_two<R>(all - half);
}

}  // namespace tessera::detail::formula
