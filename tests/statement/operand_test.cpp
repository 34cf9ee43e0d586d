#include "src/statement/lowering/operand.hpp"

#include <cstdint>
#include <memory>

#include <doctest/doctest.h>

#include "src/index/affine_map.hpp"
#include "src/plan/access.hpp"
#include "src/statement/statement.hpp"

#include "plan/cases.hpp"

using namespace tessera;
using test::cells_on_devices;
using test::shifted_by;

/// From indices of a statement to places in memory, for statements and loops alike.
TEST_SUITE_BEGIN("statement/operand");

TEST_CASE("an index leads to the place of its cell, whichever dimension moves which") {
  // Rows of 10 elements; the buffer begins with cell (2, 3).
  PaddedShardLayout const padded_layout{{{2, 3}, {6, 9}}, {10, 1}, 5, 45};
  AffineMap const transposed{2, {{1, 2, 1}, {0, 4, 2}}};  // cell (i1 + 2, 2 i0 + 4)

  auto const operand = operand_in(padded_layout, 4, transposed, 2);

  CHECK(operand.strides == Index{2, 10});
  CHECK(operand.offset_of({0, 0}) == (5 + 0 * 10 + 1) * 4);
  CHECK(operand.offset_of({2, 3}) == (5 + 3 * 10 + 5) * 4);
  CHECK(operand.block_of({{0, 0}, {2, 3}}) == StridedBlock{{2, 3}, {8, 40}, 24, 4});
}

TEST_CASE("a fixed dimension adds to the origin, one that moves nothing has stride 0") {
  PaddedShardLayout const padded_layout{{{0, 0}, {4, 8}}, {8, 1}, 0, 32};
  AffineMap const row{2, {{AxisMap::fixed, 3, 1}, {1, 0, 1}}};

  auto const operand = operand_in(padded_layout, 8, row, 2);

  CHECK(operand.strides == Index{0, 1});
  CHECK(operand.origin_bytes == 24 * 8);
}

TEST_CASE("past a mirror cells run backwards, past an edge they stay") {
  Box const below{{0}, {1}};
  auto const reflected = shifted_by({-2}, {8}, BoundaryKind::reflect);
  auto const edge = shifted_by({-2}, {8}, BoundaryKind::edge);

  // Of ... a b c, index 0 reads cell -2, which is 2 by reflection and 0 by the edge.
  CHECK(cells_read(reflected, formula_over(reflected, below)) == AffineMap{1, {{0, 2, -1}}});
  CHECK(cells_read(edge, formula_over(edge, below)) == AffineMap{1, {{0, 0, 0}}});
}

TEST_CASE("each array access has two constants per dimension, below and above") {
  auto const array = std::make_shared<ArrayModel>(cells_on_devices(8, 2), 4, 1);
  auto const shifted = shifted_by({1}, {8}, BoundaryKind::constant);
  OperandRequest const operand{array, shifted, 40};

  CHECK(constant_offset(operand, formula_over(shifted, {{7}, {8}})) == 44);
}

TEST_CASE("a row of one cell has unit stride") {
  CHECK(has_unit_stride({5, 1}, 10));
  CHECK_FALSE(has_unit_stride({1, 2}, 10));
  CHECK(has_unit_stride({1, 2}, 1));
}

TEST_CASE("stores go past the caches for long rows of large targets that are not read") {
  std::int64_t const mebibyte = std::int64_t{1} << 20;
  KernelWrite const write{mebibyte, 16 * mebibyte, true, false};
  auto const with = [&](auto change) {
    auto changed = write;
    change(changed);
    return stores_non_temporal(changed);
  };

  CHECK(stores_non_temporal(write));
  CHECK_FALSE(with([](KernelWrite& w) { --w.row_bytes; }));
  CHECK_FALSE(with([](KernelWrite& w) { --w.bytes; }));
  CHECK_FALSE(with([](KernelWrite& w) { w.has_unit_stride = false; }));
  CHECK_FALSE(with([](KernelWrite& w) { w.reads_target = true; }));
  CHECK(may_store_non_temporal({64, 16 * mebibyte, true, false}));
  CHECK_FALSE(may_store_non_temporal({64, 16 * mebibyte - 1, true, false}));
  CHECK_FALSE(may_store_non_temporal({64, 16 * mebibyte, false, false}));
  CHECK_FALSE(may_store_non_temporal({64, 16 * mebibyte, true, true}));
}

TEST_SUITE_END();
