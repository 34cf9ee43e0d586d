#include "tessera/expr/gpu_mapping.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "support/gpu_threads.hpp"

using namespace tessera;
using namespace tessera::detail;
using namespace tessera::test;

TEST_SUITE_BEGIN("expr/gpu_mapping");

namespace {

template <std::size_t N>
void visits_every_cell_once(std::mt19937& random) {
  RandomBox<N> const box(random);
  GpuIndex<N> extents;
  for (std::size_t d = 0; d < N; ++d) extents.numbers[d] = box.extents[d];
  auto const rows = box.rows();
  auto const columns = box.extents.back();
  auto const threads = 1U << random_from(random, 0, 8);
  auto const shape = random_from(random, 0, 1) == 0
                         ? random_shape(random)
                         : shape_for(rows, columns, threads, random_from(random, 1, 9));
  std::vector<int> visits(static_cast<std::size_t>(cells_of(box.extents)), 0);
  // A cursor counts in row-major order, from the strides.
  struct Counter {
    Index strides;
    std::int64_t at = 0;
    void move(std::size_t d, std::int64_t n) { at += n * strides[d]; }
  };

  for_each_thread(shape, [&](GpuThread const& thread) {
    Counter counter{row_major_strides(box.extents)};
    GpuRowCursor<N> cursor;
    visit_rows_of(shape, thread, rows, [&](std::int64_t row) {
      cursor.move_to(row, extents, counter);
      visit_runs_of(shape, thread, columns, [&](std::int64_t j) {
        for (std::int64_t k = 0; k < cells_in_flight && j < columns; ++k, j += shape.threads_x)
          ++visits[static_cast<std::size_t>(counter.at + j)];
      });
    });
  });

  CAPTURE(box.extents);
  CHECK(visits == std::vector<int>(visits.size(), 1));
}

}  // namespace

TEST_CASE("the threads of a launch visit every cell of a box once") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    visits_every_cell_once<1>(random);
    visits_every_cell_once<2>(random);
    visits_every_cell_once<3>(random);
    visits_every_cell_once<4>(random);
  }
}

TEST_CASE("grids stay inside CUDA's limits, and inside the blocks that are allowed") {
  auto const tall = shape_for(std::int64_t{1} << 40, 3, 256);
  auto const wide = shape_for(1, std::int64_t{1} << 42, 256);
  auto const few = shape_for(1000, 100'000, 256, 10);

  CHECK(tall.blocks_y == 65535);
  CHECK(tall.threads_x == 4);
  CHECK(tall.threads_y == 64);
  CHECK(wide.blocks_x == 0x7fff'ffff);
  CHECK(wide.threads_x == 256);
  CHECK(few.blocks_x * few.blocks_y <= 10);
}

TEST_SUITE_END();
