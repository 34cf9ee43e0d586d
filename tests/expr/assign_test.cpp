#include "tessera/detail/array/evaluate/assign.hpp"

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"

#include "support/arrays.hpp"
#include "support/left_out.hpp"

using namespace tessera;
using test::holds;
using test::Mirror;
using test::over;
using test::Spans;

TEST_SUITE_BEGIN("expr/assign");

namespace {

Range const inner = range(1, -1), left = range(0, -2), right = from(2);

using Doubles = std::vector<double>;

void step_serially(Doubles& u) {
  auto const before = u;
  for (std::size_t i = 1; i + 1 < u.size(); ++i)
    u[i] = 0.8 * before[i] + 0.1 * before[i - 1] + 0.1 * before[i + 1];
}

}  // namespace

TEST_CASE("heat spreads by the numbers of a page of paper") {
  for (std::int64_t const devices : {1, 2, 4, 8}) {
    CAPTURE(devices);
    auto u = from_index<double>({8}, over(devices), [](auto i) { return i[0] == 4 ? 1.0 : 0.0; });

    u(inner) = 0.5 * u(inner) + 0.25 * u(left) + 0.25 * u(right);
    CHECK_ALL(holds(u, Doubles{0, 0, 0, .25, .5, .25, 0, 0}));

    u(inner) = 0.5 * u(inner) + 0.25 * u(left) + 0.25 * u(right);
    CHECK_ALL(holds(u, Doubles{0, 0, .0625, .25, .375, .25, .0625, 0}));
  }
}

TEST_CASE("a thousand steps of heat have the bits of a serial loop on any number of devices") {
  for (std::int64_t const cells : {5, 100}) {
    Doubles serial(static_cast<std::size_t>(cells + 2), 0.0);
    serial[static_cast<std::size_t>(cells / 2)] = 1.0;
    auto const start = serial;
    for (int s = 0; s < 1000; ++s) step_serially(serial);
    for (std::int64_t const devices : {1, 2, 3, 4, 8}) {
      CAPTURE(devices);
      auto u = from_host(start, {cells + 2}, over(devices));
      for (int s = 0; s < 1000; ++s) u(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right);
      CHECK_ALL(holds(u, serial));
    }
  }
}

TEST_CASE("the right side is read in full before a cell is written") {
  for (std::int64_t const extent : {0, 1, 2, 3, 9, 16})
    for (auto const& sharding : test::layouts_of_row(extent)) {
      CAPTURE(extent);
      CAPTURE(sharding);
      auto m = test::scrambled<double>({extent});
      auto u = test::spread_out<double, 1>(m, sharding);
      auto const count = std::max<std::int64_t>(extent - 1, 0);
      auto const begin = std::min<std::int64_t>(extent, 1);

      u(range(1, none)) = u(range(0, -1));
      m.assign({{begin, 1, count}}, m.slice({{0, 1, count}}));
      CHECK_ALL(holds(u, m));

      u(range(0, -1)) = u(range(1, none));
      m.assign({{0, 1, count}}, m.slice({{begin, 1, count}}));
      CHECK_ALL(holds(u, m));

      u(range(1, none)) = u(range(0, -1)) - 0.3 * u(range(1, none));
      auto const to = m.slice({{begin, 1, count}});
      auto const from_left = m.slice({{0, 1, count}});
      m.assign({{begin, 1, count}},
               test::combined<double>(
                   {count}, [](double x, double y) { return x - 0.3 * y; }, from_left, to));
      CHECK_ALL(holds(u, m));
    }
}

TEST_CASE("overlapping planes are copied as if the source had been set aside") {
  for (auto const& sharding : test::layouts_of_plane(7, 10)) {
    CAPTURE(sharding);
    auto m = test::scrambled<double>({7, 10});
    auto u = test::spread_out<double, 2>(m, sharding);
    Spans const low{{0, 1, 5}, {0, 1, 7}};
    Spans const high{{2, 1, 5}, {3, 1, 7}};
    Spans const mixed{{2, 1, 5}, {0, 1, 7}};

    u(from(2), from(3)) = u(range(0, 5), range(0, 7));
    m.assign(high, m.slice(low));
    CHECK_ALL(holds(u, m));

    u(range(0, 5), from(3)) = u(from(2), range(0, 7));
    m.assign({{0, 1, 5}, {3, 1, 7}}, m.slice(mixed));
    CHECK_ALL(holds(u, m));

    // A few cells only: less than half of a shard, so a temporary instead of the second buffer.
    u(range(1, 3), range(1, 3)) = u(range(0, 2), range(0, 2));
    m.assign({{1, 1, 2}, {1, 1, 2}}, m.slice({{0, 1, 2}, {0, 1, 2}}));
    CHECK_ALL(holds(u, m));
  }
}

