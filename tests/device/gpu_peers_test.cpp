// What GPUs share with those of other processes, of emulated ones: CUDA's begin with the second
// process of a job, which programs under mpirun test.
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/device/device_memory.hpp"
#include "src/device/driver.hpp"
#include "src/device/peers.hpp"

#include "support/numbers.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("device/gpu_peers");

namespace {

// A pipe in both directions between two processes.
class Line {
 public:
  Line() {
    REQUIRE(::pipe(down_.data()) == 0);
    REQUIRE(::pipe(up_.data()) == 0);
  }
  // Each end keeps its own, so that the other's death ends its reading.
  void become(bool child) {
    is_child_ = child;
    ::close(child ? down_[1] : down_[0]);
    ::close(child ? up_[0] : up_[1]);
  }

  template <class Value>
  void say(Value const& value) {
    auto const written = ::write(is_child_ ? up_[1] : down_[1], &value, sizeof value);
    if (written != sizeof value) std::abort();
  }
  template <class Value>
  void hear(Value& value) {
    auto const count = ::read(is_child_ ? down_[0] : up_[0], &value, sizeof value);
    if (count != sizeof value) std::abort();
  }
  ~Line() {
    ::close(is_child_ ? down_[0] : down_[1]);
    ::close(is_child_ ? up_[1] : up_[0]);
  }
  Line(Line const&) = delete;
  Line& operator=(Line const&) = delete;

