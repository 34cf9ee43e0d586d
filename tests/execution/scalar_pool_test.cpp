#include "src/execution/storage/scalar_pool.hpp"

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("execution/scalar_pool");

TEST_CASE("a scalar that nobody names serves again under a new number") {
  ScalarPool pool(2);
  auto first = pool.make(1);
  auto const* const memory = first->value(0);
  auto const second = pool.make(2);
  CHECK(second->value(0) != memory);

  first.reset();
  auto const third = pool.make(3);

  CHECK(third->value(0) == memory);
  CHECK(third->number() == 3);
}

TEST_CASE("a program that holds more scalars than are kept gets new ones") {
  ScalarPool pool(1);
  std::vector<std::shared_ptr<ScalarState>> held;
  for (std::uint64_t k = 0; k < ScalarPool::most_kept + 1; ++k) held.push_back(pool.make(k));

  CHECK(pool.holds(held.front()));
  CHECK_FALSE(pool.holds(held.back()));
  CHECK(held.back().use_count() == 1);
}

TEST_SUITE_END();
