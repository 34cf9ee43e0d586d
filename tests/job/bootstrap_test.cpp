#include "src/job/bootstrap.hpp"

#include <array>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "support/transport_thread_job.hpp"

using namespace tessera;
using namespace tessera::test;

/// Once is enough: not in every process of a spread.
TEST_SUITE_BEGIN("job/bootstrap" * doctest::skip(launched_by_mpi()));

namespace {

/// What each process of a job is told when they pass these numbers.
std::vector<bool> is_equal(std::vector<std::int64_t> const& numbers) {
  ThreadJob job(std::ssize(numbers));
  std::vector<char> equal(numbers.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      threads.emplace_back([&, i] {
        equal[i] = job.join(static_cast<std::int64_t>(i))->is_equal_on_all(numbers[i]) ? 1 : 0;
      });
  }
  return {equal.begin(), equal.end()};
}

}  // namespace

TEST_CASE("all processes learn whether they passed the same number") {
  CHECK(is_equal({4, 4, 4}) == std::vector<bool>(3, true));
  CHECK(is_equal({4, 4, 5}) == std::vector<bool>(3, false));
  CHECK(is_equal({-4, 4}) == std::vector<bool>(2, false));
  CHECK(is_equal({0, 0}) == std::vector<bool>(2, true));
}

TEST_CASE("a process alone is the whole job, and every collective is the identity") {
  auto const single = make_single_bootstrap();
  std::array<std::int64_t, 2> numbers{3, -5};

  single->max_of_each(numbers);
  single->sum_over_host(numbers);

  CHECK(numbers == std::array<std::int64_t, 2>{3, -5});
  CHECK(single->self() == ProcessId(0));
  CHECK(single->process_count() == 1);
  CHECK(single->host() == 0);
  CHECK(single->sum_before(7) == 0);
  CHECK(single->table_of(7).size() == 1);
  CHECK(single->is_equal_on_all(7));
  single->begin_barrier();
  CHECK(single->barrier_done());
}

TEST_SUITE_END();
