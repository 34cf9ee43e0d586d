#include "tessera/ops/collectives.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/creation.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/shards.hpp"
#include "tessera/ops/partial.hpp"
#include "tessera/program/program.hpp"
#include "tessera/runtime/budget.hpp"

#include "src/base/text.hpp"

#include "support/arrays.hpp"
#include "support/layouts.hpp"
#include "support/seeds.hpp"
#include "support/shards.hpp"

#include "misuse.hpp"

using namespace tessera;
using test::is;
using test::local_cells;
using test::Random;
using test::sent_by;

/// Collectives: who holds which cells of an array afterwards.
TEST_SUITE_BEGIN("ops/collectives");

namespace {

Mesh grid() {
  return Mesh({{"x", 2}, {"y", 4}});
}

double value_at(Index const& cell) {
  double value = 0.1;
  for (auto const i : cell) value = value * 100 + static_cast<double>(i);
  return value;
}

template <std::size_t N>
DistArray<double, N> numbered(std::array<std::int64_t, N> const& shape, NamedSharding const& on) {
  return from_index<double, N>(shape, on,
                               [](auto const& i) { return value_at(Index(i.begin(), i.end())); });
}

// Partial result k of a cell is the cell's number times 10^k.
template <std::size_t N>
DistArray<double, N> partial_numbered(std::array<std::int64_t, N> const& shape,
                                      NamedSharding const& on, std::int64_t places) {
  std::array<std::int64_t, N + 1> all{places};
  std::copy(shape.begin(), shape.end(), all.begin() + 1);
  return from_partials(from_index<double, N + 1>(all, on, [](auto const& i) {
    double scale = 1;
    for (std::int64_t k = 0; k < i[0]; ++k) scale *= 10;
    return scale * value_at(Index(i.begin() + 1, i.end()));
  }));
}
double sum_at(Index const& cell, std::int64_t places) {
  double sum = -0.0;
  double scale = 1;
  for (std::int64_t k = 0; k < places; ++k, scale *= 10) sum += scale * value_at(cell);
  return sum;
}

// True if the array lies so, and every device of this process holds its cells of it, copies too.
template <std::size_t N, class Value>
bool lies(DistArray<double, N> const& u, NamedSharding const& on, Value const& value) {
  bool is_right = u.sharding() == on;
  for (auto const& [device, cells] : local_cells(u)) {
    std::vector<double> expected;
    for (auto const& box : on.boxes_of(DeviceId{device}, u.shape()))
      test::for_each_cell(box, [&](Index const& cell) { expected.push_back(value(cell)); });
    is_right = is_right && cells == expected;
  }
  return test::agree(is_right);
}

}  // namespace

TEST_CASE("all_gather makes copies along a mesh axis, and along several") {
  auto const u = numbered<2>({5, 7}, {grid(), P("x", "y")});

  CHECK(lies(all_gather(u, "y"), {grid(), P("x", none)}, value_at));
  CHECK(lies(all_gather(u, "x"), {grid(), P(none, "y")}, value_at));
  CHECK(lies(all_gather(u, {"y", "x"}), {grid(), P(none, none)}, value_at));

  auto const v = numbered<1>({11}, {grid(), P({"x", "y"}), Cut::ceil()});
  CHECK(lies(all_gather(v, "y"), {grid(), P("x"), Cut::ceil()}, value_at));
  CHECK(lies(all_gather(v, "x"), {grid(), P("y"), Cut::ceil()}, value_at));

  // Sizes that are listed fit the number of pieces that they were made for.
  auto const w = numbered<2>(
      {5, 6},
      {grid(), P({"y", "x"}, none), {Cut::explicit_sizes({0, 1, 0, 2, 0, 0, 1, 1}), Cut::unit(2)}});
  CHECK(
      lies(all_gather(w, "x"), {grid(), P("y", none), {Cut::balanced(), Cut::unit(2)}}, value_at));
}

TEST_CASE("the segments of a dimension stay segments") {
  auto const halves = Cut::segments({6, 7});
  auto const u = numbered<1>({13}, {grid(), P({"x", "y"}), halves});

  CHECK(lies(all_gather(u, "y"), {grid(), P("x"), halves}, value_at));
}

