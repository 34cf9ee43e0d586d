#include "tessera/array/creation.hpp"

#include <cmath>
#include <complex>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>

#include "tessera/runtime/runtime.hpp"

#include "support/agree.hpp"
#include "support/layouts.hpp"
#include "support/left_out.hpp"
#include "support/mirror.hpp"
#include "support/shards.hpp"

using namespace tessera;
using test::device_holds;
using test::Mirror;

TEST_SUITE_BEGIN("array/creation");

namespace {

Mesh row(std::int64_t devices) {
  return Mesh({{"x", devices}});
}

template <class T, std::size_t N>
bool reads_as(DistArray<T, N> const& u, std::vector<T> const& cells) {
  return test::same_bits(u.to_host(), cells);
}

// The same array, created on random layouts, reads the same.
template <std::size_t N>
void create_at_random(std::array<std::int64_t, N> const& extents, std::int64_t layouts) {
  test::Random random(static_cast<std::uint64_t>(extents[0]) * 8 + N);
  Shape const shape(extents.begin(), extents.end());
  std::int64_t next = 0;
  auto const counted = Mirror<double>::made_of(shape, [&](Index const&) { return next++; });
  auto const waves = Mirror<double>::made_of(shape, [](Index const& i) {
    double v = 0;
    for (auto const c : i) v = v * 10 + std::sin(static_cast<double>(c));
    return v;
  });
  for (std::int64_t k = 0; k < layouts; ++k) {
    auto const sharding = test::random_sharding(random, device_count(), shape);
    CAPTURE(sharding);
    CHECK_ALL(reads_as(zeros<double, N>(extents, sharding), Mirror<double>(shape).cells));
    CHECK_ALL(reads_as(full<double, N>(extents, 0.1, sharding), Mirror<double>(shape, 0.1).cells));
    CHECK_ALL(reads_as(iota<double, N>(extents, sharding), counted.cells));
    auto const made = from_index<double, N>(extents, sharding, [](auto const& i) {
      double v = 0;
      for (auto const c : i) v = v * 10 + std::sin(static_cast<double>(c));
      return v;
    });
    CHECK_ALL(reads_as(made, waves.cells));
    CHECK_ALL(
        reads_as(from_host<double, N>(std::span<double const>(waves.cells), extents, sharding),
                 waves.cells));
    auto const elsewhere = test::random_sharding(random, device_count(), shape);
    CAPTURE(elsewhere);
    CHECK_ALL(reads_as(reshard(made, elsewhere), waves.cells));
  }
}

}  // namespace

TEST_CASE("arrays of any extent come back from any layout as they were made") {
  for (std::int64_t const extent : {0, 1, 2, 3, 5, 8, 11, 40}) create_at_random<1>({extent}, 12);
  create_at_random<2>({7, 5}, 12);
  create_at_random<2>({0, 5}, 3);
  create_at_random<2>({5, 0}, 3);
  create_at_random<2>({1, 9}, 6);
  create_at_random<3>({4, 1, 6}, 8);
  create_at_random<3>({5, 6, 3}, 8);
}

TEST_CASE("a row-major mesh gives its last axis to neighbouring devices") {
  NamedSharding const sharding(Mesh({{"y", 2}, {"x", 4}}), P("y", "x"));
  auto const u =
      from_index<std::int64_t>({4, 8}, sharding, [](auto i) { return 10 * i[0] + i[1]; });

  CHECK_ALL(device_holds(u, 0, {0, 1, 10, 11}));
  CHECK_ALL(device_holds(u, 1, {2, 3, 12, 13}));
  CHECK_ALL(device_holds(u, 4, {20, 21, 30, 31}));
  CHECK_ALL(device_holds(u, 7, {26, 27, 36, 37}));
}

