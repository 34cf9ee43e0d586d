#pragma once
/// @file
/// A sum of doubles that does not depend on the order of its terms.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/ops/binned_slices.hpp"

namespace tessera::detail {

/// A running sum whose value has the same bits for any order of the terms, and for any way of
/// splitting them over calls, spans and merged sums.
///
/// Fixed bins of 40 bits cover the doubles: bin b counts whole multiples of 2^(986 - 40 b). Each
/// term is cut into three slices by rounding to the multiples of three neighbouring bins, starting
/// at the bin of the largest term so far. A term's contribution to a bin depends on the term alone,
/// and the bins are integers, so their sums are exact. When a larger term comes, the window of
/// three moves up; the bin that falls out at the bottom can never count again.
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

 private:
  bool try_add(std::span<double const> terms);
  void add_chunk(std::span<double const> terms);
  void add_special(std::span<double const> terms);
  TESSERA_FUNCTION void add_special(double term);
  TESSERA_FUNCTION void add_cuts(binned::Cuts const& cuts, binned::Cutter const& cutter,
                                 std::uint64_t terms);
  TESSERA_FUNCTION void raise_window(int top);

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
  namespace binned = detail::binned;
  std::uint64_t largest = 0;
  for (double const term : terms)
    largest = std::max(largest, binned::bits_of(term) & ~binned::sign_bit);
  if (largest >= binned::infinity_bits) {
    for (double const term : terms) add_special(term);
    return;
  }
  raise_window(binned::bin_of(largest));
  binned::Cutter const cutter(top_);
  binned::Cuts cuts;
  for (double const term : terms) cuts.add(term, cutter);
  add_cuts(cuts, cutter, n);
}

/// Once a term is not finite, the finite ones no longer count.
TESSERA_FUNCTION inline void BinnedSum::add_special(double term) {
  namespace binned = detail::binned;
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
TESSERA_FUNCTION inline void BinnedSum::raise_window(int top) {
  for (; top_ > top && (units_.at[0] | units_.at[1] | units_.at[2]) != 0; --top_)
    units_ = {{0, units_.at[0], units_.at[1]}};
  if (top < top_) top_ = top;
}

TESSERA_FUNCTION inline void BinnedSum::merge(BinnedSum const& other) {
  auto moved = other;
  moved.raise_window(top_);
  raise_window(moved.top_);
  for (int i = 0; i < binned::fold; ++i) units_.at[i] += moved.units_.at[i];
  nan_ = nan_ || other.nan_;
  plus_infinity_ = plus_infinity_ || other.plus_infinity_;
  minus_infinity_ = minus_infinity_ || other.minus_infinity_;
}

TESSERA_FUNCTION inline double BinnedSum::value() const {
  if (nan_ || (plus_infinity_ && minus_infinity_)) return std::numeric_limits<double>::quiet_NaN();
  if (plus_infinity_) return std::numeric_limits<double>::infinity();
  if (minus_infinity_) return -std::numeric_limits<double>::infinity();
  return binned::value_of(units_, top_);
}

}  // namespace tessera::detail
