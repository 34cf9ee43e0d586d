#include "support/basin.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace examples {

double SloshingAt::operator()(std::int64_t i, std::int64_t j) const {
  auto const along = [](double angle, std::int64_t at, std::int64_t last_face) {
    auto const place = static_cast<double>(at);
    if (last_face == 0) return std::cos(angle * (place + 0.5));
    return at == 0 || at == last_face ? 0.0 : std::sin(angle * place);
  };
  return size_ * along(row_angle_, i, last_row_face_) * along(column_angle_, j, last_column_face_);
}

Sloshing::Sloshing(std::int64_t rows, std::int64_t columns, double ratio)
    : rows_(rows),
      columns_(columns),
      row_angle_(std::numbers::pi_v<long double> / static_cast<long double>(rows)),
      column_angle_(2 * std::numbers::pi_v<long double> / static_cast<long double>(columns)),
      ratio_(ratio),
      angle_(2 * std::asin(ratio_ *
                           std::hypot(std::sin(row_angle_ / 2), std::sin(column_angle_ / 2)))) {}

SloshingAt Sloshing::at(long double size) const {
  SloshingAt moment;
  moment.row_angle_ = static_cast<double>(row_angle_);
  moment.column_angle_ = static_cast<double>(column_angle_);
  moment.size_ = static_cast<double>(size);
  return moment;
}

SloshingAt Sloshing::height_after(std::int64_t steps) const {
  return at(std::cos(angle_ * static_cast<long double>(steps)));
}

// The sine of half a step before the start is -sin(w / 2), which cancels.
SloshingAt Sloshing::south_before() const {
  auto flow = at(-ratio_ * std::sin(row_angle_ / 2));
  flow.last_row_face_ = rows_;
  return flow;
}
SloshingAt Sloshing::east_before() const {
  auto flow = at(-ratio_ * std::sin(column_angle_ / 2));
  flow.last_column_face_ = columns_;
  return flow;
}

double Sloshing::rounding_of(std::int64_t steps) {
  auto const n = static_cast<double>(steps);
  return (8 * n * (n + 1) / 2 + 32 * (n + 1)) * std::numeric_limits<double>::epsilon();
}

}  // namespace examples
