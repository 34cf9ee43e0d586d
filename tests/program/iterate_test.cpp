#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/tessera.hpp"

#include "src/runtime/statement_hooks.hpp"

#include "support/device_kinds.hpp"

// A loop that is recorded has the bits of a plain one, however it is cut into blocks and tiles.

using namespace tessera;

TEST_SUITE_BEGIN("program/iterate");

namespace {

NamedSharding pieces() {
  return {Mesh({{"x", device_count()}}), P("x")};
}

NamedSharding rows() {
  return {Mesh({{"y", device_count()}}), P("y", none)};
}

DistArray<double, 1> bumps(std::int64_t cells) {
  return from_index<double>(
      {cells}, pieces(), [](auto i) { return static_cast<double>((i[0] * 7919) % 1009) / 1009.0; });
}

DistArray<double, 2> bumps(std::int64_t height, std::int64_t width) {
  return from_index<double>({height, width}, rows(), [=](auto i) {
    return static_cast<double>(((i[0] * width + i[1]) * 7919) % 1009) / 1009.0;
  });
}

auto const inner = range(1, -1);
auto const left = range(0, -2);
auto const right = from(2);

// Depths and tiles of every size, for arrays of so many dimensions.
std::vector<LoopOptions> ways(std::size_t rank) {
  std::vector<LoopOptions> all{{}, {1, {}}, {2, {}}, {1, {}, true}, {4, {}, true}};
  std::vector<Shape> const tiles = rank == 1
                                       ? std::vector<Shape>{{5}, {1}, {1000}, {3}}
                                       : std::vector<Shape>{{3, 4}, {64, 64}, {2, 100}, {1000, 3}};
  std::int64_t depth = 3;
  for (auto const& tile : tiles) all.push_back({depth += 2, tile});
  return all;
}

}  // namespace

TEST_CASE("heat in one dimension ends with the bits of a plain loop") {
  for (auto const cells : {40, 7, 3, 200})
    for (auto const steps : {0, 1, 2, 3, 10, 31}) {
      CAPTURE(cells);
      CAPTURE(steps);
      auto plain = bumps(cells);
      for (int s = 0; s < steps; ++s)
        plain(inner) = 0.8 * plain(inner) + 0.1 * plain(left) + 0.1 * plain(right);
      for (auto const& how : ways(1)) {
        CAPTURE(how.depth);
        auto u = bumps(cells);
        iterate(
            steps, [&] { u(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right); }, how);
        CHECK(u.to_host() == plain.to_host());
      }
    }
}

TEST_CASE("steps with non-temporal stores have the bits of a plain loop") {
  auto const devices = std::min<std::int64_t>(device_count(), 2);
  auto const n = devices * (std::int64_t{1} << 22) + 5;  // 32 MiB each, twice the threshold
  NamedSharding const halves(Mesh({{"x", devices}}), P("x"));
  auto const start =
      from_index<double>({n}, halves, [](auto i) { return 1.0 / static_cast<double>(i[0] + 1); });
  auto const step = [](auto& a) { a(inner) = 0.8 * a(inner) + 0.1 * a(left) + 0.1 * a(right); };
  auto plain = start;
  for (int s = 0; s < 3; ++s) step(plain);
  for (auto const& how : {LoopOptions{1, {n}}, LoopOptions{1, {n / 3}}, LoopOptions{}}) {
    auto u = start;
    iterate(
        3, [&] { step(u); }, how);
    CHECK(hash(u) == hash(plain));
  }
}

TEST_CASE("after a loop the array goes on as any other") {
  auto plain = bumps(100);
  auto u = bumps(100);
  auto const step = [](auto& a) { a(inner) = 0.8 * a(inner) + 0.1 * a(left) + 0.1 * a(right); };
  for (int s = 0; s < 27; ++s) step(plain);

  iterate(9, [&] { step(u); });
  for (int s = 0; s < 5; ++s) step(u);
  iterate(13, [&] { step(u); });

  CHECK(u.to_host() == plain.to_host());
}

TEST_CASE("two arrays that swap their places") {
  auto const run = [](auto const& loop) {
    auto u = bumps(33);
    auto v = bumps(33);
    loop([&] {
      v(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right);
      std::swap(u, v);
    });
    return std::pair(u.to_host(), v.to_host());
  };
  for (auto const steps : {4, 5, 20, 21}) {
    auto const plain = run([&](auto const& body) {
      for (int s = 0; s < steps; ++s) body();
    });
    for (auto const& how : ways(1))
      CHECK(run([&](auto const& body) { iterate(steps, body, how); }) == plain);
  }
}

