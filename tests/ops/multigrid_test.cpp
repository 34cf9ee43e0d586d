#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"
#include "tessera/runtime/budget.hpp"

#include "src/base/text.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;
using test::row;
using test::scrambled;
using test::sent_by;
using test::spread_out;

/// A coarse mesh over a fine one: reads and writes with a step.
TEST_SUITE_BEGIN("ops/multigrid");

namespace {

using Cells = test::Mirror<double>;
constexpr std::int64_t word = 8;

Range const inner = range(1, -1);
Range const even = range(none, none, 2), odd = range(1, none, 2);
Range const lower = range(0, -1), upper = from(1);
// Of the fine cells around each inner coarse one: before it, at its place and behind it.
Range const before = range(1, -3, 2), at = range(2, -2, 2), behind = range(3, none, 2);

void restrict_row(DistArray<double, 1> const& fine, DistArray<double, 1>& coarse) {
  coarse(inner) = 0.3 * fine(before) + 0.5 * fine(at) + 0.2 * fine(behind);
}
void restrict_row(Cells const& fine, Cells& coarse) {
  for (std::int64_t i = 1; i + 1 < coarse.shape[0]; ++i)
    coarse.at({i}) =
        0.3 * fine.at({2 * i - 1}) + 0.5 * fine.at({2 * i}) + 0.2 * fine.at({2 * i + 1});
}

void prolong_row(DistArray<double, 1> const& coarse, DistArray<double, 1>& fine) {
  fine(even) = fine(even) + coarse;
  fine(odd) += 0.3 * coarse(lower) + 0.7 * coarse(upper);
}
void prolong_row(Cells const& coarse, Cells& fine) {
  for (std::int64_t i = 0; i < fine.shape[0]; ++i)
    fine.at({i}) +=
        i % 2 == 0 ? coarse.at({i / 2}) : 0.3 * coarse.at({i / 2}) + 0.7 * coarse.at({i / 2 + 1});
}

// Both ways between three meshes, twice.
template <class Array>
void cycle_rows(std::vector<Array>& meshes) {
  for (int cycle = 0; cycle < 2; ++cycle) {
    for (std::size_t m = 0; m + 1 < meshes.size(); ++m) restrict_row(meshes[m], meshes[m + 1]);
    for (std::size_t m = meshes.size() - 1; m > 0; --m) prolong_row(meshes[m], meshes[m - 1]);
  }
}

// 27 points around each inner coarse cell, each read once.
void restrict_cube(DistArray<double, 3> const& fine, DistArray<double, 3>& coarse) {
  auto const line = [&](Range const& x, Range const& y) {
    return 0.3 * fine(x, y, before) + 0.5 * fine(x, y, at) + 0.2 * fine(x, y, behind);
  };
  auto const plane = [&](Range const& x) {
    return 0.3 * line(x, before) + 0.5 * line(x, at) + 0.2 * line(x, behind);
  };
  coarse(inner, inner, inner) = 0.3 * plane(before) + 0.5 * plane(at) + 0.2 * plane(behind);
}
void restrict_cube(Cells const& fine, Cells& coarse) {
  auto const weighted = [](auto const& f, std::int64_t i) {
    return 0.3 * f(2 * i - 1) + 0.5 * f(2 * i) + 0.2 * f(2 * i + 1);
  };
  test::for_each_cell(
      {{1, 1, 1}, {coarse.shape[0] - 1, coarse.shape[1] - 1, coarse.shape[2] - 1}},
      [&](Index const& i) {
        auto const plane = [&](std::int64_t x) {
          auto const line = [&](std::int64_t y) {
            return weighted([&](std::int64_t z) { return fine.at({x, y, z}); }, i[2]);
          };
          return weighted(line, i[1]);
        };
        coarse.at(i) = weighted(plane, i[0]);
      });
}

// Shardings that cut both meshes alike, those that do not match in any place, and cuts that have
// nothing to do with each other.
std::vector<std::pair<NamedSharding, NamedSharding>> pairs_of_rows() {
  std::vector<std::pair<NamedSharding, NamedSharding>> pairs;
  for (std::int64_t const devices : {1, 2, 3, 4, 5, 8}) {
    pairs.emplace_back(over(devices), over(devices));
    NamedSharding const rounded{row(devices), P("x"), Cut::ceil()};
    pairs.emplace_back(rounded, rounded);
  }
  NamedSharding const scattered{Mesh({5, 2, 7, 0}, {4}, {"x"}), P("x")};
  NamedSharding const dealt{row(3), P("x"), Cut::cyclic(2)};
  NamedSharding const everywhere{row(8), P(none)};
  pairs.emplace_back(scattered, scattered);
  pairs.emplace_back(dealt, dealt);
  pairs.emplace_back(over(4), everywhere);
  pairs.emplace_back(everywhere, over(4));
  pairs.emplace_back(over(3), over(8));
  pairs.emplace_back(over(4), scattered);
  return pairs;
}

}  // namespace