TEST_CASE("red cells are made of black ones in place") {
  for (std::int64_t const extent : {9, 10, 17})
    for (auto const& sharding : test::layouts_of_row(extent)) {
      CAPTURE(extent);
      CAPTURE(sharding);
      auto m = test::scrambled<double>({extent});
      auto u = test::spread_out<double, 1>(m, sharding);
      auto const odd = (extent - 1) / 2;   // cells 1, 3, … with two neighbours
      auto const even = (extent - 2) / 2;  // cells 2, 4, …
      auto const mean = [](double x, double y) { return 0.3 * x + 0.7 * y; };
      for (int s = 0; s < 3; ++s) {
        u(range(1, -1, 2)) = 0.3 * u(range(0, -2, 2)) + 0.7 * u(range(2, none, 2));
        u(range(2, -1, 2)) = 0.3 * u(range(1, -2, 2)) + 0.7 * u(range(3, none, 2));
        m.assign({{1, 2, odd}}, test::combined<double>({odd}, mean, m.slice({{0, 2, odd}}),
                                                       m.slice({{2, 2, odd}})));
        m.assign({{2, 2, even}}, test::combined<double>({even}, mean, m.slice({{1, 2, even}}),
                                                        m.slice({{3, 2, even}})));
      }
      CHECK_ALL(holds(u, m));
    }
}

TEST_CASE("red and black cells on a ring") {
  for (auto const& sharding : test::layouts_of_row(12)) {
    CAPTURE(sharding);
    auto m = test::scrambled<double>({12});
    auto u = test::spread_out<double, 1>(m, sharding);
    auto const red = u(range(0, none, 2));
    auto const black = u(range(1, none, 2));
    Spans const at_red{{0, 2, 6}};
    Spans const at_black{{1, 2, 6}};
    std::vector<test::Edges> const ring{{test::Edge{}, test::Edge{}}};
    auto const mean = [](double x, double y) { return 0.3 * x + 0.7 * y; };
    for (int s = 0; s < 3; ++s) {
      red = 0.3 * shift(black, -1, periodic) + 0.7 * black;
      black = 0.3 * red + 0.7 * shift(red, 1, periodic);
      auto const b = m.slice(at_black);
      m.assign(at_red, test::combined<double>({6}, mean, b.shifted({-1}, ring), b));
      auto const r = m.slice(at_red);
      m.assign(at_black, test::combined<double>({6}, mean, r, r.shifted({1}, ring)));
    }
    CHECK_ALL(holds(u, m));
  }
}

TEST_CASE("the second buffer takes over what small writes in place changed between swaps") {
  for (auto const& sharding : test::layouts_of_row(20)) {
    CAPTURE(sharding);
    auto m = test::scrambled<double>({20});
    auto u = test::spread_out<double, 1>(m, sharding);
    for (std::int64_t s = 0; s < 8; ++s) {
      u(inner) = 0.3 * u(left) + 0.1 * u(right);
      m.assign({{1, 1, 18}}, test::combined<double>(
                                 {18}, [](double x, double y) { return 0.3 * x + 0.1 * y; },
                                 m.slice({{0, 1, 18}}), m.slice({{2, 1, 18}})));
      u(0) = 1.5 * static_cast<double>(s);
      m.cells[0] = 1.5 * static_cast<double>(s);
      for (std::int64_t k = 0; k < s; ++k) {  // up to seven boxes apart: more than the list holds
        u(range(2 + 2 * k, 3 + 2 * k)) = -1.0 * static_cast<double>(k);
        m.assign({{2 + 2 * k, 1, 1}}, Mirror<double>({1}, -1.0 * static_cast<double>(k)));
      }
      if (s % 3 == 2) {
        u(range(0, none, 3)) = u(range(0, none, 3)) * 0.7;
        m.assign({{0, 3, 7}}, test::combined<double>(
                                  {7}, [](double x) { return x * 0.7; }, m.slice({{0, 3, 7}})));
      }
      u(range(3, none)) = u(range(0, -3));
      m.assign({{3, 1, 17}}, m.slice({{0, 1, 17}}));
    }
    CHECK_ALL(holds(u, m));
  }
}

TEST_CASE("cells between those that a statement writes are taken over by the second buffer") {
  for (std::int64_t const devices : {1, 2}) {
    CAPTURE(devices);
    auto m = test::scrambled<double>({20});
    auto u = test::spread_out<double, 1>(m, over(devices));

    u(inner) = 0.3 * u(left) + 0.1 * u(right);  // from now on the buffers differ
    m.assign({{1, 1, 18}}, test::combined<double>(
                               {18}, [](double x, double y) { return 0.3 * x + 0.1 * y; },
                               m.slice({{0, 1, 18}}), m.slice({{2, 1, 18}})));
    auto const even = u(range(0, none, 2));
    even = 0.7 * shift(even, 1, periodic);
    m.assign({{0, 2, 10}}, test::combined<double>(
                               {10}, [](double x) { return 0.7 * x; },
                               m.slice({{0, 2, 10}}).shifted({1}, {{test::Edge{}, test::Edge{}}})));

    CHECK_ALL(holds(u, m));
  }
}

