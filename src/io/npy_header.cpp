#include "src/io/npy_header.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera::detail {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t alignment = 64;
// NumPy leaves room for the first extent to grow to as many digits as 2^64 has.
constexpr std::size_t digits_of_growing_extent = 21;
constexpr std::int64_t most_header_bytes = 1 << 20;

[[noreturn]] void refuse(std::string const& why) {
  throw Error(text("is not a NumPy file: ", why));
}

/// Python's literals, as far as headers have them.
class Literals {
 public:
  explicit Literals(std::string_view all) : rest_(all) {}

  /// Takes a character if it comes next.
  bool take(char c) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse(text("its header has no '", c, "' where one has to be"));
  }
  std::string_view quoted() {
    skip_blanks();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"'))
      refuse("its header has no text in quotes where one has to be");
    auto const end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) refuse("its header ends inside of quotes");
    auto const result = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return result;
  }
  bool truth() {
    skip_blanks();
    for (std::string_view const word : {"True", "False"})
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return word == "True";
      }
    refuse("its header has neither True nor False where one has to be");
  }
  std::int64_t count() {
    skip_blanks();
    std::int64_t result = -1;
    auto const [end, wrong] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), result);
    if (wrong != std::errc() || result < 0) refuse("its header has an extent that is no number");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    take('L');  // of Python 2
    return result;
  }
  /// True if a list begins here.
  bool at_list() {
    skip_blanks();
    return !rest_.empty() && rest_.front() == '[';
  }
  /// All of a list, with the lists inside of it.
  std::string_view list() {
    auto const whole = rest_;
    std::int64_t depth = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      depth += whole[i] == '[' ? 1 : whole[i] == ']' ? -1 : 0;
      if (depth > 0) continue;
      rest_.remove_prefix(i + 1);
      return whole.substr(0, i + 1);
    }
    refuse("its header ends inside of a list");
  }

 private:
  void skip_blanks() {
    auto const first = rest_.find_first_not_of(" \t\n\r");
    rest_.remove_prefix(std::min(first, rest_.size()));
  }
  std::string_view rest_;
};

void read_dtype(Literals& in, NpyHeader& header) {
  auto const dtype = in.at_list() ? in.list() : in.quoted();
  dtype.copy(header.dtype, NpyHeader::most_dtype - 1);
  if (dtype.size() < 3 || std::string_view("<>|=").find(dtype[0]) == std::string_view::npos) return;
  std::int64_t bytes = 0;
  auto const* const end = dtype.data() + dtype.size();
  auto const [parsed, wrong] = std::from_chars(dtype.data() + 2, end, bytes);
  bool const is_known = std::string_view("biufcV").find(dtype[1]) != std::string_view::npos;
  if (!is_known || wrong != std::errc() || parsed != end || bytes < 1 || bytes > 16) return;
  header.kind = dtype[1];
  header.item_bytes = bytes;
  header.is_big_endian =
      dtype[0] == '>' || (dtype[0] == '=' && std::endian::native == std::endian::big);
}

void read_shape(Literals& in, NpyHeader& header) {
  in.expect('(');
  while (!in.take(')')) {
    if (header.rank == static_cast<std::int64_t>(NpyHeader::most_dimensions))
      refuse(text("its header has more than ", header.rank, " dimensions"));
    header.extents[header.rank++] = in.count();
    if (!in.take(',')) {
      in.expect(')');
      break;
    }
  }
}

// The bytes of all cells have to have a number.
void check_size(NpyHeader const& header) {
  auto const* const end = header.extents + header.rank;
  if (std::find(header.extents, end, 0) != end) return;
  std::int64_t bytes = std::max<std::int64_t>(header.item_bytes, 1);
  for (std::int64_t d = 0; d < header.rank; ++d) {
    if (header.extents[d] > std::numeric_limits<std::int64_t>::max() / 2 / bytes)
      refuse("its shape has more cells than there are numbers");
    bytes *= header.extents[d];
  }
}

}  // namespace

Shape NpyHeader::shape() const {
  return Shape(extents, extents + rank);
}

std::int64_t NpyHeader::cells() const {
  if (std::find(extents, extents + rank, 0) != extents + rank) return 0;
  std::int64_t count = 1;
  for (std::int64_t d = 0; d < rank; ++d) count *= extents[d];
  return count;
}

std::string npy_header_text(NpyType const& type, Shape const& shape) {
  bool const has_order = type.bytes > 1;
  char const order = !has_order ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  auto const extents = shape.size() == 1 ? text('(', shape[0], ",)") : join(shape, "(", ")");
  auto header = text("{'descr': '", order, type.kind, type.bytes,
                     "', 'fortran_order': False, 'shape': ", extents, ", }");
  if (!shape.empty()) {
    auto const digits = std::to_string(shape[0]).size();
    header.append(digits_of_growing_extent - std::min(digits_of_growing_extent, digits), ' ');
  }
  constexpr std::size_t prefix = 10;  // magic, version, and the length in two bytes
  auto const unpadded = prefix + header.size() + 1;
  header.append((alignment - unpadded % alignment) % alignment, ' ');
  header.push_back('\n');
  std::string result(magic);
  result.push_back('\x01');
  result.push_back('\x00');
  result.push_back(static_cast<char>(header.size() & 0xff));
  result.push_back(static_cast<char>(header.size() >> 8));
  return result + header;
}

std::int64_t npy_header_bytes(std::span<std::byte const> prefix) {
  for (std::size_t i = 0; i < magic.size(); ++i)
    if (prefix[i] != static_cast<std::byte>(magic[i]))
      refuse("it does not begin with the six bytes \\x93NUMPY");
  auto const version = std::to_integer<int>(prefix[6]);
  if (version < 1 || version > 3)
    refuse(text("it has version ", version, " of the format; there are 1, 2 and 3"));
  std::size_t const length_bytes = version == 1 ? 2 : 4;
  std::int64_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;)
    length = length * 256 + std::to_integer<int>(prefix[8 + i]);
  if (length > most_header_bytes) refuse(text("its header would have ", length, " bytes"));
  return static_cast<std::int64_t>(8 + length_bytes) + length;
}

NpyHeader parse_npy_header(std::string_view header) {
  NpyHeader result;
  result.first_cell = static_cast<std::int64_t>(header.size());
  Literals in(header.substr(header[6] == '\x01' ? 10 : 12));
  constexpr std::array<std::string_view, 3> entries{"descr", "fortran_order", "shape"};
  std::array<bool, 3> found{};
  in.expect('{');
  while (!in.take('}')) {
    auto const key = in.quoted();
    in.expect(':');
    auto const entry =
        static_cast<std::size_t>(std::find(entries.begin(), entries.end(), key) - entries.begin());
    if (entry == entries.size()) refuse(text("its header has an entry '", excerpt(key), "'"));
    if (std::exchange(found[entry], true)) refuse(text("its header has two entries '", key, "'"));
    if (entry == 0)
      read_dtype(in, result);
    else if (entry == 1)
      result.is_fortran_order = in.truth();
    else
      read_shape(in, result);
    if (!in.take(',')) {
      in.expect('}');
      break;
    }
  }
  if (found != std::array{true, true, true})
    refuse("its header lacks one of descr, fortran_order and shape");
  check_size(result);
  return result;
}

}  // namespace tessera::detail
