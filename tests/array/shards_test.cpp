#include "tessera/array/shards.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <doctest/doctest.h>

#include "tessera/array/creation.hpp"
#include "tessera/base/error.hpp"

#include "support/arrays.hpp"
#include "support/device_kinds.hpp"

using namespace tessera;
using test::holds;
using test::over;

TEST_SUITE_BEGIN("array/shards");

namespace {

// cell (i, j) of the array, told by its global indices.
double value_at(std::int64_t i, std::int64_t j) {
  return 0.1 * static_cast<double>(100 * i + j);
}

DistArray<double, 2> plane(std::int64_t rows, std::int64_t columns, NamedSharding const& sharding) {
  return from_index<double, 2>({rows, columns}, sharding,
                               [](auto i) { return value_at(i[0], i[1]); });
}

// The view shows the right cells of the right device.
template <class T>
bool is_right(ShardView<T, 2> const& view, Layout const& layout) {
  auto const boxes = layout.boxes_of(view.device());
  bool right = std::find(boxes.begin(), boxes.end(), view.box()) != boxes.end() &&
               view.size() == view.extent(0) * view.extent(1) &&
               view.empty() == (view.data() == nullptr) && view.stride(1) == 1;
  for (std::int64_t i = 0; i < view.extent(0); ++i)
    for (std::int64_t j = 0; j < view.extent(1); ++j)
      right = right && view(i, j) == value_at(view.box().lo[0] + i, view.box().lo[1] + j) &&
              &view(i, j) == view.data() + i * view.stride(0) + j;
  return right;
}

std::vector<LocalPiece<double>> rows_of(std::vector<std::vector<double>> const& rows,
                                        std::vector<Box> const& boxes) {
  std::vector<LocalPiece<double>> pieces;
  for (std::size_t i = 0; i < rows.size(); ++i) pieces.push_back({boxes[i], rows[i]});
  return pieces;
}

// One piece for each box of the devices of this process, where it is copy 0 among those of the
// process.
struct Pieces {
  std::vector<Box> boxes;
  std::vector<std::vector<double>> cells;

  Pieces(Layout const& layout, test::Mirror<double> const& mirror) {
    for (auto const device : addressable_devices())
      for (auto const& box : layout.boxes_of(device.id))
        if (!box.empty() && std::find(boxes.begin(), boxes.end(), box) == boxes.end())
          add(box, layout.shape()[1], mirror);
  }
  void add(Box const& box, std::int64_t columns, test::Mirror<double> const& mirror) {
    boxes.push_back(box);
    cells.emplace_back();
    for (auto i = box.lo[0]; i < box.hi[0]; ++i)
      for (auto j = box.lo[1]; j < box.hi[1]; ++j)
        cells.back().push_back(mirror.cells[static_cast<std::size_t>(i * columns + j)]);
  }
  [[nodiscard]] std::vector<LocalPiece<double>> all() const { return rows_of(cells, boxes); }
};

}  // namespace

TEST_CASE("each device's shard shows its cells, whatever the layout" * test::host_only()) {
  for (auto const& [rows, columns] : {std::pair{7, 11}, {3, 2}, {1, 1}, {0, 5}}) {
    for (auto const& sharding : test::layouts_of_plane(rows, columns)) {
      CAPTURE(sharding);
      auto const u = plane(rows, columns, sharding);
      auto const shards = u.addressable_shards();
      bool right = true;
      std::int64_t expected = 0;
      for (auto const device : addressable_devices())
        expected += std::ssize(sharding.boxes_of(device.id, u.shape()));
      for (auto const& view : shards) right = right && is_right(view, *u.layout());
      CHECK_ALL(right && std::ssize(shards) == expected);
    }
  }
}

TEST_CASE("a function sees every shard once, on its worker") {
  auto const u = plane(5, 9, over(2, 4));
  std::atomic<std::int64_t> cells{0};
  std::atomic<std::int64_t> wrong{0};

  for_each_shard(u, [&](ShardView<double const, 2> const& view) {
    cells += view.size();
    wrong += is_right(view, *u.layout()) ? 0 : 1;
  });

  CHECK(test::total_over_processes(cells) == 45);
  CHECK_ALL(wrong == 0);
}

