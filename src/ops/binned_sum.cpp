#include "tessera/ops/binned_sum.hpp"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

#ifdef __FAST_MATH__
#error "a binned sum needs (x + c) - c as written; compile without -ffast-math"
#endif

namespace tessera {
namespace {

static_assert(FLT_EVAL_METHOD == 0, "sums of doubles must be rounded to double");
static_assert(std::numeric_limits<double>::is_iec559);

__extension__ using Unsigned = unsigned __int128;

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t infinity_bits = 0x7ff0'0000'0000'0000ULL;

// Short enough to stay in the first cache if it has to be cut twice.
constexpr std::size_t chunk_terms = 2048;

constexpr std::size_t line_terms = 8;     // of a cache line
constexpr std::size_t terms_ahead = 512;  // asked for before they are needed

std::uint64_t bits_of(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

/// 2^exponent, of a normal number.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// ---- Bins.

constexpr int bin_bits = 40;

/// The exponent of a bin's unit; a bin holds the first slice of terms below 2^39 units.
constexpr int unit_exponent(int bin) {
  return 986 - bin_bits * bin;
}

/// The bin of the first slice of a finite term.
int bin_of(std::uint64_t magnitude_bits) {
  auto const exponent = std::max(static_cast<int>(magnitude_bits >> 52) - 1022, -1021);
  return (unit_exponent(0) + bin_bits - 1 - exponent) / bin_bits;
}

/// The least magnitude that does not fit a bin.
double limit_of(int bin) {
  return bin == 0 ? std::numeric_limits<double>::infinity()
                  : power_of_two(unit_exponent(bin) + bin_bits - 1);
}

// ---- Cutting terms into slices.
//
// Adding a constant c = 3 * 2^51 units rounds x to whole units, ties to even, and (x + c) - c is
// the slice. As c + x stays within one power of two, the bits of c + x, read as an integer, are
// those of c plus the slice in units: slices are summed as integers, exactly, in any order.

/// How terms that fit bin `top` are cut for it and the two bins below.
struct Cutter {
  double c0;
  double c1;
  double c2;
  double scale;  ///< terms are multiplied by it first
  double limit;

  explicit Cutter(int top) : limit(limit_of(top)) {
    // The constants of bin 0 and of the last bins are no normal numbers: such terms are cut some
    // bins further in. What scaling rounds, far below the three bins, rounds to no units either
    // way.
    auto const shift = top == 0 ? 1 : top >= 50 ? -2 : 0;
    scale = power_of_two(-bin_bits * shift);
    c0 = constant(top + shift);
    c1 = constant(top + shift + 1);
    c2 = constant(top + shift + 2);
  }

 private:
  static double constant(int bin) { return 1.5 * power_of_two(unit_exponent(bin) + 52); }
};

/// Sums of the bits of c + x, modulo 2^64.
struct Cuts {
  std::uint64_t sum0 = 0;
  std::uint64_t sum1 = 0;
  std::uint64_t sum2 = 0;
  bool fit = true;  ///< every term was below the limit

  void add(double x, Cutter const& cutter) {
    fit = fit && std::abs(x) < cutter.limit;  // not so for NaN
    x *= cutter.scale;
    double const t0 = x + cutter.c0;
    x -= t0 - cutter.c0;
    double const t1 = x + cutter.c1;
    x -= t1 - cutter.c1;
    double const t2 = x + cutter.c2;
    sum0 += bits_of(t0);
    sum1 += bits_of(t1);
    sum2 += bits_of(t2);
  }
};

// Vectors by name, so that speed does not hang on the optimiser's level; as long as the machine's,
// since the compiler takes comparisons of longer ones apart.
#ifdef __AVX2__
constexpr std::size_t lanes = 4;
#else
constexpr std::size_t lanes = 2;
#endif
using Doubles = double __attribute__((vector_size(lanes * sizeof(double))));
using Masks = std::int64_t __attribute__((vector_size(lanes * sizeof(std::int64_t))));
using Words = std::uint64_t __attribute__((vector_size(lanes * sizeof(std::uint64_t))));

// a * b + c. The products here are exact, so rounding once or twice makes no difference; but
// multipliers stand idle while the adders are what a sum waits for.
#if defined(__AVX2__) && defined(__FMA__)
Doubles multiply_add(Doubles a, Doubles b, Doubles c) {
  return _mm256_fmadd_pd(a, b, c);
}
#else
Doubles multiply_add(Doubles a, Doubles b, Doubles c) {
  return a * b + c;
}
#endif

std::uint64_t sum_of(Words const& words) {
  std::uint64_t sum = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) sum += words[lane];
  return sum;
}

bool all_of(Masks const& masks) {
  bool all = true;
  for (std::size_t lane = 0; lane < lanes; ++lane) all = all && masks[lane] != 0;
  return all;
}

/// Vectors of cuts.
struct VectorCuts {
  Doubles c0, c1, c2, scale, limit;
  Words sum0{};
  Words sum1{};
  Words sum2{};
  Masks fit = ~Masks{};