TEST_CASE("all_gather sends each device the cells it lacks") {
  auto const u = numbered<2>({8, 6}, {grid(), P("y", "x")});

  auto const sent = sent_by([&] { (void)all_gather(u, "y"); });

  CHECK(sent.bytes == 8 * (6 * 3) * 8);  // to each of 8 devices, three quarters of 8 × 3 cells
  CHECK(sent_by([&] {
          (void)all_gather(numbered<1>({4}, {Mesh({{"one", 1}}), P("one")}), "one");
        }).messages == 0);
}

TEST_CASE("all_reduce adds partial results up on every device that has one") {
  auto const few = partial_numbered<1>({5}, {grid(), P("y", "x")}, 4);
  CHECK(lies(all_reduce(few, "y"), {grid(), P("x")},
             [](Index const& cell) { return sum_at(cell, 4); }));

  auto const many = partial_numbered<1>({3001}, {grid(), P("y", "x")}, 4);
  CHECK(lies(all_reduce(many, "y"), {grid(), P("x")},
             [](Index const& cell) { return sum_at(cell, 4); }));

  auto const both = partial_numbered<2>({3, 50}, {grid(), P({"y", "x"}, none, none)}, 8);
  CHECK(lies(all_reduce(both, {"x", "y"}), {grid(), P(none, none)},
             [](Index const& cell) { return sum_at(cell, 8); }));
}

TEST_CASE("reduce_scatter gives each device the sums of its share") {
  auto const u = partial_numbered<2>({6, 7}, {grid(), P("y", "x", none)}, 4);
  auto const sum = [](Index const& cell) { return sum_at(cell, 4); };

  auto const sent = sent_by([&] {
    CHECK(lies(reduce_scatter(u, "y", 1), {grid(), P("x", "y")}, sum));
  });
  CHECK(sent.bytes == 3 * 6 * 7 * 8);  // each partial result but the receiver's, once
  CHECK(lies(reduce_scatter(u, "y", -1), {grid(), P("x", "y")}, sum));
  CHECK(lies(reduce_scatter(u, "y", 0), {grid(), P({"x", "y"}, none)}, sum));

  auto const sizes = Cut::explicit_sizes({0, 4, 1, 2});
  CHECK(
      lies(reduce_scatter(u, "y", 1, sizes), {grid(), P("x", "y"), {Cut::balanced(), sizes}}, sum));
  CHECK(lies(reduce_scatter(u, "y", 1, Cut::cyclic(1)),
             {grid(), P("x", "y"), {Cut::balanced(), Cut::cyclic(1)}}, sum));
}

TEST_CASE("all_to_all cuts another dimension") {
  auto const u = numbered<3>({5, 9, 2}, {grid(), P(none, "y", "x")});

  CHECK(lies(all_to_all(u, "y", {.from = 1, .to = 0}), {grid(), P("y", none, "x")}, value_at));
  CHECK(lies(all_to_all(u, "x", {.from = -1, .to = 1}), {grid(), P(none, {"y", "x"}, none)},
             value_at));
  auto const sizes = Cut::explicit_sizes({3, 0, 2, 0});
  CHECK(lies(all_to_all(u, "y", {.from = 1, .to = 0, .cut = sizes}),
             {grid(), P("y", none, "x"), {sizes, Cut::balanced(), Cut::balanced()}}, value_at));
}

TEST_CASE("arrays that are partial along other axes stay partial") {
  auto const u = partial_numbered<2>({5, 6}, {grid(), P("y", none, "x")}, 4);
  auto const sum = [](Index const& cell) { return sum_at(cell, 4); };

  auto const whole = all_gather(u, "x");
  CHECK(whole.sharding() == NamedSharding(grid(), P(none, none).partial("y")));
  CHECK(lies(all_reduce(whole, "y"), {grid(), P(none, none)}, sum));

  auto const turned = all_to_all(u, "x", {.from = 1, .to = 0});
  CHECK(turned.sharding() == NamedSharding(grid(), P("x", none).partial("y")));
  CHECK(lies(reduce_scatter(turned, "y", 1), {grid(), P("x", "y")}, sum));
}