TEST_CASE("what a function writes is there, and in all copies" * test::host_only()) {
  for (auto const& sharding : test::layouts_of_plane(6, 5)) {
    CAPTURE(sharding);
    auto u = plane(6, 5, sharding);
    auto v = u;

    for_each_shard(u, [](auto const& view) {
      for (std::int64_t i = 0; i < view.extent(0); ++i)
        for (std::int64_t j = 0; j < view.extent(1); ++j) view(i, j) = view(i, j) * 3 + 1;
    });
    for (auto const& view : v.mutable_shards())
      for (std::int64_t i = 0; i < view.extent(0); ++i)
        for (std::int64_t j = 0; j < view.extent(1); ++j) view[{i, j}] = view[{i, j}] * 3 + 1;

    auto cells = plane(6, 5, over(1, 1)).to_host();
    for (auto& c : cells) c = c * 3 + 1;
    CHECK_ALL(holds(u, cells));
    CHECK_ALL(holds(v, cells));
  }
}

TEST_CASE("a view to write is one to read" * test::host_only()) {
  auto u = plane(4, 4, over(2, 2));
  bool right = true;
  for (ShardView<double const, 2> const view : u.mutable_shards())
    right = right && is_right(view, *u.layout());
  CHECK_ALL(right);
}

TEST_CASE("an array is made of the pieces that each process has") {
  auto const mirror = test::scrambled<double>({7, 6});
  for (auto const& sharding : test::layouts_of_plane(7, 6)) {
    CAPTURE(sharding);
    Pieces const pieces(Layout(sharding, {7, 6}), mirror);

    auto const before = counters();
    auto const u = from_local<double>(pieces.all(), {7, 6}, sharding);

    CHECK_ALL(counters() == before);
    CHECK_ALL(holds(u, mirror));
  }
  Pieces const none(Layout(over(2, 4), {0, 6}), mirror);
  CHECK_ALL(from_local<double>(none.all(), {0, 6}, over(2, 4)).size() == 0);
}

TEST_CASE("pieces may be smaller or larger than shards") {
  // Row by row, over columns of several devices.
  auto const mirror = test::scrambled<double>({5, 8});
  NamedSharding const sharding(Mesh({{"y", 1}, {"x", device_count()}}), P("y", "x"));
  Index lo{0, 8};
  Index hi{0, 0};
  for (auto const device : addressable_devices()) {
    auto const box = sharding.box_of(device.id, {5, 8});
    if (box.empty()) continue;
    lo[1] = std::min(lo[1], box.lo[1]);
    hi[1] = std::max(hi[1], box.hi[1]);
  }
  std::vector<LocalPiece<double>> rows;
  for (std::int64_t i = 0; i < 5 && lo[1] < hi[1]; ++i)
    rows.push_back({{{i, lo[1]}, {i + 1, hi[1]}},
                    std::span(mirror.cells)
                        .subspan(static_cast<std::size_t>(i * 8 + lo[1]),
                                 static_cast<std::size_t>(hi[1] - lo[1]))});

  CHECK_ALL(holds(from_local<double>(rows, {5, 8}, sharding), mirror));
}

TEST_CASE("pieces that do not fit are refused on every process") {
  auto const mirror = test::scrambled<double>({8, 4});
  NamedSharding const sharding(test::row(device_count()), P("x", none));
  Pieces const pieces(Layout(sharding, {8, 4}), mirror);
  auto const make = [&](std::vector<LocalPiece<double>> const& mine) {
    return from_local<double>(mine, {8, 4}, sharding);
  };
  bool const last = process().value() == process_count() - 1 && !pieces.boxes.empty();

  auto missing = pieces.all();
  if (last) missing.pop_back();
  CHECK_ALL_THROW((void)make(missing), ShapeError);

  auto twice = pieces.all();
  if (last) twice.push_back(twice.front());
  CHECK_ALL_THROW((void)make(twice), ShapeError);

  auto elsewhere = pieces.all();
  std::vector<double> const strange(4, 0.0);
  if (last) elsewhere.push_back({{{8, 0}, {9, 4}}, strange});
  CHECK_ALL_THROW((void)make(elsewhere), ShapeError);

  auto short_of_cells = pieces.all();
  if (last) short_of_cells.back().cells = short_of_cells.back().cells.first(1);
  CHECK_ALL_THROW((void)make(short_of_cells), ShapeError);

  CHECK_ALL(holds(make(pieces.all()), mirror));
}

TEST_SUITE_END();
