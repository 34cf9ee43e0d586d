#include "tessera/ops/products.hpp"

#include <cmath>
#include <complex>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/ops/partial.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/program/program.hpp"
#include "tessera/runtime/budget.hpp"

#include "src/plan/exchange/forwarding.hpp"

#include "support/agree.hpp"
#include "support/arrays.hpp"
#include "support/left_out.hpp"

using namespace tessera;
using test::over;
using test::row;

/// matmul by NumPy's rules, on small cases by hand.
TEST_SUITE_BEGIN("ops/products");

namespace {

using Numbers = test::Mirror<double>;

Numbers counted_from(double first, Shape const& shape) {
  Numbers m(shape);
  for (auto& cell : m.cells) cell = first++;
  return m;
}

// The rows or the columns of a matrix over some devices.
NamedSharding rows_over(std::int64_t devices) {
  return {row(devices), P("x", none)};
}
NamedSharding columns_over(std::int64_t devices) {
  return {row(devices), P(none, "x")};
}

}  // namespace

TEST_CASE("matrices") {
  auto const a = counted_from(1, {2, 3});  // 1 2 3 / 4 5 6
  auto const b = counted_from(7, {3, 2});  // 7 8 / 9 10 / 11 12
  std::vector<double> const wanted{58, 64, 139, 154};
  for (auto const& lies_a : {rows_over(device_count()), columns_over(device_count())})
    for (auto const& lies_b : {rows_over(device_count()), columns_over(device_count())}) {
      auto const u = test::spread_out<double, 2>(a, lies_a);
      auto const v = test::spread_out<double, 2>(b, lies_b);
      auto const c = matmul(u, v);
      CHECK_ALL(c.shape() == Shape{2, 2});
      CHECK_ALL(c.to_host() == wanted);
    }
}

TEST_CASE("the result lies as its operands do") {
  auto const n = device_count();
  Mesh const mesh = row(n);
  DistArray<double, 2> const by_rows = zeros<double>({8, 4}, {mesh, P("x", none)});
  DistArray<double, 2> const by_columns = zeros<double>({4, 8}, {mesh, P(none, "x")});
  DistArray<double, 2> const tall = zeros<double>({4, 6}, {mesh, P("x", none)});
  CHECK(matmul(by_rows, by_columns).sharding().spec() == P("x", none));
  CHECK(matmul(transpose(tall), by_columns).sharding().spec() == P(none, "x"));
  CHECK(matmul(transpose(by_rows), by_rows).sharding().spec() == P(none, none));
  auto const asked = matmul(by_rows, by_columns, {.sharding = {mesh, P(none, "x")}});
  CHECK(asked.sharding().spec() == P(none, "x"));
}

TEST_CASE("vectors") {
  auto const a = test::spread_out<double, 2>(counted_from(1, {2, 3}), rows_over(device_count()));
  auto const x = test::spread_out<double, 1>(counted_from(1, {3}), over(device_count()));
  auto const y = test::spread_out<double, 1>(counted_from(1, {2}), over(device_count()));
  CHECK_ALL(matmul(a, x).to_host() == std::vector<double>{14, 32});
  CHECK_ALL(matmul(y, a).to_host() == std::vector<double>{9, 12, 15});
  auto const dot = matmul(x, x);
  static_assert(decltype(dot)::rank == 0);
  CHECK_ALL(static_cast<double>(dot) == 14);
}

TEST_CASE("dimensions before the last two broadcast") {
  auto const a = test::spread_out<double, 3>(counted_from(1, {2, 1, 3}),
                                             {row(device_count()), P("x", none, none)});
  auto const b = test::spread_out<double, 2>(counted_from(1, {3, 2}), columns_over(device_count()));
  auto const c = matmul(a, b);
  CHECK_ALL(c.shape() == Shape{2, 1, 2});
  CHECK_ALL(c.to_host() == std::vector<double>{22, 28, 49, 64});
  auto const d = test::spread_out<double, 3>(counted_from(1, {1, 3, 2}),
                                             {row(device_count()), P(none, none, "x")});
  CHECK_ALL(matmul(a, d).to_host() == std::vector<double>{22, 28, 49, 64});
  auto const e = test::spread_out<double, 3>(counted_from(1, {2, 3, 1}),
                                             {row(device_count()), P(none, "x", none)});
  CHECK_ALL(matmul(a, e).to_host() == std::vector<double>{14, 77});
  auto const f = matmul(transpose(b), e);
  CHECK_ALL(f.shape() == Shape{2, 2, 1});
  CHECK_ALL(f.to_host() == std::vector<double>{22, 28, 49, 64});
}

