#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/creation.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/ops/collectives.hpp"
#include "tessera/ops/products.hpp"
#include "tessera/ops/shape.hpp"
#include "tessera/runtime/runtime.hpp"

#include "src/base/text.hpp"
#include "src/mesh/axes.hpp"

#include "support/agree.hpp"
#include "support/arrays.hpp"
#include "support/layouts.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using test::sent_by;

/// Products whose result is partial.
TEST_SUITE_BEGIN("ops/products_partial");

namespace {

Mesh grid() {
  return Mesh({{"x", 2}, {"y", 4}});
}

// Small integers, so that sums are exact in any order.
DistArray<double, 2> numbers(std::int64_t rows, std::int64_t columns,
                             NamedSharding const& sharding) {
  return from_index<double>({rows, columns}, sharding, [](auto i) {
    return static_cast<double>((3 * i[0] + 5 * i[1]) % 11 - 4);
  });
}

MatmulOptions fast_sums(Mesh const& mesh, PartitionSpec const& spec) {
  return {.sharding = {mesh, spec.partial("y")}, .bits = fast};
}

}  // namespace

TEST_CASE("operands that are cut along the terms send nothing") {
  auto const mesh = grid();
  auto const a = numbers(6, 21, {mesh, P("x", "y")});
  auto const b = numbers(21, 5, {mesh, P("y", none)});
  auto const expected = matmul(a, b).to_host();

  DistArray const c = matmul(a, b, fast_sums(mesh, P("x", none)));
  CHECK(c.sharding() == NamedSharding(mesh, P("x", none).partial("y")));
  CHECK(sent_by([&] { (void)matmul(a, b, fast_sums(mesh, P("x", none))); }).messages == 0);
  CHECK(reduce_scatter(c, "y", 0).to_host() == expected);
  CHECK(c.to_host() == expected);

  // The first device along "y" has the terms 0 to 5.
  auto const first = matmul(a(all, range(0, 6)), b(range(0, 6), all)).to_host();
  auto const rest = matmul(a(all, range(6, 21)), b(range(6, 21), all));
  CHECK(DistArray(c - rest).to_host() == first);
}

TEST_CASE("a place may have no terms, and a product none at all") {
  auto const mesh = grid();
  auto const few = matmul(numbers(4, 3, {mesh, P(none, "y")}), numbers(3, 4, {mesh, P("y", none)}),
                          fast_sums(mesh, P(none, none)));
  CHECK(
      few.to_host() ==
      matmul(numbers(4, 3, {mesh, P(none, none)}), numbers(3, 4, {mesh, P(none, none)})).to_host());
  auto const zeros = matmul(numbers(2, 0, {mesh, P(none, none)}),
                            numbers(0, 3, {mesh, P(none, none)}), fast_sums(mesh, P(none, none)));
  CHECK(zeros.to_host() == std::vector<double>(6, 0));
  auto const nothing = matmul(numbers(0, 5, {mesh, P(none, none)}),
                              numbers(5, 3, {mesh, P(none, none)}), fast_sums(mesh, P(none, none)));
  CHECK(nothing.shape() == Shape{0, 3});
}

TEST_CASE("batches, vectors and numbers of 16 bits") {
  auto const mesh = grid();
  auto const a = from_index<float16>({3, 2, 8}, {mesh, P(none, none, "y")}, [](auto i) {
    return static_cast<float16>(static_cast<float>(i[0] + i[1] - i[2]));
  });
  auto const b = from_index<float16>({8}, {mesh, P("y")}, [](auto i) {
    return static_cast<float16>(static_cast<float>(i[0] % 3));
  });
  MatmulOptions const options{.sharding = {mesh, P("x", none).partial("y")}, .bits = fast};
  CHECK(matmul(a, b, options).to_host() == matmul(a, b).to_host());
}

TEST_CASE("a layer cut by columns and one cut by rows are added up once") {
  Mesh const mesh({{"model", 8}});
  auto const x = numbers(5, 6, {mesh, P(none, none)});
  auto const up = numbers(6, 12, {mesh, P(none, "model")});
  auto const down = numbers(12, 6, {mesh, P("model", none)});
  auto const bias = from_index<double>({6}, {mesh, P(none)},
                                       [](auto i) { return static_cast<double>(100 * i[0]); });
  auto const layer = [&] {
    auto const sums = matmul(matmul(x, up), down,
                             {.sharding = {mesh, P(none, none).partial("model")}, .bits = fast});
    return DistArray<double, 2>(all_reduce(sums, "model") + bias);
  };
  CHECK(layer().to_host() == DistArray<double, 2>(matmul(matmul(x, up), down) + bias).to_host());
  CHECK(explain([&] { (void)layer(); }).statements.size() == 4);
  auto const sent = sent_by([&] { (void)layer(); });
  CHECK(sent.plans_made == 0);
}

