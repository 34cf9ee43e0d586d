#include "src/transport/channel/port.hpp"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "src/transport/channel/channel_memory.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("transport/channel/port");

namespace {

constexpr std::int64_t slot_bytes = 64;

/// One end of a channel whose ends share no memory, and what its carrier was given.
struct End {
  explicit End(bool sends) : port(end, sends, rung) {}

  ChannelEnd end = private_end({DeviceId(0), DeviceId(1), ProcessId(1), slot_bytes}, slot_bytes);
  std::atomic<std::uint64_t> rung{0};
  Port port;

  /// Bytes of each request that the port starts now, by slot.
  std::vector<std::pair<std::size_t, std::size_t>> post() {
    std::vector<std::pair<std::size_t, std::size_t>> started;
    port.post([&](std::span<std::byte> bytes, std::size_t place, bool /*confirmed*/) {
      started.emplace_back(place, bytes.size());
    });
    return started;
  }
  /// As a Sender does.
  void put(std::int64_t size_bytes) {
    auto const number = end.memory->filled.load();
    auto* const slot = end.slots + static_cast<std::int64_t>(number % 2) * end.slot_stride;
    reinterpret_cast<MessageHeader*>(slot)->write({1, 1, {}}, size_bytes);
    end.memory->filled = number + 1;
  }
};

using Started = std::vector<std::pair<std::size_t, std::size_t>>;

}  // namespace

TEST_CASE("a sending port gives its carrier what was put, header and payload") {
  End end(true);
  CHECK(end.post().empty());

  end.put(10);
  CHECK(end.port.has_pending());
  CHECK((end.post() == Started{{0, sizeof(MessageHeader) + 10}}));
  end.put(20);
  CHECK((end.post() == Started{{1, sizeof(MessageHeader) + 20}}));
  CHECK(end.post().empty());
}

TEST_CASE("a slot may be written again only when all sends before it have ended") {
  End end(true);
  end.put(10);
  end.put(10);
  (void)end.post();

  end.port.end_one(1);
  CHECK(end.end.memory->drained == 0);
  CHECK(end.port.has_pending());
  end.port.end_one(0);
  CHECK(end.end.memory->drained == 2);
  CHECK_FALSE(end.port.has_pending());
}

TEST_CASE("a receiving port has two receives ahead of what was read") {
  End end(false);
  auto const whole = static_cast<std::size_t>(end.end.slot_stride);
  CHECK((end.post() == Started{{0, whole}, {1, whole}}));
  CHECK(end.post().empty());
  CHECK_FALSE(end.port.has_pending());

  end.port.end_one(0);
  CHECK(end.end.memory->filled == 1);
  end.end.memory->drained = 1;  // read
  CHECK(end.port.has_pending());
  CHECK((end.post() == Started{{0, whole}}));
}

TEST_CASE("messages that arrive out of order are shown in order") {
  End end(false);
  (void)end.post();

  end.port.end_one(1);
  CHECK(end.end.memory->filled == 0);
  end.port.end_one(0);
  CHECK(end.end.memory->filled == 2);
}

TEST_CASE("ringing is counted for the whole transport") {
  End end(true);
  end.port.ring();
  end.port.ring();
  CHECK(end.rung == 2);
}

TEST_SUITE_END();