TEST_CASE("types") {
  auto const rows = rows_over(device_count());
  auto const ints = full<std::int8_t>({2, 2}, 100, rows);
  static_assert(std::same_as<decltype(matmul(ints, ints))::value_type, std::int8_t>);
  CHECK_ALL(matmul(ints, ints).to_host() == std::vector<std::int8_t>(4, 32));  // 20000 modulo 256
  auto const floats = full<float>({2, 2}, 0.5F, rows);
  static_assert(std::same_as<decltype(matmul(ints, floats))::value_type, float>);
  CHECK_ALL(matmul(ints, floats).to_host() == std::vector<float>(4, 100.0F));
  using Complex = std::complex<double>;
  auto const z = full<Complex>({2, 2}, Complex(1, 2), rows);
  CHECK_ALL(matmul(z, z).to_host() == std::vector<Complex>(4, Complex(-6, 8)));
  auto const halves = full<float16>({1, 3}, float16(100.0F), rows);
  auto const more = full<float16>({3, 1}, float16(3.0F), rows);
  CHECK_ALL(static_cast<float>(matmul(halves, more).to_host()[0]) == 900.0F);
}

TEST_CASE("expressions are computed first") {
  auto const a = full<double>({3, 3}, 1.0, rows_over(device_count()));
  CHECK_ALL(matmul(a + a, 3.0 * a).to_host() == std::vector<double>(9, 18.0));
}

TEST_CASE("no terms, no rows") {
  auto const rows = rows_over(device_count());
  auto const a = zeros<double>({3, 0}, rows);
  auto const b = zeros<double>({0, 2}, rows);
  CHECK_ALL(matmul(a, b).to_host() == std::vector<double>(6, 0.0));
  CHECK_ALL(matmul(transpose(a), a).shape() == Shape{0, 0});
  auto c = full<double>({3, 2}, 5.0, rows);
  matmul_into(c, a, b, {.adds = true});
  CHECK_ALL(c.to_host() == std::vector<double>(6, 5.0));
  matmul_into(c, a, b);
  CHECK_ALL(c.to_host() == std::vector<double>(6, 0.0));
}

TEST_CASE("into a slice, and added to it") {
  auto const rows = rows_over(device_count());
  auto c = full<double>({4, 4}, 1.0, rows);
  auto const a = test::spread_out<double, 2>(counted_from(1, {2, 3}), rows);
  matmul_into(c(range(1, 3), range(0, none, 3)), a, transpose(a));
  CHECK_ALL(c.to_host() == std::vector<double>{1, 1, 1, 1, 14, 1, 1, 32, 32, 1, 1, 77, 1, 1, 1, 1});
  matmul_into(c(range(1, 3), range(0, 2)), a, transpose(a), {.adds = true});
  CHECK_ALL(c.to_host() ==
            std::vector<double>{1, 1, 1, 1, 28, 33, 1, 32, 64, 78, 1, 77, 1, 1, 1, 1});
}

TEST_CASE("the target may be an operand") {
  auto const rows = rows_over(device_count());
  auto c = test::spread_out<double, 2>(counted_from(1, {2, 2}), rows);
  matmul_into(c, c, c, {.adds = true});
  CHECK_ALL(c.to_host() == std::vector<double>{8, 12, 18, 26});
  c = matmul(c, transpose(c));
  CHECK_ALL(c.to_host() == std::vector<double>{208, 456, 456, 1000});
}

TEST_CASE("in a recorded loop") {
  auto const n = std::int64_t{12};
  auto const rows = rows_over(device_count());
  auto const a = from_index<double>({n, n}, rows, [](auto const& i) {
    return (i[0] == i[1] ? 0.5 : 0.0) + 0.01 * static_cast<double>(i[0] - i[1]);
  });
  auto const start = [&] {
    return from_index<double>({n, n}, columns_over(device_count()),
                              [](auto const& i) { return static_cast<double>(i[0] * 3 - i[1]); });
  };
  auto u = start(), v = zeros<double>({n, n}, rows);
  auto const step = [](auto& x, auto& y, auto const& m) {
    matmul_into(y, m, x);
    x = 0.5 * x + y;
  };
  for (int i = 0; i < 5; ++i) step(u, v, a);
  auto w = start(), z = zeros<double>({n, n}, rows);
  iterate(5, [&] { step(w, z, a); });
  CHECK_ALL(w.to_host() == u.to_host());
}

