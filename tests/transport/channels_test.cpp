#include "src/transport/channels.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/job/ipc/descriptor_server.hpp"
#include "src/job/ipc/progress_thread.hpp"

#include "support/fake_job.hpp"
#include "support/secrets.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("transport/channels");

namespace {

DeviceId const first{0};
DeviceId const second{1};

/// One of two processes of a host, with a device each.
struct Process {
  Process(FakeBootstrap& bootstrap, NetworkOptions const& options, SegmentWays ways)
      : job(bootstrap, 1),
        control_channel(bootstrap),
        descriptor_server(thread, ways),
        channels({bootstrap, control_channel, job, descriptor_server, secret, refused}, options) {
    descriptor_server.close();  // the thread that would answer does not run
  }

  void hear() {
    control_channel.poll([this](ProcessId, std::span<std::byte const> bytes) {
      if (control::kind_of(bytes) == control::Kind::invite)
        channels.on_invite(control::read<control::Invite>(bytes));
      else
        channels.on_answer(control::read<control::Answer>(bytes));
    });
  }

  Job job;
  ControlChannel control_channel;
  ProgressThread thread;
  DescriptorServer descriptor_server;
  JobSecret secret = own_secret();
  Refused refused;
  Channels channels;
};

struct Two {
  explicit Two(NetworkOptions const& options = {}, SegmentWays ways = {})
      : zero(fake[0], options, ways), one(fake[1], options, ways) {}

  FakeJob fake{2};
  Process zero;
  Process one;
};

}  // namespace

TEST_CASE("a channel opens when the receiver has invited and the sender accepts") {
  Two two;
  CHECK(two.zero.channels.try_open_sender(first, second) == nullptr);

  (void)two.one.channels.open_receiver(first, second);
  two.zero.hear();
  auto const* const sender = two.zero.channels.try_open_sender(first, second);
  two.one.hear();

  REQUIRE(sender != nullptr);
  CHECK(sender == two.zero.channels.find_sender(first, second));
  CHECK(sender->end().route == Route::shm);
  CHECK(two.one.channels.reason(first, second) == "shm: a segment was mapped by both processes");
}

TEST_CASE("both ends are peers from the first step on") {
  Two two;
  (void)two.zero.channels.try_open_sender(first, second);
  (void)two.one.channels.open_receiver(first, second);

  CHECK(two.zero.channels.peers() == std::set{ProcessId(1)});
  CHECK(two.one.channels.peers() == std::set{ProcessId(0)});
}

TEST_CASE("a sender that cannot map the memory refuses, and the receiver hears why") {
  NetworkOptions options;
  options.forced = Route::shm;
  Two two(options, {.by_proc = false, .by_socket = false});
  (void)two.one.channels.open_receiver(first, second);
  two.zero.hear();

  CHECK(two.zero.channels.try_open_sender(first, second) == nullptr);

  // No other route is allowed.
  CHECK_THROWS_WITH_AS(two.one.hear(), doctest::Contains("no other route joins device 0"),
                       TransportError);
}

TEST_CASE("a route that cannot join the job is refused before anything is sent") {
  NetworkOptions options;
  options.forced = Route::local;
  CHECK_THROWS_WITH_AS(Two{options},
                       "TESSERA_ROUTE=local cannot join the processes of this job; unset it",
                       ConfigError);
}

TEST_CASE("a process alone needs no route that is asked for") {
  FakeJob fake(1);
  NetworkOptions options;
  options.forced = Route::mpi;
  CHECK_NOTHROW(Process(fake[0], options, {}));
}

TEST_CASE("an edge is satisfied by what this process has put, drained or opened") {
  Two two;
  control::Edge const opens({Awaited::Kind::invitation, first, second, 0, {}});
  CHECK_FALSE(two.one.channels.is_satisfied(opens));
  auto& receiver = two.one.channels.open_receiver(first, second);
  CHECK(two.one.channels.is_satisfied(opens));
  two.zero.hear();
  auto* const sender = two.zero.channels.try_open_sender(first, second);
  REQUIRE(sender != nullptr);

  control::Edge const awaits({Awaited::Kind::message, second, first, 1, {}});
  CHECK_FALSE(two.zero.channels.is_satisfied(awaits));
  sender->put({1, 1, {}}, 0);
  CHECK(two.zero.channels.is_satisfied(awaits));

  control::Edge const is_full({Awaited::Kind::free_slot, first, second, 1, {}});
  CHECK_FALSE(two.one.channels.is_satisfied(is_full));
  receiver.release();
  CHECK(two.one.channels.is_satisfied(is_full));
}

TEST_CASE("an invitation that no process of this job sends is refused") {
  Two two;
  auto const invite = [&](std::int64_t from, std::int64_t to, Route route) {
    control::Invite message;
    message.from = DeviceId(from);
    message.to = DeviceId(to);
    message.route = route;
    two.zero.channels.on_invite(message);
  };
  CHECK_THROWS_AS(invite(0, 2, Route::shm), control::BadMessage);
  CHECK_THROWS_AS(invite(0, -1, Route::shm), control::BadMessage);
  CHECK_THROWS_AS(invite(0, 0, Route::shm), control::BadMessage);
  CHECK_THROWS_AS(invite(1, 0, Route::shm), control::BadMessage);
  for (auto const route : {Route::local, Route::peer})
    CHECK_THROWS_WITH_AS(
        invite(0, 1, route),
        ("an invitation by " + text(route) + ", which does not join the two processes here")
            .c_str(),
        control::BadMessage);
  CHECK_NOTHROW(invite(0, 1, Route::shm));
}

TEST_CASE("an answer to no invitation is refused") {
  Two two;
  control::Answer answer;
  answer.from = second;
  answer.to = first;
  CHECK_THROWS_AS(two.zero.channels.on_answer(answer), control::BadMessage);
  answer.from = first;
  two.zero.channels.open_local(first, first);
  CHECK_THROWS_AS(two.zero.channels.on_answer(answer), control::BadMessage);
}

TEST_CASE("an invitation to memory of an impossible size is declined") {
  // With the last of them, the size of the channel would have no number.
  for (std::uint64_t const slot_bytes :
       {std::uint64_t{0}, ~std::uint64_t{63}, std::uint64_t{1} << 62U}) {
    Two two;
    struct {
      SegmentTicket ticket;
      std::uint64_t slot_bytes;
    } asked{{}, slot_bytes};
    asked.ticket.size_bytes =
        static_cast<std::int64_t>(sizeof(ChannelMemory) + 2 * (sizeof(MessageHeader) + slot_bytes));
    control::Invite message;
    message.from = first;
    message.to = second;
    message.route = Route::shm;
    message.size = sizeof asked;
    std::memcpy(message.invitation.data(), &asked, sizeof asked);
    two.zero.channels.on_invite(message);

    CHECK(two.zero.channels.try_open_sender(first, second) == nullptr);
    std::string reason;
    two.one.control_channel.poll([&](ProcessId, std::span<std::byte const> bytes) {
      reason = control::read<control::Answer>(bytes).reason.view();
    });
    CHECK(reason == "the invitation is invalid");
  }
}

TEST_SUITE_END();
