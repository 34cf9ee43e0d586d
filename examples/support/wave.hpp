#pragma once
/// @file
/// A start of the heat equation whose end is known.

#include <array>
#include <cstdint>
#include <vector>

namespace examples {

/// A wave at one moment: the temperature of each cell of a line or a plane.
/// Threads: any number at once.
class WaveAt {
 public:
  [[nodiscard]] double operator()(std::int64_t i) const;
  [[nodiscard]] double operator()(std::int64_t i, std::int64_t j) const;

 private:
  friend class Wave;
  [[nodiscard]] double along(std::size_t d, std::int64_t i) const;

  std::array<std::int64_t, 2> cells_{};
  std::array<double, 2> angles_{};  // from one cell to the next
  bool periodic_ = false;
  double level_ = 0;
  double height_ = 1;
};

/// One wave of temperature: between ends fixed at 0, or around joined ends on top of 1.
///
/// The discrete equation, next = stay · u + pass · (the neighbours' sum), only multiplies it by one
/// factor in every step, so the solution after any number of steps is known to rounding.
class Wave {
 public:
  /// `cells` per dimension, fixed ends not counted.
  Wave(std::vector<std::int64_t> const& cells, bool periodic, double stay, double pass);

  /// Cells along dimension d, with a fixed one at each end.
  [[nodiscard]] std::int64_t extent(std::size_t d) const {
    return start_.cells_[d] + (start_.periodic_ ? 0 : 2);
  }
  [[nodiscard]] WaveAt const& start() const { return start_; }
  [[nodiscard]] WaveAt after(std::int64_t steps) const;

  /// What rounding may amount to after so many steps: each adds at most a few last places.
  [[nodiscard]] static double rounding_of(std::int64_t steps);

 private:
  WaveAt start_;
  long double wave_factor_;   // of one step
  long double level_factor_;  // 1, but for the rounding of the coefficients
};

}  // namespace examples