TEST_CASE("a matrix of each step") {
  NamedSharding const planes(row(device_count()), P(none, "x", none));
  auto const a = from_index<double>({3, 4, 4}, planes, [](auto const& i) {
    return static_cast<double>((i[0] + 2) * i[1] - i[2]) / 8;
  });
  auto const start = [] {
    return test::spread_out<double, 1>(counted_from(1, {4}), over(device_count()));
  };
  auto x = start(), y = zeros<double>({4}, over(device_count()));
  for (std::int64_t t = 0; t < 3; ++t) {
    matmul_into(y, a(t, all, all), x);
    x = y - x;
  }
  auto u = start(), v = zeros<double>({4}, over(device_count()));
  iterate(3, [&](Step t) {
    matmul_into(v, a(t, all, all), u);
    u = v - u;
  });
  CHECK_ALL(u.to_host() == x.to_host());
}

TEST_CASE("partial results are added up first") {
  auto const a =
      test::spread_out<double, 2>(counted_from(1, {2, 3}), {row(device_count()), P(none, none)});
  auto const partial = to_partial(a, "x");
  auto const wanted = matmul(a, transpose(a)).to_host();
  CHECK_ALL(matmul(partial, transpose(a)).to_host() == wanted);
  CHECK_ALL(matmul(partial, transpose(partial)).to_host() == wanted);
  auto target = to_partial(matmul(a, transpose(a)), "x");
  CHECK_ALL_THROW(matmul_into(target, a, transpose(a)), UsageError);
}

TEST_CASE("mistakes") {
  auto const rows = rows_over(device_count());
  auto const a = zeros<double>({2, 3}, rows);
  auto const b = zeros<double>({2, 3}, rows);
  CHECK_ALL_THROW((void)matmul(a, b), ShapeError);
  NamedSharding const planes(row(device_count()), P("x", none, none));
  auto const c = zeros<double>({2, 3, 4}, planes);
  auto const d = zeros<double>({3, 4, 2}, planes);
  CHECK_ALL_THROW((void)matmul(c, d), ShapeError);
  CHECK_ALL_THROW((void)matmul(a, transpose(b), {.sharding = {row(2), P("x", "x")}}),
                  ShardingError);
  auto e = zeros<double>({3, 2}, rows);
  CHECK_ALL_THROW(matmul_into(e, a, transpose(b)), ShapeError);
}

// The devices along which the sums of a product pass, whose terms they own.
struct TermsOverDevices {
  std::int64_t devices = device_count();
  Numbers a = counted_from(1, {150, 300 * devices});
  Numbers b = counted_from(-5, {300 * devices, 3});
  DistArray<double, 2> u = test::spread_out<double, 2>(a, columns_over(devices));
  DistArray<double, 2> v = test::spread_out<double, 2>(b, rows_over(devices));
};

TEST_CASE("a product whose sums pass from device to device counts as one statement") {
  TermsOverDevices const of;
  auto target = zeros<double>({150, 3}, rows_over(of.devices));
  matmul_into(target, of.u, of.v);
  auto const once = target.to_host();

  auto const before = counters();
  auto const explained = explain([&] { matmul_into(target, of.u, of.v); });
  auto const more = counters() - before;

  CHECK_ALL(more.statements == 1);
  CHECK_ALL(more.plans_made == 0);
  CHECK_ALL(explained.statements.size() == 1);
  CHECK_ALL(explained.messages() == more.messages);
  CHECK_ALL(explained.bytes() == more.bytes);
  if (of.devices > 1)
    CHECK_ALL(explained.statements[0].writes.starts_with("by sums that pass along x through "));
  CHECK_ALL(target.to_host() == once);
}

TEST_CASE("explain shows how a product is planned") {
  TermsOverDevices const of;
  if (test::left_out_if(of.devices == 1, "it needs several devices")) return;
  auto target = zeros<double>({150, 3}, rows_over(of.devices));
  auto const explained = explain([&] { matmul_into(target, of.u, of.v); });

  auto const& choice = explained.statements.at(0).choice;
  REQUIRE(choice);
  CHECK_ALL(choice->roles == "x=terms");
  // Sums of the other cells come in, and then those of the device's own cells.
  CHECK_ALL(choice->received_bytes >= 150 * 3 * 8);
  CHECK_ALL(choice->memory_bytes >= 150 * 3 * 8);
  CHECK_ALL(choice->seconds > 0);
  CHECK_ALL(!choice->runner_up.empty());
  CHECK_ALL(choice->runner_up != choice->roles);
  CHECK_ALL(choice->runner_up_seconds > 0);
  std::ostringstream printed;
  printed << explained;
  for (auto const& words :
       {std::string("  roles x=terms: expected to take "), "; next best " + choice->runner_up})
    CHECK_ALL(printed.str().find(words) != std::string::npos);

  // A statement without a choice shows none.
  auto const plain = explain([&] { target = 2.0 * target; });
  CHECK_ALL(!plain.statements.at(0).choice);
}