 private:
  std::array<int, 2> down_{};
  std::array<int, 2> up_{};
  bool is_child_ = false;
};

// Runs `child` in another process; returns how that ended, after `parent`.
int in_two_processes(std::function<void(Line&)> const& parent,
                     std::function<void(Line&)> const& child) {
  Line line;
  auto const pid = ::fork();
  if (pid == 0) {
    ::alarm(30);
    line.become(true);
    try {
      child(line);
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  line.become(false);
  parent(line);
  int status = -1;
  ::waitpid(pid, &status, 0);
  return status;
}

void wait_until_ready(GpuCommunicator& group) {
  while (!group.is_ready()) std::this_thread::yield();
}

}  // namespace

// The child writes each of two slots three times, with events alone between the GPUs.
TEST_CASE("two processes send by memory and events of their GPUs") {
  constexpr std::size_t count = 1000;
  constexpr int messages = 6;
  for (int gpu = 0; gpu < 2; ++gpu) {
    CAPTURE(gpu);
    auto const parent = [](Line& line) {
      auto const driver = make_emulated_driver();
      auto const stream = driver->make_queue(0);
      std::array<GpuHandle, 5> handles;
      auto const bytes = std::int64_t{count * sizeof(std::int64_t)};
      auto const memory = stream->peers().share_memory(2 * bytes, handles[0]);
      std::array const slots{memory->data(), memory->data() + bytes};
      std::array const drained{stream->peers().share_event(handles[1]),
                               stream->peers().share_event(handles[2])};
      line.say(handles);
      line.hear(handles);
      std::array filled{stream->peers().open_event(handles[3]),
                        stream->peers().open_event(handles[4])};
      std::vector<Numbers> received(messages, Numbers(count));
      for (std::size_t m = 0; m < messages; ++m) {
        char go = 0;
        line.hear(go);  // the child's work is under way
        stream->wait(*filled[m % 2]);
        stream->copy(bytes_of(received[m]), slots[m % 2], bytes);
        stream->record(*drained[m % 2]);
        line.say(go);
      }
      wait_for(*stream);
      for (std::size_t m = 0; m < messages; ++m)
        CHECK(received[m] == counted(count, static_cast<std::int64_t>(m)));
      // What was opened ends first, on both sides.
      filled = {};
      char end = 0;
      line.say(end);
      line.hear(end);
    };
    auto const child = [gpu](Line& line) {
      auto const driver = make_emulated_driver();
      auto const stream = driver->make_queue(gpu);
      std::array<GpuHandle, 5> handles;
      line.hear(handles);
      auto const bytes = std::int64_t{count * sizeof(std::int64_t)};
      auto memory = stream->peers().open_memory(handles[0], 2 * bytes);
      std::array const slots{memory->data(), memory->data() + bytes};
      if (stream->peers().stores_to(*memory) != (gpu == 0)) std::abort();
      std::array drained{stream->peers().open_event(handles[1]),
                         stream->peers().open_event(handles[2])};
      std::array const filled{stream->peers().share_event(handles[3]),
                              stream->peers().share_event(handles[4])};
      line.say(handles);
      std::vector<Numbers> sent;
      for (std::size_t m = 0; m < messages; ++m)
        sent.push_back(counted(count, static_cast<std::int64_t>(m)));
      for (std::size_t m = 0; m < messages; ++m) {
        char go = 0;
        if (m >= 2) line.hear(go);
        stream->wait(*drained[m % 2]);
        stream->copy(slots[m % 2], bytes_of(sent[m]), bytes);
        stream->record(*filled[m % 2]);
        line.say(go);
      }
      for (int m = 0; m < 2; ++m) {
        char go = 0;
        line.hear(go);
      }
      wait_for(*stream);
      drained = {};
      memory.reset();
      char end = 0;
      line.say(end);
      line.hear(end);
    };
    CHECK(in_two_processes(parent, child) == 0);
  }
}

TEST_CASE("what another process does not have cannot be opened") {
  auto const driver = make_emulated_driver();
  auto const stream = driver->make_queue(0);
  CHECK_THROWS_AS((void)stream->peers().open_memory({}, 64), DeviceError);
  CHECK_THROWS_AS((void)stream->peers().open_event({}), DeviceError);
  GpuHandle handle;
  auto const event = stream->peers().share_event(handle);
  CHECK(event->has_passed());
  handle.bytes[16] ^= std::byte{1};  // of the number that only the owner knows
  CHECK_THROWS_AS((void)stream->peers().open_event(handle), DeviceError);
}

TEST_CASE("the GPUs of a machine are told apart") {
  auto const driver = make_emulated_driver();
  auto const first = driver->make_queue(0);
  CHECK(first->peers().gpu_identity() == first->make_sibling()->peers().gpu_identity());
  CHECK(first->peers().gpu_identity() != driver->make_queue(1)->peers().gpu_identity());
}

TEST_CASE("the members of a group send to each other what they like") {
  constexpr std::int64_t members = 5;
  constexpr int rounds = 20;
  auto const driver = make_emulated_driver();
  std::vector<std::shared_ptr<Queue>> streams;
  std::vector<Queue*> joining;
  for (std::int64_t m = 0; m < members; ++m) {
    streams.push_back(driver->make_queue(int(m % 2)));
    joining.push_back(streams.back().get());
  }
  auto const id = streams.front()->peers().make_group_id(members);
  auto const groups = streams.front()->peers().join_communicator(id, 0, members, joining);
  for (auto const& group : groups) wait_until_ready(*group);

  // By round, sender and receiver: how many numbers, none of them where nothing is sent.
  std::mt19937 random(20261122);
  auto const length = [&] {
    return std::array<std::size_t, 6>{0, 0, 1, 100, 2048, 5000}[random() % 6];
  };
  struct Member {
    std::vector<Numbers> sent;
    std::vector<Numbers> received;
    std::vector<Numbers> expected;
    std::vector<DeviceMemory> memory;
  };
  std::vector<Member> all(members);
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::vector<std::size_t>> lengths(members, std::vector<std::size_t>(members));
    for (auto& row : lengths)
      for (auto& entry : row) entry = length();
    for (std::size_t m = 0; m < members; ++m) {
      auto& member = all[m];
      auto& stream = streams[m];
      member = {};
      for (std::size_t other = 0; other < members; ++other) {
        member.sent.push_back(
            counted(lengths[m][other], static_cast<std::int64_t>(1000 * m + other) + round));
        member.expected.push_back(
            counted(lengths[other][m], static_cast<std::int64_t>(1000 * other + m) + round));
        member.received.emplace_back(lengths[other][m]);
      }
      for (auto& numbers : member.sent) {
        auto& memory = member.memory.emplace_back(bytes_in(numbers) + 8, stream);
        stream->copy(memory.data(), bytes_of(numbers), bytes_in(numbers));
      }
      for (auto const& numbers : member.received)
        member.memory.emplace_back(bytes_in(numbers) + 8, stream);
      auto& group = *groups[m];
      group.begin();
      for (std::size_t other = 0; other < members; ++other) {
        auto const rank = static_cast<std::int64_t>(other);
        if (!member.sent[other].empty())
          group.send(rank, member.memory[other].data(), bytes_in(member.sent[other]));
        if (!member.received[other].empty())
          group.receive(rank, member.memory[members + other].data(),
                        bytes_in(member.received[other]));
      }
      group.end();
      wait_until_ready(group);
      for (std::size_t other = 0; other < members; ++other)
        stream->copy(bytes_of(member.received[other]), member.memory[members + other].data(),
                     bytes_in(member.received[other]));
    }
    for (std::size_t m = 0; m < members; ++m) {
      wait_for(*streams[m]);
      CHECK(all[m].received == all[m].expected);
    }
  }
}

TEST_CASE("a group finds lengths that differ, and ends for a member that leaves") {
  auto const driver = make_emulated_driver();
  std::array const streams{driver->make_queue(0), driver->make_queue(1)};
  std::array<DeviceMemory, 2> const memory{DeviceMemory(64, streams[0]),
                                           DeviceMemory(64, streams[1])};
  auto const id = streams[0]->peers().make_group_id(2);
  std::array<Queue*, 2> const joining{streams[0].get(), streams[1].get()};
  auto const groups = streams[0]->peers().join_communicator(id, 0, 2, joining);
  for (auto const& group : groups) wait_until_ready(*group);
  SUBCASE("lengths") {
    groups[0]->begin();
    groups[0]->send(1, memory[0].data(), 32);
    groups[0]->end();
    groups[1]->begin();
    groups[1]->receive(0, const_cast<std::byte*>(memory[1].data()), 64);
    groups[1]->end();
    CHECK_THROWS_AS(wait_for(*streams[1]), DeviceError);
  }
  SUBCASE("a member that leaves") {
    groups[1]->begin();
    groups[1]->receive(0, const_cast<std::byte*>(memory[1].data()), 64);
    groups[1]->end();
    groups[1]->abandon();
    CHECK_THROWS_AS(wait_for(*streams[1]), DeviceError);
  }
}

TEST_SUITE_END();