TEST_CASE("fast products add parts where terms are cut") {
  Mesh const mesh({{"y", 8}});
  auto const a = numbers(16, 8192, {mesh, P(none, "y")});
  auto const b = numbers(8192, 16, {mesh, P("y", none)});
  NamedSharding const copies(mesh, P(none, none));
  DistArray<double, 2> c({16, 16}, copies);
  auto const multiply = [&] {
    c = matmul(a, b, {.sharding = {mesh, P(none, none)}, .bits = fast});
  };
  auto const said = text(explain(multiply));
  CHECK(said.find("as partial sums of the terms of each place along y") != std::string::npos);
  CHECK(said.find("roles y=terms") != std::string::npos);
  CHECK(c.sharding() == copies);
  CHECK(c.to_host() == matmul(a, b).to_host());
  CHECK(sent_by(multiply).plans_made == 0);

  // Where nothing is cut along the terms, there are no parts.
  auto const rows = numbers(16, 64, {mesh, P("y", none)});
  auto const all_of_it = numbers(64, 16, copies);
  auto const plain = explain([&] { (void)matmul(rows, all_of_it, {.bits = fast}); });
  CHECK(plain.statements.size() == 1);
}

TEST_CASE("fast products of other operands go their usual way") {
  Mesh const mesh({{"y", 8}});
  auto const a = numbers(16, 8192, {mesh, P(none, "y")});
  auto const is_plain = [&](auto const& x, auto const& y) {
    auto const said = explain([&] { (void)matmul(x, y, {.bits = fast}); });
    return said.statements.size() == 1 && said.statements[0].kind == std::string("matmul");
  };
  CHECK(is_plain(a, numbers(8192, 16, {mesh, P(none, none)})));
  NamedSharding const dealt(mesh, P("y", none), std::vector(2, Cut::cyclic(16)));
  CHECK(is_plain(a, numbers(8192, 16, dealt)));

  // The first half of the terms adds up to more than a float16 holds, the second takes it away.
  auto const half = [&](std::int64_t rows, std::int64_t columns, PartitionSpec const& spec) {
    return from_index<float16>({rows, columns}, {mesh, spec}, [&](auto i) {
      auto const is_late = columns == 1 && i[0] >= rows / 2;
      return static_cast<float16>(is_late ? -16.0F : 16.0F);
    });
  };
  auto const row = half(1, 1024, P(none, "y"));
  auto const column = half(1024, 1, P("y", none));
  CHECK(matmul(row, column, {.bits = fast}).to_host()[0] == static_cast<float16>(0.0F));
  float16 const zero = matmul(DistArray(row(0, all)), DistArray(column(all, 0)), {.bits = fast});
  CHECK(zero == static_cast<float16>(0.0F));
}

TEST_CASE("the sum of parts may lie cut by their axis") {
  Mesh const mesh({{"y", 8}});
  auto const a = numbers(16, 65536, {mesh, P(none, "y")});
  auto const b = numbers(65536, 4, {mesh, P("y", none)});
  auto const rows = matmul(a, b, {.sharding = {mesh, P("y", none)}, .bits = fast});
  CHECK(rows.to_host() == matmul(a, b).to_host());
}

TEST_CASE("operands that lie otherwise are copied, and all places multiply at once") {
  auto const mesh = grid();
  auto const a = numbers(6, 40, {mesh, P("y", none)});
  auto const b = numbers(40, 5, {Mesh({{"z", 8}}), P(none, "z")});
  auto const product = [&] { return matmul(a, b, fast_sums(mesh, P(none, "x"))); };
  CHECK(product().to_host() == matmul(a, b).to_host());
  auto const said = explain([&] { (void)product(); });
  REQUIRE(said.statements.size() == 3);
  CHECK(said.statements[0].kind == std::string("copy"));
  CHECK(said.statements[1].kind == std::string("copy"));
  CHECK(said.statements[2].kind == std::string("matmul"));

  auto const part = a(all, range(3, 35));
  auto const sums = matmul(part, b(range(3, 35), all), fast_sums(mesh, P(none, none)));
  CHECK(sums.to_host() == matmul(part, b(range(3, 35), all)).to_host());
}

