#include "fuzz.hpp"

TEST_SUITE_BEGIN("program/fuzz");

TEST_CASE("random loops in one dimension end with the bits of a plain loop") {
  tessera::test::fuzz_loops<1>(60);
}

TEST_SUITE_END();