TEST_CASE("products, least and greatest partial results are combined as they say") {
  using Numbers = std::vector<std::int64_t>;
  constexpr std::int64_t count = 3;
  auto const term = [](std::int64_t k, std::int64_t i) { return (k * 5 + i * 3) % 7 - 8; };
  auto const terms = [&] {
    return from_index<std::int64_t>({4, count}, NamedSharding(grid(), P("y", none)),
                                    [&](auto i) { return term(i[0], i[1]); });
  };
  Numbers products, least, greatest;
  for (std::int64_t i = 0; i < count; ++i) {
    Numbers const of_cell{term(0, i), term(1, i), term(2, i), term(3, i)};
    products.push_back(of_cell[0] * of_cell[1] * of_cell[2] * of_cell[3]);
    least.push_back(*std::min_element(of_cell.begin(), of_cell.end()));
    greatest.push_back(*std::max_element(of_cell.begin(), of_cell.end()));
  }

  CHECK(test::holds(all_reduce(from_partials<ReduceOp::prod>(terms()), "y"), products));
  CHECK(test::holds(all_reduce(from_partials<ReduceOp::min>(terms()), "y"), least));
  CHECK(test::holds(all_reduce(from_partials<ReduceOp::max>(terms()), "y"), greatest));
}

namespace {

// The sum of these partial results, of which each device of eight has one.
template <class T>
T sum_of(std::vector<T> const& terms) {
  auto const partials =
      from_index<T>({8, 1}, NamedSharding(Mesh({{"y", 8}}), P("y", none)),
                    [&](auto i) { return terms[static_cast<std::size_t>(i[0])]; });
  return all_reduce(from_partials(partials), "y").to_host()[0];
}

}  // namespace

TEST_CASE(
    "sums run in order, rounded once, in float for 16 bits and by parts for complex numbers") {
  // A float loses the second term beside the first, a double does not.
  auto const half = [](double value) { return static_cast<float16>(value); };
  CHECK(sum_of<float16>({half(32768), half(0x1p-10), half(-32768), half(1), half(0), half(0),
                         half(0), half(0)}) == half(1));
  auto const brain = [](double value) { return static_cast<bfloat16>(value); };
  CHECK(sum_of<bfloat16>({brain(0x1p20), brain(0x1p-6), brain(-0x1p20), brain(1), brain(0),
                          brain(0), brain(0), brain(0)}) == brain(1));
  CHECK(sum_of<double>({1e16, 1, -1e16, 1, 0, 0, 0, 0}) == 1);

  // A double loses the first 1 and keeps the second one, a float loses both.
  std::vector<float> const floats{0x1p60F, 1, -0x1p60F, 0x1p30F, 1, -0x1p30F, 0, 0};
  CHECK(sum_of<float>(floats) == 1);
  std::vector<std::complex<float>> numbers;
  for (auto const value : floats) numbers.emplace_back(value, -2 * value);
  CHECK(sum_of(numbers) == std::complex<float>(1, -2));

  CHECK(sum_of<std::int8_t>({100, 100, 100, 100, 100, 100, 100, 100}) == 800 - 3 * 256);
}

TEST_CASE("each collective is one thing, which explain calls by its name") {
  auto const u = numbered<2>({40, 50}, {grid(), P("x", "y")});
  auto const s = partial_numbered<2>({40, 50}, {grid(), P("y", "x", none)}, 4);
  auto const kind_of = [](auto const& call) {
    auto const said = explain(call);
    return said.statements.size() == 1 ? said.statements[0].kind : text(said);
  };

  CHECK_ALL(kind_of([&] { (void)all_gather(u, "y"); }) == "all_gather");
  CHECK_ALL(kind_of([&] { (void)all_reduce(s, "y"); }) == "all_reduce");
  CHECK_ALL(kind_of([&] { (void)reduce_scatter(s, "y", 1); }) == "reduce_scatter");
  CHECK_ALL(kind_of([&] { (void)all_to_all(u, "y", {.from = 1, .to = 0}); }) == "all_to_all");
  CHECK(sent_by([&] { (void)all_reduce(s, "y"); }).statements == process_count());
}

TEST_CASE("the second call makes no plan") {
  auto const u = numbered<2>({44, 52}, {grid(), P("x", "y")});
  auto const s = partial_numbered<2>({44, 52}, {grid(), P("y", "x", none)}, 4);
  auto const calls = [&] {
    (void)all_gather(u, "y");
    (void)all_reduce(s, "y");
    (void)reduce_scatter(s, "y", 1);
    (void)all_to_all(u, "y", {.from = 1, .to = 0});
  };

  CHECK(sent_by(calls).plans_made > 0);
  CHECK(sent_by(calls).plans_made == 0);
}

