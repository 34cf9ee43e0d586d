#include "tessera/ops/partial.hpp"

#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shards.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/runtime/budget.hpp"

#include "src/base/text.hpp"

#include "support/arrays.hpp"
#include "support/shards.hpp"

using namespace tessera;
using test::holds;
using test::sent_by;

/// Arrays whose devices hold partials.
TEST_SUITE_BEGIN("ops/partial");

namespace {

using Doubles = std::vector<double>;

Mesh grid() {
  return Mesh({{"y", 2}, {"x", 2}});
}

// Row k of (2, 4) is the addend at y = k: 0.1 0.2 0.3 0.4 and 10 20 30 40, cut by "x".
DistArray<double, 2> two_partials() {
  return from_index<double>({2, 4}, NamedSharding(grid(), P("y", "x")), [](auto i) {
    return i[0] == 0 ? 0.1 * static_cast<double>(i[1] + 1) : 10.0 * static_cast<double>(i[1] + 1);
  });
}
Doubles const their_sum{0.1 + 10, 0.2 + 20, 0.1 * 3 + 30, 0.4 + 40};

// Addend k of cell i is a number that depends on both.
template <class T>
DistArray<T, 2> partials_on(NamedSharding const& sharding, std::int64_t count, std::int64_t cells) {
  return from_index<T>({count, cells}, sharding,
                       [](auto i) { return static_cast<T>((i[0] * 7 + i[1] * 3) % 11 - 4); });
}
template <class T, class Combine>
std::vector<T> combined(std::int64_t count, std::int64_t cells, Combine const& combine) {
  std::vector<T> result;
  for (std::int64_t i = 0; i < cells; ++i) {
    auto value = static_cast<T>((i * 3) % 11 - 4);
    for (std::int64_t k = 1; k < count; ++k)
      value = combine(value, static_cast<T>((k * 7 + i * 3) % 11 - 4));
    result.push_back(value);
  }
  return result;
}

}  // namespace

TEST_CASE("an array of partials is their sum") {
  auto const u = from_partials(two_partials());

  CHECK(text(u.sharding()) == "NamedSharding(Mesh(y=2, x=2), P(\"x\").partial(\"y\"))");
  CHECK(u.shape() == Shape{4});
  CHECK(holds(u, their_sum));
}

TEST_CASE("reading partials adds them up once") {
  auto const u = from_partials(two_partials());
  auto v = zeros<double>({4}, NamedSharding(grid(), P("x")));

  auto const first = sent_by([&] { v = u * 2; });
  auto const second = sent_by([&] { v = u + v; });

  CHECK(first.messages > 0);
  CHECK(second.messages == 0);
  CHECK(holds(
      v, {their_sum[0] * 3, their_sum[1] * 3, their_sum[2] + their_sum[2] * 2, their_sum[3] * 3}));
}

TEST_CASE("partials are slices, views and operands as any array") {
  auto const u = from_partials(two_partials());

  CHECK_ALL(static_cast<double>(u(1)) == their_sum[1]);
  CHECK(holds(DistArray(u(range(none, none, -1))),
              {their_sum[3], their_sum[2], their_sum[1], their_sum[0]}));
  CHECK_ALL(static_cast<double>(max(u)) == their_sum[3]);
  CHECK(DistArray(u + 1).sharding() == NamedSharding(grid(), P("x")));
}

TEST_CASE("cut where they were partials, each device is sent the partials of its own cells") {
  // y = 0 keeps cells 0 and 2, y = 1 cells 1 and 3: each device sends one cell to its partner.
  NamedSharding const scattered(grid(), P({"x", "y"}));
  auto const u = from_partials(two_partials());
  DistArray<double, 1> sum({4}, scattered);

  auto const sent = sent_by([&] { sum = reshard(u, scattered); });

  CHECK(sent.messages == 4);
  CHECK(sent.bytes == 4 * 8);
  CHECK(holds(sum, their_sum));
}