TEST_CASE("a listed device order says who holds what") {
  Mesh const mesh({4, 6, 0, 2, 7, 3, 1, 5}, {4, 2}, {"x", "y"});
  NamedSharding const sharding(mesh, P("x", "y"));
  auto const u =
      from_index<std::int64_t>({4, 4}, sharding, [](auto i) { return 1 + i[0] + 4 * i[1]; });

  CHECK_ALL(device_holds(u, 4, {1, 5}));
  CHECK_ALL(device_holds(u, 6, {9, 13}));
  CHECK_ALL(device_holds(u, 0, {2, 6}));
  CHECK_ALL(device_holds(u, 7, {3, 7}));
  CHECK_ALL(device_holds(u, 5, {12, 16}));
}

TEST_CASE("several axes on one dimension cut it by their product, the first one major") {
  Mesh const mesh({{"a", 2}, {"b", 4}});
  auto const ab = iota<std::int64_t>({8}, {mesh, P({"a", "b"})});
  auto const ba = iota<std::int64_t>({8}, {mesh, P({"b", "a"})});

  CHECK_ALL(device_holds(ab, 1, {1}));
  CHECK_ALL(device_holds(ab, 4, {4}));
  CHECK_ALL(device_holds(ba, 1, {2}));
  CHECK_ALL(device_holds(ba, 4, {1}));
}

TEST_CASE("cuts give the pieces that they name") {
  auto const piece = [](Cut const& cut, std::int64_t extent, std::int64_t device,
                        std::vector<std::int64_t> const& cells) {
    return device_holds(iota<std::int64_t, 1>({extent}, {row(4), P("x"), cut}), device, cells);
  };

  CHECK_ALL(piece(Cut::balanced(), 6, 0, {0, 1}));
  CHECK_ALL(piece(Cut::balanced(), 6, 3, {5}));
  CHECK_ALL(piece(Cut::ceil(), 6, 2, {4, 5}));
  CHECK_ALL(piece(Cut::ceil(), 6, 3, {}));
  CHECK_ALL(piece(Cut::explicit_sizes({0, 5, 0, 1}), 6, 1, {0, 1, 2, 3, 4}));
  CHECK_ALL(piece(Cut::explicit_sizes({0, 5, 0, 1}), 6, 3, {5}));
  CHECK_ALL(piece(Cut::explicit_sizes({0, 5, 0, 1}), 6, 0, {}));
  CHECK_ALL(piece(Cut::strict(), 8, 1, {2, 3}));
}

TEST_CASE("more devices than cells leave the last ones empty") {
  auto const u = iota<std::int64_t>({3}, {row(8), P("x")});

  CHECK_ALL(device_holds(u, 2, {2}));
  CHECK_ALL(device_holds(u, 3, {}));
  CHECK_ALL(device_holds(u, 7, {}));
  CHECK_ALL(reads_as(u, {0, 1, 2}));
}

TEST_CASE("devices along an axis that cuts nothing hold copies") {
  auto const u = iota<std::int64_t>({4}, {Mesh({{"a", 2}, {"b", 4}}), P("a")});

  for (std::int64_t const device : {0, 1, 3}) CHECK_ALL(device_holds(u, device, {0, 1}));
  for (std::int64_t const device : {4, 7}) CHECK_ALL(device_holds(u, device, {2, 3}));
}

TEST_CASE("142 by 142 cells on 2 by 4 devices are cut into pieces that differ by one at most") {
  auto const u = iota<std::int64_t>({142, 142}, {Mesh({{"y", 2}, {"x", 4}}), P("y", "x")});

  auto const held = test::local_cells(u);
  bool sizes = true;
  for (auto const& [device, cells] : held)
    sizes = sizes && std::ssize(cells) == 71 * (device % 4 < 2 ? 36 : 35);

  CHECK_ALL(sizes);
  CHECK_ALL(u.to_host()[142 * 141 + 7] == 142 * 141 + 7);
}

TEST_CASE("two meshes hold the same sines") {
  auto const wave = [](auto i) { return std::sin(static_cast<double>(i[0] + 40 * i[1])); };
  auto const a = from_index<double>({40, 40}, {Mesh({{"x", 8}}), P(none, "x")}, wave);
  auto const b = from_index<double>(
      {40, 40}, {Mesh({5, 1, 3, 0, 7, 2}, {3, 2}, {"p", "q"}), P("q", "p")}, wave);

  CHECK_ALL(reads_as(a, b.to_host()));
}