TEST_CASE("more small writes than the list of a second buffer holds are all taken over") {
  for (std::int64_t const devices : {1, 2}) {
    CAPTURE(devices);
    auto m = test::scrambled<double>({40});
    auto u = test::spread_out<double, 1>(m, over(devices));
    auto const near = [&](std::int64_t first) {  // moves most cells of a device by one
      u(range(first, first + 12)) = u(range(first + 1, first + 13));
      m.assign({{first, 1, 12}}, m.slice({{first + 1, 1, 12}}));
    };
    for (std::int64_t s = 0; s < 4; ++s) {
      near(0);
      near(20);
      if (devices == 1) {
        u(range(0, 24)) = u(range(2, 26));
        m.assign({{0, 1, 24}}, m.slice({{2, 1, 24}}));
      }
      for (auto const cell : {13, 15, 17, 19, 34, 36, 38, 26, 28, 30, 32}) {
        u(cell) = static_cast<double>(100 * s + cell);
        m.cells[static_cast<std::size_t>(cell)] = static_cast<double>(100 * s + cell);
      }
    }
    near(0);
    near(20);
    CHECK_ALL(holds(u, m));
  }
}

TEST_CASE("cells go from any layout to any other by assignment") {
  auto const m = test::scrambled<double>({7, 10});
  auto const layouts = test::layouts_of_plane(7, 10);
  for (auto const& from_layout : layouts)
    for (auto const& to_layout : layouts) {
      CAPTURE(from_layout);
      CAPTURE(to_layout);
      auto const u = test::spread_out<double, 2>(m, from_layout);
      auto v = zeros<double>({7, 10}, to_layout);
      auto part = Mirror<double>({7, 10}, -2.0);
      part.assign({{1, 2, 3}, {2, 1, 7}}, m.slice({{0, 1, 3}, {1, 1, 7}}));

      v(tessera::all, tessera::all) = u;
      CHECK_ALL(holds(v, m));

      v = -2.0;
      v(range(1, none, 2), range(2, 9)) = u(range(0, 3), range(1, 8));
      CHECK_ALL(holds(v, part));
    }
}

TEST_CASE("a replicated array is cut without a message and put together with some") {
  auto const m = test::scrambled<double>({16});
  auto const copies = test::spread_out<double, 1>(m, {test::row(8), P(none)});
  auto cut = zeros<double>({16}, over(8));
  auto again = zeros<double>({16}, copies.sharding());

  auto const there = test::sent_by([&] { cut = 1.0 * copies; });
  auto const back = test::sent_by([&] { again = 1.0 * cut; });

  CHECK(there.messages == 0);
  CHECK(back.messages == 8 * 7);
  CHECK(back.bytes == 8 * 14 * 8);
  CHECK_ALL(holds(again, m));
}

TEST_CASE("cells go between meshes that share no device") {
  if (test::left_out_if(device_count() < 8, "it needs 8 devices")) return;
  auto const m = test::scrambled<double>({11});
  auto const u = test::spread_out<double, 1>(m, {Mesh({0, 2, 4}, {3}, {"x"}), P("x")});
  auto v = zeros<double>({11}, {Mesh({7, 1, 5, 3}, {4}, {"x"}), P("x")});

  v(range(1, none)) = u(range(0, -1)) + u(range(1, none));
  v(0) = u(10);

  auto wanted = Mirror<double>({11});
  for (std::size_t i = 1; i < 11; ++i) wanted.cells[i] = m.cells[i - 1] + m.cells[i];
  wanted.cells[0] = m.cells[10];
  CHECK_ALL(holds(v, wanted));
}

TEST_CASE("extents of one repeat and missing dimensions lead") {
  auto const plane = test::scrambled<double>({5, 6});
  auto const line = test::scrambled<double>({6});
  for (auto const& sharding : test::layouts_of_plane(5, 6))
    for (auto const& of_line : test::layouts_of_row(6)) {
      CAPTURE(sharding);
      CAPTURE(of_line);
      auto u = test::spread_out<double, 2>(plane, sharding);
      auto const v = test::spread_out<double, 1>(line, of_line);
      auto m = plane;

      u = u + v;
      m.assign(m.all(), test::combined<double>(
                            m.shape, [](double x, double y) { return x + y; }, m, line));
      CHECK_ALL(holds(u, m));

      u = u - u(tessera::all, range(2, 3)) * u(range(1, 2), tessera::all);
      m.assign(m.all(), test::combined<double>(
                            m.shape, [](double x, double y, double z) { return x - y * z; }, m,
                            m.slice({{0, 1, 5}, {2, 1, 1}}), m.slice({{1, 1, 1}, {0, 1, 6}})));
      CHECK_ALL(holds(u, m));

      u(tessera::all, 3) = v(range(0, 5));
      for (std::int64_t i = 0; i < 5; ++i) m.at({i, 3}) = line.at({i});
      CHECK_ALL(holds(u, m));

      u(1, tessera::all) = v;
      u(from(3), tessera::all) = v;
      m.assign({{1, 1, 1}, {0, 1, 6}}, line);
      m.assign({{3, 1, 2}, {0, 1, 6}}, line);
      CHECK_ALL(holds(u, m));
    }
}

TEST_SUITE_END();