TEST_CASE("loops replay collectives") {
  NamedSharding const cut(grid(), P("x", "y"));
  auto u = numbered<2>({48, 64}, cut);
  auto expected = u;
  auto const step = [](DistArray<double, 2>& v) {
    auto const columns = all_to_all(v, "y", {.from = 1, .to = 0});
    auto const sums = all_reduce(to_partial(all_gather(v, "y"), "y"), "y");
    v = 0.3 * columns + 0.1 * sums;
  };
  for (int n = 0; n < 6; ++n) step(expected);

  iterate(6, [&] { step(u); });

  CHECK(u.to_host() == expected.to_host());
}

namespace {

using Names = std::vector<std::string>;
using Places = std::vector<Names>;  // the mesh axes that cut each dimension

Places places_of(NamedSharding const& sharding) {
  Places places;
  for (auto const& entry : sharding.spec().entries()) places.push_back(entry.axes());
  return places;
}

// Some of the names, in any order; one at least if there are any.
Names some_of(Random& random, Names names) {
  for (std::size_t i = names.size(); i > 1; --i)
    std::swap(names[i - 1],
              names[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1))]);
  if (!names.empty()) names.resize(static_cast<std::size_t>(random.between(1, std::ssize(names))));
  return names;
}

Places without(Places places, Names const& names) {
  for (auto& place : places)
    for (auto const& name : names) std::erase(place, name);
  return places;
}
Places with(Places places, std::size_t d, Names const& names) {
  places[d].insert(places[d].end(), names.begin(), names.end());
  return places;
}

// True if the axes lie so, each dimension that is cut has the cut of `before`, unless it lists
// cells and the axes have changed, and each device holds its cells.
template <class Value>
bool is_at(DistArray<double, 2> const& u, Places const& places, NamedSharding const& before,
           Value const& value) {
  auto const& on = u.sharding();
  bool is_right = places_of(on) == places && !on.is_partial() && lies(u, on, value);
  for (std::size_t d = 0; d < places.size(); ++d) {
    bool const may_change =
        on.ways(d) == 1 || (places[d] != places_of(before)[d] && before.cut(d).lists_cells());
    is_right =
        is_right && (on.cut(d) == before.cut(d) || (may_change && on.cut(d) == Cut::balanced()));
  }
  if (!is_right) MESSAGE(before, " became ", on);
  return is_right;
}

bool run_case(std::uint64_t seed) {
  Random random(seed);
  std::array<std::int64_t, 2> const shape{random.between(0, 9), random.between(1, 40)};
  auto const on = test::random_sharding(random, random.between(1, device_count()), Shape(shape));
  auto const places = places_of(on);
  auto const d = static_cast<std::size_t>(random.between(0, 1));
  auto const& cut = places[d];
  Names unused;
  for (auto const& axis : on.mesh().axes())
    if (places == without(places, {axis.name})) unused.push_back(axis.name);

  if (unused.empty() || random.chance()) {
    if (cut.empty()) return true;
    auto const u = numbered<2>(shape, on);
    auto const names = some_of(random, cut);
    auto const to = 1 - d;
    if (random.chance())
      return is_at(all_gather(u, SpecEntry(names)), without(places, names), on, value_at);
    bool const may_divide = on.cut(to).kind() != Cut::Kind::strict;
    if (!may_divide) return true;
    return is_at(
        all_to_all(u, SpecEntry(names),
                   {.from = static_cast<std::int64_t>(d), .to = static_cast<std::int64_t>(to)}),
        with(without(places, names), to, names), on, value_at);
  }
  auto const names = some_of(random, unused);
  std::int64_t count = 1;
  for (auto const& name : names) count *= on.mesh().axes()[on.mesh().axis(name)].size;
  NamedSharding const terms(on.mesh(),
                            PartitionSpec({SpecEntry(names), on.spec()[0], on.spec()[1]}),
                            {Cut::balanced(), on.cut(0), on.cut(1)});
  auto const s = partial_numbered<2>(shape, terms, count);
  auto const sum = [&](Index const& cell) { return sum_at(cell, count); };
  auto all = names;
  if (random.chance()) std::reverse(all.begin(), all.end());
  if (random.chance() || on.cut(d).kind() == Cut::Kind::strict)
    return is_at(all_reduce(s, SpecEntry(all)), places, on, sum);
  return is_at(reduce_scatter(s, SpecEntry(all), static_cast<std::int64_t>(d)),
               with(places, d, all), on, sum);
}

}  // namespace