TEST_CASE("cycles over three meshes have the bits of serial loops on any devices") {
  for (std::int64_t const extent : {33, 17, 9, 5})
    for (auto const& [fine, coarse] : pairs_of_rows()) {
      CAPTURE(extent);
      CAPTURE(fine);
      CAPTURE(coarse);
      std::vector<Cells> expected{scrambled<double>({extent}),
                                  scrambled<double>({(extent + 1) / 2}),
                                  scrambled<double>({(extent + 3) / 4})};
      std::vector<DistArray<double, 1>> meshes{spread_out<double, 1>(expected[0], fine),
                                               spread_out<double, 1>(expected[1], coarse),
                                               spread_out<double, 1>(expected[2], fine)};

      cycle_rows(meshes);
      cycle_rows(expected);

      for (std::size_t m = 0; m < meshes.size(); ++m) CHECK_ALL(holds(meshes[m], expected[m]));
    }
}

TEST_CASE("meshes in units of the coarsest cells match on any number of devices") {
  for (std::int64_t const devices : {2, 3, 5, 7, 8})
    for (std::int64_t const extent : {61, 33, 17, 9}) {
      CAPTURE(devices);
      CAPTURE(extent);
      std::vector<Cells> expected;
      std::vector<DistArray<double, 1>> meshes;
      for (std::int64_t const unit : {4, 2, 1}) {
        expected.push_back(scrambled<double>({(extent - 1) * unit / 4 + 1}));
        NamedSharding const cut{row(devices), P("x"), Cut::unit(unit)};
        meshes.push_back(spread_out<double, 1>(expected.back(), cut));
      }
      CommunicationBudget const budget({.gathers = 0});

      cycle_rows(meshes);
      cycle_rows(expected);

      for (std::size_t m = 0; m < meshes.size(); ++m) CHECK_ALL(holds(meshes[m], expected[m]));
    }
}

//            device 0        device 1    device 2    device 3
//  fine      [0 1 2 3 4]     [5 6 7 8]   [9 .. 12]   [13 .. 16]
//  coarse    [0   1   2]     [  3   4]   [  5   6]   [  7    8]

TEST_CASE("a mesh of 2^k + 1 cells sends a cell to a neighbour, and gathers nothing") {
  for (std::int64_t const devices : {2, 4, 8}) {
    CAPTURE(devices);
    auto fine = spread_out<double, 1>(scrambled<double>({65}), over(devices));
    auto coarse = zeros<double>({33}, over(devices));
    CommunicationBudget const budget({.gathers = 0});
    auto const neighbours = devices - 1;

    for (int cycle = 0; cycle < 3; ++cycle) {
      CHECK(sent_by([&] { coarse(inner) = fine(before) + fine(at); }).messages == 0);
      auto const down = sent_by([&] { restrict_row(fine, coarse); });
      CHECK(down.messages == neighbours);
      CHECK(down.bytes == neighbours * word);
      CHECK(sent_by([&] { fine(even) += coarse; }).messages == 0);
      auto const up = sent_by([&] { fine(odd) += 0.3 * coarse(lower) + 0.7 * coarse(upper); });
      CHECK(up.messages == neighbours);
      CHECK(up.bytes == neighbours * word);
      CHECK(sent_by([&] { fine(odd) += coarse(lower); }).messages == 0);  // they are still valid
    }
  }
}

