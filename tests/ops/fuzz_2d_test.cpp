#include "fuzz.hpp"

TEST_SUITE_BEGIN("ops/fuzz");

TEST_CASE("random programs of doubles in two dimensions do what the mirror does") {
  tessera::test::fuzz<double, 2>(100);
}

TEST_CASE("random programs of integers in two dimensions do what the mirror does") {
  tessera::test::fuzz<std::int64_t, 2>(60);
}

TEST_SUITE_END();