TEST_CASE("waves in two dimensions with three time levels that rotate") {
  auto const run = [](auto const& loop) {
    auto now = bumps(19, 13);
    auto before = bumps(19, 13);
    auto next = bumps(19, 13);
    loop([&] {
      next(inner, inner) = 2.0 * now(inner, inner) - before(inner, inner) +
                           0.1 * (now(left, inner) + now(right, inner) + now(inner, left) +
                                  now(inner, right) - 4.0 * now(inner, inner));
      std::swap(before, now);
      std::swap(now, next);
    });
    return std::pair(now.to_host(), before.to_host());
  };
  for (auto const steps : {5, 17}) {
    auto const plain = run([&](auto const& body) {
      for (int s = 0; s < steps; ++s) body();
    });
    for (auto const& how : ways(2))
      CHECK(run([&](auto const& body) { iterate(steps, body, how); }) == plain);
  }
}

TEST_CASE("coupled fields with periodic ends, the number of the step and an edge") {
  auto const run = [](auto const& loop) {
    auto u = bumps(17, 11);
    auto v = bumps(17, 11);
    loop([&](Step t) {
      u = 0.6 * u + 0.1 * (shift(u, {0, 1}, periodic) + shift(u, {0, -1}, periodic) +
                           shift(u, {1, 0}, periodic) + shift(u, {-1, 0}, periodic));
      v = 0.9 * v + 0.1 * shift(u, {-1, 0}, edge) + 0.001 * (t + index(1));
      v = 0.9 * v + 0.1 * shift(u, {2, -1}, {constant(0.25), reflect});
      u(0, tessera::all) = v(1, tessera::all) + u(0, tessera::all);
    });
    return std::pair(u.to_host(), v.to_host());
  };
  for (auto const steps : {5, 18}) {
    auto const plain = run([&](auto const& body) {
      for (int s = 0; s < steps; ++s) body(Step(s));
    });
    for (auto const& how : ways(2))
      CHECK(run([&](auto const& body) { iterate(steps, body, how); }) == plain);
  }
}

TEST_CASE("a loop that goes down to a coarse mesh and up again has the bits of a plain one") {
  auto const even = range(none, none, 2), odd = range(1, none, 2);
  auto const cycle = [&](DistArray<double, 1>& fine, DistArray<double, 1>& coarse) {
    coarse(inner) =
        0.3 * fine(range(1, -3, 2)) + 0.4 * fine(range(2, -2, 2)) + 0.3 * fine(range(3, none, 2));
    fine(even) += 0.1 * coarse;
    fine(odd) += 0.07 * (coarse(range(0, -1)) + coarse(from(1)));
    fine(inner) = 0.3 * (fine(left) + fine(inner) + fine(right));
  };
  for (auto const cells : {33, 65, 9}) {
    CAPTURE(cells);
    auto plain = bumps(cells), looped = bumps(cells);
    auto below = bumps((cells + 1) / 2), looped_below = bumps((cells + 1) / 2);

    for (int step = 0; step < 7; ++step) cycle(plain, below);
    iterate(7, [&] { cycle(looped, looped_below); });

    CHECK(hash(looped) == hash(plain));
    CHECK(hash(looped_below) == hash(below));
  }
}

// One array, read and written with different steps.
TEST_CASE("a loop that gathers every second cell of its array has the bits of a plain one") {
  auto plain = bumps(64), looped = bumps(64);
  auto const step = [](DistArray<double, 1>& u) {
    u(range(0, 32)) = 0.3 * u(range(none, none, 2)) + 0.1 * u(range(1, none, 2));
    u(range(1, none, 2)) += 0.1 * u(range(none, none, 2));
  };

  for (int s = 0; s < 7; ++s) step(plain);
  iterate(7, [&] { step(looped); });

  CHECK(hash(looped) == hash(plain));
}

