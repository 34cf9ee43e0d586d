#pragma once
/// @file
/// A sum of doubles that does not depend on the order of its terms.

#include <array>
#include <cstdint>
#include <span>

namespace tessera {

/// A running sum whose value has the same bits for any order of the terms, and for any way of
/// splitting them over calls, spans and merged sums.
///
/// Fixed bins of 40 bits cover the doubles: bin b counts whole multiples of 2^(986 - 40 b). Each
/// term is cut into three slices by rounding to the multiples of three neighbouring bins, starting
/// at the bin of the largest term so far. What a term puts into a bin depends on the term alone,
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
  /// Adds all terms of another sum.
  void merge(BinnedSum const& other);
  [[nodiscard]] double value() const;

 private:
  using Integer = __int128_t;  // GCC's and Clang's; 2^63 terms of 2^39 units fit

  static constexpr int fold = 3;       ///< bins per term
  static constexpr int last_bin = 51;  ///< the bin of the smallest doubles, and of zero

  bool try_add(std::span<double const> terms);
  void add_chunk(std::span<double const> terms);
  void add_special(std::span<double const> terms);
  void raise_window(int top);

  std::array<Integer, fold> units_{};  // of bins top_, top_ + 1, top_ + 2
  std::int32_t top_ = last_bin;        // the bin of the largest term
  bool nan_ = false;
  bool plus_infinity_ = false;
  bool minus_infinity_ = false;
};

}  // namespace tessera