TEST_CASE("explain calls such reads halos, and nothing where nothing is sent") {
  auto fine = spread_out<double, 1>(scrambled<double>({17}), over(4));
  auto coarse = zeros<double>({9}, over(4));
  using Cause = Communication::Cause;

  auto const down = explain([&] { restrict_row(fine, coarse); });
  auto const up = explain([&] { prolong_row(coarse, fine); });
  auto const copied = explain([&] { fine(even) = coarse; });

  CHECK_ALL(down.has(Cause::halo) && !down.has(Cause::gather));
  CHECK_ALL(up.has(Cause::halo) && !up.has(Cause::gather));
  CHECK_ALL(!copied.has(Cause::halo) && !copied.has(Cause::gather));
  auto const reads = text(down);
  CAPTURE(reads);
  CHECK_ALL(reads.find("reads (2 i0 + 1) with ghost cells (0,) below, (0,) above") !=
            std::string::npos);
  CHECK_ALL(reads.find("reads (2 i0 + 3) with ghost cells (0,) below, (1,) above") !=
            std::string::npos);
  CHECK_ALL(text(copied).find("nothing to send; reads (i0)") != std::string::npos);
}

TEST_CASE("meshes that do not match within the ghost cells are gathered still") {
  // 5: 1 1 1 1 1 0 0 0 under 9: 2 1 1 1 1 1 1 1
  auto const fine = spread_out<double, 1>(scrambled<double>({9}), over(8));
  auto coarse = zeros<double>({5}, over(8));

  CHECK_ALL(explain([&] { restrict_row(fine, coarse); }).has(Communication::Cause::gather));
}

TEST_CASE("27 points around a coarse cell send each fine cell once") {
  auto const cells = scrambled<double>({17, 17, 17});
  Mesh const grid({{"a", 2}, {"b", 4}});
  for (auto const& sharding :
       {NamedSharding(row(1), P(none, none, none)), NamedSharding(row(8), P("x", none, none)),
        NamedSharding(row(4), P(none, "x", none)), NamedSharding(row(4), P(none, none, "x")),
        NamedSharding(grid, P("b", "a", none)), NamedSharding(grid, P(none, "b", "a"))}) {
    CAPTURE(sharding);
    auto expected = scrambled<double>({9, 9, 9});
    auto const fine = spread_out<double, 3>(cells, sharding);
    auto coarse = spread_out<double, 3>(expected, sharding);
    CommunicationBudget const budget({.gathers = 0});

    auto const sent = sent_by([&] { restrict_cube(fine, coarse); });

    restrict_cube(cells, expected);
    CHECK_ALL(holds(coarse, expected));
    // 15 of 17 cells are read along each dimension.
    if (sharding == NamedSharding(row(8), P("x", none, none))) {
      CHECK(sent.messages == 7);
      CHECK(sent.bytes == 7 * 15 * 15 * word);
    }
  }
}

TEST_CASE("a plane of cells is prolonged along both dimensions") {
  for (auto const& sharding : {over(1, 1), over(2, 4), over(4, 2), over(8, 1)}) {
    CAPTURE(sharding);
    auto expected = scrambled<double>({17, 33});
    auto const below = scrambled<double>({9, 17});
    auto fine = spread_out<double, 2>(expected, sharding);
    auto const coarse = spread_out<double, 2>(below, sharding);
    CommunicationBudget const budget({.gathers = 0});

    fine(even, even) += coarse;
    fine(odd, even) += 0.3 * (coarse(lower, all) + coarse(upper, all));
    fine(even, odd) += 0.3 * (coarse(all, lower) + coarse(all, upper));
    fine(odd, odd) += 0.1 * (coarse(lower, lower) + coarse(upper, upper));

    test::for_each_cell(whole(expected.shape), [&](Index const& i) {
      Index const low{i[0] / 2, i[1] / 2};
      Index const high{(i[0] + 1) / 2, (i[1] + 1) / 2};
      bool const is_coarse = low == high;
      bool const is_centre = i[0] % 2 == 1 && i[1] % 2 == 1;
      expected.at(i) +=
          is_coarse ? below.at(low) : (is_centre ? 0.1 : 0.3) * (below.at(low) + below.at(high));
    });
    CHECK_ALL(holds(fine, expected));
  }
}

