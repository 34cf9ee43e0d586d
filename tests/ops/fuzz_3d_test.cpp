#include "fuzz.hpp"

TEST_SUITE_BEGIN("ops/fuzz");

TEST_CASE("random programs of doubles in three dimensions do what the mirror does") {
  tessera::test::fuzz<double, 3>(100);
}

TEST_CASE("random programs of integers in three dimensions do what the mirror does") {
  tessera::test::fuzz<std::int64_t, 3>(60);
}

TEST_SUITE_END();
