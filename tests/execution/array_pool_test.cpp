#include "src/execution/storage/array_pool.hpp"

#include <doctest/doctest.h>

#include "support/one_process.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("execution/array_pool");

namespace {

NamedSharding over(std::int64_t devices) {
  return {Mesh({{"x", devices}}), P("x")};
}

}  // namespace

TEST_CASE("an array that nobody names serves again for the same layout alone") {
  test::OneProcess const job(2);
  ArrayPool pool;
  auto array = job.array(over(2), {10});
  auto const* const state = array.get();
  Layout const same(over(2), {10});
  pool.add(array);
  CHECK(pool.holds(array));
  CHECK(pool.take(same, 8, 2) == nullptr);  // it is named

  array.reset();

  CHECK(pool.take(Layout(over(2), {11}), 8, 2) == nullptr);
  CHECK(pool.take(same, 4, 2) == nullptr);
  auto const again = pool.take(same, 8, 2);
  CHECK(again.get() == state);
  CHECK(again->number() == 2);
}

TEST_CASE("partial results that nobody names may be written when they serve again") {
  test::OneProcess const job(1);
  ArrayPool pool;
  auto array = job.array(over(1), {10});
  pool.add(array);
  array->freeze();
  array.reset();

  auto const again = pool.take(Layout(over(1), {10}), 8, 2);
  REQUIRE(again != nullptr);
  CHECK_FALSE(again->is_frozen());
}

TEST_CASE("a partial array that nobody names serves again, and so do its partial results") {
  test::OneProcess const job(2);
  ArrayPool pool;
  NamedSharding const sum({Mesh({{"x", 2}}), P(none).partial("x")});
  auto partials = job.array(over(2), {2});
  auto array = job.array(sum, {1});
  auto const* const state = array.get();
  pool.add(partials);
  pool.add(array);
  array->set_partials({std::move(partials), nullptr, nullptr});
  CHECK(pool.take(Layout(over(2), {2}), 8, 2) == nullptr);  // the sum names them

  array.reset();

  CHECK(pool.take(Layout(over(2), {2}), 8, 2) != nullptr);
  auto const again = pool.take(Layout(sum, {1}), 8, 3);
  REQUIRE(again.get() == state);
  CHECK(again->partials() == nullptr);
}

TEST_CASE("where memory lacks, arrays that nobody names are released") {
  test::OneProcess const job(1);
  ArrayPool pool;
  auto const named = job.array(over(1), {10});
  auto array = job.array(over(1), {10});
  std::weak_ptr<ArrayState> const watched = array;
  pool.add(named);
  pool.add(array);
  array.reset();

  pool.release_idle();

  CHECK(watched.expired());
  CHECK(pool.holds(named));
}

TEST_CASE("an array longer than all that are kept may be is not kept") {
  test::OneProcess const job(1);
  ArrayPool pool;
  auto const array = job.array(over(1), {ArrayPool::most_bytes / 8 + 1});

  pool.add(array);

  CHECK_FALSE(pool.holds(array));
}

TEST_CASE("an array that nobody asks for any more is let go") {
  test::OneProcess const job(1);
  ArrayPool pool;
  auto array = job.array(over(1), {10});
  std::weak_ptr<ArrayState> const watched = array;
  pool.add(array);
  array.reset();

  Layout const other(over(1), {11});
  for (std::uint64_t k = 0; k <= ArrayPool::most_idle + 1; ++k) (void)pool.take(other, 8, k);

  CHECK(watched.expired());
}

TEST_SUITE_END();
