#include "support/picture.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "support/scale.hpp"

namespace examples {
namespace {

std::string label(double value) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%8.3g ", value);
  return text.data();
}

}  // namespace

std::int64_t stride_for(std::int64_t cells, std::int64_t wanted) {
  return std::max<std::int64_t>(1, (cells + wanted - 1) / wanted);
}

std::string draw_profile(std::span<double const> values) {
  constexpr std::array bars{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr int lines = 8;
  constexpr int eighths = static_cast<int>(bars.size()) - 1;
  Scale const height(values, lines * eighths - 1);

  std::string drawn;
  for (int line = lines - 1; line >= 0; --line) {
    drawn += line == lines - 1 ? label(height.high())
             : line == 0       ? label(height.low())
                               : "         ";
    for (auto const value : values) {
      auto const filled = std::clamp(height(value) + 1 - line * eighths, 0, eighths);
      drawn += bars[static_cast<std::size_t>(filled)];
    }
    drawn += '\n';
  }
  return drawn;
}

std::string draw_field(std::span<double const> values, std::int64_t columns) {
  constexpr std::array shades{" ", "·", "░", "▒", "▓", "█"};
  Scale const shade(values, static_cast<int>(shades.size()) - 1);

  std::string drawn;
  for (std::size_t i = 0; i < values.size(); ++i) {
    drawn += shades[static_cast<std::size_t>(shade(values[i]))];
    if ((static_cast<std::int64_t>(i) + 1) % columns == 0) drawn += '\n';
  }
  return drawn + "from" + label(shade.low()) + "(blank) to" + label(shade.high()) + "(full)\n";
}

std::string draw_cells(std::span<std::uint8_t const> cells, std::int64_t columns) {
  std::string drawn;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    drawn += cells[i] != 0 ? "█" : "·";
    if ((static_cast<std::int64_t>(i) + 1) % columns == 0) drawn += '\n';
  }
  return drawn;
}

}  // namespace examples