TEST_CASE("cells halved evenly are read with a step past every kind of edge") {
  auto const cells = scrambled<double>({48});
  auto const halves = cells.slice({{0, 2, 24}});
  auto const thirds = cells.slice({{1, 2, 24}});
  std::vector<std::pair<Boundary, test::Edge>> const kinds{
      {periodic, {BoundaryKind::periodic}},
      {constant(4), {BoundaryKind::constant, 4}},
      {edge, {BoundaryKind::edge}},
      {reflect, {BoundaryKind::reflect}},
      {symmetric, {BoundaryKind::symmetric}}};
  for (std::int64_t const devices : {1, 2, 4, 5, 8})
    for (auto const& [boundary, mirrored] : kinds)
      for (std::int64_t const by : {-3, -1, 1, 2}) {
        CAPTURE(devices);
        CAPTURE(by);
        auto const fine = spread_out<double, 1>(cells, over(devices));
        auto coarse = zeros<double>({24}, over(devices));
        std::vector<test::Edges> const edges{{mirrored, mirrored}};

        coarse = shift(fine(even), {by}, boundary);
        CHECK_ALL(holds(coarse, halves.shifted({by}, edges)));
        coarse = shift(fine(odd), {by}, boundary);
        CHECK_ALL(holds(coarse, thirds.shifted({by}, edges)));

        auto wide = spread_out<double, 1>(cells, over(devices));
        auto expected = cells;
        wide(odd) += shift(coarse, {by}, boundary);
        auto const added = thirds.shifted({by}, edges).shifted({by}, edges);
        for (std::int64_t i = 0; i < 24; ++i) expected.at({2 * i + 1}) += added.at({i});
        CHECK_ALL(holds(wide, expected));
      }
}

TEST_CASE("a statement that steps through the array that it writes reads it as it was") {
  auto const cells = scrambled<double>({34});
  for (auto const& sharding : test::layouts_of_row(34)) {
    CAPTURE(sharding);
    auto u = spread_out<double, 1>(cells, sharding);
    auto expected = cells;
    auto const check = [&](Cells const& now) {
      CHECK_ALL(holds(u, now));
      expected = now;
    };
    auto const changed = [&](auto const& f) {
      auto now = expected;
      for (std::int64_t i = 0; i < 17; ++i) f(now, i);
      return now;
    };

    u(even) = 0.3 * u(even) + u(odd);
    check(changed([&](Cells& now, std::int64_t i) {
      now.at({2 * i}) = 0.3 * expected.at({2 * i}) + expected.at({2 * i + 1});
    }));
    u(range(0, 17)) = 0.3 * u(even);
    check(changed([&](Cells& now, std::int64_t i) { now.at({i}) = 0.3 * expected.at({2 * i}); }));
    u(odd) = u(range(0, 17)) + u(range(17, none));
    check(changed([&](Cells& now, std::int64_t i) {
      now.at({2 * i + 1}) = expected.at({i}) + expected.at({i + 17});
    }));
    u(range(17, none)) += u(odd);
    check(
        changed([&](Cells& now, std::int64_t i) { now.at({i + 17}) += expected.at({2 * i + 1}); }));
  }
}

TEST_CASE("what was read with a step is read anew after a write") {
  auto cells = scrambled<double>({33});
  auto fine = spread_out<double, 1>(cells, over(4));
  auto expected = scrambled<double>({17});
  auto coarse = spread_out<double, 1>(expected, over(4));
  for (std::int64_t i = 0; i < 33; i += 3) {
    restrict_row(fine, coarse);
    restrict_row(cells, expected);
    CHECK_ALL(holds(coarse, expected));
    fine(i) = -1.0;
    cells.at({i}) = -1.0;
    fine(inner) = 0.5 * (fine(range(0, -2)) + fine(from(2)));
    auto const old = cells;
    for (std::int64_t j = 1; j < 32; ++j) cells.at({j}) = 0.5 * (old.at({j - 1}) + old.at({j + 1}));
  }
}

TEST_SUITE_END();
