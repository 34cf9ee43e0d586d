#include "src/base/text.hpp"

#include <array>
#include <cstdio>

namespace tessera::detail {

std::string counted(std::int64_t count, std::string_view singular) {
  return text(count, ' ', singular, count == 1 ? "" : "s");
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return text(bytes, " B");
  double value = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  for (; value >= 1024.0 && unit + 1 < units.size(); ++unit) value /= 1024.0;
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.1f %s", value, units[unit]);
  return buffer.data();
}

}  // namespace tessera::detail
