#include "src/device/row_launch.hpp"

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "support/left_out.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("device/launch");

namespace {

/// Counts how often each row was worked on, and the calls.
struct Visits {
  std::vector<std::atomic<int>> rows;
  std::atomic<int> calls{0};

  explicit Visits(std::int64_t count) : rows(static_cast<std::size_t>(count)) {}
};

void visit(void const* context, std::int64_t first, std::int64_t last) {
  auto* const visits = *static_cast<Visits* const*>(context);
  ++visits->calls;
  for (auto row = first; row < last; ++row) ++visits->rows[static_cast<std::size_t>(row)];
}

bool each_row_once(std::int64_t count) {
  Visits visits(count);
  auto* const context = &visits;
  launch(count, visit, &context);
  for (auto const& row : visits.rows)
    if (row != 1) return false;
  return launch_is_parallel() || visits.calls == (count > 0 ? 1 : 0);
}

void fail(void const* /*context*/, std::int64_t /*first*/, std::int64_t /*last*/) {
  throw std::runtime_error("a row gives up");
}

}  // namespace

TEST_CASE("each row is worked on once, in one block where the space is serial") {
  KokkosScope const kokkos;
  for (std::int64_t const rows : {0, 1, 2, 3, 7, 64, 1'001}) {
    CAPTURE(rows);
    CHECK(each_row_once(rows));
  }
}

TEST_CASE("eight threads launch at once") {
  KokkosScope const kokkos;
  if (launch_is_parallel()) {
    MESSAGE("skipped: a parallel space takes one launch at a time");
    return;
  }
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&wrong, t] {
      for (int i = 0; i < 2'000; ++i)
        if (!each_row_once(1 + (i + t) % 40)) ++wrong;
    });
  threads.clear();  // joins

  CHECK(wrong == 0);
}

TEST_CASE("an exception of a row comes out, and launching goes on") {
  KokkosScope const kokkos;
  if (test::left_out_if(launch_is_parallel(), "exceptions do not leave a parallel space")) return;

  CHECK_THROWS_WITH(launch(3, fail, nullptr), "a row gives up");
  CHECK(each_row_once(10));
}

TEST_CASE("scopes may be nested and made again") {
  for (int i = 0; i < 3; ++i) {
    KokkosScope const outer;
    {
      KokkosScope const inner;
      CHECK(each_row_once(5));
    }
    CHECK(each_row_once(5));
  }
}

TEST_CASE("people can read what runs the rows") {
  CAPTURE(launch_description());
  CHECK(launch_description().substr(0, 7) == "Kokkos ");
}

TEST_SUITE_END();
