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

namespace {

bool is_between(char c, unsigned least, unsigned most) {
  auto const byte = static_cast<unsigned char>(c);
  return least <= byte && byte <= most;
}

bool continues(char c) {
  return is_between(c, 0x80, 0xbf);
}

// True if a character of UTF-8 may begin with these two bytes. Refuses control characters from
// U+0080 to U+009F, which terminals obey, too; forms that are longer than necessary; surrogates;
// and numbers above U+10FFFF.
bool may_begin(char first, char second) {
  switch (static_cast<unsigned char>(first)) {
    case 0xc2:
    case 0xe0:
      return is_between(second, 0xa0, 0xbf);
    case 0xed:
      return is_between(second, 0x80, 0x9f);
    case 0xf0:
      return is_between(second, 0x90, 0xbf);
    case 0xf4:
      return is_between(second, 0x80, 0x8f);
    default:
      return continues(second);
  }
}

// Returns how many bytes the character at the front takes; 0 for a control character, and for a
// byte that begins no character of UTF-8.
std::size_t printable_bytes(std::string_view words) {
  if (is_between(words[0], 0x20, 0x7e)) return 1;
  std::size_t const count = is_between(words[0], 0xc2, 0xdf)   ? 2
                            : is_between(words[0], 0xe0, 0xef) ? 3
                            : is_between(words[0], 0xf0, 0xf4) ? 4
                                                               : 0;
  if (count == 0 || words.size() < count) return 0;
  if (!may_begin(words[0], words[1])) return 0;
  auto const behind = words.substr(2, count - 2);
  return std::all_of(behind.begin(), behind.end(), continues) ? count : 0;
}

// Returns the text for a terminal, as far as `most` bytes hold it; takes it off `words`.
std::string take_printable(std::string_view& words, std::size_t most, std::string_view kept) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  while (!words.empty()) {
    bool const is_kept = kept.find(words[0]) != std::string_view::npos;
    auto const count = is_kept ? 1 : printable_bytes(words);
    auto const byte = static_cast<unsigned char>(words[0]);
    std::string const escape{'\\', 'x', digits[byte / 16], digits[byte % 16]};
    auto const piece = count > 0 ? words.substr(0, count) : std::string_view(escape);
    if (result.size() + piece.size() > most) break;
    result += piece;
    words.remove_prefix(std::max<std::size_t>(count, 1));
  }
  return result;
}

}  // namespace

std::string printable(std::string_view words, std::string_view kept) {
  return take_printable(words, std::string::npos, kept);
}

std::string excerpt(std::string_view words, std::size_t most, std::string_view kept) {
  auto const all = words.size();
  auto const beginning = take_printable(words, most, kept);
  return words.empty() ? beginning : text(beginning, "... (", all, " bytes)");
}

std::string_view take_word(std::string_view& line) {
  constexpr std::string_view blanks = " \t\n";
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  auto const word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace tessera
