#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <malloc.h>
#include <tessera/tessera.hpp>

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

TEST_SUITE_END();
