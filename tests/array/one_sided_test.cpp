#include "tessera/array/one_sided.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "tessera/array/adopt.hpp"
#include "tessera/array/creation.hpp"
#include "tessera/array/shards.hpp"
#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/environment.hpp"
#include "src/base/text.hpp"
#include "src/runtime/engine.hpp"

#include "support/arrays.hpp"
#include "support/device_kinds.hpp"
#include "support/left_out.hpp"

using namespace tessera;
using test::holds;
using test::over;
using test::scrambled;

TEST_SUITE_BEGIN("array/one_sided" * test::host_only());

namespace {

std::int64_t self() {
  return process().value();
}

// True if this process is the one to do it.
bool is_mine(std::int64_t i) {
  return i % process_count() == self();
}

struct Three {
  std::int32_t a, b, c;
};

// Longer than what one message of any route holds.
struct Long {
  std::array<double, 200> numbers;
};

template <class T>
T made_of(std::int64_t i) {
  if constexpr (std::is_same_v<T, Three>) {
    auto const n = static_cast<std::int32_t>(i);
    return {n, -n, 7 * n};
  } else if constexpr (std::is_same_v<T, Long>) {
    Long made;
    for (std::size_t k = 0; k < made.numbers.size(); ++k)
      made.numbers[k] = static_cast<double>(i) + 0.001 * static_cast<double>(k);
    return made;
  } else if constexpr (detail::is_complex<T>) {
    return {static_cast<detail::real_of<T>>(i), static_cast<detail::real_of<T>>(-i)};
  } else {
    return static_cast<T>(static_cast<float>(i));
  }
}

template <class T>
bool is_same(T const& a, T const& b) {
  using Bytes = std::array<std::byte, sizeof(T)>;
  return std::bit_cast<Bytes>(a) == std::bit_cast<Bytes>(b);
}

// Cell i is written by the process whose turn it is, and read by all in the next epoch.
template <class T>
void cells_go_round() {
  constexpr std::int64_t n = 11;
  CAPTURE(dtype_name<T>());
  auto u = from_index<T, 1>({n}, over(8), [](auto) { return made_of<T>(0); });

  fence(u);
  for (std::int64_t i = 0; i < n; ++i)
    if (is_mine(i)) u.write({i}, made_of<T>(i + 1));
  fence(u);
  fence(u);
  bool right = true;
  for (std::int64_t i = 0; i < n; ++i) right = right && is_same(u.read({i}), made_of<T>(i + 1));
  auto const all = u.read(Box{{2}, {n}});
  for (std::int64_t i = 2; i < n; ++i)
    right = right && is_same(T(all[static_cast<std::size_t>(i - 2)]), made_of<T>(i + 1));
  auto const asked = u.read_async(Box{{0}, {n}});
  right = right && is_same(u.read_async({n - 1}).get(), made_of<T>(n));
  auto const came = asked.get();
  for (std::int64_t i = 0; i < n; ++i)
    right = right && is_same(T(came[static_cast<std::size_t>(i)]), made_of<T>(i + 1));
  fence(u);

  CHECK_ALL(right);
}

template <class T>
void sums_add_up() {
  CAPTURE(dtype_name<T>());
  auto u = from_index<T, 1>({5}, over(8), [](auto) { return made_of<T>(0); });

  fence(u);
  for (std::int64_t i = 0; i < 5; ++i)
    for (int k = 0; k < 3; ++k) u.accumulate({i}, made_of<T>(i + 1));
  fence(u);

  auto const cells = u.to_host();
  bool right = true;
  for (std::int64_t i = 0; i < 5; ++i)
    right = right &&
            is_same(cells[static_cast<std::size_t>(i)], made_of<T>(3 * process_count() * (i + 1)));
  CHECK_ALL(right);
}

template <class T>
void atomics_give_what_was_there() {
  CAPTURE(dtype_name<T>());
  auto u = from_index<T, 1>({9}, over(8), [](auto) { return made_of<T>(3); });
  bool right = true;

  fence(u);
  if (self() == process_count() - 1)
    for (std::int64_t i = 0; i < 9; ++i) {
      right = right && u.fetch_add({i}, made_of<T>(4)) == made_of<T>(3);
      right = right && u.compare_exchange({i}, made_of<T>(1), made_of<T>(50)) == made_of<T>(7);
      right = right && u.compare_exchange({i}, made_of<T>(7), made_of<T>(60)) == made_of<T>(7);
      right = right && u.fetch_add_async({i}, made_of<T>(1)).get() == made_of<T>(60);
    }
  fence(u);

  CHECK_ALL(right);
  CHECK(holds(u, std::vector<T>(9, made_of<T>(61))));
}

// Boxes that tell much about a plane: all, none, a cell, rows and columns over many owners.
std::vector<Box> boxes_of(std::int64_t rows, std::int64_t columns) {
  std::vector<Box> boxes{{{0, 0}, {rows, columns}}, {{0, 0}, {0, columns}}};
  if (rows == 0) return boxes;
  boxes.push_back({{rows / 2, 0}, {rows / 2 + 1, columns}});
  boxes.push_back({{0, columns / 2}, {rows, columns / 2 + 1}});
  boxes.push_back({{rows / 3, columns / 3}, {rows, columns}});
  boxes.push_back({{rows - 1, columns - 1}, {rows, columns}});
  return boxes;
}

template <class T>
std::vector<T> cells_in(test::Mirror<T> const& mirror, Box const& box) {
  std::vector<T> cells;
  test::for_each_cell(box, [&](Index const& i) { cells.push_back(mirror.cells[mirror.place(i)]); });
  return cells;
}

bool has_memory_in_common() {
  auto const route = environment("TESSERA_ROUTE");
  return process_count() == 1 || !route || *route == "shm";
}

bool is_served_by_a_thread() {
  auto const route = environment("TESSERA_ROUTE");
  return !route || *route != "mpi";
}

// What `act` throws begins so.
template <class Class, class Act>
void check_refusal(Act const& act, std::string const& words) {
  std::string message = "nothing";
  try {
    act();
  } catch (Class const& error) {
    message = error.what();
  }
  CAPTURE(message);
  CAPTURE(words);
  CHECK_ALL(message.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("a cell of any type is written by one process and read by all") {
  cells_go_round<bool>();
  cells_go_round<std::int8_t>();
  cells_go_round<std::uint16_t>();
  cells_go_round<std::int32_t>();
  cells_go_round<std::int64_t>();
  cells_go_round<float16>();
  cells_go_round<float>();
  cells_go_round<double>();
  cells_go_round<std::complex<float>>();
  cells_go_round<std::complex<double>>();
  cells_go_round<Three>();
  cells_go_round<Long>();
}

TEST_CASE("what all processes add to a cell adds up, for any number") {
  sums_add_up<std::int8_t>();
  sums_add_up<std::uint16_t>();
  sums_add_up<std::int32_t>();
  sums_add_up<std::uint64_t>();
  sums_add_up<float16>();
  sums_add_up<bfloat16>();
  sums_add_up<float>();
  sums_add_up<double>();
  sums_add_up<std::complex<float>>();
  sums_add_up<std::complex<double>>();
}

TEST_CASE("atomics give what was there before") {
  atomics_give_what_was_there<std::int32_t>();
  atomics_give_what_was_there<std::uint64_t>();
  atomics_give_what_was_there<float>();
  atomics_give_what_was_there<double>();
}

TEST_CASE("boxes over many owners are read and written, whatever the layout") {
  for (auto const& [rows, columns] : {std::pair{7, 11}, {3, 2}, {1, 1}, {0, 5}}) {
    if (!has_memory_in_common() && rows != 7) continue;  // where each cell takes its time
    auto const before = scrambled<double>({rows, columns});
    auto after = before;
    for (std::size_t i = 0; i < after.cells.size(); ++i) after.cells[i] += 0.1;
    for (auto const& sharding : test::layouts_of_plane(rows, columns)) {
      CAPTURE(sharding);
      auto u = test::spread_out<double, 2>(before, sharding);
      bool right = true;

      fence(u);
      for (auto const& box : boxes_of(rows, columns))
        right = right && u.read(box) == cells_in(before, box);
      fence(u);
      fence(u);
      for (std::int64_t i = 0; i < rows; ++i) {
        Box const row{{i, 0}, {i + 1, columns}};
        if (is_mine(i)) u.write(row, cells_in(after, row));
      }
      fence(u);
      bool const is_written = holds(u, after);
      fence(u);
      for (auto const& box : boxes_of(rows, columns))
        right = right && u.read(box) == cells_in(after, box);
      fence(u);

      CHECK(is_written);
      CHECK_ALL(right);
    }
  }
}

TEST_CASE("rows of any layout are read cell by cell, and by an Index") {
  for (auto const& sharding : test::layouts_of_row(13)) {
    CAPTURE(sharding);
    auto u = iota<std::int32_t>({13}, sharding);
    bool right = true;

    fence(u);
    for (std::int64_t i = 13; i-- > 0;)
      right =
          right && u.read({i}) == static_cast<std::int32_t>(i) && u.read(Index{i}) == u.read({i});
    fence(u);

    CHECK_ALL(right);
  }
}

TEST_CASE("a write reaches every copy") {
  Mesh const grid({{"a", 2}, {"b", 4}});
  for (auto const& sharding : {NamedSharding(grid, P("b")), NamedSharding(grid, P(none)),
                               NamedSharding(Mesh({6, 1, 4, 3}, {2, 2}, {"p", "q"}), P("q"))}) {
    CAPTURE(sharding);
    auto u = zeros<double>({6}, sharding);

    fence(u);
    if (self() == 0) u.write({4}, 0.4);
    if (self() == process_count() - 1) u.write(Box{{1}, {3}}, std::vector{0.1, 0.2});
    fence(u);

    bool right = true;
    std::vector<double> const expected{0, 0.1, 0.2, 0, 0.4, 0};
    for (auto const& shard : u.addressable_shards())
      for (std::int64_t i = 0; i < shard.extent(0); ++i)
        right = right && shard(i) == expected[static_cast<std::size_t>(shard.box().lo[0] + i)];
    CHECK_ALL(right);
  }
}

TEST_CASE("many things are under way at once, and may be forgotten") {
  constexpr std::int64_t n = 1000;
  auto u = iota<std::int64_t>({n}, over(8));
  auto v = zeros<std::int64_t>({n}, over(8));
  bool right = true;

  fence(u);
  fence(v);
  std::vector<Pending<std::int64_t>> reads;
  for (std::int64_t i = 0; i < n; i += 3) reads.push_back(u.read_async({i}));
  auto const box = u.read_async(Box{{10}, {990}});
  for (std::int64_t i = 0; i < n; ++i)
    if (is_mine(i)) (void)v.write_async({i}, i * i);
  for (std::size_t k = 0; k < reads.size(); ++k)
    right = right && reads[k].get() == static_cast<std::int64_t>(3 * k) && reads[k].ready();
  auto const cells = box.get();
  for (std::int64_t i = 10; i < 990; ++i)
    right = right && cells[static_cast<std::size_t>(i - 10)] == i;
  fence(v);
  (void)u.read_async({n - 1});
  fence(u);

  CHECK_ALL(right);
  std::vector<std::int64_t> squares;
  for (std::int64_t i = 0; i < n; ++i) squares.push_back(i * i);
  CHECK(holds(v, squares));
}

TEST_CASE("a long box goes in pieces") {
  constexpr std::int64_t rows = 130;
  constexpr std::int64_t columns = 300;
  auto const before = scrambled<double>({rows, columns});
  auto u = test::spread_out<double, 2>(before, over(3, 2));
  Box const most{{1, 1}, {rows - 1, columns}};
  std::vector<double> twice = cells_in(before, most);
  for (auto& cell : twice) cell *= 2;

  fence(u);
  bool const is_read = u.read(most) == cells_in(before, most);
  fence(u);
  fence(u);
  if (self() == process_count() - 1) u.write(most, twice);
  fence(u);
  fence(u);
  std::vector<double> into(twice.size());
  u.read(most, into);
  fence(u);

  CHECK_ALL(is_read);
  CHECK_ALL(into == twice);
}

TEST_CASE("fetch_adds of all processes are counted once each, and reads meet no cell but theirs") {
  // TESSERA_ONE_SIDED_CASES=1000000 for so many, over all processes together.
  auto const some = has_memory_in_common() ? 20'000 : is_served_by_a_thread() ? 4'000 : 1'000;
  auto const cases = environment_integer("TESSERA_ONE_SIDED_CASES", 1).value_or(some);
  auto const mine = cases / process_count();
  constexpr std::int64_t n = 101;
  auto u = iota<double>({n}, over(8));
  auto counts = zeros<std::int64_t>({n}, over(8));
  test::Random random(static_cast<std::uint64_t>(self()) + 1);
  bool right = true;

  fence(u);
  fence(counts);
  for (std::int64_t k = 0; k < mine; ++k) {
    auto const i = random.between(0, n - 1);
    right = right && u.read({i}) == static_cast<double>(i);
    right = right && counts.fetch_add({random.between(0, n - 1)}, 1) >= 0;
  }
  fence(counts);
  fence(u);

  std::int64_t total = 0;
  for (auto const count : counts.to_host()) total += count;
  CHECK_ALL(right);
  CHECK(total == mine * process_count());
}

TEST_CASE("tickets of one counter are all different") {
  constexpr std::int64_t each = 50;
  auto counter = zeros<std::int32_t>({1}, over(8));
  auto owners = zeros<std::int32_t>({each * process_count()}, over(8));

  fence(counter);
  fence(owners);
  for (std::int64_t k = 0; k < each; ++k)
    owners.accumulate({counter.fetch_add({0}, 1)}, static_cast<std::int32_t>(self() + 1));
  fence(owners);
  fence(counter);

  std::vector<std::int64_t> taken(static_cast<std::size_t>(process_count()));
  for (auto const owner : owners.to_host())
    if (owner >= 1 && owner <= process_count()) ++taken[static_cast<std::size_t>(owner - 1)];
  CHECK(taken == std::vector<std::int64_t>(static_cast<std::size_t>(process_count()), each));
}

TEST_CASE("an epoch follows the cells when buffers change, and later statements see its writes") {
  auto u = iota<double>({9}, over(8));
  auto v = zeros<double>({9}, over(4));
  bool right = true;

  for (int round = 0; round < 3; ++round) {
    fence(u);
    if (is_mine(round)) u.write({8}, 100.0 + round);
    fence(u);
    v = u;
    fence(v);
    right = right && v.read({8}) == 100.0 + round && v.read({7}) == 7;
    fence(v);
  }

  CHECK_ALL(right);
}

TEST_CASE("the owner of the cells may be busy with something else") {
  bool const is_one_host = std::ssize(engine().network().host_processes()) == process_count();
  bool const is_served = process_count() > 1 && is_one_host && is_served_by_a_thread();
  if (test::left_out_if(!is_served,
                        "it needs another process of this host, with a thread that serves"))
    return;
  auto const name = "/tmp/tessera_one_sided_" + std::to_string(getppid());
  auto u = iota<std::int64_t>({8}, over(8));
  auto const last = process_count() - 1;
  bool right = true;

  fence(u);
  if (self() == 0) {
    for (std::int64_t i = 0; i < 8; ++i) right = right && u.fetch_add({i}, 10) == i;
    std::ofstream(name) << "done";
  } else if (self() == last) {
    // Waits for the first process, but not in Tessera.
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (access(name.c_str(), F_OK) != 0 && right) right = std::chrono::steady_clock::now() < end;
    std::remove(name.c_str());
  }
  fence(u);

  CHECK_ALL(right);
  CHECK(holds(u, std::vector<std::int64_t>{10, 11, 12, 13, 14, 15, 16, 17}));
}

TEST_CASE("outside of an epoch nothing is done one-sidedly, inside nothing else") {
  auto u = iota<double>({6, 4}, over(2, 4));
  auto const& same = u;
  auto v = u;
  auto const closed = "outside of its fences; call fence(u) on every process";
  auto const open = "between its fences";

  check_refusal<UsageError>([&] { (void)u.read({0, 0}); }, closed);
  check_refusal<UsageError>([&] { u.write({0, 0}, 1); }, closed);
  check_refusal<UsageError>([&] { u.accumulate({0, 0}, 1); }, closed);
  check_refusal<UsageError>([&] { (void)u.read_async(Box{{0, 0}, {1, 1}}); }, closed);
  fence(u);
  check_refusal<UsageError>([&] { v = u; },
                            text("a statement names an array of shape (6, 4) ", open));
  check_refusal<UsageError>([&] { u = v; }, open);
  check_refusal<UsageError>([&] { (void)u.to_host(); }, text("a host read names an array"));
  check_refusal<UsageError>([&] { (void)u.addressable_shards(); }, open);
  check_refusal<UsageError>([&] { (void)u.mutable_shards(); }, open);
  check_refusal<UsageError>([&] { for_each_shard(same, [](auto const&) {}); }, open);
  check_refusal<UsageError>([&] { (void)v.read({0, 0}); }, closed);
  CHECK_ALL(u.read({5, 3}) == 23);
  fence(u);
  CHECK(holds(u, v.to_host()));
}

TEST_CASE("cells that the array does not have are refused where they are asked for") {
  auto u = iota<double>({6, 4}, over(2, 4));
  std::vector<double> cells(5);

  fence(u);
  check_refusal<IndexError>(
      [&] {
        (void)u.read({6, 0});
      },
      "there is no cell (6, 0) in an array of shape (6, 4)");
  check_refusal<IndexError>([&] { u.write({0, -1}, 1); }, "there is no cell (0, -1)");
  check_refusal<IndexError>([&] { u.accumulate({-1, 0}, 1); }, "count from 0");
  check_refusal<IndexError>([&] { (void)u.read(Index{1}); }, "does not have the 2 dimensions");
  check_refusal<IndexError>(
      [&] {
        (void)u.read(Box{{0, 0}, {7, 4}});
      },
      "the box [0:7, 0:4] is not inside an array of shape (6, 4)");
  check_refusal<IndexError>([&] { (void)u.read_async(Box{{0}, {4}}); }, "the box [0:4]");
  check_refusal<ShapeError>(
      [&] {
        u.write(Box{{0, 0}, {1, 4}}, cells);
      },
      "the box [0:1, 0:4] has 4 cells but there are 5");
  fence(u);
  CHECK(holds(u, iota<double>({6, 4}, over(2, 4)).to_host()));
}

TEST_CASE("atomics need one copy, and fences cells that can be shared") {
  Mesh const grid({{"a", 2}, {"b", 4}});
  auto copies = zeros<double>({8}, {grid, P("b")});
  auto pinned = zeros<double>({8}, over(8));
  pin(pinned);

  fence(copies);
  check_refusal<UsageError>([&] { copies.accumulate({0}, 1); },
                            "an atomic on an array with 2 copies of each cell");
  check_refusal<UsageError>([&] { (void)copies.fetch_add({0}, 1); }, "no copy that all of them");
  CHECK_ALL(copies.read({0}) == 0);
  fence(copies);
  check_refusal<UsageError>([&] { fence(pinned); }, "or are pinned, cannot move");

  auto later = iota<double>({8}, over(8));
  fence(later);
  fence(later);
  pin(later);
  auto const* const place =
      later.addressable_shards().empty() ? nullptr : later.addressable_shards().front().data();
  fence(later);
  if (self() == 0) later.write({7}, 70);
  fence(later);
  CHECK(holds(later, std::vector<double>{0, 1, 2, 3, 4, 5, 6, 70}));
  CHECK_ALL(
      place ==
      (later.addressable_shards().empty() ? nullptr : later.addressable_shards().front().data()));
}

TEST_SUITE_END();
