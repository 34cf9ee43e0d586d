#include <string>

#include <doctest/doctest.h>

#include "tessera/array/creation.hpp"
#include "tessera/array/shards.hpp"

#include "src/base/text.hpp"
#include "src/plan/exchange/exchange_plan.hpp"
#include "src/runtime/engine.hpp"

#include "support/agree.hpp"
#include "support/arrays.hpp"
#include "support/device_kinds.hpp"
#include "support/left_out.hpp"
#include "support/peak_memory.hpp"
#include "support/shards.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("array/reshard");

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

double value_at(std::int64_t i, std::int64_t j) {
  return static_cast<double>((i * 7919 + j * 104729) % 1000003);
}

/// A cell of this process that is not as `value_at` says; "none" if there is none.
std::string wrong_cell(DistArray<double, 2> const& u) {
  std::string wrong = "none";
  test::look_at_shards(u, [&](auto const& shard) {
    for (std::int64_t i = 0; i < shard.extent(0); ++i)
      for (std::int64_t j = 0; j < shard.extent(1); ++j) {
        Index const cell{shard.box().lo[0] + i, shard.box().lo[1] + j};
        if (shard(i, j) != value_at(cell[0], cell[1])) wrong = text(cell);
      }
  });
  return wrong;
}

DistArray<double, 2> values(std::array<std::int64_t, 2> const& shape, NamedSharding const& on) {
  return from_index<double, 2>(shape, on, [](auto i) { return value_at(i[0], i[1]); });
}

/// The first and the last device: of two processes where there are several.
Mesh ends() {
  auto const last = device_count() - 1;
  return Mesh({0, last}, {2}, {"x"});
}

}  // namespace

// First, so that no channel between GPUs has long slots yet.
TEST_CASE("devices of a host get cells of other hosts from each other") {
  bool const is_forwarding = forward_variable() == 4 && device_count() == 8;
  if (test::left_out_if(!is_forwarding, "it needs 8 devices and TESSERA_FORWARD=4")) return;
  Mesh const all({{"x", 8}});
  // Short pieces and pieces of more than 1 MiB, by which slots of GPUs grow: messages of both
  // lengths go from device to device, in each order.
  auto const cut = Cut::explicit_sizes({1, 1, 1, 1, 200, 199, 200, 198});
  auto const u = values({801, 1103}, {all, P("x", none), cut});
  auto v = zeros<double, 2>({1, 1}, {all, P(none, none)});
  auto const before = counters();
  auto const said = explain([&] { v = reshard(u, {all, P(none, none)}); });
  auto const sent = (counters() - before).bytes;
  CHECK(wrong_cell(v) == "none");

  // A device sends its rows to the three others of its host and to one device of the other; it
  // receives rows from there and forwards them to three.
  auto const& read = said.statements.front().reads.front();
  auto const row_bytes = std::int64_t{1103} * 8;
  CHECK(sent == read.bytes);
  CHECK(test::total_over_processes(read.bytes - read.forwarded_bytes) == 801 * row_bytes * 4);
  CHECK(test::total_over_processes(read.forwarded_bytes) == 801 * row_bytes * 3);
  CHECK(text(said).find("of them forwarded within the host") != std::string::npos);
}

// Of a GPU, messages are put together in memory of the GPU first.
TEST_CASE("resharding takes no memory beyond the result and the slots of its channels" *
          test::host_only()) {
  if (test::left_out_if(device_count() < 2, "it needs 2 devices")) return;
  NamedSharding const rows(ends(), P("x", none));
  NamedSharding const columns(ends(), P(none, "x"));
  std::array<std::int64_t, 2> const shape{2891, 2903};  // 64 MiB
  constexpr std::int64_t limit = 12 * mebibyte;         // a shard has 32
  auto const u = values(shape, rows);
  auto v = zeros<double, 2>(shape, columns);

  auto const growth = test::peak_growth([&] {
    detail::copy_cells(v.storage(), u.readable(), {});
    synchronize();
  });

  CHECK(wrong_cell(v) == "none");
  if (growth) CHECK_ALL(*growth < limit);
}

TEST_CASE("cells longer than many slots arrive in the order of any layout") {
  Mesh const grid({{"a", 2}, {"b", 4}});
  if (test::left_out_if(device_count() < 8, "it needs 8 devices")) return;
  std::array<std::int64_t, 2> const shape{1201, 1103};  // pieces end inside of runs
  auto const u = values(shape, {grid, P("a", "b")});
  for (auto const& sharding :
       {NamedSharding(grid, P(none, "a")), NamedSharding(grid, P("b", none)),
        NamedSharding(Mesh({6, 3, 1, 4}, {2, 2}, {"p", "q"}), P("q", "p")),
        NamedSharding(grid, P("b", "a"), std::vector{Cut::cyclic(100), Cut::balanced()})}) {
    CAPTURE(sharding);
    auto const v = reshard(u, sharding);
    CHECK(wrong_cell(v) == "none");
    CHECK(wrong_cell(reshard(v, u.sharding())) == "none");
  }
}

TEST_SUITE_END();
