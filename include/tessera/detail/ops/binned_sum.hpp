#pragma once
/// @file
/// A sum of doubles that does not depend on the order of its terms; on the host and on GPUs.

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "tessera/detail/base/function.hpp"

namespace tessera::detail {

// How a sum cuts a term into slices, and computes its value from the bins, one term at a time.
namespace binned {

static_assert(FLT_EVAL_METHOD == 0, "sums of doubles must be rounded to double");
static_assert(std::numeric_limits<double>::is_iec559);

__extension__ using Unsigned = unsigned __int128;

inline constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
inline constexpr std::uint64_t infinity_bits = 0x7ff0'0000'0000'0000ULL;

[[nodiscard]] TESSERA_FUNCTION inline std::uint64_t bits_of(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

/// 2^exponent, of a normal number.
[[nodiscard]] TESSERA_FUNCTION inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// ---- Bins.

inline constexpr int fold = 3;       ///< bins per term
inline constexpr int last_bin = 51;  ///< the bin of the smallest doubles, and of zero
inline constexpr int bin_bits = 40;

/// The exponent of a bin's unit; a bin holds the first slice of terms below 2^39 units.
[[nodiscard]] TESSERA_FUNCTION constexpr int unit_exponent(int bin) {
  return 986 - bin_bits * bin;
}

/// The bin of the first slice of a finite term.
[[nodiscard]] TESSERA_FUNCTION inline int bin_of(std::uint64_t magnitude_bits) {
  auto const exponent = std::max(static_cast<int>(magnitude_bits >> 52) - 1022, -1021);
  return (unit_exponent(0) + bin_bits - 1 - exponent) / bin_bits;
}

/// The least magnitude that does not fit a bin.
[[nodiscard]] TESSERA_FUNCTION inline double limit_of(int bin) {
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

  TESSERA_FUNCTION explicit Cutter(int top) : limit(limit_of(top)) {
    // The constants of bin 0 and of the last bins are not normal numbers, so such terms are scaled
    // and cut some bins further in. Scaling rounds only digits far below the three bins, which
    // round to no units with or without it.
    auto const shift = top == 0 ? 1 : top >= 50 ? -2 : 0;
    scale = power_of_two(-bin_bits * shift);
    c0 = constant(top + shift);
    c1 = constant(top + shift + 1);
    c2 = constant(top + shift + 2);
  }

 private:
  [[nodiscard]] TESSERA_FUNCTION static double constant(int bin) {
    return 1.5 * power_of_two(unit_exponent(bin) + 52);
  }
};

/// Sums of the bits of c + x, modulo 2^64.
struct Cuts {
  std::uint64_t sum0 = 0;
  std::uint64_t sum1 = 0;
  std::uint64_t sum2 = 0;
  bool fit = true;  ///< every term was below the limit

  TESSERA_FUNCTION void add(double x, Cutter const& cutter) {
    fit = fit && std::fabs(x) < cutter.limit;  // not so for NaN
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

// ---- The value.

__extension__ using Integer = __int128;

/// The bins' units, those of the top bin first.
struct Digits {
  Integer at[fold] = {};

  /// The same number with all digits but the first in [0, 2^40).
  [[nodiscard]] TESSERA_FUNCTION Digits carried() const {
    auto result = *this;
    for (int i = fold - 1; i > 0; --i) {
      auto const carry = result.at[i] >> bin_bits;  // rounds down
      result.at[i] -= carry << bin_bits;
      result.at[i - 1] += carry;
    }
    return result;
  }
  [[nodiscard]] TESSERA_FUNCTION Digits negated() const { return {{-at[0], -at[1], -at[2]}}; }
};

/// magnitude * 2^exponent, rounded once; `more_below` says that a lower part was omitted.
[[nodiscard]] TESSERA_FUNCTION inline double rounded(Unsigned magnitude, bool more_below,
                                                     int exponent) {
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

/// The value of the units, rounded once; `top` is the bin of the first.
[[nodiscard]] TESSERA_FUNCTION inline double value_of(Digits digits, int top) {
  auto const negative = digits.carried().at[0] < 0;
  if (negative) digits = digits.negated();
  digits = digits.carried();

  // at[0] units of the top bin, and below them 80 bits of the other two.
  auto const high = static_cast<Unsigned>(digits.at[0]);
  auto const low =
      (static_cast<Unsigned>(digits.at[1]) << bin_bits) + static_cast<Unsigned>(digits.at[2]);
  constexpr int low_bits = 2 * bin_bits;
  auto const exponent = unit_exponent(top);
  // If more than 128 bits would be needed, the lowest 64 are omitted: the rest still has more bits
  // than a double.
  auto const magnitude =
      (high >> 48) == 0 ? rounded((high << low_bits) + low, false, exponent - low_bits)
                        : rounded((high << (low_bits - 64)) + (low >> 64),
                                  static_cast<std::uint64_t>(low) != 0, exponent - low_bits + 64);
  return negative ? -magnitude : magnitude;
}

}  // namespace binned

/// A running sum whose value has the same bits for any order of the terms, and for any way of
/// splitting them over calls, spans and merged sums.
///
/// Fixed bins of 40 bits cover the doubles: bin b counts whole multiples of 2^(986 - 40 b). Each
/// term is cut into three slices by rounding to the multiples of three neighbouring bins, starting
/// at the bin of the largest term so far. A term's contribution to a bin depends on the term alone,
/// and the bins are integers, so their sums are exact. When a larger term comes, the three bins
/// move up. The value uses only the three bins from that of the largest term down, so a bin that
/// has left them would not count in any order.
///
/// The value is the exact sum of the three bins, rounded once. The error is at most
/// n * 2^-80 * max|x| before that rounding.
/// Special values: an empty sum, and a sum that is exactly zero (also of only -0.0), is +0.0. A NaN
/// or both infinities give NaN; one infinity gives itself. A sum beyond the range of double gives
/// the infinity of its sign; only the whole sum counts, never a part of it.
///
/// Trivially copyable: it may be sent to other processes as bytes.
/// Threads: one at a time per object. The rounding mode must be to nearest.
/// Source: Demmel & Nguyen, Parallel Reproducible Summation (2015); Ahrens, Demmel & Nguyen,
/// Algorithms for Efficient Reproducible Floating Point Summation (2020).
class BinnedSum {
 public:
  /// Adds one term, or all of a span.
  void add(double term);
  void add(std::span<double const> terms);
  /// Adds one term, also on a GPU; many are faster in spans.
  TESSERA_FUNCTION void add_term(double term);
  /// Adds a few terms, also on a GPU.
  template <std::size_t n>
  TESSERA_FUNCTION void add_terms(double const (&terms)[n]);
  /// Adds all terms of another sum.
  TESSERA_FUNCTION void merge(BinnedSum const& other);
  [[nodiscard]] TESSERA_FUNCTION double value() const;

  /// A sum in 32 bytes, for memory and messages. Its units have 80 bits each, enough for 2^40
  /// terms.
  struct Packed {
    std::uint64_t low[binned::fold] = {};
    std::int16_t high[binned::fold] = {};
    std::uint8_t top = binned::last_bin;
    std::uint8_t special = 0;  ///< 1 NaN, 2 infinity, 4 minus infinity
  };
  [[nodiscard]] TESSERA_FUNCTION Packed packed() const;
  TESSERA_FUNCTION void merge(Packed const& other);

 private:
  bool try_add(std::span<double const> terms);
  void add_chunk(std::span<double const> terms);
  void add_special(std::span<double const> terms);
  TESSERA_FUNCTION void add_special(double term);
  TESSERA_FUNCTION void add_cuts(binned::Cuts const& cuts, binned::Cutter const& cutter,
                                 std::uint64_t terms);
  TESSERA_FUNCTION void raise_bins(int top);

  binned::Digits units_;                 // of bins top_, top_ + 1, top_ + 2
  std::int32_t top_ = binned::last_bin;  // the bin of the largest term
  bool nan_ = false;
  bool plus_infinity_ = false;
  bool minus_infinity_ = false;
};

TESSERA_FUNCTION inline void BinnedSum::add_term(double term) {
  double const terms[1] = {term};
  add_terms(terms);
}

template <std::size_t n>
TESSERA_FUNCTION void BinnedSum::add_terms(double const (&terms)[n]) {
  std::uint64_t largest = 0;
  for (double const term : terms)
    largest = std::max(largest, binned::bits_of(term) & ~binned::sign_bit);
  if (largest >= binned::infinity_bits) {
    for (double const term : terms) add_special(term);
    return;
  }
  raise_bins(binned::bin_of(largest));
  binned::Cutter const cutter(top_);
  binned::Cuts cuts;
  for (double const term : terms) cuts.add(term, cutter);
  add_cuts(cuts, cutter, n);
}

/// Once a term is not finite, the finite ones no longer count.
TESSERA_FUNCTION inline void BinnedSum::add_special(double term) {
  auto const bits = binned::bits_of(term);
  auto const magnitude = bits & ~binned::sign_bit;
  nan_ = nan_ || magnitude > binned::infinity_bits;
  plus_infinity_ = plus_infinity_ || bits == binned::infinity_bits;
  minus_infinity_ = minus_infinity_ || bits == (binned::infinity_bits | binned::sign_bit);
}

/// Adds terms that were cut for the top bin.
TESSERA_FUNCTION inline void BinnedSum::add_cuts(binned::Cuts const& cuts,
                                                 binned::Cutter const& cutter,
                                                 std::uint64_t terms) {
  using binned::bits_of;
  // Each sum has the constant's bits once for every term.
  units_.at[0] += static_cast<std::int64_t>(cuts.sum0 - terms * bits_of(cutter.c0));
  units_.at[1] += static_cast<std::int64_t>(cuts.sum1 - terms * bits_of(cutter.c1));
  units_.at[2] += static_cast<std::int64_t>(cuts.sum2 - terms * bits_of(cutter.c2));
}

/// Makes `top` the first bin, if it is a higher one. No term so far has a slice in the new bins,
/// and the bins that fall out lie below the digits of the value.
TESSERA_FUNCTION inline void BinnedSum::raise_bins(int top) {
  for (; top_ > top && (units_.at[0] | units_.at[1] | units_.at[2]) != 0; --top_)
    units_ = {{0, units_.at[0], units_.at[1]}};
  if (top < top_) top_ = top;
}

TESSERA_FUNCTION inline void BinnedSum::merge(BinnedSum const& other) {
  auto moved = other;
  moved.raise_bins(top_);
  raise_bins(moved.top_);
  for (int i = 0; i < binned::fold; ++i) units_.at[i] += moved.units_.at[i];
  nan_ = nan_ || other.nan_;
  plus_infinity_ = plus_infinity_ || other.plus_infinity_;
  minus_infinity_ = minus_infinity_ || other.minus_infinity_;
}

TESSERA_FUNCTION inline BinnedSum::Packed BinnedSum::packed() const {
  Packed result;
  for (int i = 0; i < binned::fold; ++i) {
    result.low[i] = static_cast<std::uint64_t>(units_.at[i]);
    result.high[i] = static_cast<std::int16_t>(units_.at[i] >> 64);
  }
  result.top = static_cast<std::uint8_t>(top_);
  result.special = static_cast<std::uint8_t>((nan_ ? 1 : 0) | (plus_infinity_ ? 2 : 0) |
                                             (minus_infinity_ ? 4 : 0));
  return result;
}

TESSERA_FUNCTION inline void BinnedSum::merge(Packed const& other) {
  BinnedSum whole;
  for (int i = 0; i < binned::fold; ++i)
    whole.units_.at[i] = static_cast<binned::Integer>(other.high[i]) * (binned::Integer(1) << 64) +
                         static_cast<binned::Integer>(other.low[i]);
  whole.top_ = other.top;
  whole.nan_ = (other.special & 1) != 0;
  whole.plus_infinity_ = (other.special & 2) != 0;
  whole.minus_infinity_ = (other.special & 4) != 0;
  merge(whole);
}

TESSERA_FUNCTION inline double BinnedSum::value() const {
  if (nan_ || (plus_infinity_ && minus_infinity_)) return std::numeric_limits<double>::quiet_NaN();
  if (plus_infinity_) return std::numeric_limits<double>::infinity();
  if (minus_infinity_) return -std::numeric_limits<double>::infinity();
  return binned::value_of(units_, top_);
}

}  // namespace tessera::detail
