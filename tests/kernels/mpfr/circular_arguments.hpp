#pragma once
/// @file
/// Arguments for tests of elementary functions: all exponents, and those that are hard.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace tessera::test::circular {

/// Random numbers of all exponents, and as many of the exponents between -32 and 32.
template <class R>
class ByExponent {
 public:
  using Bits = std::conditional_t<sizeof(R) == 8, std::uint64_t, std::uint32_t>;

  explicit ByExponent(std::uint64_t seed) : random_(seed) {}

  R next() {
    auto const bits = static_cast<Bits>(random_());
    if ((random_() & 1U) == 0) return finite(std::bit_cast<R>(bits));
    constexpr int digits = std::numeric_limits<R>::digits;
    R const fraction = std::ldexp(static_cast<R>(bits >> (8 * sizeof(R) - digits)), -digits);
    R const magnitude = std::ldexp(R{1} + fraction, static_cast<int>(random_() % 64) - 32);
    return (random_() & 1U) == 0 ? magnitude : -magnitude;
  }

 private:
  static R finite(R x) { return std::isfinite(x) ? x : R{1}; }

  std::mt19937_64 random_;
};

/// x, the numbers beside it, and all of these negated.
template <class R>
void add_neighbours(std::vector<R>& to, R x, int steps = 2) {
  R below = x;
  R above = x;
  for (int i = 0; i <= steps; ++i) {
    for (R const value : {below, above}) {
      to.push_back(value);
      to.push_back(-value);
    }
    below = std::nextafter(below, -std::numeric_limits<R>::infinity());
    above = std::nextafter(above, std::numeric_limits<R>::infinity());
  }
}

/// The borders of types and formulas, and multiples of pi/2, with their neighbours.
template <class R>
std::vector<R> hard_arguments() {
  using Limits = std::numeric_limits<R>;
  std::vector<R> all;
  for (R const x : {R{0}, Limits::min(), Limits::denorm_min(), Limits::max(), Limits::infinity(),
                    Limits::epsilon(), R{1}, R(0x1p20), R(0x1p40)})
    add_neighbours(all, x, 3);
  for (double const x : {0.25,
                         0.375,
                         0.41421356237309503,
                         0.5,
                         0.75,
                         0.84375,
                         1.25,
                         1.5,
                         2.0,
                         2.4142135623730951,
                         2.5,
                         3.0,
                         4.0,
                         5.9215871957945083,
                         6.0,
                         26.0,
                         26.543258454250953,
                         27.226017111108366,
                         28.0,
                         8.0,
                         27.0,
                         64.0})
    add_neighbours(all, static_cast<R>(x), 3);
  for (int k = 1; k < 500; ++k) add_neighbours(all, static_cast<R>(k * 0x1.921fb54442d18p-1));
  for (double k = 500; k < 1e16; k *= 1.05)
    add_neighbours(all, static_cast<R>(std::nearbyint(k) * 0x1.921fb54442d18p-1));
  // The multiples of pi/2 that are closest to numbers of type R.
  all.push_back(static_cast<R>(0x1.6ac5b262ca1ffp849));  // 6381956970095103 * 2^797
  all.push_back(static_cast<R>(16367173.0 * 0x1p72));
  for (int e = Limits::min_exponent - Limits::digits; e < Limits::max_exponent; ++e)
    add_neighbours(all, std::ldexp(R{1}, e), 1);
  all.push_back(Limits::quiet_NaN());
  return all;
}

/// The hard arguments, and random ones up to `count`.
template <class R>
std::vector<R> arguments(std::size_t count, std::uint64_t seed = 1) {
  auto all = hard_arguments<R>();
  for (ByExponent<R> random{seed}; all.size() < count;) all.push_back(random.next());
  return all;
}

}  // namespace tessera::test::circular
