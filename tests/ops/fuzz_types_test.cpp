#include "fuzz.hpp"

TEST_SUITE_BEGIN("ops/fuzz");

TEST_CASE("random programs of floats in two dimensions do what the mirror does") {
  tessera::test::fuzz<float, 2>(40);
}

TEST_CASE("random programs of short integers in two dimensions do what the mirror does") {
  tessera::test::fuzz<std::int32_t, 2>(40);
}

TEST_CASE("where the coverage of all programs so far is asked for, it is shown") {
  if (tessera::environment("TESSERA_FUZZ_COVERAGE") && tessera::process().value() == 0)
    tessera::test::Coverage::instance().print(std::cout);
}

TEST_SUITE_END();