TEST_CASE("a target in very many boxes is computed with an even cut, and copied") {
  if (test::left_out_if(device_count() < 8, "it needs 8 devices")) return;
  auto const is_copied = [](auto const& explained) {
    return explained.statements.at(0).writes == "to a new array first";
  };
  // Five pieces a dimension and device.
  Mesh const cube({{"x", 2}, {"y", 2}, {"z", 2}});
  NamedSharding const dealt_out(cube, P("x", "y", "z"), Cut::cyclic(1));
  auto const a = test::spread_out<double, 3>(counted_from(1, {10, 10, 12}), dealt_out);
  auto const b = test::spread_out<double, 3>(counted_from(-5, {10, 12, 10}), dealt_out);
  auto c = zeros<double>({10, 10, 10}, dealt_out);
  CHECK_ALL(is_copied(explain([&] { matmul_into(c, a, b, {.adds = true}); })));
  NamedSharding const even(cube, P("x", "y", "z"));
  CHECK_ALL(all_equal(c, matmul(reshard(a, even), reshard(b, even))));

  // Slices whose every cell lies in another piece.
  auto const by_eight = range(0, 256, 8);
  NamedSharding const tiles(Mesh({{"x", 4}, {"y", 2}}), P("x", "y"), Cut::cyclic(8));
  auto d = zeros<double>({256, 256}, tiles);
  auto const e = test::spread_out<double, 2>(counted_from(1, {32, 32}), rows_over(8));
  CHECK_ALL(is_copied(explain([&] { matmul_into(d(by_eight, by_eight), e, e); })));
  CHECK_ALL(all_equal(d(by_eight, by_eight), matmul(e, e)));
}

TEST_CASE("the cells of an operand that all devices of a host need are forwarded") {
  auto const devices = device_count();
  bool const is_forwarding = forward_variable() == 3 && devices == 8;
  if (test::left_out_if(!is_forwarding, "it needs 8 devices and TESSERA_FORWARD=3")) return;
  auto const a = test::spread_out<double, 2>(counted_from(1, {16, 24}), rows_over(devices));
  auto const b = test::spread_out<double, 2>(counted_from(2, {24, 10}), rows_over(devices));
  auto c = zeros<double>({16, 10}, rows_over(devices));
  auto const explained =
      explain([&] { matmul_into(c, a, b, {.adds = false, .memory_bytes = 800}); });
  REQUIRE(explained.statements.size() == 1);
  auto const& statement = explained.statements.front();

  CHECK_ALL(statement.writes == "in 4 slices of cells");
  CHECK_ALL(statement.reads[0].forwarded_bytes == 0);
  // Devices 0 to 2, 3 to 5, and 6 and 7 are hosts. All cells of b but their own come to the three
  // hosts, and there to all devices but one.
  auto const rows_of_b = 3 * std::int64_t{10} * 8;
  CHECK(test::total_over_processes(statement.reads[1].forwarded_bytes) ==
        rows_of_b * (5 * 2 + 5 * 2 + 6 * 1));
  CHECK_ALL(c.to_host() == matmul(a, b).to_host());
}

TEST_CASE("a recorded loop replays such a product, with arrays that change places") {
  TermsOverDevices const of;
  auto const sharding = rows_over(of.devices);
  auto now = full<double>({150, 3}, 1.0, sharding);
  auto later = full<double>({150, 3}, 1.0, sharding);
  auto plain_now = now;
  auto plain_later = later;
  auto const step = [&](auto& from, auto& to) {
    matmul_into(to, of.u, of.v);
    to = 1e-6 * to + 0.5 * from;
    std::swap(from, to);
  };
  for (int s = 0; s < 9; ++s) step(plain_now, plain_later);

  auto program = record([&] { step(now, later); });
  program.run(9);

  CHECK_ALL(now.to_host() == plain_now.to_host());
  if (of.devices > 1)
    CHECK_ALL(text(program.explain()).find("takes several exchanges") != std::string::npos);
}

TEST_CASE(
    "a budget sees a product of several steps as one, and refuses it before anything is sent") {
  TermsOverDevices const of;
  if (of.devices == 1) return;
  auto target = zeros<double>({150, 3}, rows_over(of.devices));
  auto const before = counters();
  {
    CommunicationBudget const budget({.messages = 0});
    CHECK_ALL_THROW(matmul_into(target, of.u, of.v), BudgetExceeded);
  }
  CHECK_ALL((counters() - before).statements == 0);
  matmul_into(target, of.u, of.v);
}

TEST_SUITE_END();
