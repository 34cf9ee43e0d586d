#include "src/device/host_memory.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "support/left_out.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("device/memory");

namespace {

std::uintptr_t address(HostMemory const& memory) {
  return reinterpret_cast<std::uintptr_t>(memory.data());
}

}  // namespace

TEST_CASE("small memory is aligned to 64 bytes, large memory to 2 MiB") {
  for (std::int64_t const bytes : {1, 7, 64, 65, 4096, (4 << 20) - 1}) {
    CAPTURE(bytes);
    HostMemory const memory(bytes);
    CHECK(memory.size_bytes() == bytes);
    CHECK(address(memory) % 64 == 0);
  }
  for (std::int64_t const bytes : {4 << 20, (4 << 20) + 1, (6 << 20) - 4096, 33'333'333}) {
    CAPTURE(bytes);
    HostMemory const memory(bytes);
    CHECK(memory.size_bytes() == bytes);
    CHECK(address(memory) % (2U << 20) == 0);
  }
}

TEST_CASE("every byte can be written and read, again and again") {
  for (std::int64_t const bytes : {1, 100, 4 << 20, (4 << 20) + 4097})
    for (int round = 0; round < 3; ++round) {
      HostMemory memory(bytes);
      std::memset(memory.data(), 0x5a, static_cast<std::size_t>(bytes));
      CHECK(memory.data()[0] == std::byte{0x5a});
      CHECK(memory.data()[bytes - 1] == std::byte{0x5a});
    }
}

TEST_CASE("no bytes need no memory") {
  CHECK(HostMemory(0).data() == nullptr);
  CHECK(HostMemory().data() == nullptr);
  CHECK(HostMemory().size_bytes() == 0);
}

TEST_CASE("a size that cannot be had is an error that names it") {
  auto const most = std::numeric_limits<std::int64_t>::max();
  CHECK_THROWS_WITH_AS(HostMemory{-1}, "a host device cannot have -1 bytes (-1 B) of memory",
                       DeviceError);
  CHECK_THROWS_WITH_AS(HostMemory{most},
                       "a host device cannot have 9223372036854775807 bytes (8192.0 PiB) of memory",
                       DeviceError);
  CHECK_THROWS_AS(HostMemory{most - 5'000'000}, DeviceError);
  CHECK_THROWS_AS(HostMemory{std::int64_t{1} << 60}, DeviceError);
}

TEST_CASE("memory moves with its address and leaves none behind") {
  for (std::int64_t const bytes : {100, 5 << 20}) {
    HostMemory first(bytes);
    auto* const data = first.data();

    HostMemory second(std::move(first));
    CHECK(first.data() == nullptr);
    CHECK(first.size_bytes() == 0);
    CHECK(second.data() == data);

    HostMemory third(8);
    third = std::move(second);
    CHECK(second.data() == nullptr);
    CHECK(third.data() == data);
    CHECK(third.size_bytes() == bytes);
  }
}

TEST_CASE("the poison is a NaN, signalling as a double, and both its halves are NaNs") {
  double whole = 0;
  float halves[2] = {};
  std::memcpy(&whole, &poison_pattern, sizeof whole);
  std::memcpy(halves, &poison_pattern, sizeof halves);

  CHECK(std::isnan(whole));
  CHECK((poison_pattern >> 51 & 1) == 0);  // not quiet
  CHECK(std::isnan(halves[0]));
  CHECK(std::isnan(halves[1]));
}

TEST_CASE("memory is poisoned in builds that ask for it, and only there") {
  std::byte bytes[19] = {};
  poison(bytes, sizeof bytes);

  std::uint64_t words[2] = {};
  std::memcpy(words, bytes, sizeof words);
  CHECK(words[0] == (poisons_memory() ? poison_pattern : 0));
  CHECK(words[1] == (poisons_memory() ? poison_pattern : 0));
  CHECK((bytes[18] != std::byte{0}) == poisons_memory());

  if (test::left_out_if(!poisons_memory(), "this build does not poison memory")) return;
  HostMemory const memory(5 << 20);
  std::memcpy(words, memory.data() + (5 << 20) - 8, 8);
  CHECK(words[0] == poison_pattern);
}

TEST_SUITE_END();
