#pragma once
/// @file
/// An angle in radians as a number of quarter turns and a remainder between about -pi/4 and pi/4.
/// Coefficients: tools/coefficients/circular.py.

#include <bit>
#include <cstdint>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::detail::formula {

/// The angle quarters * pi/2 + high + low.
struct Angle {
  double high;
  double low;
  std::uint64_t quarters;  ///< only the last two bits count
};

/// Reduces 0 <= x <= 2^20. The first step is exact; the second one has an error that the third
/// computes, because k times the 33 digits of its factor is exact.
/// Source: Cody and Waite, Software manual for the elementary functions (1980).
TESSERA_FORMULA Angle reduced_near(double x) {
  auto const k = rounded_product(x, 0x1.45f306dc9c883p-1);
  auto const rest = fused(-k.value, 0x1.921fb54442d18p+0, x);
  auto const high = fused(-k.value, 0x1.1a62633100000p-54, rest);
  auto const error = fused(-k.value, 0x1.1a62633100000p-54, rest - high);
  return {high, fused(-k.value, 0x1.1701b839a2520p-88, error), as_bits(k.shifted)};
}
/// Reduces |x| <= 2^40 with an error of 2^-66, as little as floats need: `low` is 0.
TESSERA_FORMULA Angle reduced_shortly(double x) {
  auto const k = rounded_product(x, 0x1.45f306dc9c883p-1);
  auto const rest = fused(-k.value, 0x1.921fb54442d18p+0, x);
  return {fused(-k.value, 0x1.1a62633145c07p-54, rest), 0, as_bits(k.shifted)};
}

/// The upper 64 bits of a product. By halves, because not every compiler has 128 bits on GPUs.
TESSERA_FUNCTION inline std::uint64_t upper_word(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t half = 0xffff'ffff;
  std::uint64_t const low = (a & half) * (b & half);
  std::uint64_t const middle = (a >> 32U) * (b & half) + (low >> 32U);
  std::uint64_t const other = (a & half) * (b >> 32U) + (middle & half);
  return (a >> 32U) * (b >> 32U) + (middle >> 32U) + (other >> 32U);
}

/// 64 digits of 2/pi from the one with the weight 2^(63 - first) on, for 0 <= first <= 1215.
TESSERA_FUNCTION inline std::uint64_t digits_of_two_over_pi(unsigned first) {
  constexpr std::uint64_t words[] = {
      0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
      0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
      0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
      0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};
  auto const shift = first % 64;
  auto const next = shift == 0 ? 0 : words[first / 64 + 1] >> (64 - shift);
  return (words[first / 64] << shift) | next;
}

/// (upper, lower) / 2^128 as a sum of two doubles.
TESSERA_FUNCTION inline Pair<double> as_pair(std::uint64_t upper, std::uint64_t lower) {
  constexpr std::uint64_t half = 0xffff'ffff;
  auto const d0 = static_cast<double>(lower & half) * 0x1p-128;
  auto const d1 = static_cast<double>(lower >> 32U) * 0x1p-96;
  auto const d2 = static_cast<double>(upper & half) * 0x1p-64;
  auto const d3 = static_cast<double>(upper >> 32U) * 0x1p-32;
  auto const tail = fast_two_sum(d1, d0);
  auto const middle = two_sum(d2, tail.high);
  auto const head = two_sum(d3, middle.high);
  return fast_two_sum(head.high, head.low + (middle.low + tail.low));
}

/// Reduces 2^20 <= x < infinity. Of 2/pi only those digits are used that do not make whole turns
/// and that matter for the remainder: of x * 2/pi modulo 4 this leaves 137 bits behind the point,
/// and no double is closer than 2^-62 to a multiple of pi/2.
/// Source: Payne and Hanek, Radian reduction for trigonometric functions (1983).
TESSERA_FUNCTION inline Angle reduced_far(double x) {
  using F = Format<double>;
  auto const bits = as_bits(x);
  std::uint64_t const digits = (bits & F::fraction) | (F::fraction + 1);
  auto const first = static_cast<unsigned>(bits >> 52U) - 1013U;  // x = digits * 2^(first - 62)
  std::uint64_t const high = digits_of_two_over_pi(first);
  std::uint64_t const middle = digits_of_two_over_pi(first + 64);
  std::uint64_t const low = digits_of_two_over_pi(first + 128);

  //             w2            w1            w0          x * 2/pi modulo 4 = (w2, w1, w0) / 2^190
  std::uint64_t const w0 = digits * low;
  std::uint64_t const from_low = upper_word(digits, low);
  std::uint64_t const w1 = digits * middle + from_low;
  std::uint64_t const carry = w1 < from_low ? 1 : 0;
  std::uint64_t const w2 = digits * high + upper_word(digits, middle) + carry;

  std::uint64_t upper = (w2 << 2U) | (w1 >> 62U);  // the fraction, which may be rounded up
  std::uint64_t lower = (w1 << 2U) | (w0 >> 62U);
  bool const up = (upper >> 63U) != 0;
  if (up) {
    upper = ~upper;
    lower = ~lower;
  }
  auto const part = as_pair(upper, lower);
  auto const product = two_product(part.high, 0x1.921fb54442d18p+0);
  auto const rest = fused(part.high, 0x1.1a62633145c07p-54, part.low * 0x1.921fb54442d18p+0);
  auto const angle = fast_two_sum(product.high, product.low + rest);
  double const sign = up ? -1 : 1;
  return {sign * angle.high, sign * angle.low, (w2 >> 62U) + (up ? 1 : 0)};
}

}  // namespace tessera::detail::formula
