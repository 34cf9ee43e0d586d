#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/tessera.hpp"

// Loops over arrays of several shapes, as staggered grids have them, run in blocks of steps with
// the bits of a plain loop.

using namespace tessera;

TEST_SUITE_BEGIN("program/staggered");

namespace {

auto const inner = range(1, -1);
auto const left = range(0, -1);
auto const right = from(1);

template <std::size_t N>
DistArray<double, N> bumps(std::array<std::int64_t, N> const& extents, NamedSharding const& cut) {
  return from_index<double>(extents, cut, [](auto i) {
    std::int64_t number = 1;
    for (std::size_t d = 0; d < N; ++d) number = (number * 1013 + i[d] * 7919) % 10'007;
    return static_cast<double>(number) / 10'007.0;
  });
}

NamedSharding pieces(Cut const& cut = Cut::balanced()) {
  return {Mesh({{"x", device_count()}}), P("x"), cut};
}

NamedSharding rows() {
  return {Mesh({{"x", device_count()}}), P("x", none)};
}

// Depths, tiles and overlap of every kind.
std::vector<LoopOptions> ways(std::size_t rank) {
  std::vector<LoopOptions> all{{}, {1, {}}, {2, {}}, {3, {}, true}, {7, {}}};
  for (std::int64_t const extent : {1, 3, 8, 1000}) all.push_back({5, Shape(rank, extent), true});
  return all;
}

// The fields of a loop over `body`, plain (how: null) or recorded.
template <class Body, class... Arrays>
std::vector<std::vector<double>> fields_after(std::int64_t steps, LoopOptions const* how,
                                              Body const& body, Arrays const&... arrays) {
  if (how == nullptr)
    for (std::int64_t s = 0; s < steps; ++s) body();
  else
    iterate(steps, body, *how);
  return {arrays.to_host()...};
}

// Sound in one dimension: a pressure per cell, a velocity per face, closed ends.
struct Sound {
  DistArray<double, 1> p, v;

  Sound(std::int64_t cells, Cut const& cut)
      : p(bumps<1>({cells}, pieces(cut))), v(bumps<1>({cells + 1}, pieces(cut))) {}
  void step() {
    v(inner) -= 0.4 * (p(right) - p(left));
    p -= 0.4 * (v(right) - v(left));
  }
};

std::vector<std::vector<double>> sound(std::int64_t cells, Cut const& cut, std::int64_t steps,
                                       LoopOptions const* how) {
  Sound waves(cells, cut);
  return fields_after(
      steps, how, [&] { waves.step(); }, waves.p, waves.v);
}

std::vector<std::vector<double>> shallow_water(std::int64_t height, std::int64_t width,
                                               std::int64_t steps, LoopOptions const* how) {
  auto h = bumps<2>({height, width}, rows());
  auto u = bumps<2>({height + 1, width}, rows());
  auto v = bumps<2>({height, width + 1}, rows());
  auto const body = [&] {
    u(inner, all) -= 0.2 * (h(right, all) - h(left, all));
    v(all, inner) -= 0.2 * (h(all, right) - h(all, left));
    h -= 0.2 * (u(right, all) - u(left, all) + v(all, right) - v(all, left));
  };
  return fields_after(steps, how, body, h, u, v);
}

// An electric field at corners, magnetic ones at edges, conducting walls; and a loss per corner
// that every device holds whole.
std::vector<std::vector<double>> maxwell(std::int64_t height, std::int64_t width,
                                         std::int64_t steps, LoopOptions const* how) {
  auto e = bumps<2>({height + 1, width + 1}, rows());
  auto hx = bumps<2>({height + 1, width}, rows());
  auto hy = bumps<2>({height, width + 1}, rows());
  auto const loss =
      bumps<2>({height + 1, width + 1}, {Mesh({{"x", device_count()}}), P(none, none)});
  auto const body = [&] {
    hx -= 0.4 * (e(all, right) - e(all, left));
    hy += 0.4 * (e(right, all) - e(left, all));
    e(inner, inner) =
        loss(inner, inner) * e(inner, inner) +
        0.4 * (hy(right, inner) - hy(left, inner) - hx(inner, right) + hx(inner, left));
  };
  return fields_after(steps, how, body, e, hx, hy);
}

}  // namespace

