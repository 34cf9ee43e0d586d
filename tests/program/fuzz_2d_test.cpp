#include "fuzz.hpp"

TEST_SUITE_BEGIN("program/fuzz");

TEST_CASE("random loops in two dimensions end with the bits of a plain loop") {
  tessera::test::fuzz_loops<2>(60);
}

TEST_SUITE_END();
