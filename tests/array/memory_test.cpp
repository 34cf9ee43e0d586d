#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <tessera/tessera.hpp>
#include <unistd.h>

#include "src/base/file_bytes.hpp"

#include "support/agree.hpp"
#include "support/device_kinds.hpp"
#include "support/left_out.hpp"
#include "support/sanitized.hpp"

namespace ts = tessera;

TEST_SUITE_BEGIN("array/memory");

// What a small array takes, all in all.

namespace {

using Array = ts::DistArray<double, 1>;

constexpr std::int64_t arrays = 2000;

// Bytes of the C library's allocator; 0 where a sanitizer has replaced it.
std::int64_t allocated_bytes() {
  auto const info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

ts::NamedSharding on_devices(std::int64_t count) {
  return {ts::Mesh({{"x", count}}), ts::P("x")};
}

// What the system has promised this process.
rlim_t address_space_bytes() {
  auto const pages = ts::bytes_if_readable("/proc/self/statm");
  return std::stoull(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

// The growth for each of many arrays on which `use` has been called.
template <class Use>
std::int64_t bytes_of_each(ts::NamedSharding const& sharding, Use const& use) {
  auto warm = ts::zeros<double>({8}, sharding);
  use(warm);
  std::vector<Array> kept;
  kept.reserve(arrays);
  ts::synchronize();
  auto const before = allocated_bytes();
  for (std::int64_t i = 0; i < arrays; ++i)
    use(kept.emplace_back(ts::zeros<double>({8}, sharding)));
  ts::synchronize();
  return (allocated_bytes() - before) / arrays;
}

void nothing(Array&) {}
void scale(Array& u) {
  u = 0.5 * u;
}
void smooth(Array& u) {
  u(ts::range(1, -1)) = 0.5 * u(ts::range(1, -1)) + 0.5 * u(ts::range(0, -2));
}
void smooth_twice(Array& u) {
  smooth(u);
  smooth(u);
}
// With ghost cells and the list of those that are valid.
void diffuse(Array& u) {
  for (int step = 0; step < 3; ++step)
    u = 0.5 * u + 0.25 * ts::shift(u, 1, ts::periodic) + 0.25 * ts::shift(u, -1, ts::periodic);
}

// Only the processes that own a device of the mesh have cells.
std::int64_t local_shards(ts::NamedSharding const& sharding) {
  return std::ssize(ts::zeros<double>({8}, sharding).addressable_shards());
}

}  // namespace

TEST_CASE("an array of 8 cells on one device takes at most 2 KiB, with both of its buffers") {
  CHECK(bytes_of_each(on_devices(1), nothing) <= 2048);
  CHECK(bytes_of_each(on_devices(1), scale) <= 2048);
  CHECK(bytes_of_each(on_devices(1), smooth_twice) <= 2048);
  CHECK(bytes_of_each(on_devices(1), diffuse) <= 2048);
}

TEST_CASE("each further device takes at most 1 KiB of an array of 8 cells") {
  auto const all = on_devices(ts::device_count());
  auto const most = 2048 + 1024 * (local_shards(all) - 1);

  CHECK(bytes_of_each(all, nothing) <= most);
  CHECK(bytes_of_each(all, smooth_twice) <= most);
  CHECK(bytes_of_each(all, diffuse) <= most);
}

// Each step makes a plan of its own, which has every cell of a device as a box.
TEST_CASE("the plans of a slice that shrinks take next to nothing" *
          doctest::skip(ts::test::is_sanitized)) {
  constexpr std::int64_t cells = 20'000;
  constexpr std::int64_t steps = 20;
  auto u = ts::full<double>(
      {cells}, 1.0, {ts::Mesh({{"x", ts::device_count()}}), ts::P("x"), ts::Cut::cyclic(1)});
  auto const halve_from = [&](std::int64_t k) {
    u(ts::range(k, ts::none)) = 0.5 * u(ts::range(k, ts::none));
  };
  halve_from(0);
  ts::synchronize();
  auto const before = allocated_bytes();

  for (std::int64_t k = 1; k < steps; ++k) halve_from(k);

  ts::synchronize();
  CHECK_ALL(allocated_bytes() - before < steps * (1 + ts::device_count()) * 10'240);
  auto expected = std::vector<double>(cells, std::ldexp(1.0, -static_cast<int>(steps)));
  for (std::int64_t i = 0; i < steps; ++i)
    expected[static_cast<std::size_t>(i)] = std::ldexp(1.0, -static_cast<int>(i) - 1);
  CHECK(u.to_host() == expected);
}

// Factors of a matrix without pivots, whose columns are cut in this way, with more plans than are
// kept. Returns the memory that is left afterwards.
std::int64_t bytes_after_elimination(ts::Cut const& cut, std::vector<double>& factors) {
  constexpr std::int64_t n = 150;
  auto const devices = std::min<std::int64_t>(2, ts::device_count());
  ts::NamedSharding const columns{ts::Mesh({{"x", devices}}), ts::P(ts::none, "x"), cut};
  {
    auto a = ts::from_index<double>({n, n}, columns, [](auto i) {
      return i[0] == i[1] ? 200.0 : 1.0 / static_cast<double>(1 + i[0] + i[1]);
    });
    for (std::int64_t k = 0; k + 1 < n; ++k) {
      auto const rest = ts::range(k + 1, ts::none);
      a(rest, k) = a(rest, k) / a(k, k);
      a(rest, rest) -= a(rest, k)(ts::all, ts::newaxis) * a(k, rest)(ts::newaxis, ts::all);
    }
    factors = a.to_host();
  }
  ts::synchronize();
  return allocated_bytes();
}

// Those of balanced columns take about 2 MiB.
TEST_CASE("the plans of an elimination take at most 2 MiB more where columns are dealt out" *
          doctest::skip(ts::test::is_sanitized)) {
  std::vector<double> expected, factors;
  auto const balanced = bytes_after_elimination(ts::Cut::balanced(), expected);
  auto const dealt = bytes_after_elimination(ts::Cut::cyclic(1), factors);

  CHECK_ALL(dealt - balanced <= std::int64_t{2} << 20);
  CHECK(factors == expected);
}

// In a job of several processes this would end it.
TEST_CASE("an array that the host cannot hold is refused with what there is" *
          ts::test::host_only()) {
  if (ts::test::left_out_if(ts::process_count() > 1, "it needs a process alone")) return;
  CHECK_THROWS_WITH_AS((void)(ts::DistArray<std::int8_t, 1>({std::int64_t{1} << 50},
                                                            on_devices(ts::device_count()))),
                       doctest::Contains("cannot have 1.0 PiB of memory together: "),
                       ts::DeviceError);
  auto const u = ts::full<double>({8}, 1.0, on_devices(ts::device_count()));
  CHECK(u.to_host() == std::vector<double>(8, 1.0));
}

// Rows of a few cells lie one after another.
TEST_CASE("arrays of short rows take at most a quarter more than their cells" *
          ts::test::host_only()) {
  constexpr std::int64_t rows = 40'000;
  auto const devices = ts::device_count();
  for (std::int64_t const columns : {1, 2, 3, 5, 31, 33}) {
    CAPTURE(columns);
    std::int64_t cells = 0;
    std::int64_t reached = 0;
    ts::DistArray<double, 2> const u({rows, columns},
                                     {ts::Mesh({{"x", devices}}), ts::P("x", ts::none)});
    for (auto const& shard : u.addressable_shards()) {
      cells += shard.extent(0) * columns;
      reached += shard.extent(0) * shard.strides()[0];
    }
    CHECK(reached <= cells + cells / 4);
  }
}

// A sanitizer ends a program that gets no memory.
TEST_CASE("where one process lacks the memory for to_host, all are told, and go on" *
          doctest::skip(ts::test::is_sanitized)) {
  constexpr std::int64_t cells = 8 << 20;
  auto const sharding = on_devices(ts::device_count());
  auto const u = ts::full<double>({cells}, 1.0, sharding);
  ts::DistArray const mask = u > 0.5;
  ts::synchronize();
  rlimit old{};
  REQUIRE(::getrlimit(RLIMIT_AS, &old) == 0);
  bool const is_last = ts::process().value() == ts::process_count() - 1;
  if (is_last) {
    auto limit = old;
    limit.rlim_cur = address_space_bytes() + (32U << 20U);
    REQUIRE(::setrlimit(RLIMIT_AS, &limit) == 0);
  }

  std::string told;
  try {
    (void)u.to_host();
  } catch (ts::Error const& error) {
    told = error.what();
  }
  auto const some = mask(ts::range(0, 2 << 20)).to_host();
  REQUIRE(::setrlimit(RLIMIT_AS, &old) == 0);

  CAPTURE(told);
  CHECK_ALL(told == (is_last ? "this process cannot have the memory for to_host: 8388608 times 8 "
                               "bytes; ask for less"
                             : "another process cannot have the memory for to_host: 8388608 times "
                               "8 bytes; ask for less"));
  CHECK_ALL(some == std::vector<bool>(2 << 20, true));
}

TEST_CASE("a one-sided read that lacks memory says how much, of bools also for their bits" *
          ts::test::host_only()) {
  if (ts::test::left_out_if(ts::test::is_sanitized, "a sanitizer ends what gets no memory")) return;
  constexpr std::int64_t cells = 64 << 20;
  auto u = ts::full<bool>({cells}, true, on_devices(1));
  ts::fence(u);
  rlimit old{};
  REQUIRE(::getrlimit(RLIMIT_AS, &old) == 0);
  std::string const lacking =
      "this process cannot have the memory for read: 67108864 times 1 byte; ask for less";
  auto const told_with = [&](rlim_t more_bytes) {
    if (ts::process() != ts::ProcessId{0}) return lacking;  // others would map the cells as well
    auto limit = old;
    limit.rlim_cur = address_space_bytes() + more_bytes;
    REQUIRE(::setrlimit(RLIMIT_AS, &limit) == 0);
    std::string told = "nothing";
    try {
      (void)u.read(ts::Box{{0}, {cells}});
    } catch (std::exception const& error) {
      told = error.what();
    }
    REQUIRE(::setrlimit(RLIMIT_AS, &old) == 0);
    return told;
  };

  CHECK_ALL(told_with(32U << 20U) == lacking);
  // Memory that the C library has kept may be enough for the bits.
  auto const of_bits = told_with(66U << 20U);
  CHECK_ALL((of_bits == lacking || of_bits == "nothing"));
  ts::fence(u);
}

TEST_SUITE_END();