TEST_CASE("sound with a velocity per face") {
  for (auto const& cut : {Cut::balanced(), Cut::ceil(), Cut::unit(2)})
    for (auto const cells : {40, 8, 3, 97})
      for (auto const steps : {3, 10, 31}) {
        CAPTURE(cut);
        CAPTURE(cells);
        CAPTURE(steps);
        auto const plain = sound(cells, cut, steps, nullptr);
        for (auto const& how : ways(1)) {
          CAPTURE(how.depth);
          CHECK(sound(cells, cut, steps, &how) == plain);
        }
      }
}

TEST_CASE("shallow water on a C grid") {
  for (auto const& [height, width] : {std::pair{19, 13}, {8, 9}, {5, 4}}) {
    CAPTURE(height);
    auto const plain = shallow_water(height, width, 14, nullptr);
    for (auto const& how : ways(2)) CHECK(shallow_water(height, width, 14, &how) == plain);
  }
}

TEST_CASE("electromagnetic waves on a Yee grid, with a field that every device holds whole") {
  for (auto const& [height, width] : {std::pair{19, 13}, {8, 8}, {6, 20}}) {
    CAPTURE(height);
    auto const plain = maxwell(height, width, 14, nullptr);
    for (auto const& how : ways(2)) CHECK(maxwell(height, width, 14, &how) == plain);
  }
}

TEST_CASE("arrays whose cuts lie too far apart are replayed, and the reason is said") {
  auto const cells = 200 * device_count();
  auto u = bumps<1>({cells}, pieces());
  auto v = bumps<1>({2 * cells}, pieces());
  auto program = record([&] {
    u(inner) = 0.5 * v(range(1, cells - 1));
    v(range(0, cells)) = 0.5 * u;
  });
  program.run(4);
  auto const why = program.explain().fallback_reason;

  if (device_count() == 1) CHECK(why.empty());
  if (device_count() > 1)
    CHECK(why.find("the cuts of its arrays lie far apart: one of shape") != std::string::npos);
}

TEST_CASE("where some devices have cells of one array only, the loop is replayed") {
  if (device_count() == 1) {
    MESSAGE("skipped: one device has cells of both");
    return;
  }
  auto u = bumps<1>({device_count() - 1}, pieces());
  auto v = bumps<1>({device_count()}, pieces());
  auto program = record([&] {
    u -= 0.5 * (v(right) - v(left));
    v(left) += 0.1 * u;
  });
  program.run(5);

  CHECK(program.explain().fallback_reason.find("its arrays are cut differently") == 0);
}

TEST_CASE("a loop on a staggered grid runs in blocks") {
  Sound waves(97, Cut::balanced());
  auto program = record([&] { waves.step(); }, LoopOptions{.depth = 4});
  program.run(20);

  CHECK(program.explain().fallback_reason.empty());
  CHECK(program.explain().depth == 4);
}

// Each run begins with a step that runs for real.
TEST_CASE("a depth that is not asked for divides a run of a few blocks evenly") {
  auto u = bumps<1>({4000}, pieces());
  auto const body = [&] { u(inner) = 0.5 * u(range(0, -2)) + 0.5 * u(from(2)); };
  auto program = record(body);
  program.run(3);
  program.run(10'000);
  auto const most = program.explain().depth;
  REQUIRE(most > 1);

  program.run(1 + most + 3);
  CHECK(program.explain().depth == (most + 3 + 1) / 2);
  program.run(1 + 3 * most);
  CHECK(program.explain().depth == most);

  auto asked = record(body, LoopOptions{.depth = 4});
  asked.run(2 + 5);
  CHECK(asked.explain().depth == 4);
}

TEST_SUITE_END();
