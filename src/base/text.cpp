#include "src/base/text.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <locale>

namespace tessera {
namespace detail {

TextStream::TextStream() {
  imbue(std::locale::classic());
}

std::string counted(std::int64_t count, std::string_view singular) {
  return text(count, ' ', singular, count == 1 ? "" : "s");
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return text(bytes, " B");
  double value = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  for (; value >= 1024.0 && unit + 1 < units.size(); ++unit) value /= 1024.0;
  return text(std::fixed, std::setprecision(1), value, ' ', units[unit]);
}

}  // namespace detail

std::string_view take_word(std::string_view& line) {
  constexpr std::string_view blanks = " \t\n";
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  auto const word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace tessera
