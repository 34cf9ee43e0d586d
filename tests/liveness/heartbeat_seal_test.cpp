#include "src/liveness/heartbeat_seal.hpp"

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "support/secrets.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("liveness/heartbeat_seal");

namespace {

constexpr std::int64_t processes = 3;

HeartbeatSeal seal_of(std::int64_t process, JobSecret const& secret = own_secret()) {
  return {secret, ProcessId(process), processes};
}

std::vector<std::byte> signed_by(HeartbeatSeal& seal, HeartbeatDatagram datagram) {
  seal.sign(datagram);
  auto const bytes = std::as_bytes(std::span(&datagram, 1));
  return {bytes.begin(), bytes.end()};
}

// The bytes between members, which no code covers.
bool is_padding(std::size_t byte) {
  return byte > offsetof(HeartbeatDatagram, state) && byte < offsetof(HeartbeatDatagram, mac);
}

}  // namespace

TEST_CASE("a question and its answer are believed, once each") {
  auto zero = seal_of(0);
  auto one = seal_of(1);
  auto const question = signed_by(zero, {.to = 1, .about = 2});
  auto const answer = signed_by(one, {.to = 0, .about = 2, .is_answer = true, .state = 'T'});

  auto const asked = one.open(question);
  REQUIRE(asked);
  CHECK(asked->from == 0);
  CHECK(asked->about == 2);
  CHECK_FALSE(asked->is_answer);
  auto const told = zero.open(answer);
  REQUIRE(told);
  CHECK(told->from == 1);
  CHECK(told->state == 'T');
  CHECK_FALSE(one.open(question));
  CHECK_FALSE(zero.open(answer));
}

TEST_CASE("datagrams overtake each other by less than 64") {
  auto zero = seal_of(0);
  auto one = seal_of(1);
  std::vector<std::vector<std::byte>> sent;
  for (int i = 0; i < 65; ++i) sent.push_back(signed_by(zero, {.to = 1, .about = 1}));

  CHECK(one.open(sent[64]));
  CHECK(one.open(sent[1]));
  CHECK_FALSE(one.open(sent[0]));
}

TEST_CASE("whatever is changed in a datagram, nobody believes it") {
  auto zero = seal_of(0);
  auto one = seal_of(1);
  auto const question = signed_by(zero, {.to = 1, .about = 1});
  for (std::size_t bit = 0; bit < 8 * question.size(); ++bit) {
    if (is_padding(bit / 8)) continue;
    auto changed = question;
    changed[bit / 8] ^= std::byte{1} << bit % 8;
    REQUIRE_FALSE(one.open(changed));
  }
  for (std::size_t size = 0; size < question.size(); ++size)
    CHECK_FALSE(one.open(std::span(question).first(size)));
  CHECK(one.open(question));
}

TEST_CASE(
    "another job, another receiver and processes that the job does not have are not believed") {
  auto one = seal_of(1);
  auto foreign = seal_of(0, secret_of_another_job());
  CHECK_FALSE(one.open(signed_by(foreign, {.to = 1, .about = 1})));

  auto zero = seal_of(0);
  CHECK_FALSE(one.open(signed_by(zero, {.to = 2, .about = 1})));
  CHECK_FALSE(one.open(signed_by(zero, {.to = 1, .about = processes})));
  CHECK_FALSE(one.open(signed_by(zero, {.to = 1, .about = -1})));
  HeartbeatSeal outside(own_secret(), ProcessId(processes), processes + 1);
  CHECK_FALSE(one.open(signed_by(outside, {.to = 1, .about = 1})));
}

TEST_CASE("only an own question can have come back, and only once") {
  auto zero = seal_of(0);
  auto one = seal_of(1);
  auto const question = signed_by(zero, {.to = 1, .about = 1});
  auto const answer = signed_by(zero, {.to = 1, .about = 0, .is_answer = true});
  auto const of_another = signed_by(one, {.to = 0, .about = 0});

  auto const returned = zero.returned(question);
  REQUIRE(returned);
  CHECK(returned->to == 1);
  CHECK_FALSE(zero.returned(question));
  CHECK_FALSE(zero.returned(answer));
  CHECK_FALSE(zero.returned(of_another));
}

TEST_SUITE_END();
