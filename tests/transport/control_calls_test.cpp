#include "src/transport/rpc/control_calls.hpp"

#include <doctest/doctest.h>

#include "support/fake_job.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("transport/rpc/control_calls");

namespace {

/// Answers with the bytes of the request, each one more.
void count_up(std::span<std::byte const> request, std::vector<std::byte>& answer) {
  for (auto const byte : request)
    answer.push_back(static_cast<std::byte>(std::to_integer<int>(byte) + 1));
}

struct Process {
  explicit Process(FakeBootstrap& bootstrap) : control_channel(bootstrap) {}

  void hear() {
    control_channel.poll([this](ProcessId from, std::span<std::byte const> bytes) {
      if (control::kind_of(bytes) == control::Kind::request)
        calls.on_request(from, control::read<control::Request>(bytes));
      else
        calls.on_reply(control::read<control::Reply>(bytes));
    });
  }

  ControlChannel control_channel;
  ControlCalls calls{control_channel, [this] { hear(); }, count_up};
};

}  // namespace

TEST_CASE("a call is answered when the other process looks at its control messages") {
  FakeJob job(2);
  Process zero(job[0]);
  Process one(job[1]);
  Call call;
  call.to = ProcessId(1);
  call.request.resize(Call::front_bytes);
  call.request.push_back(std::byte{41});

  zero.calls.begin(call);
  CHECK(call.is_sent);
  CHECK_FALSE(zero.calls.progress());
  CHECK_FALSE(call.is_done());
  CHECK(one.calls.progress());
  CHECK(zero.calls.progress());

  REQUIRE(call.is_done());
  CHECK(call.reason.empty());
  REQUIRE(call.answer.size() == Call::front_bytes + 1);
  CHECK(call.answer.back() == std::byte{42});
}

TEST_CASE("calls as control messages need the other caller, and are short") {
  FakeJob job(1);
  Process zero(job[0]);

  CHECK(zero.calls.needs_the_other_caller());
  CHECK(zero.calls.most_bytes() == 960);
}

TEST_CASE("a request without a number, or whose answer is too long, is refused") {
  FakeJob job(2);
  ControlChannel control_channel(job[0]);
  ControlCalls calls(
      control_channel, [] {}, [](auto, std::vector<std::byte>& answer) { answer.resize(1001); });
  control::Request request;
  request.size = Call::front_bytes - 1;
  CHECK_THROWS_WITH_AS(calls.on_request(ProcessId(1), request), "a request without a number",
                       control::BadMessage);
  request.size = Call::front_bytes;
  CHECK_THROWS_AS(calls.on_request(ProcessId(1), request), control::BadMessage);
  CHECK(job.messages_for(1) == 0);
}

TEST_SUITE_END();
