#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/random.hpp"

#include "support/noted_numbers.hpp"

#include "cells.hpp"

using namespace tessera;
using random::Key;
using test::holds;

/// Keys of a step: recorded loops have the numbers of plain ones.
TEST_SUITE_BEGIN("random/loops");

namespace {

Key const key(11);

NamedSharding pieces() {
  return {Mesh({{"x", device_count()}}), P("x")};
}

/// `steps` steps of a walk, one by one.
std::vector<double> plain_walk(std::int64_t cells, std::int64_t steps) {
  auto u = zeros<double>({cells}, pieces());
  for (std::int64_t t = 0; t < steps; ++t) {
    auto const numbers =
        random::normal<double>(Key(key.at(Step(t)).value_at(t)), {cells}, pieces());
    u = u + numbers;
  }
  return u.to_host();
}

}  // namespace

TEST_CASE("a key at a step gives other numbers in each step, recorded or not") {
  for (std::int64_t const cells : {1, 50, 700})
    for (std::int64_t const steps : {1, 2, 3, 17}) {
      CAPTURE(cells);
      CAPTURE(steps);
      auto const expected = plain_walk(cells, steps);
      auto u = zeros<double>({cells}, pieces());
      iterate(steps, [&](Step t) { u = u + random::normal<double>(key.at(t)); });
      CHECK_ALL(holds(u, expected));

      auto v = zeros<double>({cells}, pieces());
      for (std::int64_t t = 0; t < steps; ++t) v = v + random::normal<double>(key.at(Step(t)));
      CHECK_ALL(holds(v, expected));

      auto w = zeros<double>({cells}, pieces());
      for (std::int64_t t = 0; t < steps; ++t) w = w + random::normal<double>(key.at(t));
      CHECK_ALL(holds(w, expected));
    }
}

TEST_CASE("in blocks of steps and tiles, where devices compute cells of their neighbours") {
  auto const step = [](DistArray<double, 2>& u, Step t) {
    auto const in = range(1, -1);
    u(in, in) = 0.8 * u(in, in) + 0.1 * u(range(0, -2), in) + 0.1 * u(in, from(2)) +
                0.01 * random::uniform<double>(key.at(t).fold_in(3));
  };
  NamedSharding const rows(Mesh({{"y", device_count()}}), P("y", none));
  auto plain = full<double>({41, 30}, 1.0, rows);
  for (std::int64_t t = 0; t < 23; ++t) step(plain, Step(t));
  for (LoopOptions const& how :
       {LoopOptions{}, LoopOptions{1, {}}, LoopOptions{4, {}}, LoopOptions{3, {3, 4}}}) {
    CAPTURE(how.depth);
    auto u = full<double>({41, 30}, 1.0, rows);
    iterate(
        23, [&](Step t) { step(u, t); }, how);
    CHECK_ALL(holds(u, plain.to_host()));
  }
}

TEST_CASE("keys of later and of earlier steps") {
  auto u = zeros<double>({60}, pieces());
  iterate(6, [&](Step t) {
    u = random::uniform<double>(key.at(t + 1)) - random::uniform<double>(key.at(t - 1));
  });
  auto const at = [](std::int64_t t) {
    return random::uniform<double>(Key(key.at(Step(t)).value_at(t)), {60}, pieces());
  };

  DistArray const expected = at(6) - at(4);
  CHECK_ALL(holds(u, expected.to_host()));
}

TEST_CASE("a plain key in a loop gives the same numbers in each step") {
  auto u = zeros<double>({60}, pieces());
  iterate(4, [&] { u = u + random::uniform<double>(key); });

  auto const n = random::uniform<double>(key, {60}, pieces());
  DistArray const expected = 0.0 + n + n + n + n;
  CHECK_ALL(holds(u, expected.to_host()));
}

TEST_CASE("a key that the body makes of a number of its own stops the recording") {
  auto u = zeros<double>({60}, pieces());
  std::int64_t t = 0;

  CHECK_ALL_THROW(iterate(6, [&] { u = u + random::uniform<double>(key.fold_in(t++)); }),
                  UsageError);
}

TEST_CASE("the key and the parameters are numbers of a statement") {
  auto u = zeros<double>({4}, pieces());
  auto const list = [&](auto const& e) { return test::list_of([&] { u = e; }); };

  CHECK(list(random::uniform<double>(Key(1))) != list(random::uniform<double>(Key(2))));
  CHECK(list(random::integers<std::int32_t>(Key(1), 0, 9)) !=
        list(random::integers<std::int32_t>(Key(1), 0, 8)));
  CHECK(list(random::bernoulli(Key(1), 0.5)) != list(random::bernoulli(Key(1), 0.25)));
  CHECK(list(random::uniform<double>(Key(1).at(Step(3)))) !=
        list(random::uniform<double>(Key(1).at(Step(3) + 1))));
}

TEST_SUITE_END();
