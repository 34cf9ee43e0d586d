#include "src/transport/protocol/handshakes.hpp"

#include <array>

#include <doctest/doctest.h>

#include "support/fake_job.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("transport/protocol/handshakes");

namespace {

std::array<std::byte, 1> bytes(int value) {
  return {static_cast<std::byte>(value)};
}

/// Two processes of one device each.
struct Pair {
  FakeJob fake{2};
  Job zero_job{fake[0], 1};
  Job one_job{fake[1], 1};
  ControlChannel zero_box{fake[0]};
  ControlChannel one_box{fake[1]};
  Handshakes zero{zero_box, zero_job};
  Handshakes one{one_box, one_job};

  void deliver() {
    one_box.poll([&](ProcessId, std::span<std::byte const> message) {
      one.on_handshake(control::read<control::Note>(message));
    });
  }
};

DeviceId const first{0};
DeviceId const second{1};

}  // namespace

TEST_CASE("the messages of a pair are taken in their order") {
  Pair pair;
  pair.zero.send(first, second, bytes(1));
  pair.zero.send(first, second, bytes(2));
  CHECK_FALSE(pair.one.has_next(first, second));

  pair.deliver();

  REQUIRE(pair.one.has_next(first, second));
  CHECK(pair.one.next(first, second) == 1);
  CHECK(pair.one.take(first, second) == std::vector<std::byte>{std::byte{1}});
  CHECK(pair.one.next(first, second) == 2);
  CHECK(pair.one.take(first, second) == std::vector<std::byte>{std::byte{2}});
  CHECK_FALSE(pair.one.has_next(first, second));
}

TEST_CASE("the two directions of a pair do not meet") {
  Pair pair;
  pair.zero.send(first, second, bytes(1));
  pair.deliver();

  CHECK_FALSE(pair.one.has_next(second, first));
}

TEST_CASE("an edge is satisfied once as many messages were sent as it waits for") {
  Pair pair;
  control::Edge const edge({Awaited::Kind::note, second, first, 2, {}});
  CHECK_FALSE(pair.zero.is_satisfied(edge));

  pair.zero.send(first, second, bytes(1));
  CHECK_FALSE(pair.zero.is_satisfied(edge));
  pair.zero.send(first, second, bytes(2));
  CHECK(pair.zero.is_satisfied(edge));
}

TEST_CASE("a note from a device of this process, or to one of another, is refused") {
  Pair pair;
  auto const note = [&](std::int64_t from, std::int64_t to) {
    control::Note message;
    message.from = DeviceId(from);
    message.to = DeviceId(to);
    pair.one.on_handshake(message);
  };
  CHECK_THROWS_WITH_AS(note(1, 1), "a note from device 1 to device 1", control::BadMessage);
  CHECK_THROWS_AS(note(0, 0), control::BadMessage);
  CHECK_THROWS_AS(note(2, 1), control::BadMessage);
  CHECK_THROWS_AS(note(-1, 1), control::BadMessage);
  CHECK_NOTHROW(note(0, 1));
}

TEST_SUITE_END();
