#include "tessera/array/adopt.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/shards.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "src/runtime/engine.hpp"

#include "support/arrays.hpp"
#include "support/device_kinds.hpp"

using namespace tessera;
using test::holds;
using test::over;

/// Arrays in the caller's memory, and arrays that stay where they are.
TEST_SUITE_BEGIN("expr/adopt" * test::host_only());

namespace {

// Memory of the test's for each box of this process's devices; rows lie `gap` cells apart. It must
// not move, and cells between the rows stay 99.
template <std::size_t N>
class Memory {
 public:
  Memory(NamedSharding const& sharding, Shape const& shape, std::int64_t gap = 0) {
    auto const& job = engine().job();
    for (std::int64_t i = 0; i < job.local_count(); ++i) {
      DeviceId const device{job.first_local().value() + i};
      for (auto const& box : sharding.boxes_of(device, shape)) add(device, box, gap);
    }
  }

  [[nodiscard]] std::vector<ShardView<double, N>> const& shards() const { return shards_; }

  // What a cell holds at first.
  static double value(Index const& i) {
    double v = 0;
    for (auto const c : i) v = 10 * v + 0.1 * static_cast<double>(c + 1);
    return v;
  }

  // Nobody wrote between the rows.
  [[nodiscard]] bool gaps_are_untouched() const {
    std::int64_t found = 0;
    for (auto const& cells : cells_) found += std::count(cells.begin(), cells.end(), 99.0);
    return found == gaps_;
  }

 private:
  void add(DeviceId device, Box const& box, std::int64_t gap) {
    if (box.empty()) return;
    std::array<std::int64_t, N> strides;
    std::int64_t size = 1;
    for (std::size_t d = N; d-- > 0;) {
      strides[d] = size;
      size *= box.extent(d) + (d + 1 == N && N > 1 ? gap : 0);
    }
    auto& cells = cells_.emplace_back(static_cast<std::size_t>(size), 99.0);
    gaps_ += size - box.cells();
    shards_.emplace_back(device, box, cells.data(), strides);
    auto const& shard = shards_.back();
    std::array<std::int64_t, N> at{};
    test::for_each_cell(box, [&](Index const& i) {
      for (std::size_t d = 0; d < N; ++d) at[d] = i[d] - box.lo[d];
      shard[at] = value(i);
    });
  }

  std::vector<std::vector<double>> cells_;
  std::vector<ShardView<double, N>> shards_;
  std::int64_t gaps_ = 0;
};

template <class V>
std::vector<double const*> addresses(std::vector<V> const& shards) {
  std::vector<double const*> found;
  for (auto const& shard : shards)
    if (!shard.empty()) found.push_back(shard.data());
  return found;
}

}  // namespace

TEST_CASE("an array shows the caller's memory, and is written there") {
  Memory<1> const memory(over(3), {7});
  auto u = adopt<double, 1>(memory.shards(), {7}, over(3));
  auto const before = u.to_host();

  u = 2 * u;
  engine().synchronize();

  CHECK(addresses(u.addressable_shards()) == addresses(memory.shards()));
  CHECK_ALL(before[6] == Memory<1>::value({6}));
  bool doubled = true;
  for (auto const& shard : memory.shards())
    for (std::int64_t i = 0; i < shard.size(); ++i)
      doubled = doubled && shard(i) == 2 * Memory<1>::value({shard.box().lo[0] + i});
  CHECK_ALL(doubled);
}

TEST_CASE(
    "statements on adopted memory give what they give on a copy, and touch nothing between rows") {
  NamedSharding const shardings[] = {over(2, 3),
                                     over(1, 1),
                                     {Mesh({{"x", 8}}), P(none, "x")},
                                     {Mesh({{"y", 2}, {"x", 4}}), P({"x", "y"}, none)},
                                     {Mesh({{"x", 2}}), P("x", none), Cut::cyclic(2)}};
  for (auto const& sharding : shardings) {
    CAPTURE(sharding);
    Memory<2> const memory(sharding, {7, 5}, 3);
    auto u = adopt<double, 2>(memory.shards(), {7, 5}, sharding);
    DistArray<double, 2> copy = u;
    auto const step = [](DistArray<double, 2>& w) {
      w(range(1, -1), tessera::all) =
          0.3 * w(range(0, -2), tessera::all) + 0.7 * w(from(2), tessera::all);
      w = shift(w, {0, 2}, periodic) - 0.1 * w;
      w(tessera::all, range(none, none, 2)) += 1;
    };

    for (int i = 0; i < 3; ++i) {
      step(u);
      step(copy);
    }

    CHECK(holds(u, copy.to_host()));
    CHECK(addresses(u.addressable_shards()) == addresses(memory.shards()));
    CHECK_ALL(memory.gaps_are_untouched());
  }
}