TEST_CASE("added up, the sum is whole on every device that had an addend") {
  auto const u = from_partials(two_partials());

  auto const sum = reshard(u, u.sharding().without_partial());

  CHECK(sum.sharding() == NamedSharding(grid(), P("x")));
  CHECK(holds(sum, their_sum));
  bool alike = true;
  test::look_at_shards(sum, [&](auto const& shard) {
    for (std::int64_t i = 0; i < shard.box().extent(0); ++i)
      alike =
          alike && shard.data()[i] == their_sum[static_cast<std::size_t>(shard.box().lo[0] + i)];
  });
  CHECK_ALL(alike);
}

TEST_CASE("large sums are added up in shares, so that no device is sent all partials") {
  constexpr std::int64_t cells = 100000;
  NamedSharding const sharding(Mesh({{"y", 8}}), P("y", none));
  auto const u = from_partials(partials_on<double>(sharding, 8, cells));
  DistArray<double, 1> sum({cells}, u.sharding().without_partial());

  auto const sent = sent_by([&] { sum = reshard(u, u.sharding().without_partial()); });

  // Twice 7/8 of the array to each of eight devices.
  CHECK(sent.bytes == 2 * 7 * cells * 8);
  CHECK(holds(sum, combined<double>(8, cells, [](double a, double b) { return a + b; })));
}

TEST_CASE("partials make products, least and greatest values too") {
  for (auto const& sharding :
       {NamedSharding(Mesh({{"y", 3}}), P("y", none)),
        NamedSharding(Mesh({{"x", 2}, {"y", 3}}), P("y", "x")),
        NamedSharding(Mesh({7, 1, 4, 0, 2, 6}, {3, 2}, {"y", "x"}), P("y", "x"), Cut::ceil())}) {
    CAPTURE(sharding);
    constexpr std::int64_t cells = 5;
    auto const partials = [&] { return partials_on<std::int64_t>(sharding, 3, cells); };
    auto const of = [&](auto const& combine) { return combined<std::int64_t>(3, cells, combine); };

    CHECK(holds(from_partials(partials()), of([](auto a, auto b) { return a + b; })));
    CHECK(
        holds(from_partials<ReduceOp::prod>(partials()), of([](auto a, auto b) { return a * b; })));
    CHECK(holds(from_partials<ReduceOp::min>(partials()),
                of([](auto a, auto b) { return a < b ? a : b; })));
    CHECK(holds(from_partials<ReduceOp::max>(partials()),
                of([](auto a, auto b) { return a > b ? a : b; })));
  }
}

TEST_CASE("arrays without cells, and with fewer than devices, are added up too") {
  for (std::int64_t const cells : {0, 1, 3}) {
    CAPTURE(cells);
    NamedSharding const sharding(Mesh({{"y", 2}, {"x", 4}}), P("y", "x"));
    auto const u = from_partials(partials_on<double>(sharding, 2, cells));

    CHECK(holds(u, combined<double>(2, cells, [](double a, double b) { return a + b; })));
    CHECK(holds(reshard(u, NamedSharding(Mesh({{"z", 5}}), P("z"))),
                combined<double>(2, cells, [](double a, double b) { return a + b; })));
  }
}

TEST_CASE("a copy on every device becomes partials without a message, and back") {
  auto const u = iota<double>({6}, NamedSharding(grid(), P("x")));

  auto const sent = sent_by([&] { (void)to_partial(u, "y"); });
  auto const partial = to_partial(u, "y");

  CHECK(sent.messages == 0);
  CHECK(partial.sharding().spec() == P("x").partial("y"));
  CHECK(holds(partial, u.to_host()));
  CHECK(holds(to_partial<ReduceOp::prod>(u, "y"), u.to_host()));
  CHECK(holds(to_partial<ReduceOp::min>(u, "y"), u.to_host()));
  CHECK(holds(to_partial<ReduceOp::max>(u, "y"), u.to_host()));
}

