#include "tessera/base/half.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/text.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("base/half");

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

static_assert(sizeof(float16) == 2 && std::is_trivially_copyable_v<float16>);
static_assert(std::is_trivially_default_constructible_v<bfloat16>);
static_assert(std::is_same_v<decltype(float16(1) + bfloat16(1)), float>);
static_assert(std::is_convertible_v<double, float16> && std::is_convertible_v<float16, double>);
static_assert(std::is_convertible_v<std::int64_t, bfloat16>);

/// The value by the book: sign, exponent, fraction.
template <class T>
double value_by_hand(std::uint16_t bits) {
  constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
  constexpr int exponents = 1 << (15 - fraction_bits);
  int const fraction = bits & ((1 << fraction_bits) - 1);
  int const exponent = (bits >> fraction_bits) & (exponents - 1);
  double const sign = (bits & 0x8000) != 0 ? -1 : 1;
  constexpr int bias = exponents / 2 - 1;
  if (exponent == exponents - 1)
    return fraction == 0 ? sign * infinity : std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

template <class T>
T of_bits(std::uint32_t bits) {
  return T::from_bits(static_cast<std::uint16_t>(bits));
}

template <class T, class From>
bool becomes(From x, std::uint32_t bits) {
  return T(x).bits() == bits;
}

// The values for which something is wrong, to be printed: checks one by one take seconds.
class Wrong {
 public:
  void unless(bool holds, std::uint32_t bits) {
    if (!holds && (found_.empty() || found_.back() != bits)) found_.push_back(bits);
  }
  ~Wrong() { CHECK(join(found_) == ""); }

 private:
  std::vector<std::uint32_t> found_;
};

template <class T>
void check_every_value() {
  Wrong wrong;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    auto const half = of_bits<T>(bits);
    auto const single = static_cast<float>(half);
    double const wanted = value_by_hand<T>(half.bits());
    if (std::isnan(wanted)) {
      wrong.unless(std::isnan(single) && std::isnan(static_cast<float>(T(single))), bits);
      wrong.unless((T(single).bits() & 0x8000) == (bits & 0x8000), bits);
    } else {
      wrong.unless(std::bit_cast<std::uint64_t>(static_cast<double>(half)) ==
                       std::bit_cast<std::uint64_t>(wanted),
                   bits);
      wrong.unless(becomes<T>(single, bits) && becomes<T>(wanted, bits), bits);
    }
  }
}

// Between every two neighbours: the middle goes to the even one, and what lies a little beside it
// to the nearer one, from float and from double, on either side of zero.
template <class T>
void check_every_rounding() {
  std::uint32_t const last = std::numeric_limits<T>::infinity().bits();
  auto const value = [](std::uint32_t bits) {
    return value_by_hand<T>(static_cast<std::uint16_t>(bits));
  };
  Wrong wrong;
  for (std::uint32_t bits = 0; bits < last; ++bits) {
    double const low = value(bits);
    // Beyond the largest value the next one would be another step away.
    double const high = bits + 1 < last ? value(bits + 1) : 2 * low - value(bits - 1);
    double const middle = low + (high - low) / 2;
    auto const even = bits % 2 == 0 ? bits : bits + 1;
    wrong.unless(becomes<T>(middle, even) && becomes<T>(-middle, even | 0x8000), bits);
    wrong.unless(becomes<T>(std::nextafter(middle, infinity), bits + 1), bits);
    wrong.unless(becomes<T>(std::nextafter(middle, 0.0), bits), bits);
    auto const single = static_cast<float>(middle);
    if (single != middle) continue;  // between two floats
    wrong.unless(becomes<T>(single, even), bits);
    wrong.unless(becomes<T>(std::nextafter(single, 2 * single + 1), bits + 1), bits);
    wrong.unless(becomes<T>(std::nextafter(single, 0.0F), bits), bits);
  }
}

}  // namespace