TEST_CASE("random collectives put the cells where they say") {
  CHECK(test::failed_seeds(150, [](std::uint64_t seed) { return test::agree(run_case(seed)); }) ==
        0);
}

namespace {

DistArray<double, 2> cut_by_both() {
  return numbered<2>({4, 6}, {grid(), P("x", "y")});
}
DistArray<double, 2> partial_by_y() {
  return partial_numbered<2>({4, 6}, {grid(), P("y", "x", none)}, 4);
}

std::vector<test::Misuse> const misuses{
    {"no axis", [] { (void)all_gather(cut_by_both(), none); }, is<ShardingError>,
     "all_gather names no axis of Mesh(x=2, y=4); name one or more, as in all_gather(u, \"x\", "
     "...)"},
    {"an axis that is not there", [] { (void)all_gather(cut_by_both(), "model"); },
     is<ShardingError>, "'model'"},
    {"an axis twice",
     [] {
       (void)all_gather(cut_by_both(), {"x", "x"});
     },
     is<ShardingError>, "all_gather names mesh axis 'x' twice"},
    {"a gather of copies",
     [] {
       (void)all_gather(numbered<1>({4}, {grid(), P("x")}), "y");
     },
     is<ShardingError>,
     "all_gather along \"y\" of an array of shape (4,) on NamedSharding(Mesh(x=2, y=4), P(\"x\")): "
     "'y' cuts no dimension; name an axis that does, or use reshard"},
    {"a gather of partial results", [] { (void)all_gather(partial_by_y(), "y"); },
     is<ShardingError>,
     "'y' cuts no dimension; devices along it hold partial results, which all_reduce adds up"},
    {"a sum of copies",
     [] {
       (void)all_reduce(numbered<1>({4}, {grid(), P("x")}), "y");
     },
     is<ShardingError>,
     "all_reduce along \"y\" of an array of shape (4,) on NamedSharding(Mesh(x=2, y=4), P(\"x\")): "
     "there are no partial results along 'y', devices hold copies; from_partials and to_partial "
     "make partial arrays, and reshard changes others"},
    {"a sum of what is cut", [] { (void)reduce_scatter(cut_by_both(), "y", 0); }, is<ShardingError>,
     "there are no partial results along 'y', devices hold different cells"},
    {"a sum along one of two axes",
     [] {
       (void)all_reduce(partial_numbered<1>({4}, {grid(), P({"x", "y"}, none)}, 8), "y");
     },
     is<ShardingError>,
     "partial results along all of (\"x\", \"y\") are added up at once; name all of these axes"},
    {"a dimension that is not there", [] { (void)reduce_scatter(partial_by_y(), "y", 2); },
     is<ShapeError>, "there is no axis 2 in an array of 2 dimensions"},
    {"sizes for another number of devices",
     [] {
       (void)reduce_scatter(partial_by_y(), "y", 1, Cut::explicit_sizes({3, 3}));
     },
     is<ShardingError>, "2 sizes"},
    {"sizes of another extent",
     [] {
       (void)reduce_scatter(partial_by_y(), "y", 1, Cut::explicit_sizes({3, 3, 0, 1}));
     },
     is<ShardingError>, "add up to 7 but there are 6 cells"},
    {"an axis that cuts another dimension",
     [] { (void)all_to_all(cut_by_both(), "y", {.from = 0, .to = 1}); }, is<ShardingError>,
     "'y' does not cut dimension 0; name an axis that does, or use reshard"},
    {"the same dimension", [] { (void)all_to_all(cut_by_both(), "y", {.from = 1, .to = -1}); },
     is<ShardingError>, "dimension 1 is named for both `from` and `to`; name two dimensions"},
    {"a dimension before the first",
     [] { (void)all_to_all(cut_by_both(), "y", {.from = 1, .to = -3}); }, is<ShapeError>,
     "there is no axis -3 in an array of 2 dimensions; there are -2 to 1"},
    {"a dimension that must divide and does not",
     [] { (void)all_to_all(cut_by_both(), "y", {.from = 1, .to = 0, .cut = Cut::strict()}); },
     is<ShardingError>, "cannot be cut 8 ways equally"},
};

}  // namespace

TEST_CASE("wrong collectives are refused alike on every process, and nothing is sent") {
  test::check_misuses(misuses);
}

TEST_SUITE_END();
