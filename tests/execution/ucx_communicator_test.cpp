// Groups of GPUs whose messages go by UCX, all members in one process and moved by one thread.
#include "src/execution/gpu_channels/ucx_communicator.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/device/device_memory.hpp"
#include "src/device/driver.hpp"
#include "src/device/peers.hpp"

#include "support/numbers.hpp"
#include "support/secrets.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("execution/ucx_group");

namespace {

// Members on two GPUs, each of which may send to all.
struct Members {
  explicit Members(std::size_t count) : driver(make_emulated_driver()) {
    for (std::size_t m = 0; m < count; ++m) {
      streams.push_back(driver->make_queue(static_cast<int>(m % 2)));
      groups.push_back(
          make_ucx_communicator(streams.back(), static_cast<std::int64_t>(m), own_secret()));
    }
    for (auto const& from : groups)
      for (std::size_t to = 0; to < count; ++to)
        from->connect(static_cast<std::int64_t>(to), groups[to]->address());
  }

  [[nodiscard]] bool are_ready() const {
    bool all = true;
    for (auto const& group : groups) all = group->is_ready() && all;
    return all;
  }

  std::unique_ptr<DeviceDriver> driver;
  std::vector<std::shared_ptr<Queue>> streams;
  std::vector<std::unique_ptr<UcxCommunicator>> groups;
};

bool has_ucx() {
  auto const driver = make_emulated_driver();
  auto const traits = ucx_communicator_traits(*driver->make_queue(0));
  if (!traits.exists) MESSAGE("without UCX: ", traits.reason);
  return traits.exists;
}

}  // namespace

TEST_CASE("members send to each other and to themselves what they like, by UCX") {
  if (!has_ucx()) return;
  constexpr std::size_t count = 4;
  constexpr int rounds = 30;
  Members members(count);
  // By sender and receiver: how many numbers, none of them where nothing is sent. The longest ones
  // are fetched by their receivers.
  std::mt19937 random(20261122);
  auto const length = [&] {
    return std::array<std::size_t, 7>{0, 0, 1, 100, 2048, 5000, 300'000}[random() % 7];
  };
  for (int round = 0; round < rounds; ++round) {
    std::array<std::array<std::size_t, count>, count> lengths{};
    for (auto& row : lengths)
      for (auto& entry : row) entry = length();
    // Host memory outlives the work that copies it.
    std::vector<Numbers> sent;
    std::vector<Numbers> received;
    std::vector<Numbers> expected;
    sent.reserve(count * count);
    received.reserve(count * count);
    std::vector<std::pair<std::size_t, DeviceMemory>> arrived;
    std::vector<DeviceMemory> leaving;
    for (std::size_t m = 0; m < count; ++m) {
      auto const& stream = members.streams[m];
      auto& group = *members.groups[m];
      group.begin();
      for (std::size_t other = 0; other < count; ++other) {
        auto const rank = static_cast<std::int64_t>(other);
        auto const first = [&](std::size_t from, std::size_t to) {
          return static_cast<std::int64_t>(1000 * from + to) + round;
        };
        if (auto const n = lengths[m][other]; n > 0) {
          auto& numbers = sent.emplace_back(counted(n, first(m, other)));
          auto& memory = leaving.emplace_back(bytes_in(numbers), stream);
          stream->copy(memory.data(), bytes_of(numbers), bytes_in(numbers));
          group.send(rank, memory.data(), bytes_in(numbers));
        }
        if (auto const n = lengths[other][m]; n > 0) {
          expected.push_back(counted(n, first(other, m)));
          auto& [member, memory] =
              arrived.emplace_back(m, DeviceMemory(bytes_in(expected.back()), stream));
          group.receive(rank, memory.data(), bytes_in(expected.back()));
        }
      }
      group.end();
    }
    while (!members.are_ready()) {
    }
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      auto const& [member, memory] = arrived[i];
      auto& numbers = received.emplace_back(expected[i].size());
      members.streams[member]->copy(bytes_of(numbers), memory.data(), bytes_in(numbers));
    }
    for (auto const& stream : members.streams) wait_for(*stream);
    CHECK(received == expected);
  }
}

TEST_CASE("a member of a group by UCX is not ready before the others have come") {
  if (!has_ucx()) return;
  Members members(2);
  DeviceMemory memory(64, members.streams[0]);
  auto& group = *members.groups[0];
  CHECK(group.is_ready());
  group.begin();
  SUBCASE("that send to it") {
    group.receive(1, memory.data(), 64);
  }
  SUBCASE("that it sends to") {
    group.send(1, memory.data(), 64);
  }
  group.end();
  bool ready = false;
  for (int look = 0; look < 10'000; ++look) ready = group.is_ready() || ready;
  CHECK_FALSE(ready);
  // It can leave all the same, and so can the other one.
  group.abandon();
  CHECK_THROWS_WITH_AS((void)group.is_ready(), "device 0 has left its communicator", DeviceError);
}

TEST_CASE("a group by UCX finds messages of other lengths than their receivers know") {
  if (!has_ucx()) return;
  std::int64_t length = 0;
  SUBCASE("longer") {
    length = 32;
  }
  SUBCASE("shorter") {
    length = 128;
  }
  Members members(2);
  DeviceMemory const from(128, members.streams[0]);
  DeviceMemory to(128, members.streams[1]);
  members.groups[0]->begin();
  members.groups[0]->send(1, from.data(), 64);
  members.groups[0]->end();
  members.groups[1]->begin();
  members.groups[1]->receive(0, to.data(), length);
  members.groups[1]->end();
  auto const until_ready = [&] {
    while (!members.are_ready()) {
    }
  };
  CHECK_THROWS_WITH_AS(
      until_ready(), doctest::Contains("device 0 sends a message of another length"), DeviceError);
}

TEST_CASE("a member of a group by UCX that cannot be reached is named, and does no harm") {
  if (!has_ucx()) return;
  Members members(1);
  std::vector<std::byte> const nowhere(64);
  CHECK_THROWS_WITH_AS(members.groups[0]->connect(7, nowhere),
                       doctest::Contains("device 0 cannot send to device 7"), TransportError);
  members.groups[0]->abandon();
}

TEST_SUITE_END();
