#pragma once
/// @file
/// Values as shades.

#include <algorithm>
#include <span>

namespace examples {

/// Where a value lies between the smallest and the largest one: 0 to `steps`.
class Scale {
 public:
  Scale(std::span<double const> values, int steps) : steps_(steps) {
    if (values.empty()) return;
    auto const [low, high] = std::minmax_element(values.begin(), values.end());
    low_ = *low;
    high_ = *high;
  }

  [[nodiscard]] int operator()(double value) const {
    if (!(high_ > low_)) return steps_ / 2;
    auto const part = (value - low_) / (high_ - low_);
    return std::clamp(static_cast<int>(part * steps_ + 0.5), 0, steps_);
  }
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }

 private:
  int steps_;
  double low_ = 0;
  double high_ = 0;
};

}  // namespace examples
