#include "support/wave.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace examples {
namespace {
constexpr int half_waves = 3;  // between the fixed ends
constexpr int waves = 2;       // around joined ends
}  // namespace

WaveAt::WaveAt(std::vector<std::int64_t> const& cells, bool periodic)
    : periodic_(periodic), level_(periodic ? 1 : 0) {
  for (std::size_t d = 0; d < cells.size(); ++d) {
    auto const gaps = static_cast<long double>(periodic ? cells[d] : cells[d] + 1);
    auto const angle = (periodic ? 2 * waves : half_waves) * std::numbers::pi_v<long double> / gaps;
    cells_[d] = cells[d];
    angles_[d] = static_cast<double>(angle);
    auto const half = std::sin(angle / 2);
    laplacian_ -= 4 * half * half;
  }
}

double WaveAt::operator()(std::int64_t i) const {
  return level_ + height_ * along(0, i);
}

double WaveAt::operator()(std::int64_t i, std::int64_t j) const {
  return level_ + height_ * (along(0, i) * along(1, j));
}

double WaveAt::operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
  return level_ + height_ * (along(0, i) * along(1, j) * along(2, k));
}

double WaveAt::along(std::size_t d, std::int64_t i) const {
  if (periodic_) return std::cos(angles_[d] * static_cast<double>(i));
  if (i == 0 || i == cells_[d] + 1) return 0;
  return std::sin(angles_[d] * static_cast<double>(i));
}

WaveAt WaveAt::times(long double factor) const {
  auto result = *this;
  result.height_ *= static_cast<double>(factor);
  return result;
}

Wave::Wave(std::vector<std::int64_t> const& cells, bool periodic, double stay, double pass)
    : start_(cells, periodic) {
  level_factor_ = stay + 2 * static_cast<long double>(cells.size()) * pass;
  wave_factor_ = level_factor_ + pass * start_.laplacian();
}

WaveAt Wave::after(std::int64_t steps) const {
  auto const n = static_cast<long double>(steps);
  auto result = start_.times(std::pow(wave_factor_, n));
  result.level_ *= static_cast<double>(std::pow(level_factor_, n));
  return result;
}

double Wave::rounding_of(std::int64_t steps) {
  return static_cast<double>(8 * steps + 32) * std::numeric_limits<double>::epsilon();
}

StandingWave::StandingWave(std::vector<std::int64_t> const& cells, double ratio)
    : highest_(cells, false), angle_(2 * std::asin(std::sqrt(-ratio * highest_.laplacian() / 4))) {}

WaveAt StandingWave::after(std::int64_t steps) const {
  return highest_.times(std::cos(angle_ * static_cast<long double>(steps)));
}

double StandingWave::rounding_of(std::int64_t steps) {
  auto const n = static_cast<double>(steps);
  return (8 * n * (n + 1) / 2 + 32 * (n + 1)) * std::numeric_limits<double>::epsilon();
}

}  // namespace examples