TEST_CASE("an array of three dimensions lies on two devices in three ways") {
  Mesh const mesh({{"a", 1}, {"b", 2}});
  auto const whole_array = iota<std::int64_t>({16, 4, 12}, {mesh, P(none, none, none)}).to_host();
  for (auto const& spec : {P("b", none, none), P(none, "b", "a"), P("a", none, "b")})
    CHECK_ALL(reads_as(iota<std::int64_t>({16, 4, 12}, {mesh, spec}), whole_array));
}

TEST_CASE("elements of any type that is copied byte by byte come back") {
  struct Particle {
    double x;
    std::int32_t id;
    char tag[4];
  };
  auto const u = from_index<Particle>({5}, {row(3), P("x")}, [](auto i) {
    return Particle{0.5 * static_cast<double>(i[0]), static_cast<std::int32_t>(i[0]), {'a'}};
  });
  auto const bools = from_index<bool>({9}, {row(8), P("x")}, [](auto i) { return i[0] % 3 == 0; });
  auto const bytes =
      from_index<std::uint8_t>({5}, {row(2), P("x")}, [](auto i) { return 250 + i[0]; });

  auto const cells = u.to_host();
  CHECK_ALL(cells.size() == 5 && cells[4].x == 2.0 && cells[4].id == 4 && cells[4].tag[0] == 'a');
  CHECK_ALL(bools.to_host() == std::vector<bool>{1, 0, 0, 1, 0, 0, 1, 0, 0});
  CHECK_ALL(reads_as(bytes, {250, 251, 252, 253, 254}));
}

TEST_CASE("every cell is one value, of any size") {
  struct Three {
    std::int32_t a, b, c;
    bool operator==(Three const&) const = default;
  };
  struct Four {
    std::int32_t a, b, c, d;
    bool operator==(Four const&) const = default;
  };
  auto const is_full_of = [](auto const& value, std::int64_t cells) {
    using T = std::decay_t<decltype(value)>;
    auto const u = full<T>({cells}, value, {row(3), P("x")});
    return u.to_host() == std::vector<T>(static_cast<std::size_t>(cells), value);
  };
  for (std::int64_t const cells : {1, 2, 7, 1001}) {
    CHECK_ALL(is_full_of(std::int8_t{-3}, cells));
    CHECK_ALL(is_full_of(std::int16_t{-300}, cells));
    CHECK_ALL(is_full_of(0.1F, cells));
    CHECK_ALL(is_full_of(std::complex<double>(0.1, 0.1), cells));
    CHECK_ALL(is_full_of(std::complex<double>(0.1, 0.2), cells));
    CHECK_ALL(is_full_of(Three{1, 2, 3}, cells));
    CHECK_ALL(is_full_of(Four{1, 2, 1, 2}, cells));
    CHECK_ALL(is_full_of(Four{1, 2, 3, 4}, cells));
  }
}

TEST_CASE("memory of the host may change right after the array was made of it") {
  std::vector<double> cells{1, 2, 3, 4, 5};
  auto const u = from_host(cells, {5}, {row(8), P("x")});
  std::fill(cells.begin(), cells.end(), -1.0);

  CHECK_ALL(reads_as(u, {1, 2, 3, 4, 5}));
}

TEST_CASE("a function may die right after the array was made of it") {
  auto const make = [] {
    std::vector<std::int64_t> const table{5, 7, 9};
    return from_index<std::int64_t>({6}, {row(8), P("x")}, [table](auto i) {
      return table[static_cast<std::size_t>(i[0]) % table.size()];
    });
  };

  CHECK_ALL(reads_as(make(), {5, 7, 9, 5, 7, 9}));
}