TEST_CASE("floats of 16 bits become partials that change nothing") {
  NamedSharding const copies(grid(), P(none));
  auto const u = full<bfloat16>({2}, -std::numeric_limits<bfloat16>::infinity(), copies);
  auto const v = full<float16>({2}, std::numeric_limits<float16>::max(), copies);

  CHECK(holds(to_partial<ReduceOp::max>(u, "y"), u.to_host()));
  CHECK(holds(to_partial<ReduceOp::min>(v, "y"), v.to_host()));
  CHECK(holds(to_partial(v, "y"), v.to_host()));
}

TEST_CASE("a negative zero stays one") {
  auto const u = full<double>({3}, -0.0, NamedSharding(grid(), P(none)));

  CHECK(holds(to_partial(u, "y"), {-0.0, -0.0, -0.0}));
}

TEST_CASE("partials that nobody has read are refused to be written before anything is sent") {
  auto u = from_partials(two_partials());
  auto const other = from_partials(two_partials());
  auto const inner = u(range(1, -1));
  auto const mask = iota<double>({4}, NamedSharding(grid(), P("x"))) > 1.0;
  auto const row = iota<double>({4}, NamedSharding(grid(), P("y")));

  auto const sent = sent_by([&] {
    CHECK_ALL_THROW(u = 1.0, UsageError);
    CHECK_ALL_THROW((void)u.mutable_shards(), UsageError);
    CHECK_ALL_THROW(for_each_shard(u, [](auto const&) {}), UsageError);
    CHECK_ALL_THROW(u(1) = 1.0, UsageError);
    CHECK_ALL_THROW(u(from(2)) = row(range(0, 2)), UsageError);
    CHECK_ALL_THROW(inner = u(range(0, 2)), UsageError);
    CHECK_ALL_THROW(u(newaxis, tessera::all)(0, range(none, none, -1)) = row, UsageError);
    CHECK_ALL_THROW(u(mask) = 1.0, UsageError);
    CHECK_ALL_THROW(u(mask) = other, UsageError);
    CHECK_ALL_THROW(flip(u) = row, UsageError);
  });
  auto const changed = sent_by([&] {
    CHECK_ALL_THROW(u += 1.0, UsageError);
    CHECK_ALL_THROW(u(1) += 1.0, UsageError);
    CHECK_ALL_THROW(u(range(0, 2)) *= row(range(0, 2)), UsageError);
    CHECK_ALL_THROW(u(mask) -= row, UsageError);
  });

  CHECK(sent.statements == 0);
  CHECK(changed.statements == 0);
  CHECK(holds(u, their_sum));
}

TEST_CASE("a slice of partials is no reading of them, and shows their sum when it is read") {
  auto const u = from_partials(two_partials());
  std::vector<DistArray<double, 1>> results;
  NamedSharding const halves(grid(), P("x"));

  auto const taken = sent_by([&] {
    auto const backwards = u(range(none, none, -1));
    (void)backwards(range(0, 2));
    (void)transpose(u);
  });
  auto const first = u(range(0, 2));
  auto const last = u(range(2, 4));
  results.push_back(DistArray(first + last));
  auto const again = sent_by([&] { (void)DistArray(last + 1.0, halves); });

  CHECK(taken.statements == 0);
  CHECK(again.statements == process_count());
  CHECK(holds(results[0], {their_sum[0] + their_sum[2], their_sum[1] + their_sum[3]}));
}