// A source that a table describes, and a record of the cells in each step.
TEST_CASE("a slice may follow the number of the step") {
  constexpr std::int64_t steps = 14, cells = 12;
  auto const line = pieces();
  NamedSharding const columns(line.mesh(), P(none, "x"));
  NamedSharding const everywhere(line.mesh(), P(none));
  auto const source = from_index<double>(
      {steps + 1}, everywhere, [](auto i) { return 1.0 / static_cast<double>(i[0] + 3); });
  auto const run = [&](bool records, auto const& loop) {
    auto u = iota<double>({cells}, line);
    auto seen = zeros<double>({2 * steps, cells}, columns);
    loop([&](Step t) {
      u = 0.25 * (roll(u, 1) + 2.0 * u + roll(u, -1));
      u(5) += source(t + 1);
      if (records) seen(t, all) = u;
    });
    return std::pair(u.to_host(), seen.to_host());
  };
  auto const plainly = [](auto const& body) {
    for (std::int64_t s = 0; s < steps; ++s) body(Step(s));
  };
  for (bool const records : {false, true}) {
    CAPTURE(records);
    auto const plain = run(records, plainly);
    CHECK(run(records, [](auto const& body) { iterate(steps, body); }) == plain);
    CHECK(run(records, [&](auto const& body) {
            auto program = record(body);
            program.run(5);
            program.run(steps - 5);
            if (detail::checks_recordings()) return;
            auto const explanation = program.explain();
            if (records)
              CHECK(explanation.fallback_reason.find("writes another slice in every step") !=
                    std::string::npos);
            else
              CHECK(explanation.mode == LoopMode::in_blocks);
          }) == plain);
  }
}

TEST_CASE("a slice by the number of the step ends with its array") {
  NamedSharding const everywhere(Mesh({{"x", device_count()}}), P(none));
  auto const source = iota<double>({7}, everywhere);
  auto u = zeros<double>({4}, everywhere);
  auto program = record([&](Step t) { u = u + source(t); });
  CHECK_THROWS_AS(program.run(9), IndexError);
  CHECK(program.steps() == 7);
  CHECK(u.to_host() == std::vector<double>(4, 0 + 1 + 2 + 3 + 4 + 5 + 6));
}

TEST_CASE("a view by the number of one step, and steps of an inner loop, are always the same") {
  NamedSharding const everywhere(Mesh({{"x", device_count()}}), P(none));
  auto const source = iota<double>({9}, everywhere);
  auto const run = [&](auto const& loop) {
    auto u = zeros<double>({4}, everywhere);
    auto const third = source(Step(3));
    loop([&](Step) {
      u = 0.5 * u + third;
      iterate(4, [&](Step inner) { u = u + source(inner + 2) * source(4); });
    });
    return u.to_host();
  };
  auto const plain = run([](auto const& body) {
    for (std::int64_t s = 0; s < 8; ++s) body(Step(s));
  });
  CHECK(run([](auto const& body) { iterate(8, body); }) == plain);
}

// A sum computed where every device has all cells, outer products, and tables of other ranks, at
// the borders of what blocks can hold.
TEST_CASE("sums of whole arrays, of repeated cells and of tables are those of the plain loop") {
  auto const line = pieces();
  NamedSharding const rows(line.mesh(), P("x", none)), whole(line.mesh(), P(none, none));
  NamedSharding const everywhere(line.mesh(), P(none));
  auto const inner = range(1, -1), less = range(0, -2), more = from(2);
  auto const run = [&](int which, auto const& loop) {
    auto u =
        from_index<double>({24, 10}, rows, [](auto i) { return 0.1 * double(i[0] * 7 + i[1]); });
    auto const w =
        from_index<double>({24, 10}, whole, [](auto i) { return 1.0 / double(i[1] + 2); });
    auto const t = iota<double>({40}, everywhere);
    auto s = sum(u);
    loop([&] {
      u(inner, all) = 0.8 * u(inner, all) + 0.1 * u(less, all) + 0.1 * u(more, all);
      if (which == 0) s = sum(w(23, all) * u(23, all));
      if (which == 1) s = sum(u(all, 3)(all, newaxis) * t(newaxis, range(0, 9)));
      if (which == 2) s = sum(shift(t(range(3, 20)), 1, periodic));
      if (which == 3) u = u + 0.01 * shift(w(5, all), 1, periodic) * u;
      if (which == 4) u = 0.9 * u + 0.01 * shift(t(range(0, 24)), -2, periodic)(all, newaxis);
      u = u + 1e-9 * s;
    });
    return std::pair(u.to_host(), s.value());
  };
  for (int which = 0; which < 5; ++which) {
    CAPTURE(which);
    auto const plain = run(which, [](auto const& body) {
      for (int s = 0; s < 9; ++s) body();
    });
    for (auto const depth : {0, 3})
      CHECK(run(which, [&](auto const& body) { iterate(9, body, {depth, {}}); }) == plain);
  }
}

