// Texts of meshes, specs, cuts and shardings. The first letter of a text says which parser is to
// read it. What is accepted
// prints as a text that is read as the same; and arrays that are cut so are covered by their
// pieces.
#include <algorithm>
#include <string>

#include "tessera/layout/layout.hpp"
#include "tessera/layout/parse.hpp"

#include "src/base/text.hpp"
#include "src/index/box.hpp"

#include "target.hpp"

namespace tessera::fuzz {
namespace {

constexpr std::int64_t few_devices = 64;

template <class Value>
void check_printed(Value const& value, Value (*parse)(std::string_view)) {
  auto const printed = text(value);
  if (printed.find("...") != std::string::npos) return;  // a long list
  bool const is_refused = refuses([&] {
    auto const again = parse(printed);
    require(again == value, "what is printed is read as something else");
    require(text(again) == printed, "what is printed and read is printed otherwise");
  });
  require(!is_refused, "what is printed cannot be read");
}

// One copy of the cells is spread over the devices, each cell once.
void check_cover(NamedSharding const& sharding, Shape const& shape) {
  Layout const layout(sharding, shape);
  auto const devices = layout.mesh().size();
  if (devices > few_devices) return;
  std::int64_t cells = 0;
  for (std::int64_t position = 0; position < devices; ++position) {
    auto const device = layout.mesh().device_at(position);
    if (layout.replica_of(device) != 0) continue;
    for (auto const& box : layout.boxes_of(device)) {
      require(whole(shape).contains(box), "a piece outside of the array");
      cells += box.cells();
    }
  }
  require(cells == layout.cells(), "pieces that do not cover the array once");
}

void check_sharding(NamedSharding const& read) {
  check_printed(read, parse_sharding);
  auto const sharding = read.without_partial();
  Shape shape(sharding.rank(), 0);
  for (std::int64_t const extent : {1, 7, 64}) {
    std::ranges::fill(shape, extent);
    (void)refuses([&] { check_cover(sharding, shape); });
  }
}

void check_cut(Cut const& cut) {
  check_printed(cut, parse_cut);
  for (std::int64_t const extent : {0, 1, 7, 64})
    for (std::int64_t const ways : {1, 3})
      (void)refuses([&] {
        check_cover(NamedSharding(Mesh({{"x", ways}}), P("x"), cut), {extent});
      });
}

}  // namespace

void attack(std::span<std::byte const> bytes) {
  auto const words = as_text(bytes);
  auto const begin = words.find_first_not_of(" \t\n\v\f\r");
  switch (begin == std::string_view::npos ? ' ' : words[begin]) {
    case 'M':
      return check_printed(parse_mesh(words), parse_mesh);
    case 'P':
      return check_printed(parse_spec(words), parse_spec);
    case 'N':
      return check_sharding(parse_sharding(words));
    default:
      return check_cut(parse_cut(words));
  }
}

}  // namespace tessera::fuzz