TEST_CASE("a slice reads back the cells that it shows") {
  auto const u = iota<std::int64_t>({6, 5}, {Mesh({{"y", 4}, {"x", 2}}), P("y", "x")});

  CHECK_ALL(u(range(1, -1, 2), 3).to_host() == std::vector<std::int64_t>{8, 18});
  CHECK_ALL(u(-1, all).to_host() == std::vector<std::int64_t>{25, 26, 27, 28, 29});
  CHECK_ALL(u(range(2, 2), all).to_host().empty());
  CHECK_ALL(u(from(4), range(none, 2)).to_host() == std::vector<std::int64_t>{20, 21, 25, 26});
  CHECK_ALL(static_cast<std::int64_t>(u(2, -2)) == 13);
  CHECK_ALL(u(range(-100, 100), 0).extents()[0] == 6);
}

TEST_CASE("a copy has cells of its own and a moved array keeps them") {
  auto u = iota<std::int64_t>({7}, {row(3), P("x")});
  auto const copy = u;
  auto moved = std::move(u);

  CHECK_ALL(copy.storage() != moved.storage());
  CHECK_ALL(reads_as(copy, {0, 1, 2, 3, 4, 5, 6}));
  CHECK_ALL(reads_as(moved, {0, 1, 2, 3, 4, 5, 6}));
}

TEST_CASE("assigning an array that is made on the spot takes over cells, shape and sharding") {
  auto u = iota<std::int64_t>({7}, {row(3), P("x")});
  auto const before = u(all);
  auto const v = full<std::int64_t>({4}, 9, {row(2), P("x")});

  u = DistArray(v);

  CHECK_ALL(u.sharding() == v.sharding());
  CHECK_ALL(reads_as(u, {9, 9, 9, 9}));
  CHECK_ALL(before.to_host() == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("assigning an array of equal shape and sharding writes the cells that views show") {
  auto u = iota<std::int64_t>({7}, {row(3), P("x")});
  auto const view = u(from(5));
  auto const v = full<std::int64_t>({7}, 9, u.sharding());

  u = v;

  CHECK_ALL(view.to_host() == std::vector<std::int64_t>{9, 9});
}

TEST_CASE("an array may be assigned to itself") {
  auto u = iota<std::int64_t>({7}, {row(3), P("x")});
  auto const& same = u;
  u = same;
  CHECK_ALL(reads_as(u, {0, 1, 2, 3, 4, 5, 6}));
}

TEST_CASE("what a user's function throws is thrown by the call and the next one works") {
  if (test::left_out_if(process_count() > 1, "what one process throws ends the job")) return;
  auto const make = [] {
    return from_index<std::int64_t>({8}, {row(8), P("x")}, [](auto i) -> std::int64_t {
      if (i[0] >= 0) throw std::runtime_error("no such cell");
      return 0;
    });
  };

  CHECK_ALL_THROW((void)make(), std::runtime_error);
  CHECK_ALL(reads_as(iota<std::int64_t>({3}, {row(8), P("x")}), {0, 1, 2}));
}

TEST_CASE("arrays that cannot be are refused alike everywhere and nothing is sent") {
  auto const before = counters();
  NamedSharding const cut(row(8), P("x"));
  std::vector<double> const five(5);

  CHECK_ALL_THROW((void)(zeros<double>({-1}, cut)), ShapeError);
  CHECK_ALL_THROW((void)(zeros<double>({4, 4}, cut)), ShapeError);
  CHECK_ALL_THROW((void)(zeros<double>({10}, {row(8), P("x"), Cut::strict()})), ShardingError);
  CHECK_ALL_THROW((void)(zeros<double>({10}, {row(2), P("x"), Cut::explicit_sizes({3, 3})})),
                  ShardingError);
  CHECK_ALL_THROW((void)(zeros<double>({10}, {row(device_count() + 1), P("x")})), ShardingError);
  CHECK_ALL_THROW((void)(from_host(five, {6}, cut)), ShapeError);
  CHECK_ALL_THROW((void)(DistArray<double, 2>(Shape{4}, cut)), ShapeError);
  auto const u = zeros<double>({4}, cut);
  CHECK_ALL_THROW((void)u(4), IndexError);
  CHECK_ALL_THROW((void)u(-5), IndexError);

  CHECK_ALL((counters() - before).messages == 0);
  CHECK_ALL(reads_as(u, {0, 0, 0, 0}));
}

TEST_SUITE_END();
