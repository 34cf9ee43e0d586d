#include "src/execution/gpu_channels/gpu_channel.hpp"

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("execution/gpu_lane");

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

}  // namespace

TEST_CASE("slots between processes come in steps of 1 MiB") {
  CHECK(grown_slot_bytes(0, 1) == mebibyte);
  CHECK(grown_slot_bytes(0, mebibyte) == mebibyte);
  CHECK(grown_slot_bytes(0, mebibyte + 1) == 2 * mebibyte);
}

TEST_CASE("slots that grow are at least twice as long as before") {
  CHECK(grown_slot_bytes(4 * mebibyte, 4 * mebibyte + 1) == 8 * mebibyte);
  CHECK(grown_slot_bytes(4 * mebibyte, 9 * mebibyte) == 9 * mebibyte);
}

TEST_CASE("all earlier slots together are no longer than the last ones") {
  std::int64_t slot = 0;
  std::int64_t earlier = 0;
  for (int growth = 0; growth < 20; ++growth) {
    auto const next = grown_slot_bytes(slot, slot + 1);
    earlier += slot;
    slot = next;
    CHECK(earlier <= slot);
  }
}

TEST_SUITE_END();
