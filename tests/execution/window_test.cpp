#include "src/execution/one_sided/window.hpp"

#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "support/one_process.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("execution/window");

namespace {

using Cell = std::array<std::int64_t, 2>;

Mesh grid(std::int64_t rows, std::int64_t columns) {
  return Mesh({{"y", rows}, {"x", columns}});
}

}  // namespace

TEST_CASE("a cell's owner is the device that holds it, and tells where it lies") {
  test::OneProcess job(6);
  auto const array = job.array({grid(2, 3), P("y", "x")}, {4, 9});
  Window window(*array, job.job, job.network);
  window.open();
  CHECK(window.replicas() == 1);

  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 9; ++j) {
      Cell const cell{i, j};
      auto const& owner = window.nearest(cell);
      CHECK(owner.device == DeviceId{i / 2 * 3 + j / 3});
      CHECK(owner.holds(cell));
      auto& shard = array->shards_of(owner.device)[0];
      auto const inside = (i % 2) * owner.strides[0] + (j % 3) * owner.strides[1];
      CHECK(owner.place_of(cell, 8) == shard.cells() + 8 * inside);
    }
}

TEST_CASE("an owner holds no cell of its neighbours") {
  test::OneProcess job(2);
  auto const array = job.array({grid(1, 2), P("y", "x")}, {2, 4});
  Window window(*array, job.job, job.network);
  window.open();

  auto const& owner = window.nearest(Cell{0, 1});

  CHECK(owner.holds(Cell{1, 0}));
  CHECK_FALSE(owner.holds(Cell{1, 2}));
  CHECK_FALSE(owner.holds(Cell{2, 1}));
}

TEST_CASE("each copy of a cell has an owner of its own") {
  test::OneProcess job(4);
  auto const array = job.array({grid(2, 2), P(none, "x")}, {3, 4});
  Window window(*array, job.job, job.network);
  window.open();
  REQUIRE(window.replicas() == 2);
  Cell const cell{2, 3};

  auto const first = window.copy_of(cell, 0);
  auto const second = window.copy_of(cell, 1);

  CHECK(first.device != second.device);
  CHECK(first.place_of(cell, 8) != second.place_of(cell, 8));
  CHECK(first.cells == second.cells);
  CHECK(window.copy_of(cell, 0).device == first.device);
}

TEST_CASE("more boxes than are kept are found all the same, in any order") {
  test::OneProcess job(40);
  auto const array = job.array({grid(40, 1), P("y", "x")}, {40, 1});
  Window window(*array, job.job, job.network);
  window.open();
  for (int round = 0; round < 2; ++round)
    for (std::int64_t i = 0; i < 40; ++i) {
      auto const row = i * 7 % 40;
      CHECK(window.nearest(Cell{row, 0}).device == DeviceId{row});
    }
}

TEST_CASE("a new epoch finds the cells where they lie now") {
  test::OneProcess job(1);
  auto const array = job.array({grid(1, 1), P("y", "x")}, {2, 2});
  Window window(*array, job.job, job.network);
  window.open();
  Cell const cell{1, 1};
  auto* const before = window.nearest(cell).place_of(cell, 8);
  auto& shard = array->shards().front();
  array->need_second_buffer(shard);
  shard.current = 1 - shard.current;

  window.open();

  CHECK(window.nearest(cell).place_of(cell, 8) != before);
  auto const inside = shard.padded_layout.offset_of({1, 1});
  CHECK(window.nearest(cell).place_of(cell, 8) == shard.cells() + 8 * inside);
}

TEST_SUITE_END();