TEST_CASE("two adopted arrays of one layout are told apart") {
  Memory<2> const wide(over(2, 2), {4, 4}, 5);
  Memory<2> const narrow(over(2, 2), {4, 4});
  auto u = adopt<double, 2>(wide.shards(), {4, 4}, over(2, 2));
  auto v = adopt<double, 2>(narrow.shards(), {4, 4}, over(2, 2));

  u = u + 1;
  v = v + 1;

  CHECK(holds(u, v.to_host()));
  CHECK_ALL(wide.gaps_are_untouched());
}

TEST_CASE("a pinned array keeps its addresses") {
  auto u = iota<double>({12}, over(4));
  pin(u);
  auto const before = addresses(u.mutable_shards());

  u = shift(u, {1}, periodic);
  u(range(1, none)) = u(range(none, -1)) + 0.5;

  CHECK(addresses(u.addressable_shards()) == before);
  CHECK(holds(u, {1, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5}));
}

TEST_CASE("memory that does not fit is refused on every process") {
  Memory<1> const memory(over(8), {8});
  double cells[8] = {};
  auto const with = [&](std::vector<ShardView<double, 1>> shards) {
    return adopt<double, 1>(shards, {8}, over(8));
  };
  auto const& good = memory.shards();
  auto fewer = good;
  auto another_box = good;
  auto twice = good;
  if (engine().job().self() == ProcessId(0)) {
    fewer.pop_back();
    another_box.front() = {good.front().device(), Box{{0}, {2}}, cells, {1}};
    twice.push_back(good.front());
  }

  CHECK_ALL_THROW((void)with(fewer), ShapeError);
  CHECK_ALL_THROW((void)with(another_box), ShapeError);
  CHECK_ALL_THROW((void)with(twice), ShapeError);
  CHECK(holds(with(good), {0.1, 0.2, 0.1 * 3, 0.4, 0.5, 0.1 * 6, 0.1 * 7, 0.8}));
}

TEST_CASE("devices may hold columns of one table, but no cell twice") {
  constexpr std::int64_t rows = 3;
  constexpr std::int64_t columns = 9;
  NamedSharding const shardings[] = {{Mesh({{"x", 4}}), P(none, "x")},
                                     {Mesh({{"y", 2}, {"x", 2}}), P("x", "y"), Cut::cyclic(2)}};
  for (auto const& sharding : shardings) {
    CAPTURE(sharding);
    std::vector<double> table(rows * columns, 1.0);
    std::vector<ShardView<double, 2>> shards;
    for (auto const device : addressable_devices())
      for (auto const& box : sharding.boxes_of(device.id, {rows, columns}))
        if (!box.empty())
          shards.emplace_back(device.id, box,
                              &table[static_cast<std::size_t>(box.lo[0] * columns + box.lo[1])],
                              std::array{columns, std::int64_t{1}});
    auto u = adopt<double, 2>(shards, {rows, columns}, sharding);

    u = 10 * index(0) + index(1) + u;
    engine().synchronize();

    bool all_written = true;
    for (auto const& shard : shards)
      test::for_each_cell(shard.box(), [&](Index const& i) {
        all_written = all_written && table[static_cast<std::size_t>(i[0] * columns + i[1])] ==
                                         static_cast<double>(10 * i[0] + i[1] + 1);
      });
    CHECK_ALL(all_written);
    if (process_count() > 1) continue;
    auto const last = shards.back();
    shards.back() = {last.device(), last.box(), last.data() - 1, last.strides()};
    CHECK_THROWS_AS((void)(adopt<double, 2>(shards, {rows, columns}, sharding)), ShapeError);
  }
}

TEST_CASE("strides that overlap, gaps within rows, null and odd addresses are refused") {
  double cells[16] = {};
  auto const with = [&](double* data, std::array<std::int64_t, 2> const& strides) {
    std::vector<ShardView<double, 2>> shards;
    auto const& job = engine().job();
    if (job.is_local(DeviceId(0)))
      shards.emplace_back(DeviceId(0), Box{{0, 0}, {2, 4}}, data, strides);
    return adopt<double, 2>(shards, {2, 4}, over(1, 1));
  };

  CHECK_ALL_THROW((void)with(cells, {3, 1}), ShapeError);
  CHECK_ALL_THROW((void)with(cells, {8, 2}), ShapeError);
  CHECK_ALL_THROW((void)with(cells, {std::int64_t{1} << 62, 1}), ShapeError);
  CHECK_ALL_THROW((void)with(nullptr, {4, 1}), ShapeError);
  auto* const odd = reinterpret_cast<double*>(reinterpret_cast<std::uintptr_t>(&cells[0]) + 4);
  CHECK_ALL_THROW((void)with(odd, {4, 1}), ShapeError);
  CHECK(holds(with(cells, {4, 1}), std::vector<double>(8, 0.0)));
}

TEST_SUITE_END();
