#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/tessera.hpp"

#include "src/base/text.hpp"

#include "support/agree.hpp"
#include "support/setting.hpp"

// Depths and tiles at the ends of their ranges: the bits of a plain loop, or an error.

using namespace tessera;
using test::Setting;

TEST_SUITE_BEGIN("program/tuning");

namespace {

constexpr auto largest = std::numeric_limits<std::int64_t>::max();
constexpr auto smallest = std::numeric_limits<std::int64_t>::min();

NamedSharding rows() {
  return {Mesh({{"y", device_count()}}), P("y", none)};
}

DistArray<double, 2> bumps() {
  return from_index<double>({23, 17}, rows(), [](auto i) {
    return static_cast<double>(((i[0] * 17 + i[1]) * 7919) % 1009) / 1009.0;
  });
}

auto const inner = range(1, -1);

// Reads in all four directions, so that tiles of both dimensions are skewed.
void heat(DistArray<double, 2>& u) {
  u(inner, inner) = 0.6 * u(inner, inner) + 0.1 * (u(range(0, -2), inner) + u(from(2), inner) +
                                                   u(inner, range(0, -2)) + u(inner, from(2)));
}

constexpr int steps = 13;

std::uint64_t hash_of_plain_loop() {
  auto u = bumps();
  for (int s = 0; s < steps; ++s) heat(u);
  return hash(u);
}

std::uint64_t hash_of_loop(LoopOptions const& how) {
  auto u = bumps();
  iterate(
      steps, [&] { heat(u); }, how);
  return hash(u);
}

std::string refusal_of(LoopOptions const& how) {
  try {
    (void)hash_of_loop(how);
  } catch (ConfigError const& error) {
    return text("ConfigError: ", error.what());
  } catch (UsageError const& error) {
    return text("UsageError: ", error.what());
  }
  return "no error";
}

}  // namespace

TEST_CASE("tiles longer than any array have the bits of a plain loop, in each dimension") {
  auto const plain = hash_of_plain_loop();
  for (auto const extent :
       {largest, largest - 1, largest - 7, largest / 2, largest / 2 + 1, std::int64_t{1} << 40})
    for (auto const& tile : {Shape{extent, 0}, Shape{0, extent}, Shape{extent, 3}, Shape{3, extent},
                             Shape{extent, extent}})
      for (bool const overlap : {false, true}) {
        CAPTURE(tile);
        CAPTURE(overlap);
        CHECK(hash_of_loop({.depth = 4, .tile = tile, .overlap = overlap}) == plain);
        Setting const setting("TESSERA_TILE", text(tile[0], 'x', tile[1]));
        CHECK(hash_of_loop({.depth = 4, .overlap = overlap}) == plain);
      }
}

TEST_CASE("a tile longer than any array is explained as the whole extent") {
  auto u = bumps();
  auto program = record([&] { heat(u); }, {.depth = 4, .tile = {largest, 3}});
  program.run(steps);
  CHECK(program.explain().tile == Shape{0, 3});
}

TEST_CASE("blocks of more steps than any loop has have the bits of a plain loop") {
  auto const plain = hash_of_plain_loop();
  for (auto const depth : {largest, largest - 1, largest / 2, std::int64_t{5000}}) {
    CAPTURE(depth);
    CHECK(hash_of_loop({.depth = depth}) == plain);
    CHECK(hash_of_loop({.depth = depth, .tile = {4, largest}}) == plain);
    Setting const setting("TESSERA_DEPTH", text(depth));
    CHECK(hash_of_loop({}) == plain);
  }
}

TEST_CASE("a depth that no device could schedule is cut to one that it can") {
  auto u = bumps();
  auto program = record([&] { heat(u); }, {.depth = largest});
  program.run(steps);
  CHECK(program.explain().depth == 4096);
}

TEST_CASE("depths and tiles that cannot be are refused alike on every process") {
  for (auto const number : {std::int64_t{-1}, smallest, smallest + 1}) {
    CAPTURE(number);
    CHECK_ALL(refusal_of({.depth = number}).find("UsageError: a loop cannot run in blocks") == 0);
    CHECK_ALL(refusal_of({.tile = {number, 4}}).find("UsageError: a loop cannot run") == 0);
    CHECK_ALL(refusal_of({.tile = {4, number}}).find("UsageError: a loop cannot run") == 0);
    Setting const tile("TESSERA_TILE", text("4x", number));
    CHECK_ALL(refusal_of({}).find("ConfigError: TESSERA_TILE=4x-") == 0);
    Setting const depth("TESSERA_DEPTH", text(number));
    CHECK_ALL(refusal_of({}).find("ConfigError: TESSERA_DEPTH=-") == 0);
  }
  Setting const tile("TESSERA_TILE", "9223372036854775808");
  CHECK_ALL(refusal_of({}).find("ConfigError: TESSERA_TILE=9223372036854775808") == 0);
}

TEST_CASE("0 lets the library choose") {
  auto const plain = hash_of_plain_loop();
  CHECK(hash_of_loop({.depth = 0, .tile = {0, 0}}) == plain);
  Setting const tile("TESSERA_TILE", "0x0");
  CHECK(hash_of_loop({}) == plain);
  Setting const depth("TESSERA_DEPTH", "0");
  CHECK_ALL(refusal_of({}).find("ConfigError: TESSERA_DEPTH=0 is not") == 0);
}

TEST_SUITE_END();
