#include "support/seeds.hpp"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "support/setting.hpp"

using namespace tessera;
using test::Setting;

/// Which seeds random tests run, by the variables that say it.
TEST_SUITE_BEGIN("base/seeds");

namespace {

/// None of the variables is set as long as it lives.
struct NoVariables {
  Setting only{"TESSERA_FUZZ_SEED", ""};
  Setting first{"TESSERA_FUZZ_FIRST", ""};
  Setting cases{"TESSERA_FUZZ_CASES", ""};
  Setting slice{"TESSERA_FUZZ_SLICE", ""};
};

std::vector<std::uint64_t> seeds_run(std::int64_t usual) {
  std::vector<std::uint64_t> seeds;
  auto const run = [&](std::uint64_t seed) {
    seeds.push_back(seed);
    return true;
  };
  CHECK(test::failed_seeds(usual, run) == 0);
  return seeds;
}

}  // namespace

TEST_CASE("usually a test runs its own number of seeds from 1 on") {
  NoVariables const none;

  CHECK(seeds_run(3) == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(test::seed_of_all(7) == 7);
  CHECK_FALSE(test::seeds_to_run(3).are_chosen);
}

TEST_CASE("one seed runs alone, whatever else is said") {
  NoVariables const none;
  Setting const only("TESSERA_FUZZ_SEED", "17");
  Setting const cases("TESSERA_FUZZ_CASES", "5");
  Setting const slice("TESSERA_FUZZ_SLICE", "2");

  CHECK(seeds_run(3) == std::vector<std::uint64_t>{17});
  CHECK(test::is_one_seed());
}

TEST_CASE("a first seed and a number of cases") {
  NoVariables const none;
  Setting const first("TESSERA_FUZZ_FIRST", "100");
  CHECK(seeds_run(3) == std::vector<std::uint64_t>{100, 101, 102});
  CHECK(test::seed_of_all(7) == 106);

  Setting const cases("TESSERA_FUZZ_CASES", "2");
  CHECK(seeds_run(3) == std::vector<std::uint64_t>{100, 101});
}

TEST_CASE("a slice has seeds of its own, and a quarter of the cases or one more") {
  NoVariables const none;
  Setting const slice("TESSERA_FUZZ_SLICE", "2");

  CHECK(seeds_run(8) == std::vector<std::uint64_t>{2'000'001, 2'000'002});
  CHECK(seeds_run(1) == std::vector<std::uint64_t>{2'000'001});
  CHECK(test::seeds_to_run(9).count == 3);
  CHECK(test::seed_of_all(7) == 2'000'007);

  Setting const cases("TESSERA_FUZZ_CASES", "3");
  CHECK(seeds_run(8).size() == 3);
}

TEST_CASE("seeds that once failed run whatever the variables say") {
  NoVariables const none;
  Setting const slice("TESSERA_FUZZ_SLICE", "2");
  std::vector<std::uint64_t> seeds;

  auto const failed = test::failed_of_seeds({4, 2}, [&](std::uint64_t seed) {
    seeds.push_back(seed);
    return true;
  });

  CHECK(failed == 0);
  CHECK(seeds == std::vector<std::uint64_t>{4, 2});
}

TEST_SUITE_END();
