#include "src/transport/channel/channel_memory.hpp"

#include <cstdint>

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("transport/channel/channel_memory");

TEST_CASE("slots lie whole cache lines apart, each behind its header and before room for a seal") {
  CHECK(slot_stride(0) == 128);
  CHECK(slot_stride(48) == 128);
  CHECK(slot_stride(49) == 192);
  CHECK(slot_stride(112) == 192);
  CHECK(channel_bytes(64) == 128 + 2 * 64 + 2 * 192);
}

TEST_CASE("a new end has its counters at zero and its slots at cache lines") {
  auto const end = private_end({DeviceId(0), DeviceId(1), ProcessId(1), 100}, 100);

  CHECK(end.memory->filled == 0);
  CHECK(end.memory->drained == 0);
  CHECK(end.slot_bytes == 100);
  CHECK(end.slot_stride == 192);
  CHECK(reinterpret_cast<std::uintptr_t>(end.slots) % 64 == 0);
  CHECK(end.from == DeviceId(0));
  CHECK(end.to == DeviceId(1));
  CHECK(end.peer == ProcessId(1));
}

TEST_CASE("an end that the sender refused keeps its memory") {
  auto const refused = private_end({DeviceId(0), DeviceId(1), ProcessId(1), 100}, 100);
  refused.memory->drained = 3;

  auto const end = private_end({DeviceId(0), DeviceId(1), ProcessId(1), 100, &refused}, 100);

  CHECK(end.memory == refused.memory);
  CHECK(end.memory->drained == 3);
}

TEST_SUITE_END();
