#include "fuzz.hpp"

TEST_SUITE_BEGIN("ops/fuzz");

TEST_CASE("random programs of doubles in one dimension do what the mirror does") {
  tessera::test::fuzz<double, 1>(100);
}

TEST_CASE("random programs of integers in one dimension do what the mirror does") {
  tessera::test::fuzz<std::int64_t, 1>(60);
}

TEST_SUITE_END();
