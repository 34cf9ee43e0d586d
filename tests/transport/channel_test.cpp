#include "src/transport/channel/channel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/transport/channel/channel_memory.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("transport/channel/channel");

namespace {

/// Thrown where a device would have to wait.
struct Blocked {
  Awaited what;
};

class NoWaiting final : public Waiter {
 public:
  NoWaiting() { set_spins(0); }

 protected:
  void begin(Awaited const& what) override { what_ = what; }
  void end() override {}
  void idle() override { throw Blocked{what_}; }

 private:
  Awaited what_;
};

class CountingBell final : public Doorbell {
 public:
  void ring() override { ++rung; }
  int rung = 0;
};

StatementTag tag_of(std::uint64_t number) {
  return {number, number, SourceLocation("heat_1d.cpp", 41)};
}

/// Device 0 sends to device 1 through memory that both see.
struct Channel {
  ChannelEnd end = private_end({DeviceId(0), DeviceId(1), ProcessId(1), 64}, 64);
  Sender sender{end};
  Receiver receiver{end};
  NoWaiting waiter;

  void put(int value, std::uint64_t statement = 1) {
    std::memcpy(sender.slot(waiter, tag_of(statement)).data(), &value, sizeof value);
    sender.put(tag_of(statement), sizeof value);
  }
  int take(std::uint64_t statement = 1) {
    int value = 0;
    auto const bytes = receiver.take(waiter, tag_of(statement));
    REQUIRE(bytes.size() == sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    receiver.release();
    return value;
  }
};

Awaited wait_of(Channel& channel, void (*step)(Channel&)) {
  try {
    step(channel);
  } catch (Blocked const& blocked) {
    return blocked.what;
  }
  return {.kind = Awaited::Kind::other};
}

}  // namespace

TEST_CASE("messages are taken in the order in which they were put") {
  Channel channel;
  channel.put(10);
  channel.put(11);
  CHECK(channel.take() == 10);
  channel.put(12);
  CHECK(channel.take() == 11);
  CHECK(channel.take() == 12);
}

TEST_CASE("a message in shared memory has its bytes, in its line or in its slot") {
  Channel channel;
  for (std::int64_t const bytes : {0, 1, 31, 32, 33, 64, 32, 1, 33, 0})
    for (auto const room : {bytes, std::int64_t{64}}) {
      CAPTURE(bytes);
      CAPTURE(room);
      std::vector<std::byte> const message(static_cast<std::size_t>(bytes), std::byte(bytes + 1));
      auto const slot = channel.sender.slot(channel.waiter, tag_of(1), room);
      REQUIRE(std::ssize(slot) == room);
      std::copy(message.begin(), message.end(), slot.begin());
      channel.sender.put(tag_of(1), bytes);

      auto const taken = channel.receiver.take(channel.waiter, tag_of(1));

      CHECK(std::equal(taken.begin(), taken.end(), message.begin(), message.end()));
      channel.receiver.release();
    }
}

TEST_CASE("a message that a transport brings is taken from its slot") {
  Channel channel;
  CountingBell bell;
  auto sent = channel.end;
  sent.doorbell = &bell;
  Sender sender(sent);
  int const value = 7;
  std::memcpy(sender.slot(channel.waiter, tag_of(1)).data(), &value, sizeof value);

  sender.put(tag_of(1), sizeof value);

  CHECK(channel.take() == value);
}

TEST_CASE("a sender that is two messages ahead waits until the first is drained") {
  Channel channel;
  channel.put(10);
  channel.put(11);

  auto const waits = wait_of(channel, [](Channel& of) { of.put(12); });

  CHECK(waits.kind == Awaited::Kind::free_slot);
  CHECK(waits.self == DeviceId(0));
  CHECK(waits.peer == DeviceId(1));
  CHECK(waits.count == 1);
  CHECK(channel.take() == 10);
  CHECK_NOTHROW(channel.put(12));
}

TEST_CASE("a receiver waits for the message that it has not got") {
  Channel channel;
  channel.put(10);
  CHECK(channel.take() == 10);

  auto const waits = wait_of(channel, [](Channel& of) { (void)of.take(); });

  CHECK(waits.kind == Awaited::Kind::message);
  CHECK(waits.self == DeviceId(1));
  CHECK(waits.peer == DeviceId(0));
  CHECK(waits.count == 2);
}

TEST_CASE("a message of another statement is a mismatch, and says what differs") {
  Channel channel;
  channel.put(10, 7);
  CHECK_THROWS_WITH_AS((void)channel.take(8),
                       "process 1 (device 0) sent a message of statement 7 (heat_1d.cpp:41), but "
                       "device 1 awaits one of statement 8 (heat_1d.cpp:41): the processes run "
                       "different programs (one of them has left out or added a statement); every "
                       "process must run the same statements in the same order",
                       Mismatch);

  StatementTag const other{7, 99, {}};
  CHECK_THROWS_WITH_AS((void)channel.receiver.take(channel.waiter, other),
                       doctest::Contains("differ in their kind, arrays, shapes or layouts"),
                       Mismatch);
}

TEST_CASE("a carrier is told of each message and of each slot that is free again") {
  Channel channel;
  CountingBell bell;
  channel.end.doorbell = &bell;
  Sender sender(channel.end);
  Receiver receiver(channel.end);
  NoWaiting waiter;

  (void)sender.slot(waiter, tag_of(1));
  sender.put(tag_of(1), 0);
  CHECK(bell.rung == 1);
  CHECK(sender.has_unsent());
  (void)receiver.take(waiter, tag_of(1));
  receiver.release();
  CHECK(bell.rung == 2);
  CHECK_FALSE(sender.has_unsent());
}

TEST_CASE("where both ends share the memory nothing is ever unsent") {
  Channel channel;
  channel.put(10);
  CHECK_FALSE(channel.sender.has_unsent());
  CHECK(channel.sender.messages_put() == 1);
}

TEST_CASE("a message is under way until it is released, and a sender can wait for that") {
  Channel channel;
  channel.sender.finish(channel.waiter, tag_of(1));
  channel.put(10);
  CHECK(channel.sender.has_under_way());

  auto const what = wait_of(channel, [](Channel& of) { of.sender.finish(of.waiter, tag_of(1)); });
  CHECK(what.kind == Awaited::Kind::free_slot);
  CHECK(what.peer == DeviceId(1));
  CHECK(what.count == 1);

  CHECK(channel.take() == 10);
  CHECK_FALSE(channel.sender.has_under_way());
  channel.sender.finish(channel.waiter, tag_of(1));
}

TEST_CASE("every eighth short message is confirmed, and every fourth long one") {
  constexpr std::int64_t short_bytes = 16 * 1024;
  int confirmed_short = 0;
  int confirmed_long = 0;
  for (std::uint64_t number = 0; number < 16; ++number) {
    if (is_confirmed(number, short_bytes)) ++confirmed_short;
    if (is_confirmed(number, short_bytes + 1)) ++confirmed_long;
  }
  CHECK(confirmed_short == 2);
  CHECK(confirmed_long == 4);
}

TEST_SUITE_END();
