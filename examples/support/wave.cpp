#include "support/wave.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace examples {
namespace {
constexpr int half_waves = 3;  // between the fixed ends
constexpr int waves = 2;       // around joined ends
}  // namespace

double WaveAt::operator()(std::int64_t i) const {
  return level_ + height_ * along(0, i);
}

double WaveAt::operator()(std::int64_t i, std::int64_t j) const {
  return level_ + height_ * (along(0, i) * along(1, j));
}

double WaveAt::along(std::size_t d, std::int64_t i) const {
  if (periodic_) return std::cos(angles_[d] * static_cast<double>(i));
  if (i == 0 || i == cells_[d] + 1) return 0;
  return std::sin(angles_[d] * static_cast<double>(i));
}

Wave::Wave(std::vector<std::int64_t> const& cells, bool periodic, double stay, double pass)
    : wave_factor_(stay), level_factor_(stay) {
  start_.periodic_ = periodic;
  start_.level_ = periodic ? 1 : 0;
  for (std::size_t d = 0; d < cells.size(); ++d) {
    auto const gaps = static_cast<long double>(periodic ? cells[d] : cells[d] + 1);
    auto const angle = (periodic ? 2 * waves : half_waves) * std::numbers::pi_v<long double> / gaps;
    start_.cells_[d] = cells[d];
    start_.angles_[d] = static_cast<double>(angle);
    wave_factor_ += 2 * static_cast<long double>(pass) * std::cos(angle);
    level_factor_ += 2 * static_cast<long double>(pass);
  }
}

WaveAt Wave::after(std::int64_t steps) const {
  auto result = start_;
  auto const n = static_cast<long double>(steps);
  result.level_ *= static_cast<double>(std::pow(level_factor_, n));
  result.height_ *= static_cast<double>(std::pow(wave_factor_, n));
  return result;
}

double Wave::rounding_of(std::int64_t steps) {
  return static_cast<double>(8 * steps + 32) * std::numeric_limits<double>::epsilon();
}

}  // namespace examples
