#pragma once
/// @file
/// Waves that discrete equations only make higher or lower: starts whose end is known.

#include <array>
#include <cstdint>
#include <vector>

namespace examples {

/// A wave at one moment: the value of each cell of a line, a plane or a block.
///
/// The sum of a cell's neighbours, less as many times the cell itself, is the same multiple of the
/// wave in every cell, so equations made of that sum only change its height.
/// Threads: any number at once.
class WaveAt {
 public:
  /// Of height 1: between ends fixed at 0, or around joined ends on top of 1. `cells` per
  /// dimension, fixed ends not counted.
  WaveAt(std::vector<std::int64_t> const& cells, bool periodic);

  [[nodiscard]] double operator()(std::int64_t i) const;
  [[nodiscard]] double operator()(std::int64_t i, std::int64_t j) const;
  [[nodiscard]] double operator()(std::int64_t i, std::int64_t j, std::int64_t k) const;

  /// Cells along dimension d, with a fixed one at each end.
  [[nodiscard]] std::int64_t extent(std::size_t d) const { return cells_[d] + (periodic_ ? 0 : 2); }
  /// That multiple: the sum over the dimensions of 2 cos(angle) - 2.
  [[nodiscard]] long double laplacian() const { return laplacian_; }
  /// The wave so many times as high, on top of the same level.
  [[nodiscard]] WaveAt times(long double factor) const;

 private:
  friend class Wave;
  [[nodiscard]] double along(std::size_t d, std::int64_t i) const;

  std::array<std::int64_t, 3> cells_{};
  std::array<double, 3> angles_{};  // from one cell to the next
  long double laplacian_ = 0;
  bool periodic_ = false;
  double level_ = 0;
  double height_ = 1;
};

/// One wave of temperature.
///
/// The discrete equation, next = stay · u + pass · (the neighbours' sum), only multiplies it by one
/// factor in every step, so the solution after any number of steps is known to rounding.
class Wave {
 public:
  /// `cells` per dimension, fixed ends not counted.
  Wave(std::vector<std::int64_t> const& cells, bool periodic, double stay, double pass);

  /// Cells along dimension d, with a fixed one at each end.
  [[nodiscard]] std::int64_t extent(std::size_t d) const { return start_.extent(d); }
  [[nodiscard]] WaveAt const& start() const { return start_; }
  [[nodiscard]] WaveAt after(std::int64_t steps) const;

  /// What rounding may amount to after so many steps: each adds at most a few last places.
  [[nodiscard]] static double rounding_of(std::int64_t steps);

 private:
  WaveAt start_;
  long double wave_factor_;   // of one step
  long double level_factor_;  // 1, but for the rounding of the coefficients
};

/// A wave that stands between fixed ends and swings.
///
/// The discrete equation, next = 2 now - before + ratio · (the neighbours' sum less as many times
/// the cell), makes it a cosine of the steps. Twice the cosine of what it advances by in a step is
/// 2 + ratio · the wave's laplacian.
class StandingWave {
 public:
  /// `ratio` is at most 1 / dimensions, or waves grow.
  StandingWave(std::vector<std::int64_t> const& cells, double ratio);

  [[nodiscard]] std::int64_t extent(std::size_t d) const { return highest_.extent(d); }
  /// After so many steps; -1 for the one before the start, at which it is highest.
  [[nodiscard]] WaveAt after(std::int64_t steps) const;

  /// What rounding may amount to after n steps, as the root mean square over the cells.
  ///
  /// What one step adds is there k steps later at most k times (sin kw / sin w, for every wave w of
  /// the plane), which adds up to n (n + 1) / 2; the two levels at the start count n + 1 times.
  [[nodiscard]] static double rounding_of(std::int64_t steps);

 private:
  WaveAt highest_;
  long double angle_;  // from one step to the next
};

}  // namespace examples
