#include "fuzz.hpp"

TEST_SUITE_BEGIN("ops/fuzz");

TEST_CASE("random programs of floats in two dimensions do what the mirror does") {
  tessera::test::fuzz<float, 2>(40);
}

TEST_CASE("random programs of short integers in two dimensions do what the mirror does") {
  tessera::test::fuzz<std::int32_t, 2>(40);
}

TEST_CASE("the programs so far came across nearly every two features that can meet") {
  auto const& coverage = tessera::test::Coverage::instance();
  if (tessera::environment("TESSERA_FUZZ_COVERAGE") && tessera::process().value() == 0)
    coverage.print(std::cout);
  // The bound is that of the usual seeds, of all programs, on 8 devices: others meet other pairs.
  bool const is_usual = coverage.noted() >= 7000 && tessera::device_count() == 8 &&
                        !tessera::test::seeds_to_run(1).are_chosen;
  if (tessera::test::left_out_if(!is_usual, "it needs the usual programs, on 8 devices")) return;

  auto const never_met = coverage.rare(1);
  std::string names;
  for (auto const& pair : never_met) names += "\n  " + pair;
  INFO("never met:", names);
  CHECK(never_met.size() <= 27);  // of 542; four times as many programs leave 4
}

TEST_SUITE_END();
