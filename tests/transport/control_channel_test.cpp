#include "src/transport/protocol/control_channel.hpp"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "src/transport/protocol/control_messages.hpp"

#include "support/fake_job.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("transport/protocol/control_channel");

namespace {

/// The statements of all `Compared` that have come, by sender.
std::vector<std::pair<ProcessId, std::uint64_t>> heard_by(ControlChannel& control_channel) {
  std::vector<std::pair<ProcessId, std::uint64_t>> heard;
  control_channel.poll([&](ProcessId from, std::span<std::byte const> bytes) {
    heard.emplace_back(from, control::read<control::Compared>(bytes).statements);
  });
  return heard;
}

}  // namespace

TEST_CASE("messages arrive in their order, with their sender") {
  FakeJob job(3);
  ControlChannel zero(job[0]);
  ControlChannel one(job[1]);
  ControlChannel two(job[2]);

  zero.send(ProcessId(1), control::Compared{.statements = 5});
  zero.send(ProcessId(1), control::Compared{.statements = 6});
  two.send(ProcessId(1), control::Compared{.statements = 7});

  using Heard = std::vector<std::pair<ProcessId, std::uint64_t>>;
  CHECK((heard_by(one) == Heard{{ProcessId(0), 5}, {ProcessId(0), 6}, {ProcessId(2), 7}}));
  CHECK(heard_by(one).empty());
}

TEST_CASE("what an earlier network of the job sent is not heard") {
  FakeJob job(2);
  ControlChannel earlier_zero(job[0]);
  ControlChannel earlier_one(job[1]);
  ControlChannel zero(job[0]);
  ControlChannel one(job[1]);

  earlier_zero.send(ProcessId(1), control::Compared{.statements = 5});
  zero.send(ProcessId(1), control::Compared{.statements = 6});

  auto const heard = heard_by(one);
  REQUIRE(heard.size() == 1);
  CHECK(heard.front().second == 6);
}

TEST_CASE("bytes that are too few for a message are not heard") {
  FakeJob job(2);
  ControlChannel one(job[1]);
  std::byte const letter{42};

  job[0].send_control(ProcessId(1), {&letter, 1});

  CHECK(heard_by(one).empty());
}

TEST_SUITE_END();
