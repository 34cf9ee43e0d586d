#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"
#include "tessera/layout/strategies.hpp"

#include "src/base/text.hpp"

#include "support/brute_force.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using namespace tessera::strategy;
using test::Random;

/// Random strategies, meshes and shapes against plain loops over units and cells.
TEST_SUITE_BEGIN("layout/strategies_fuzz");

namespace {

using Cells = std::set<std::int64_t>;

// A mesh whose devices lie in no order, and some of its axes in no order.
struct Place {
  Mesh mesh;
  SpecEntry axes;
  std::vector<std::int64_t> sizes;  ///< of the axes

  // The number of a position along the axes, the first one major.
  [[nodiscard]] std::int64_t way(std::int64_t position) const {
    auto const coordinates = mesh.coordinates(position);
    std::int64_t number = 0;
    for (std::size_t a = 0; a < sizes.size(); ++a)
      number = number * sizes[a] + coordinates[mesh.axis(axes.axes()[a])];
    return number;
  }
  [[nodiscard]] std::int64_t ways() const {
    std::int64_t product = 1;
    for (auto const size : sizes) product *= size;
    return product;
  }
};

template <class T>
void shuffle(std::vector<T>& list, Random& random) {
  for (auto i = static_cast<std::int64_t>(list.size()) - 1; i > 0; --i)
    std::swap(list[static_cast<std::size_t>(i)],
              list[static_cast<std::size_t>(random.between(0, i))]);
}

Place any_place(Random& random) {
  std::vector<std::string> names{"kv", "rep", "data"};
  Shape shape;
  std::int64_t devices = 1;
  for (std::size_t a = 0; a < names.size(); ++a) {
    shape.push_back(random.between(1, 4));
    devices *= shape[a];
  }
  std::vector<std::int64_t> ids(static_cast<std::size_t>(devices));
  std::iota(ids.begin(), ids.end(), random.between(0, 3));
  if (random.chance()) shuffle(ids, random);
  Mesh const mesh(ids, shape, names);
  shuffle(names, random);
  names.resize(static_cast<std::size_t>(random.between(1, 3)));
  std::vector<std::int64_t> sizes;
  for (auto const& name : names) sizes.push_back(mesh.axes()[mesh.axis(name)].size);
  return {mesh, SpecEntry(names), sizes};
}

// Which of `ways` has each of `units` units: each way in turn is promised one, and then they are
// handed out in order.
std::vector<std::int64_t> dealt(std::int64_t units, std::int64_t ways) {
  std::vector<std::int64_t> promised(static_cast<std::size_t>(ways));
  for (std::int64_t u = 0; u < units; ++u) ++promised[static_cast<std::size_t>(u % ways)];
  std::vector<std::int64_t> owners;
  for (std::int64_t w = 0; w < ways; ++w)
    owners.insert(owners.end(), static_cast<std::size_t>(promised[static_cast<std::size_t>(w)]), w);
  return owners;
}

// The ways that hold each cell of a dimension.
using Owners = std::vector<Cells>;

void append(Owners& owners, std::int64_t cells, Cells const& ways) {
  owners.insert(owners.end(), static_cast<std::size_t>(cells), ways);
}

void append_segment(Owners& owners, std::int64_t units, std::int64_t unit, std::int64_t ways) {
  for (auto const way : dealt(units, ways)) append(owners, unit, {way});
}

// A layer of attention: how many devices hold each key/value head; none if it cannot be dealt.
std::optional<std::int64_t> copies_of(Heads const& heads, Place const& place) {
  auto const kv_heads = heads.kv_heads.value_or(heads.heads);
  if (place.ways() <= kv_heads) return 1;
  std::int64_t first = 1;
  for (std::size_t a = 0; a + 1 < place.sizes.size(); ++a) {
    first *= place.sizes[a];
    auto const copies = place.ways() / kv_heads;
    if (first == kv_heads)
      return copies <= heads.heads / kv_heads ? std::optional(copies) : std::nullopt;
  }
  return std::nullopt;
}

Owners owners_of_heads(Heads const& heads, Place const& place, std::int64_t head, bool of_queries) {
  auto const kv_heads = heads.kv_heads.value_or(heads.heads);
  auto const queries = heads.heads / kv_heads;
  auto const copies = copies_of(heads, place).value_or(0);
  auto const groups = dealt(kv_heads, place.ways() / copies);
  auto const in_group = dealt(queries, copies);
  Owners owners;
  for (auto const group : groups) {
    Cells everyone;
    for (std::int64_t c = 0; c < copies; ++c) everyone.insert(group * copies + c);
    if (!of_queries) append(owners, head, everyone);
    if (of_queries)
      for (auto const copy : in_group) append(owners, head, {group * copies + copy});
  }
  return owners;
}

// A strategy, and who must own what along the dimension that it cuts; nothing where `on` must
// throw.
struct Case {
  Strategy strategy;
  std::optional<Owners> owners;
  std::int64_t extent;
};

Heads any_heads(Random& random) {
  auto const kv_heads = random.between(1, 8);
  Heads heads{.heads = kv_heads * random.between(1, 5),
              .kv_heads = kv_heads,
              .head_dim = 4 * random.between(1, 3)};
  if (random.chance()) heads.packed = random.chance() ? Packed{2, 1} : Packed{4, 3};
  if (random.chance()) heads.axis = random.between(-1, 0);
  return heads;
}

Case case_of_heads(Random& random, Place const& place) {
  auto const heads = any_heads(random);
  auto const kv_heads = heads.kv_heads.value_or(heads.heads);
  auto const head = heads.head_dim * heads.packed.cells / heads.packed.values;
  auto const copies = copies_of(heads, place);
  auto const kind = random.between(0, 3);
  std::optional<Owners> owners;
  if (copies) owners = owners_of_heads(heads, place, head, kind != 1);
  if (kind == 0) return {strategy::heads(heads), owners, heads.heads * head};
  if (kind == 1) return {strategy::kv_heads(heads), owners, kv_heads * head};
  if (kind == 2) return {head_aware_columnwise(heads), owners, heads.heads * head};
  if (copies != 1) owners.reset();
  if (owners)
    for (int part = 0; part < 2; ++part) append_segment(*owners, kv_heads, head, place.ways());
  return {stacked_qkv(heads), owners, (heads.heads + 2 * kv_heads) * head};
}

Case case_of_segments(Random& random, Place const& place) {
  Segmented options{.axis = random.between(-1, 0)};
  options.packed = random.chance() ? Packed{} : random.chance() ? Packed{2, 1} : Packed{4, 3};
  Owners owners;
  for (auto n = random.between(1, 3); n > 0; --n) {
    Segment const segment{4 * random.between(0, 4), random.chance() ? 1 : 4 * random.between(1, 2)};
    options.segments.push_back(segment);
    auto const& [values, cells] = options.packed;
    auto const in_cells = segment.count * segment.unit * cells / values;
    auto const unit = segment.unit == 1 ? cells : segment.unit * cells / values;
    append_segment(owners, in_cells / unit, unit, place.ways());
  }
  auto const extent = static_cast<std::int64_t>(owners.size());
  return {segmented(options), std::move(owners), extent};
}

Case any_case(Random& random, Place const& place) {
  auto const kind = random.between(0, 5);
  if (kind < 2) return case_of_heads(random, place);
  if (kind == 2) return case_of_segments(random, place);
  Owners owners;
  auto const half = random.between(0, 12);
  append_segment(owners, half, 1, place.ways());
  if (kind == 3) return {random.chance() ? rowwise() : axiswise(-1), owners, half};
  if (kind == 4) return {columnwise(place.ways()), owners, half};
  append_segment(owners, half, 1, place.ways());
  return {gate_up({.axis = random.between(-1, 0)}), owners, 2 * half};
}

// The cells along dimension `d` of a device; its boxes must have all of the other dimensions.
Cells cells_of_device(NamedSharding const& sharding, Shape const& shape, std::size_t d,
                      DeviceId device) {
  Cells cells;
  for (auto const& box : sharding.boxes_of(device, shape)) {
    for (std::size_t other = 0; other < shape.size(); ++other)
      if (other != d) REQUIRE((box.lo[other] == 0 && box.hi[other] == shape[other]));
    for (auto i = box.lo[d]; i < box.hi[d]; ++i) REQUIRE(cells.insert(i).second);
  }
  return cells;
}

bool run_case(std::uint64_t seed) {
  Random random(seed);
  auto const place = any_place(random);
  auto const [strategy, owners, extent] = any_case(random, place);
  CAPTURE(strategy);
  CAPTURE(place.mesh);
  CAPTURE(place.axes);
  auto const rank = random.between(2, 3);
  Shape shape(static_cast<std::size_t>(rank), 2);
  auto const axis = strategy.axis().value_or(0);
  auto const d = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  shape[d] = extent;
  if (!owners) {
    CHECK_THROWS_AS((void)strategy.on(place.mesh, place.axes, shape), ShardingError);
    return true;
  }
  auto const sharding = strategy.on(place.mesh, place.axes, shape);
  for (std::int64_t p = 0; p < place.mesh.size(); ++p) {
    Cells expected;
    for (std::int64_t i = 0; i < extent; ++i)
      if ((*owners)[static_cast<std::size_t>(i)].contains(place.way(p))) expected.insert(i);
    if (cells_of_device(sharding, shape, d, place.mesh.device_at(p)) != expected) return false;
  }
  return true;
}

// The units of `cells` cells each that a device has; it has them whole.
Cells units(NamedSharding const& sharding, Shape const& shape, std::size_t d, DeviceId device,
            std::int64_t cells) {
  Cells found;
  auto const of_device = cells_of_device(sharding, shape, d, device);
  for (auto const cell : of_device) found.insert(cell / cells);
  REQUIRE(static_cast<std::int64_t>(of_device.size()) ==
          static_cast<std::int64_t>(found.size()) * cells);
  return found;
}

// Queries, keys and output of one layer: each query lies with its key/value head, and with its
// columns of the output projection.
bool agrees(std::uint64_t seed, std::int64_t& dealt_layers) {
  Random random(seed);
  auto const place = any_place(random);
  auto heads = any_heads(random);
  heads.axis.reset();
  CAPTURE(strategy::heads(heads));
  CAPTURE(place.mesh);
  if (!copies_of(heads, place)) return true;
  ++dealt_layers;
  auto const head = heads.head_dim * heads.packed.cells / heads.packed.values;
  auto const kv_heads = *heads.kv_heads;
  Shape const q_shape{heads.heads * head, 2};
  Shape const kv_shape{kv_heads * head, 2};
  Shape const o_shape{2, heads.heads * head};
  auto const q = strategy::heads(heads).on(place.mesh, place.axes, q_shape);
  auto const kv = strategy::kv_heads(heads).on(place.mesh, place.axes, kv_shape);
  auto const o = head_aware_columnwise(heads).on(place.mesh, place.axes, o_shape);

  Cells all;
  for (std::int64_t p = 0; p < place.mesh.size(); ++p) {
    auto const device = place.mesh.device_at(p);
    auto const queries = units(q, q_shape, 0, device, head);
    auto const keys = units(kv, kv_shape, 0, device, head);
    for (auto const query : queries)
      if (!keys.contains(query / (heads.heads / kv_heads))) return false;
    if (queries != units(o, o_shape, 1, device, head)) return false;
    all.insert(queries.begin(), queries.end());
  }
  return static_cast<std::int64_t>(all.size()) == heads.heads;
}

}  // namespace

TEST_CASE("each device has the cells that a loop over the units deals to it") {
  CHECK(test::failed_seeds(2'000, run_case) == 0);
}

TEST_CASE("the device with a query head has its key/value head and its columns of the output") {
  std::int64_t dealt_layers = 0;

  CHECK(test::failed_seeds(1'000, [&](std::uint64_t seed) { return agrees(seed, dealt_layers); }) ==
        0);

  if (!test::is_one_seed()) CHECK(dealt_layers > 20);
}

TEST_SUITE_END();
