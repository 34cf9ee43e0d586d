#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/field.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/random/random.hpp"

#include "cells.hpp"

using namespace tessera;
using random::Key;
using test::holds;
using test::over;
using test::scrambled;
using test::spread_out;
using test::uniform_cell;
using test::uniform_cells;

/// Random numbers in expressions: cells count in the index space of the statement.
TEST_SUITE_BEGIN("random/expressions");

namespace {

Key const key(7);
auto const everything = tessera::all;

}  // namespace

TEST_CASE("an expression has the numbers of the array") {
  for (auto const& sharding : test::layouts_of_plane(9, 40)) {
    CAPTURE(sharding);
    auto const m = scrambled<double>({9, 40});
    auto u = spread_out<double, 2>(m, sharding);

    u = 2 * random::uniform<double>(key) + u;

    auto const n = uniform_cells<double>(key, {9, 40}).cells;
    auto expected = m;
    for (std::size_t i = 0; i < n.size(); ++i) expected.cells[i] = 2 * n[i] + m.cells[i];
    CHECK_ALL(holds(u, expected));
  }
}

TEST_CASE("cells of a slice that is assigned count in the slice") {
  for (auto const& sharding : {over(1, 1), over(2, 4), over(8, 1), over(1, 8)}) {
    auto u = zeros<double>({9, 40}, sharding);
    auto w = zeros<double>({9, 40}, sharding);

    u(range(2, 7), range(1, none, 3)) = random::uniform<double>(key);
    w(range(2, 7), range(1, none, 3)) = random::uniform<double>(key, {5, 13}, over(2, 2));
    u(8, everything) = random::uniform<double>(key);
    w(8, everything) = random::uniform<double>(key, {40}, over(3));

    CHECK_ALL(holds(u, w.to_host()));
  }
}

TEST_CASE("a slice of an expression has the numbers of the expression") {
  auto const ones = full<double>({9, 40}, 1.0, over(2, 4));
  DistArray const whole = ones * random::uniform<double>(key);
  auto const same = [&](auto const& sliced, auto const& of_array) {
    CHECK_ALL(DistArray(sliced).to_host() == DistArray(of_array).to_host());
  };
  auto const e = ones * random::uniform<double>(key);

  same(e(range(2, 7), range(1, none, 3)), whole(range(2, 7), range(1, none, 3)));
  same(e(3, everything), whole(3, everything));
  same(e(everything, 5), whole(everything, 5));
  same(e(range(none, none, -2), everything), whole(range(none, none, -2), everything));
  same(e(everything, range(none, none, -1)), whole(everything, range(none, none, -1)));
  same(e(newaxis, everything, range(3, 30)), whole(newaxis, everything, range(3, 30)));
  same(transpose(e), transpose(whole));
  same(transpose(e)(range(1, 33), 4), transpose(whole)(range(1, 33), 4));
  same(e(range(1, 9), range(5, 40))(range(2, 5), 3), whole(range(3, 6), 8));
}

TEST_CASE("a slice that broadcasts in a larger statement keeps its numbers") {
  auto const ones = full<double>({40}, 1.0, over(4));
  auto const e = (ones * random::uniform<double>(key))(range(3, 40));
  auto u = zeros<double>({5, 37}, over(2, 4));

  u = u + e;

  auto expected = zeros<double>({5, 37}, over(2, 4));
  DistArray const line = e;
  expected = expected + line;
  CHECK_ALL(holds(u, expected.to_host()));
}

TEST_CASE("through a mask, and into a member of structs") {
  struct Particle {
    double mass;
    std::int32_t charge;
  };
  auto u = zeros<double>({300}, over(3));
  u(index(0) % 2 == 0) = random::uniform<double>(key);
  auto particles = full<Particle>({300}, Particle{1, 2}, over(4));
  field<&Particle::mass>(particles) = random::uniform<double>(key);

  auto expected = uniform_cells<double>(key, {300}).cells;
  DistArray const masses = field<&Particle::mass>(particles);
  CHECK_ALL(holds(masses, expected));
  for (std::size_t i = 1; i < expected.size(); i += 2) expected[i] = 0;
  CHECK_ALL(holds(u, expected));
}

TEST_CASE("conditions, casts and several keys in one statement") {
  auto const [k1, k2] = key.split<2>();
  auto u = zeros<float>({1000}, over(5));

  u = where(random::bernoulli(k1, 0.5), random::uniform<float>(k2), -1.0F);
  DistArray const kept = u < 0;
  auto const coins = random::bernoulli(k1, 0.5, {1000}, over(2));

  CHECK_ALL(all(kept == !coins).value());
  CHECK_ALL(count(u >= 0.0F).value() == count(coins).value());
}

TEST_CASE("reductions beside an array") {
  auto const ones = full<double>({9, 400}, 1.0, over(2, 4));
  auto const numbers = random::uniform<double>(key, {9, 400}, over(8, 1));

  CHECK_ALL(sum(ones * random::uniform<double>(key)).value() == sum(numbers).value());
  CHECK_ALL(argmax(ones * random::uniform<double>(key)).value() == argmax(numbers).value());
  for (int const d : {0, 1}) {
    CAPTURE(d);
    CHECK_ALL(sum(ones * random::uniform<double>(key), axis(d)).to_host() ==
              sum(numbers, axis(d)).to_host());
    CHECK_ALL(max(ones * random::uniform<double>(key), axis(d)).to_host() ==
              max(numbers, axis(d)).to_host());
  }
}

TEST_CASE("numbers named by let are computed once and stay the same") {
  auto const u = spread_out<double, 1>(scrambled<double>({700}), over(3));
  auto const e = u * random::normal<double>(key);
  auto const named = let(e);
  DistArray const plain = e(range(0, -2)) + e(range(1, -1)) * e(from(2));
  DistArray const shared = named(range(0, -2)) + named(range(1, -1)) * named(from(2));

  CHECK_ALL(holds(shared, plain.to_host()));
}

TEST_SUITE_END();
