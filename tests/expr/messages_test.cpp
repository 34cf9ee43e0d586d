#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;
using test::sent_by;

/// What is sent: no more than the difference of needs and owns, and nothing twice.
TEST_SUITE_BEGIN("expr/messages");

namespace {

Range const inner = range(1, -1), left = range(0, -2), right = from(2);
constexpr std::int64_t word = 8;

// Serial cells of a row.
using Doubles = std::vector<double>;

Doubles numbers(std::size_t count) {
  return test::scrambled<double>({static_cast<std::int64_t>(count)}).cells;
}

}  // namespace

TEST_CASE("heat sends one cell to each neighbour and step, and is planned once") {
  auto u = iota<double>({82}, over(8));
  auto const step = [&] { u(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right); };

  for (int s = 0; s < 4; ++s) {
    CAPTURE(s);
    auto const sent = sent_by(step);
    CHECK(sent.messages == 14);
    CHECK(sent.bytes == 14 * word);
    if (s > 0) CHECK(sent.plans_made == 0);
  }
}

TEST_CASE("ghost cells that are still valid are not sent again") {
  auto u = iota<double>({80}, over(8));
  auto v = zeros<double>({80}, over(8));
  auto const read = [&] { v(inner) = u(left) + u(right); };

  CHECK(sent_by(read).messages == 14);
  CHECK(sent_by(read).messages == 0);

  u(5) = -1.0;  // nobody's ghost cell
  CHECK(sent_by(read).messages == 0);

  u(9) = -2.0;  // the last cell of device 0: a ghost cell of device 1
  auto const again = sent_by(read);
  CHECK(again.messages == 1);
  CHECK(again.bytes == word);

  u = u * 0.7;  // all cells, in place
  CHECK(sent_by(read).messages == 14);

  auto cells = iota<double>({80}, over(1)).to_host();
  cells[5] = -1.0;
  cells[9] = -2.0;
  for (auto& c : cells) c *= 0.7;
  Doubles wanted(80, 0.0);
  for (std::size_t i = 1; i < 79; ++i) wanted[i] = cells[i - 1] + cells[i + 1];
  CHECK_ALL(holds(v, wanted));
}

TEST_CASE("a narrow refill does not make wide ghost cells valid") {
  auto cells = numbers(64);
  auto u = from_host(cells, {64}, over(8));
  auto v = zeros<double>({64}, over(8));
  auto w = zeros<double>({64}, over(8));
  auto const wide = [&] { v(range(2, -2)) = u(range(0, -4)) + u(from(4)); };
  auto const narrow = [&] { w(inner) = u(left) + u(right); };

  CHECK(sent_by(wide).bytes == 14 * 2 * word);
  u = u * 0.3;
  CHECK(sent_by(narrow).bytes == 14 * word);
  auto const again = sent_by(wide);
  CHECK(again.messages == 14);
  CHECK(again.bytes == 14 * word);

  for (auto& c : cells) c *= 0.3;
  Doubles wanted(64, 0.0);
  for (std::size_t i = 2; i < 62; ++i) wanted[i] = cells[i - 2] + cells[i + 2];
  CHECK_ALL(holds(v, wanted));
}

TEST_CASE("a write to the far end makes the periodic images stale") {
  auto cells = numbers(24);
  auto u = from_host(cells, {24}, over(8));
  auto v = zeros<double>({24}, over(8));
  auto const turn = [&] { v = shift(u, -1, periodic) + shift(u, 1, periodic); };

  CHECK(sent_by(turn).messages == 16);
  u(23) = 0.5;
  CHECK(sent_by(turn).messages == 1);
  u(0) = 0.25;
  CHECK(sent_by(turn).messages == 1);

  cells[23] = 0.5;
  cells[0] = 0.25;
  Doubles wanted(24);
  for (std::size_t i = 0; i < 24; ++i) wanted[i] = cells[(i + 23) % 24] + cells[(i + 1) % 24];
  CHECK_ALL(holds(v, wanted));
}

TEST_CASE("ghost cells of several readers and writers stay right over many rounds") {
  auto cells = numbers(40);
  auto u = from_host(cells, {40}, over(8));
  auto v = zeros<double>({40}, over(8));
  Doubles sums(40, 0.0);
  auto const at = [&](std::size_t i) { return cells[i % 40]; };
  for (std::size_t s = 0; s < 30; ++s) {
    auto const reach = static_cast<std::int64_t>(s % 4);
    v = v + 0.3 * shift(u, reach, periodic) + 0.1 * shift(u, -reach, periodic);
    for (std::size_t i = 0; i < 40; ++i)
      sums[i] = sums[i] + 0.3 * at(i + s % 4) + 0.1 * at(i + 40 - s % 4);
    auto const where = static_cast<std::int64_t>(s * 7 % 40);
    u(where) = static_cast<double>(s);
    cells[static_cast<std::size_t>(where)] = static_cast<double>(s);
  }
  CHECK_ALL(holds(v, sums));
}

