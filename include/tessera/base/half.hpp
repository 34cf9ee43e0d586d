#pragma once
/// @file
/// Floating types of 16 bits: half the memory and half the message size of float. They are storage
/// types; all arithmetic is done in float.

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tessera/detail/base/function.hpp"

namespace tessera {
namespace detail {

/// A float that rounds to fewer digits exactly as `x` does: if digits are lost, the last remaining
/// digit records that.
TESSERA_FUNCTION constexpr float shortened(double x) {
  auto const nearest = static_cast<float>(x);
  auto const back = static_cast<double>(nearest);
  auto const bits = std::bit_cast<std::uint32_t>(nearest);
  if (back == x || x != x || (bits & 1U) != 0) return nearest;
  bool const is_beyond = x < 0 ? back < x : back > x;
  return std::bit_cast<float>(is_beyond ? bits - 1 : bits + 1);
}
TESSERA_FUNCTION constexpr float shortened(float x) {
  return x;
}
/// An integer with more digits than a double loses only digits that cannot affect the rounding.
template <class I>
requires(std::is_integral_v<I>) TESSERA_FUNCTION constexpr float shortened(I x) {
  if constexpr (sizeof(I) < 8) {
    return shortened(static_cast<double>(x));
  } else {
    bool negative = false;
    if constexpr (std::is_signed_v<I>) negative = x < 0;
    auto magnitude =
        negative ? std::uint64_t{0} - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
    constexpr std::uint64_t lost = 0xfff;
    if (magnitude >> 53U != 0)
      magnitude = (magnitude & ~lost) | ((magnitude & lost) != 0 ? lost + 1 : 0);
    auto const value = shortened(static_cast<double>(magnitude));
    return negative ? -value : value;
  }
}

/// condition ? a : b, without a branch, so that loops become vectors.
TESSERA_FUNCTION constexpr std::uint32_t chosen(bool condition, std::uint32_t a, std::uint32_t b) {
  return b ^ ((a ^ b) & (0U - static_cast<std::uint32_t>(condition)));
}

/// IEEE 754's binary16: 5 bits of exponent and 10 of fraction; up to 65504.
struct Binary16 {
  static constexpr int digits = 11;
  static constexpr std::uint16_t infinity = 0x7c00;
  static constexpr std::uint16_t one = 0x3c00;

  /// Rounds to nearest, ties to even.
  TESSERA_FUNCTION static constexpr std::uint16_t from_float(float x) {
    auto const bits = std::bit_cast<std::uint32_t>(x);
    auto const magnitude = bits & 0x7fff'ffffU;
    constexpr std::uint32_t least_normal = (127U - 14) << 23U;
    constexpr std::uint32_t too_large = (127U + 16) << 23U;
    auto const odd = (magnitude >> 13U) & 1U;
    auto const normal = (magnitude + 0xfffU + odd - ((127U - 15) << 23U)) >> 13U;
    // The last place of 0.5 is the last place of a subnormal half.
    bool const is_small = magnitude < least_normal;
    auto const shifted = std::bit_cast<float>(chosen(is_small, magnitude, 0)) + 0.5F;
    auto const small = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F);
    auto const nan = 0x7e00U | ((magnitude >> 13U) & 0x3ffU);
    auto const special = chosen(magnitude > 0x7f80'0000U, nan, infinity);
    auto const finite = chosen(is_small, small, normal);
    auto const rounded = chosen(magnitude >= too_large, special, finite);
    return static_cast<std::uint16_t>(rounded | ((bits >> 16U) & 0x8000U));
  }
  TESSERA_FUNCTION static constexpr float to_float(std::uint16_t half) {
    auto const magnitude = half & 0x7fffU;
    auto const normal = (magnitude << 13U) + ((127U - 15) << 23U);
    auto const small = std::bit_cast<std::uint32_t>(
        static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F);
    auto const quiet = chosen(magnitude > infinity, 0x40'0000U, 0);
    auto const special = 0x7f80'0000U | ((magnitude & 0x3ffU) << 13U) | quiet;
    auto const finite = chosen(magnitude < 0x400U, small, normal);
    auto const bits = chosen(magnitude >= infinity, special, finite);
    return std::bit_cast<float>(bits | (std::uint32_t{half & 0x8000U} << 16U));
  }
};

/// The upper half of a float: its range, and 8 digits.
struct Brain16 {
  static constexpr int digits = 8;
  static constexpr std::uint16_t infinity = 0x7f80;
  static constexpr std::uint16_t one = 0x3f80;

  TESSERA_FUNCTION static constexpr std::uint16_t from_float(float x) {
    auto const bits = std::bit_cast<std::uint32_t>(x);
    auto const rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
    auto const quiet = (bits >> 16U) | 0x40U;
    return static_cast<std::uint16_t>(chosen((bits & 0x7fff'ffffU) > 0x7f80'0000U, quiet, rounded));
  }
  TESSERA_FUNCTION static constexpr float to_float(std::uint16_t half) {
    return std::bit_cast<float>(std::uint32_t{half} << 16U);
  }
};

}  // namespace detail

/// A floating number of 16 bits. It is a float wherever it is read, and arithmetic with it is that
/// of float; a number that becomes one is rounded once, to nearest, ties to even, with infinities,
/// NaN and subnormals kept. The same bits with every compiler, and those of _Float16 and
/// std::float16_t, or of __bf16.
template <class Format>
class Half {
 public:
  Half() = default;
  template <class S>
  requires(std::is_arithmetic_v<S> && sizeof(S) <= 8) TESSERA_FUNCTION
      constexpr Half(S value)  // NOLINT: a number
      : bits_(Format::from_float(detail::shortened(value))) {}
  TESSERA_FUNCTION constexpr operator float() const {  // NOLINT: it is its value
    return Format::to_float(bits_);
  }

  [[nodiscard]] TESSERA_FUNCTION constexpr std::uint16_t bits() const { return bits_; }
  /// The number with these bits.
  [[nodiscard]] TESSERA_FUNCTION static constexpr Half from_bits(std::uint16_t bits) {
    Half result{};
    result.bits_ = bits;
    return result;
  }

 private:
  std::uint16_t bits_;
};

/// IEEE 754's half precision, NumPy's float16: 11 digits, up to 65504.
using float16 = Half<detail::Binary16>;
/// The range of float with 8 digits.
using bfloat16 = Half<detail::Brain16>;

}  // namespace tessera

template <class Format>
class std::numeric_limits<tessera::Half<Format>> {
  using Value = tessera::Half<Format>;
  static constexpr auto of(int bits) { return Value::from_bits(static_cast<std::uint16_t>(bits)); }

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_iec559 = true;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr int radix = 2;
  static constexpr int digits = Format::digits;
  static constexpr Value min() noexcept { return of(1 << (Format::digits - 1)); }
  static constexpr Value max() noexcept { return of(Format::infinity - 1); }
  static constexpr Value lowest() noexcept { return of((Format::infinity - 1) | 0x8000); }
  static constexpr Value epsilon() noexcept {
    return of(Format::one - ((Format::digits - 1) << (Format::digits - 1)));
  }
  static constexpr Value infinity() noexcept { return of(Format::infinity); }
  static constexpr Value quiet_NaN() noexcept {
    return of(Format::infinity | (1 << (Format::digits - 2)));
  }
  static constexpr Value denorm_min() noexcept { return of(1); }
};