TEST_CASE("a slice that counts from the end at first makes the body run in every step") {
  NamedSharding const everywhere(Mesh({{"x", device_count()}}), P(none));
  auto const table = iota<double>({9}, everywhere);
  for (std::int64_t const back : {1, 3}) {
    CAPTURE(back);
    auto const run = [&](auto const& loop) {
      auto u = zeros<double>({4}, everywhere);
      loop([&](Step t) { u = 0.5 * u + table(t - back); });
      return u.to_host();
    };
    auto const plain = run([](auto const& body) {
      for (std::int64_t s = 0; s < 9; ++s) body(Step(s));
    });
    CHECK(run([](auto const& body) { iterate(9, body); }) == plain);
  }
}

TEST_CASE("one statement may take slices of one array by the steps of two loops") {
  NamedSharding const everywhere(Mesh({{"x", device_count()}}), P(none));
  auto const table = iota<double>({9}, everywhere);
  auto const run = [&](auto const& loop) {
    auto u = zeros<double>({4}, everywhere);
    loop(8, [&](Step i) { loop(8, [&](Step j) { u = 0.5 * u + 0.1 * table(i) * table(j); }); });
    return u.to_host();
  };
  auto const plain = run([](std::int64_t steps, auto const& body) {
    for (std::int64_t s = 0; s < steps; ++s) body(Step(s));
  });
  CHECK(run([](std::int64_t steps, auto const& body) { iterate(steps, body); }) == plain);
}

TEST_CASE("a body may make partial arrays, and read or reshard their sums") {
  Mesh const mesh({{"x", device_count()}});
  auto const inverse = [](auto i) { return 1.0 / static_cast<double>(i[0] + 1); };
  auto const start = from_index<double>({13}, {mesh, P(none)}, inverse);
  auto const weights = from_index<double>({device_count(), 13}, {mesh, P("x", none)}, inverse);
  auto const check = [&](auto const& step) {
    DistArray plain(start), replayed(start);
    for (int s = 0; s < 20; ++s) step(plain);
    auto program = record([&] { step(replayed); });
    program.run(13);
    program.run(7);
    CHECK(replayed.to_host() == plain.to_host());
    if (!detail::checks_recordings()) CHECK(program.explain().mode == LoopMode::replayed);
  };

  check([](auto& w) {
    auto const parts = to_partial(w, {"x"});
    w = 0.25 * (w + parts) + 1.0;
  });
  check([&](auto& w) {
    auto const sums = reshard(to_partial<ReduceOp::max>(w, {"x"}), {mesh, P("x")});
    w = 0.5 * sums + 1.0;
  });
  check([&](auto& w) {
    DistArray terms = weights * w(newaxis, all);
    auto const parts = from_partials(std::move(terms));
    w = 0.25 * (w + parts) + 1.0;
  });
}

TEST_CASE("a partial array outlives the step that has made it") {
  Mesh const mesh({{"x", device_count()}});
  // Read in the next step, or after the loop.
  for (bool const is_read : {true, false})
    for (int const steps : {12, 13}) {
      auto const run = [&](auto const& loop) {
        auto w = full<double>({8}, 1.0, {mesh, P(none)});
        auto parts = to_partial(w, {"x"});
        loop([&] {
          if (is_read)
            w = 0.5 * (w + parts) + 1.0;
          else
            w = 0.5 * w + 1.0;
          parts = to_partial(w, {"x"});
        });
        DistArray last = 1.0 * parts;
        return last.to_host();
      };
      auto const plain = run([&](auto const& body) {
        for (int s = 0; s < steps; ++s) body();
      });
      CHECK(run([&](auto const& body) { iterate(steps, body); }) == plain);
      CHECK(run([&](auto const& body) {
              auto program = record(body);
              program.run(steps);
              CHECK(program.explain().mode == LoopMode::plainly);
            }) == plain);
    }
}

TEST_CASE("a replayed loop writes no array between its fences" * test::host_only()) {
  auto const start = iota<double>({24}, {Mesh({{"x", device_count()}}), P("x")});
  DistArray a(start), b(start), c(start);
  fence(c);
  // After two steps by the body, six are replayed: a period of the arrays' roles.
  CHECK_THROWS_AS(iterate(8,
                          [&] {
                            a = a - 0.01 * sum(a, fast);
                            std::swap(a, b);
                            std::swap(b, c);
                          }),
                  UsageError);
  fence(a);  // two steps later
}

TEST_SUITE_END();
