#include "tessera/detail/array/gpu/gpu_mapping.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "src/index/index.hpp"

#include "support/gpu_threads.hpp"
#include "support/seeds.hpp"

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
  std::mt19937 random(test::seed_of_all(1));
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

TEST_CASE("the threads of a fold's block have a cell and a place each, and meet in one of them") {
  for (unsigned bits = 0; bits < 64; ++bits) {
    FoldSplit const split{bits & 3, bits >> 2 & 3, bits >> 4};
    CAPTURE(bits);
    std::vector<int> visits(split.threads());
    // Whose terms a thread's sum has by now: a bit for each.
    std::vector<std::uint64_t> sums(split.threads());
    for (unsigned thread = 0; thread < split.threads(); ++thread) {
      auto const row = split.row_of(thread) * split.cells() + split.cell_of(thread);
      ++visits.at(row * split.along() + split.along_of(thread));
      auto const place = split.row_of(thread) * split.along() + split.along_of(thread);
      sums[thread] = std::uint64_t{1} << place;
    }
    CHECK(visits == std::vector<int>(split.threads(), 1));
    for (unsigned step = 0; step < split.steps(); ++step) {
      auto const before = sums;
      for (unsigned thread = 0; thread < split.threads(); ++thread) {
        auto const partner = split.partner(step, thread);
        if (partner == thread) continue;
        CHECK(split.partner(step, partner) == partner);  // it is read while this one writes
        CHECK(split.cell_of(partner) == split.cell_of(thread));
        CHECK((sums[thread] & before[partner]) == 0);
        sums[thread] |= before[partner];
      }
    }
    auto const lanes = split.rows() * split.along();
    for (unsigned thread = 0; thread < split.threads(); ++thread)
      if (split.row_of(thread) == 0 && split.along_of(thread) == 0)
        CHECK(sums[thread] == ~std::uint64_t{0} >> (64 - lanes));
  }
}

TEST_CASE("a fold has threads for all that a GPU has, where there are terms for them") {
  auto const split = [](std::int64_t cells, std::int64_t rows, std::int64_t row_terms) {
    auto const found = split_for({cells, rows, row_terms}, 256, 132 * 1024);
    CHECK(found.threads() == 256);
    return std::array{found.along(), found.cells(), found.rows()};
  };
  using Split = std::array<unsigned, 3>;

  CHECK(split(1'000'000, 5, 1) == Split{1, 256, 1});   // a thread for each cell
  CHECK(split(1'000'000, 1, 8) == Split{1, 256, 1});   // as above: rows are short
  CHECK(split(1'000'000, 1, 100) == Split{32, 8, 1});  // a warp for each row
  CHECK(split(4096, 1, 4096) == Split{64, 4, 1});      // more, since there are few
  CHECK(split(4096, 4096, 1) == Split{1, 8, 32});      // neighbours stay together
  CHECK(split(3, 1'000'000, 1) == Split{1, 4, 64});    // as many as there are
  CHECK(split(1, 1'000'000, 1'000'000) == Split{256, 1, 1});
  CHECK(split(100, 7, 1) == Split{1, 256, 1});  // too few terms to share
  CHECK(split(100, 1, 40) == Split{32, 8, 1});
}

TEST_CASE("a sum that depends on the order of its terms has one thread") {
  auto const split = split_in_order(256);

  CHECK(split.threads() == 256);
  CHECK(split.cells() == 256);
}

TEST_SUITE_END();