TEST_CASE("explain says that the sums are partial") {
  auto const mesh = grid();
  auto const a = numbers(6, 21, {mesh, P("x", "y")});
  auto const b = numbers(21, 5, {mesh, P("y", none)});
  auto const said = text(explain([&] { (void)matmul(a, b, fast_sums(mesh, P("x", none))); }));
  CHECK(said.find("matmul, written as partial sums of the terms of each place along y") !=
        std::string::npos);
}

TEST_CASE("partial products that cannot be are refused") {
  auto const mesh = grid();
  auto const a = numbers(4, 8, {mesh, P(none, "y")});
  auto const b = numbers(8, 4, {mesh, P("y", none)});
  CHECK_ALL_THROW((void)matmul(a, b, {.sharding = {mesh, P(none, none).partial("y")}}), UsageError);
  CHECK_THROWS_WITH_AS(
      (void)matmul(a, b, {.sharding = {mesh, P(none, none).partial("y")}}),
      "matmul: partial results depend on how the terms are cut, so their bits differ with the "
      "devices; allow it by .bits = ts::fast, or ask for a sharding without partial axes",
      UsageError);
  CHECK_THROWS_WITH_AS(
      (void)matmul(a, b,
                   {.sharding = {mesh, P(none, none).partial("y", ReduceOp::max)}, .bits = fast}),
      "matmul: the partial results of a product are sums, not max; ask for .partial(\"y\")",
      ShardingError);
  CHECK_THROWS_WITH_AS(
      (void)matmul(a, b, {.sharding = {mesh, P(none).partial("y")}, .bits = fast}),
      "P(none) has 1 entry but the array has 2 dimensions; add none for a dimension that is not "
      "cut",
      ShapeError);
  auto const v = from_index<double>({8}, {mesh, P("y")}, [](auto) { return 1.0; });
  CHECK_ALL_THROW((void)matmul(v, v, {.sharding = {mesh, P().partial("y")}, .bits = fast}),
                  ShardingError);
}

namespace {

bool run_case(std::uint64_t seed) {
  test::Random random(seed);
  auto const mesh = test::random_mesh(random, 8);
  auto const& axes = mesh.axes();
  auto const& axis = axes[static_cast<std::size_t>(random.between(0, std::ssize(axes) - 1))].name;
  auto const m = random.between(1, 9), k = random.between(1, 600), n = random.between(1, 9);
  auto const random_numbers = [&](std::int64_t rows, std::int64_t columns) {
    return numbers(rows, columns, test::random_sharding_on(random, mesh, {rows, columns}));
  };
  auto const cut_by_terms = [&](std::int64_t rows, std::int64_t columns,
                                PartitionSpec const& spec) {
    std::vector<Cut> cuts(2, Cut::balanced());
    if (random.between(0, 1) == 0) cuts.assign(2, Cut::cyclic(random.between(1, 70)));
    return numbers(rows, columns, {mesh, spec, cuts});
  };
  bool const are_cut = random.between(0, 2) > 0;
  auto const a = are_cut ? cut_by_terms(m, k, P(none, axis)) : random_numbers(m, k);
  auto const b = are_cut ? cut_by_terms(k, n, P(axis, none)) : random_numbers(k, n);

  auto target = test::random_sharding_on(random, mesh, {m, n});
  if (is_cut_by(target.spec(), axis) || target.is_partial()) target = {mesh, P(none, none)};
  std::vector<Cut> const cuts{target.cut(0), target.cut(1)};
  NamedSharding const partial(mesh, target.spec().partial(axis), cuts);
  auto const c = matmul(a, b, {.sharding = partial, .bits = fast});
  auto const expected = matmul(a, b).to_host();
  return c.sharding() == partial && c.to_host() == expected &&
         matmul(a, b, {.sharding = target, .bits = fast}).to_host() == expected;
}

}  // namespace

TEST_CASE("partial products of random operands add up to the product") {
  CHECK(test::failed_seeds(120, [](std::uint64_t seed) { return test::agree(run_case(seed)); }) ==
        0);
}

TEST_SUITE_END();
