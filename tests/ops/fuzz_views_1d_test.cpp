#include "fuzz_views.hpp"

TEST_SUITE_BEGIN("ops/views_fuzz");

TEST_CASE("random views in one dimension reduce to what lists of their cells do") {
  tessera::test::run_random_programs<tessera::test::ViewsFuzz<1>>(120);
}

TEST_SUITE_END();
