#pragma once
/// @file
/// Slices by Python's rules.

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <utility>

#include "tessera/index/index.hpp"

namespace tessera {

/// "Nothing here": a range without that end, a dimension on no mesh axis.
struct None {};
/// "Nothing here": range(none, 3), P(none, "x").
inline constexpr None none{};

/// One end of a range: a number, counted from the end if negative, or none.
class RangeEnd {
 public:
  constexpr RangeEnd(None) {}  // NOLINT: none is an end
  /// Of any integer type; numbers from 2^63 on lie past every end, as 2^63 - 1 does.
  template <std::integral I>
  requires(!std::same_as<I, bool>) constexpr RangeEnd(I value)  // NOLINT: a number is an end
      : value_(std::cmp_greater(value, most) ? most : static_cast<std::int64_t>(value)) {}
  [[nodiscard]] constexpr std::optional<std::int64_t> value() const { return value_; }

 private:
  static constexpr auto most = std::numeric_limits<std::int64_t>::max();
  std::optional<std::int64_t> value_;
};

/// The positions first, first + step, … (count of them): a range applied to an extent.
struct ResolvedRange {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
  friend bool operator==(ResolvedRange const&, ResolvedRange const&) = default;
  /// "3 cells from 0 by 2"
  friend std::ostream& operator<<(std::ostream& out, ResolvedRange const& range);
};

/// `a[begin:end:step]` of Python: half-open, negative ends count from the end, ends are clamped.
class Range {
 public:
  /// Throws: ShapeError if `step` is 0.
  Range(RangeEnd begin, RangeEnd end, std::int64_t step = 1);

  /// The positions of the range in a dimension of `extent` cells.
  [[nodiscard]] ResolvedRange resolve(std::int64_t extent) const;

  /// "[1:-1]", "[::2]", as in Python.
  friend std::ostream& operator<<(std::ostream& out, Range const& range);

 private:
  RangeEnd begin_;
  RangeEnd end_;
  std::int64_t step_;
};

/// `[begin:end:step]`. Example: of 10 cells, range(1, -1) is 1 … 8 and range(0, none, 3) is 0, 3,
/// 6, 9.
[[nodiscard]] inline Range range(RangeEnd begin, RangeEnd end, std::int64_t step = 1) {
  return {begin, end, step};
}

/// `[begin:]`.
[[nodiscard]] inline Range from(std::int64_t begin) {
  return {begin, none};
}

}  // namespace tessera
