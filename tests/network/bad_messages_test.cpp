#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/network/network.hpp"
#include "src/transport/protocol/control_messages.hpp"

#include "support/fake_job.hpp"

using namespace tessera;
using namespace tessera::test;

/// Control messages that no process of the job sends, as a process gets them.
TEST_SUITE_BEGIN("network/bad_messages");

namespace {

// Process 0 of two, whom process 1 sends bytes.
struct Process {
  Process() {
    network.open_calls(false, [](auto, auto&) {});
    network.send_handshake(DeviceId(0), DeviceId(1), {});
    fake[1].poll_control([this](ProcessId, std::span<std::byte const> bytes) {
      number.assign(bytes.begin(), bytes.begin() + 8);  // in front of every message
    });
  }

  /// What it throws from then on.
  std::string hears(std::span<std::byte const> message) {
    auto bytes = number;
    bytes.insert(bytes.end(), message.begin(), message.end());
    fake[1].send_control(ProcessId(0), bytes);
    (void)network.calls()->progress();
    try {
      network.failure().throw_if_set();
    } catch (TransportError const& error) {
      return error.what();
    }
    return "nothing";
  }
  template <class Message>
  std::string hears(Message const& message) {
    return hears(std::as_bytes(std::span(&message, 1)));
  }

  FakeJob fake = [] {
    FakeJob made(2);
    made[0].forbid_threads();
    return made;
  }();
  Job job{fake[0], 1};
  Network network{fake[0], job, {}};
  std::vector<std::byte> number;
};

control::Note note(std::int64_t from, std::int64_t to, std::uint32_t size) {
  control::Note message;
  message.from = DeviceId(from);
  message.to = DeviceId(to);
  message.size = size;
  return message;
}

}  // namespace

TEST_CASE("a message that no process of the job sends ends with a named error") {
  std::string const remedy = "; all processes of a job must be of the same build";
  CHECK(Process().hears(std::span<std::byte const>()) ==
        "process 1 sent a message of no bytes" + remedy);
  CHECK(Process().hears(std::byte{1}) == "process 1 sent a message of 1 bytes, which has " +
                                             std::to_string(sizeof(control::Answer)) + remedy);
  CHECK(Process().hears(note(1, 0, 5000)) ==
        "process 1 sent a note of 5000; there is room for 960" + remedy);
  CHECK(Process().hears(control::Answer{}) ==
        "process 1 sent an answer to no invitation, from device 0 to device 0" + remedy);
}

TEST_CASE("a message about statements where they are not compared ends with a named error") {
  CHECK(Process()
            .hears(control::Ask{.number = 1})
            .starts_with("process 1 sent a message about statements, which are not compared"));
  CHECK(Process().hears(control::Digests{}).starts_with("process 1 sent"));
}

TEST_CASE("a right message is none of that") {
  CHECK(Process().hears(note(1, 0, 0)) == "nothing");
}

TEST_SUITE_END();