TEST_CASE("partials that nobody has read are read by whatever reads first") {
  auto const make = [] { return from_partials(two_partials()); };
  auto const row = iota<double>({4}, NamedSharding(grid(), P("y")));
  auto target = zeros<double>({4}, NamedSharding(grid(), P("x")));
  Doubles const backwards{their_sum[3], their_sum[2], their_sum[1], their_sum[0]};

  target = make()(range(none, none, -1));
  CHECK(holds(target, backwards));
  target = transpose(make())(tessera::all);
  CHECK(holds(target, their_sum));
  target(range(0, 3)) = make()(from(1));
  CHECK(holds(target, {their_sum[1], their_sum[2], their_sum[3], their_sum[3]}));
  target(make() > 25.0) = -1.0;
  CHECK(holds(target, {their_sum[1], their_sum[2], -1.0, -1.0}));
  target = where(row < 2.0, make()(tessera::all), row);
  CHECK(holds(target, {their_sum[0], their_sum[1], 2.0, 3.0}));
  CHECK(make()(tessera::all).to_host() == their_sum);
  CHECK_ALL(hash(make()) == hash(reshard(make(), NamedSharding(grid(), P("x")))));
  CHECK_ALL(static_cast<double>(max(make()(range(0, 2)))) == their_sum[1]);
  CHECK(holds(DistArray(flip(make())), backwards));
}

TEST_CASE("partials lie along several axes of the mesh") {
  auto const u = iota<std::int64_t>({5}, NamedSharding(grid(), P(none)));

  auto const partial = to_partial(u, {"x", "y"});

  CHECK(text(partial.sharding().spec()) == "P(none).partial((\"x\", \"y\"))");
  CHECK(holds(partial, u.to_host()));
}

TEST_CASE("one device's addend is the value") {
  auto const u = iota<double>({3}, NamedSharding(Mesh({{"y", 1}}), P(none)));

  CHECK(holds(to_partial(u, "y"), u.to_host()));
}

TEST_CASE("copies of partials are equal, and another array can take their place") {
  auto const u = from_partials(two_partials());
  auto copy = u;
  auto other = iota<double>({4}, NamedSharding(grid(), P("x")));

  CHECK(holds(copy, their_sum));
  CHECK_THROWS_AS(copy = other, UsageError);
  copy = DistArray(other);
  CHECK(holds(copy, {0, 1, 2, 3}));
  CHECK_FALSE(copy.sharding().is_partial());
  other = u;
  CHECK_FALSE(other.sharding().is_partial());
  CHECK(holds(other, their_sum));
}

TEST_CASE("partials cannot be written") {
  auto partials = two_partials();
  auto const old_view = partials(0, tessera::all);
  auto u = from_partials(std::move(partials));
  char const* const refusal =
      "a partial array cannot be written, nor the array it was made of (an array of shape (4,) on "
      "NamedSharding(Mesh(y=2, x=2), P(\"x\"))); write to a copy of its sum, reshard(u, "
      "u.sharding().without_partial())";

  CHECK_THROWS_WITH_AS(u(0) = 1.0, refusal, UsageError);
  CHECK_THROWS_WITH_AS(u = 1.0, refusal, UsageError);
  CHECK_THROWS_WITH_AS((void)u.mutable_shards(), refusal, UsageError);
  CHECK_ALL_THROW(old_view = 1.0, UsageError);
  CHECK(holds(u, their_sum));
}

TEST_CASE("what is no list of partials is refused") {
  Mesh const mesh = grid();
  auto const one = iota<double>({4}, NamedSharding(mesh, P("x")));

  CHECK_ALL_THROW((void)from_partials(zeros<double>({3, 4}, NamedSharding(mesh, P("y", "x")))),
                  ShardingError);
  CHECK_ALL_THROW((void)from_partials(zeros<double>({2, 4}, NamedSharding(mesh, P(none, "x")))),
                  ShardingError);
  CHECK_ALL_THROW(
      (void)from_partials(zeros<double>(
          {2, 4}, NamedSharding(mesh, P("y", "x"), {Cut::explicit_sizes({2, 0}), Cut::ceil()}))),
      ShardingError);
  CHECK_ALL_THROW((void)to_partial(one, "x"), ShardingError);
  CHECK_ALL_THROW((void)to_partial(one, "z"), ShardingError);
  CHECK_ALL_THROW((void)to_partial(one, none), ShardingError);
  CHECK_ALL_THROW((void)zeros<double>({4}, NamedSharding(mesh, P("x").partial("y"))),
                  ShardingError);
}

TEST_SUITE_END();