  explicit VectorCuts(Cutter const& cutter)
      : c0(Doubles{} + cutter.c0),
        c1(Doubles{} + cutter.c1),
        c2(Doubles{} + cutter.c2),
        scale(Doubles{} + cutter.scale),
        limit(Doubles{} + cutter.limit) {}

  void add(double const* terms) {
    Doubles x;
    std::memcpy(&x, terms, sizeof x);
    auto const magnitude = reinterpret_cast<Doubles>(reinterpret_cast<Words>(x) & ~sign_bit);
    fit &= magnitude < limit;  // not so for NaN
    Doubles const t0 = multiply_add(x, scale, c0);
    x = multiply_add(x, scale, c0 - t0);
    Doubles const t1 = x + c1;
    x += c1 - t1;
    Doubles const t2 = x + c2;
    sum0 += reinterpret_cast<Words>(t0);
    sum1 += reinterpret_cast<Words>(t1);
    sum2 += reinterpret_cast<Words>(t2);
  }
};

/// Cuts all of `terms` that fill whole vectors; the caller cuts the rest.
Cuts cut_vectors(std::span<double const> terms, Cutter const& cutter) {
  VectorCuts cuts(cutter);
  auto const whole = terms.size() / lanes * lanes;
  std::size_t i = 0;
  for (; i + line_terms <= whole; i += line_terms) {
    // The processor looks ahead by itself, but only to the end of a page.
    __builtin_prefetch(terms.data() + i + terms_ahead);
    for (std::size_t k = 0; k < line_terms; k += lanes) cuts.add(terms.data() + i + k);
  }
  for (; i < whole; i += lanes) cuts.add(terms.data() + i);
  return {sum_of(cuts.sum0), sum_of(cuts.sum1), sum_of(cuts.sum2), all_of(cuts.fit)};
}

Cuts cut(std::span<double const> terms, Cutter const& cutter) {
  auto cuts = cut_vectors(terms, cutter);
  for (double const term : terms.subspan(terms.size() / lanes * lanes)) cuts.add(term, cutter);
  return cuts;
}

/// The bits of the largest magnitude, NaN above infinity.
std::uint64_t largest_magnitude(std::span<double const> terms) {
  Masks largest{};
  std::size_t i = 0;
  for (; i + lanes <= terms.size(); i += lanes) {
    Words words;
    std::memcpy(&words, terms.data() + i, sizeof words);
    auto const magnitude = reinterpret_cast<Masks>(words & ~sign_bit);
    largest = magnitude > largest ? magnitude : largest;
  }
  std::uint64_t result = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    result = std::max(result, static_cast<std::uint64_t>(largest[lane]));
  for (double const term : terms.subspan(i)) result = std::max(result, bits_of(term) & ~sign_bit);
  return result;
}

// ---- The value.

/// The same number with all digits but the first in [0, 2^40).
template <class Digits>
Digits carried(Digits digits) {
  for (std::size_t i = digits.size() - 1; i > 0; --i) {
    auto const carry = digits[i] >> bin_bits;  // rounds down
    digits[i] -= carry << bin_bits;
    digits[i - 1] += carry;
  }
  return digits;
}

/// magnitude * 2^exponent, rounded once; `more_below` says that a part below it was left out.
double rounded(Unsigned magnitude, bool more_below, int exponent) {
  while ((magnitude >> 64) != 0) {
    more_below = more_below || (magnitude & 1) != 0;
    magnitude >>= 1;
    ++exponent;
  }
  // If any bit was lost, eleven more are rounded away now: the last of them can stand for the lost
  // ones.
  auto const word = static_cast<std::uint64_t>(magnitude) | (more_below ? 1U : 0U);
  return std::ldexp(static_cast<double>(word), exponent);
}

}  // namespace

void BinnedSum::add(double term) {
  add_chunk({&term, 1});
}

void BinnedSum::add(std::span<double const> terms) {
  while (!terms.empty()) {
    auto const count = std::min(terms.size(), chunk_terms);
    add_chunk(terms.first(count));
    terms = terms.subspan(count);
  }
}

/// Cuts with the constants of the largest term so far, which nearly always fits; else looks for the
/// chunk's largest term and cuts again.
void BinnedSum::add_chunk(std::span<double const> terms) {
  if (top_ != last_bin && try_add(terms)) return;
  auto const largest = largest_magnitude(terms);
  if (largest >= infinity_bits) {
    add_special(terms);
    return;
  }
  raise_window(bin_of(largest));
  try_add(terms);
}

/// Adds nothing and returns false if a term does not fit the top bin.
bool BinnedSum::try_add(std::span<double const> terms) {
  Cutter const cutter(top_);
  auto const cuts = cut(terms, cutter);
  if (!cuts.fit) return false;
  auto const slices = [n = terms.size()](std::uint64_t sum, double constant) {
    return static_cast<std::int64_t>(sum - n * bits_of(constant));
  };
  units_[0] += slices(cuts.sum0, cutter.c0);
  units_[1] += slices(cuts.sum1, cutter.c1);
  units_[2] += slices(cuts.sum2, cutter.c2);
  return true;
}

/// Once a term is not finite, the finite ones no longer count.
void BinnedSum::add_special(std::span<double const> terms) {
  for (double const term : terms) {
    auto const magnitude = bits_of(term) & ~sign_bit;
    if (magnitude < infinity_bits) continue;
    if (magnitude > infinity_bits)
      nan_ = true;
    else
      (bits_of(term) == infinity_bits ? plus_infinity_ : minus_infinity_) = true;
  }
}

/// Makes `top` the first bin, if it is a higher one. No term so far has a slice in the bins that
/// come in, and the ones that go out lie below what the value is made of.
void BinnedSum::raise_window(int top) {
  for (; top_ > top && units_ != std::array<Integer, fold>{}; --top_)
    units_ = {0, units_[0], units_[1]};
  top_ = std::min(top_, top);
}

void BinnedSum::merge(BinnedSum const& other) {
  auto moved = other;
  moved.raise_window(top_);
  raise_window(moved.top_);
  for (std::size_t i = 0; i < units_.size(); ++i) units_[i] += moved.units_[i];
  nan_ = nan_ || other.nan_;
  plus_infinity_ = plus_infinity_ || other.plus_infinity_;
  minus_infinity_ = minus_infinity_ || other.minus_infinity_;
}

double BinnedSum::value() const {
  if (nan_ || (plus_infinity_ && minus_infinity_)) return std::numeric_limits<double>::quiet_NaN();
  if (plus_infinity_) return std::numeric_limits<double>::infinity();
  if (minus_infinity_) return -std::numeric_limits<double>::infinity();

  auto const negative = carried(units_)[0] < 0;
  auto digits = units_;
  if (negative)
    for (auto& digit : digits) digit = -digit;
  digits = carried(digits);

  // digits[0] units of the top bin, and below them 80 bits of the other two.
  auto const high = static_cast<Unsigned>(digits[0]);
  auto const low =
      (static_cast<Unsigned>(digits[1]) << bin_bits) + static_cast<Unsigned>(digits[2]);
  constexpr int low_bits = 2 * bin_bits;
  auto const exponent = unit_exponent(top_);
  // More than 128 bits leave the lowest 64 out: what is left then has more bits than a double.
  auto const magnitude =
      (high >> 48) == 0 ? rounded((high << low_bits) + low, false, exponent - low_bits)
                        : rounded((high << (low_bits - 64)) + (low >> 64),
                                  static_cast<std::uint64_t>(low) != 0, exponent - low_bits + 64);
  return negative ? -magnitude : magnitude;
}

}  // namespace tessera
