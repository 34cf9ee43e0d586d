#include "tessera/layout/parse.hpp"

#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera {
namespace {

// Rules one inside the other. No cut has as many: a segment is no list of segments.
constexpr int deepest_rule = 8;
constexpr std::size_t longest_name = 256;  // of a mesh axis

bool is_space(char letter) {
  return std::string_view(" \t\n\v\f\r").find(letter) != std::string_view::npos;
}

// Reads a text from left to right. Every function passes over spaces first.
class Reader {
 public:
  explicit Reader(std::string_view whole) : whole_(whole) {}

  /// True, and past it, if `word` comes next.
  bool accept(std::string_view word) {
    pass_spaces();
    if (whole_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  /// True if that letter comes next.
  bool is_next(char letter) {
    pass_spaces();
    return at_ < whole_.size() && whole_[at_] == letter;
  }
  void expect(std::string_view word) {
    if (!accept(word)) fail(text('\'', word, '\''));
  }
  void expect_end() {
    pass_spaces();
    if (at_ != whole_.size()) fail("the end");
  }
  std::int64_t number() {
    pass_spaces();
    std::int64_t value = 0;
    auto const* const begin = whole_.data() + at_;
    auto const [end, error] = std::from_chars(begin, whole_.data() + whole_.size(), value);
    if (error != std::errc()) fail("a number");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }
  /// The name before '='; also skips the '='.
  std::string name() {
    pass_spaces();
    auto const found = whole_.find_first_of("=,)", at_);
    if (found == std::string_view::npos || whole_[found] != '=') fail("an axis, such as x=2");
    std::string word(whole_.substr(at_, found - at_));
    while (!word.empty() && is_space(word.back())) word.pop_back();
    check_name(word);
    at_ = found + 1;
    return word;
  }
  std::string quoted() {
    expect("\"");
    auto const end = whole_.find('"', at_);
    if (end == std::string_view::npos) fail("a closing '\"'");
    std::string word(whole_.substr(at_, end - at_));
    check_name(word);
    at_ = end + 1;
    return word;
  }
  /// Calls `rule` for a rule inside of another one.
  template <class Rule>
  auto deeper(Rule const& rule) {
    if (++depth_ > deepest_rule)
      fail(text("no more than ", deepest_rule, " rules one inside the other"));
    auto result = rule();
    --depth_;
    return result;
  }
  /// Calls `element` for each element of a list in parentheses, which may be empty.
  template <class Element>
  void list(Element const& element) {
    expect("(");
    if (accept(")")) return;
    do element();
    while (accept(","));
    expect(")");
  }
  [[noreturn]] void fail(std::string_view expected) const {
    auto const rest = whole_.substr(at_, 20);
    throw UsageError(
        text("cannot read '", excerpt(whole_), "': expected ", expected, " at character ", at_,
             rest.empty() ? ", where it ends" : text(", before '", excerpt(rest), '\'')));
  }

 private:
  void pass_spaces() {
    while (at_ < whole_.size() && is_space(whole_[at_])) ++at_;
  }
  // Names go into messages and pictures as they are.
  void check_name(std::string_view name) const {
    if (printable(name) != name) fail("a name without control characters");
    if (name.size() > longest_name) fail(text("a name of at most ", longest_name, " bytes"));
  }

  std::string_view whole_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

constexpr std::int64_t most_in_range = std::int64_t{1} << 24;

std::vector<std::int64_t> read_devices(Reader& reader, std::int64_t count) {
  std::vector<std::int64_t> devices{reader.number()};
  if (reader.accept("to")) {
    auto const last = reader.number();
    // Refuses a list that does not fill the mesh, or that no memory could hold, before making it.
    if (count > most_in_range)
      reader.fail(text("a mesh of at most ", most_in_range, " devices before a range of them"));
    bool const fills = devices[0] >= 0 && last >= devices[0] && last - devices[0] == count - 1;
    if (!fills) reader.fail(text("a range of ", count, " devices"));
    while (devices.back() < last) devices.push_back(devices.back() + 1);
  }
  while (reader.accept(",")) devices.push_back(reader.number());
  return devices;
}

Mesh read_mesh(Reader& reader) {
  reader.expect("Mesh");
  reader.expect("(");
  std::vector<MeshAxis> axes;
  std::vector<std::int64_t> devices;
  do {
    if (!axes.empty() && reader.accept("devices ")) {
      devices = read_devices(reader, Mesh(axes).size());
      break;
    }
    auto name = reader.name();
    axes.push_back({std::move(name), reader.number()});
  } while (reader.accept(","));
  reader.expect(")");
  if (devices.empty()) return Mesh(axes);
  Shape shape;
  std::vector<std::string> names;
  for (auto const& axis : axes) {
    shape.push_back(axis.size);
    names.push_back(axis.name);
  }
  return Mesh(std::move(devices), shape, std::move(names));
}

SpecEntry read_entry(Reader& reader) {
  if (reader.accept("none")) return none;
  if (reader.accept("(")) {
    std::vector<std::string> axes;
    do axes.push_back(reader.quoted());
    while (reader.accept(","));
    reader.expect(")");
    return SpecEntry(std::move(axes));
  }
  return SpecEntry(reader.quoted());
}

ReduceOp read_op(Reader& reader) {
  for (auto const op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg})
    if (reader.accept(text(op))) return op;
  reader.fail("sum, prod, min, max or avg");
}

PartitionSpec read_spec(Reader& reader) {
  reader.expect("P");
  std::vector<SpecEntry> entries;
  reader.list([&] { entries.push_back(read_entry(reader)); });
  PartitionSpec const spec(std::move(entries));
  if (!reader.accept(".partial(")) return spec;
  auto const axes = read_entry(reader);
  auto const op = reader.accept(",") ? read_op(reader) : ReduceOp::sum;
  reader.expect(")");
  return spec.partial(axes, op);
}

std::int64_t read_block(Reader& reader) {
  reader.expect("(");
  auto const cells = reader.number();
  reader.expect(")");
  return cells;
}

Cut read_cut(Reader& reader);

Cut read_segments(Reader& reader) {
  std::vector<Cut::Segment> segments;
  reader.list([&] {
    auto const cells = reader.number();
    bool const is_balanced = reader.is_next(',') || reader.is_next(')');
    segments.emplace_back(cells, is_balanced ? Cut::balanced() : read_cut(reader));
  });
  return Cut::segments(std::move(segments));
}

Cut read_rule(Reader& reader) {
  if (reader.accept("balanced")) return Cut::balanced();
  if (reader.accept("ceil")) return Cut::ceil();
  if (reader.accept("strict")) return Cut::strict();
  if (reader.accept("unit")) return Cut::unit(read_block(reader));
  if (reader.accept("cyclic")) return Cut::cyclic(read_block(reader));
  if (reader.accept("segments")) return read_segments(reader);
  if (!reader.accept("explicit_sizes"))
    reader.fail("balanced, ceil, strict, unit, explicit_sizes, segments or cyclic");
  std::vector<std::int64_t> sizes;
  reader.list([&] { sizes.push_back(reader.number()); });
  return Cut::explicit_sizes(std::move(sizes));
}

Cut read_cut(Reader& reader) {
  return reader.deeper([&] { return read_rule(reader); });
}

NamedSharding read_sharding(Reader& reader) {
  reader.expect("NamedSharding");
  reader.expect("(");
  auto mesh = read_mesh(reader);
  reader.expect(",");
  auto spec = read_spec(reader);
  if (!reader.accept(",")) {
    reader.expect(")");
    return {std::move(mesh), std::move(spec)};
  }
  std::vector<Cut> cuts;
  if (reader.accept("(")) {
    do cuts.push_back(read_cut(reader));
    while (reader.accept(","));
    reader.expect(")");
    reader.expect(")");
    return {std::move(mesh), std::move(spec), std::move(cuts)};
  }
  auto cut = read_cut(reader);
  reader.expect(")");
  return {std::move(mesh), std::move(spec), std::move(cut)};
}

// The whole of a text, and nothing behind it.
template <class Read>
auto read_whole(std::string_view whole, Read const& read) {
  Reader reader(whole);
  auto result = read(reader);
  reader.expect_end();
  return result;
}

}  // namespace

Mesh parse_mesh(std::string_view text) {
  return read_whole(text, read_mesh);
}
PartitionSpec parse_spec(std::string_view text) {
  return read_whole(text, read_spec);
}
Cut parse_cut(std::string_view text) {
  return read_whole(text, read_cut);
}
NamedSharding parse_sharding(std::string_view text) {
  return read_whole(text, read_sharding);
}

}  // namespace tessera