TEST_CASE("every value is what the format says, and comes back") {
  check_every_value<float16>();
  check_every_value<bfloat16>();
}

TEST_CASE("numbers are rounded once, to nearest, ties to even") {
  check_every_rounding<float16>();
  check_every_rounding<bfloat16>();
}

TEST_CASE("numbers beyond the range are infinite, those below it zero") {
  CHECK(becomes<float16>(65504.0, 0x7bff));
  CHECK(becomes<float16>(65519.999, 0x7bff));
  CHECK(becomes<float16>(65520.0, 0x7c00));
  CHECK(becomes<float16>(-1e300, 0xfc00));
  CHECK(becomes<float16>(std::int64_t{1} << 40, 0x7c00));
  CHECK(becomes<float16>(0x1p-25, 0));
  CHECK(becomes<float16>(std::nextafter(0x1p-25, 1.0), 1));
  CHECK(becomes<float16>(-1e-300, 0x8000));
  CHECK(becomes<bfloat16>(3.39e38, 0x7f7f));
  CHECK(becomes<bfloat16>(3.4e38, 0x7f80));
  CHECK(becomes<bfloat16>(1e-300, 0));
}

TEST_CASE("a NaN stays one, whatever bits say so") {
  for (std::uint32_t const bits : {0x7f800001U, 0x7fffffffU, 0xff800001U, 0x7fc00000U}) {
    auto const nan = std::bit_cast<float>(bits);
    CHECK(std::isnan(static_cast<float>(float16(nan))));
    CHECK(std::isnan(static_cast<float>(bfloat16(nan))));
  }
}

TEST_CASE("integers are rounded once too, also those that no double holds") {
  CHECK(becomes<float16>(2049, 0x6800));
  CHECK(becomes<float16>(std::uint8_t{255}, 0x5bf8));
  CHECK(becomes<bfloat16>(true, 0x3f80));
  // The middle between two neighbours, and a little more than a double can tell.
  std::int64_t const middle = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  CHECK(becomes<bfloat16>(middle, 0x5e80));
  CHECK(becomes<bfloat16>(middle + 1, 0x5e81));
  CHECK(becomes<bfloat16>(-middle - 1, 0xde81));
  CHECK(becomes<bfloat16>(std::numeric_limits<std::uint64_t>::max(), 0x5f80));
}

TEST_CASE("the limits are those of the formats") {
  using Half = std::numeric_limits<float16>;
  using Brain = std::numeric_limits<bfloat16>;
  CHECK(Half::max() == 65504.0F);
  CHECK(Half::lowest() == -65504.0F);
  CHECK(Half::min() == 0x1p-14F);
  CHECK(Half::denorm_min() == 0x1p-24F);
  CHECK(Half::epsilon() == 0x1p-10F);
  CHECK(Brain::epsilon() == 0x1p-7F);
  CHECK(Brain::min() == std::numeric_limits<float>::min());
  CHECK(std::isinf(static_cast<float>(Brain::infinity())));
  CHECK(std::isnan(static_cast<float>(Half::quiet_NaN())));
  CHECK(std::isnan(static_cast<float>(Brain::quiet_NaN())));
}

#ifdef __FLT16_MAX__
TEST_CASE("float16 has the bits of the compiler's own type") {
  __extension__ using Native = _Float16;
  Wrong wrong;
  for (std::uint32_t k = 0; k < 65536; ++k) {
    auto const native = std::bit_cast<Native>(static_cast<std::uint16_t>(k));
    wrong.unless(std::bit_cast<std::uint32_t>(static_cast<float>(native)) ==
                     std::bit_cast<std::uint32_t>(static_cast<float>(of_bits<float16>(k))),
                 k);
    auto const single = std::bit_cast<float>(k * 65537);
    wrong.unless(
        std::bit_cast<std::uint16_t>(static_cast<Native>(single)) == float16(single).bits(), k);
  }
}
#endif

TEST_SUITE_END();
