#pragma once
/// @file
/// Water that sloshes in a closed basin: a start whose end is known.

#include <cstdint>

namespace examples {

/// One wave of the water: its height in each cell, or the flow through each face, at one moment.
///
/// Threads: any number at once.
class SloshingAt {
 public:
  /// The value in cell or face (i, j).
  [[nodiscard]] double operator()(std::int64_t i, std::int64_t j) const;

 private:
  friend class Sloshing;
  double row_angle_ = 0;  // from one cell to the next
  double column_angle_ = 0;
  // Values at faces between cells: the number of the last face, a wall as the first one is.
  std::int64_t last_row_face_ = 0;     // 0: values in cells
  std::int64_t last_column_face_ = 0;  // 0: values in cells
  double size_ = 0;
};

/// A wave that stands in a basin of rows · columns cells, once from side to side along the rows and
/// twice along the columns.
///
/// Height h, flows u and v, and the ratio r of a wave's way in a step to a cell: every step is
/// u -= r · (difference of h), v as u, then h -= r · (differences of u and v). A cosine of h over
/// cells (i + ½) and sines of u and v over faces solve that exactly, half a step apart in time: if
/// w is what they advance by in a step, and a and b from cell to cell, then sin²(w / 2) = r²
/// (sin²(a / 2) + sin²(b / 2)).
class Sloshing {
 public:
  /// `ratio` is at most √½, or waves grow.
  Sloshing(std::int64_t rows, std::int64_t columns, double ratio);

  [[nodiscard]] SloshingAt height_after(std::int64_t steps) const;
  /// The flows half a step before the start, through faces (i, j) above or left of the cells.
  [[nodiscard]] SloshingAt south_before() const;
  [[nodiscard]] SloshingAt east_before() const;

  /// What rounding may amount to after n steps, as the root mean square over the cells: what one
  /// step adds is there k steps later at most k times.
  [[nodiscard]] static double rounding_of(std::int64_t steps);

 private:
  [[nodiscard]] SloshingAt at(long double size) const;

  std::int64_t rows_;
  std::int64_t columns_;
  long double row_angle_;
  long double column_angle_;
  long double ratio_;
  long double angle_;  // from one step to the next
};

}  // namespace examples