TEST_CASE("a five-point stencil sends nothing diagonally") {
  auto u = iota<double>({8, 16}, over(2, 4));
  auto v = zeros<double>({8, 16}, over(2, 4));

  auto const sent = sent_by([&] {
    v(inner, inner) = u(left, inner) + u(right, inner) + u(inner, left) + u(inner, right);
  });

  // Two rows and four columns of 4 by 4 cells, without the rim of the plane.
  CHECK(sent.messages == 2 * (2 * 3) + 2 * 4);
  CHECK(sent.bytes == (2 * (3 + 4 + 4 + 3) + 2 * 2 * 3 * 3) * word);
}

TEST_CASE("a nine-point stencil also sends the corners") {
  auto u = iota<double>({8, 16}, over(2, 4));
  auto v = zeros<double>({8, 16}, over(2, 4));

  auto const sent = sent_by([&] {
    v(inner, inner) = u(left, left) + u(right, right) + u(left, right) + u(right, left) +
                      u(left, inner) + u(right, inner) + u(inner, left) + u(inner, right);
  });

  CHECK(sent.messages == 2 * (2 * 3) + 2 * 4 + 2 * 6);
}

TEST_CASE("on a small torus a device sends one message to each of its neighbours") {
  auto u = iota<double>({8, 16}, over(2, 4));
  auto v = zeros<double>({8, 16}, over(2, 4));
  auto const near = [&](std::int64_t y, std::int64_t x) { return shift(u, {y, x}, periodic); };

  auto const sent = sent_by([&] {
    v = near(-1, -1) + near(-1, 0) + near(-1, 1) + near(0, -1) + near(0, 1) + near(1, -1) +
        near(1, 0) + near(1, 1);
  });

  // The row above is the row below: five different neighbours.
  CHECK(sent.messages == 8 * 5);
  CHECK(sent.bytes == 8 * (4 * 4 + 4) * word);
}

TEST_CASE("ghost cells of several arrays share a message") {
  auto u = iota<double>({80}, over(8));
  auto v = iota<double>({80}, over(8));
  auto w = zeros<double>({80}, over(8));

  auto const sent = sent_by([&] { w(inner) = u(left) * v(left) + u(right) * v(right); });

  CHECK(sent.messages == 14);
  CHECK(sent.bytes == 2 * 14 * word);
}

TEST_CASE("cells that lie where they are needed are not sent") {
  auto u = iota<double>({33}, over(8));
  auto v = zeros<double>({33}, over(8));
  auto const corner = iota<double>({5, 33}, {Mesh({{"x", 8}}), P(none, "x")});

  auto const sent = sent_by([&] {
    v = 2 * u + 1;
    v(range(3, 20)) = u(range(3, 20)) * v(range(3, 20));
    v = corner(2, tessera::all);
    v(range(0, none, 4)) = 0.0;
    u = v;
  });

  CHECK(sent.messages == 0);
}

TEST_CASE("explain tells ghost cells from gathers and from nothing") {
  auto u = iota<double>({80}, over(8));
  auto v = zeros<double>({80}, over(8));
  auto const other = iota<double>({80}, over(3));
  using Cause = Communication::Cause;

  auto const halo = explain([&] { v(inner) = u(left) + u(right); });
  auto const gather = explain([&] { v = 1 * other; });
  auto const nothing = explain([&] { v = 2 * u; });

  CHECK_ALL(halo.statements.size() == 1 && halo.has(Cause::halo) && !halo.has(Cause::gather));
  CHECK_ALL(gather.has(Cause::gather) && !gather.has(Cause::halo));
  CHECK_ALL(!nothing.has(Cause::gather) && !nothing.has(Cause::halo) && nothing.messages() == 0);
  CHECK(test::total_over_processes(halo.messages()) == 14);
}

TEST_CASE("two arrays swapped in a loop are planned once each") {
  auto u = iota<double>({82}, over(8));
  auto v = iota<double>({82}, over(8));
  auto const step = [&] {
    v(inner) = u(inner) + 0.1 * (u(left) + u(right));
    std::swap(u, v);
  };
  for (int s = 0; s < 4; ++s) step();

  auto const later = sent_by([&] {
    for (int s = 0; s < 6; ++s) step();
  });

  CHECK(later.plans_made == 0);
  CHECK(later.messages == 6 * 14);
}

TEST_SUITE_END();
