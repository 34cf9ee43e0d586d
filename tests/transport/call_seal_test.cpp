#include "src/transport/rpc/call_seal.hpp"

#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "support/secrets.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("transport/rpc/call_seal");

namespace {

constexpr ProcessId caller{2};
constexpr ProcessId server{0};

Call call_with(std::size_t payload) {
  Call call;
  call.to = server;
  call.request.assign(Call::front_bytes + payload, std::byte{5});
  std::uint64_t const number = 77;
  std::memcpy(call.request.data(), &number, sizeof number);
  return call;
}

RequestChecker checker() {
  return {own_secret(), server, 3};
}

// The answer of the server: a copy of the front, and some bytes.
std::vector<std::byte> answer_to(Call const& call, RequestChecker const& by) {
  std::vector<std::byte> answer(call.request.begin(), call.request.begin() + Call::front_bytes);
  answer.resize(Call::front_bytes + 20, std::byte{9});
  by.sign_answer(answer, caller);
  return answer;
}

}  // namespace

TEST_CASE("a request shows which process of the job made it") {
  RequestSigner signer(own_secret(), caller);
  auto checks = checker();
  for (std::size_t const payload : {0U, 1U, 200U, 512U, 60000U}) {
    auto call = call_with(payload);
    signer.sign(call);
    CHECK(checks.sender_of(call.request) == caller);
  }
}

TEST_CASE("a request is taken once") {
  RequestSigner signer(own_secret(), caller);
  auto checks = checker();
  auto call = call_with(200);
  signer.sign(call);
  REQUIRE(checks.sender_of(call.request) == caller);

  CHECK(checks.sender_of(call.request) == std::nullopt);
}

TEST_CASE("a request in which any bit of its front or its header is changed is nobody's") {
  RequestSigner signer(own_secret(), caller);
  auto checks = checker();
  auto call = call_with(200);
  signer.sign(call);
  for (std::size_t bit = 0; bit < 8 * call.request.size(); ++bit) {
    auto changed = call.request;
    changed[bit / 8] ^= std::byte{1} << bit % 8;
    REQUIRE(checks.sender_of(changed) == std::nullopt);
  }
  CHECK(checks.sender_of(call.request) == caller);
}

TEST_CASE("requests that are cut off, longer, of another job or to another process are nobody's") {
  auto checks = checker();
  auto call = call_with(600);
  RequestSigner(own_secret(), caller).sign(call);
  auto longer = call.request;
  longer.push_back(std::byte{0});
  for (std::size_t size = 0; size < call.request.size(); size += 13)
    CHECK(checks.sender_of(std::span(call.request).first(size)) == std::nullopt);
  CHECK(checks.sender_of(longer) == std::nullopt);
  CHECK(RequestChecker(own_secret(), ProcessId(1), 3).sender_of(call.request) == std::nullopt);

  auto foreign = call_with(200);
  RequestSigner(secret_of_another_job(), caller).sign(foreign);
  CHECK(checks.sender_of(foreign.request) == std::nullopt);
  // A process that the job does not have, even if it knew the secret.
  auto outside = call_with(200);
  RequestSigner(own_secret(), ProcessId(3)).sign(outside);
  CHECK(checks.sender_of(outside.request) == std::nullopt);
}

TEST_CASE("an answer is that of the process which was called, to this call") {
  RequestSigner signer(own_secret(), caller);
  auto call = call_with(200);
  signer.sign(call);
  auto const answer = answer_to(call, checker());
  CHECK(signer.is_answer(call, answer));

  for (std::size_t bit = 0; bit < 8 * answer.size(); ++bit) {
    auto changed = answer;
    changed[bit / 8] ^= std::byte{1} << bit % 8;
    REQUIRE_FALSE(signer.is_answer(call, changed));
  }
  for (std::size_t size = 0; size < answer.size(); ++size)
    CHECK_FALSE(signer.is_answer(call, std::span(answer).first(size)));
  auto later = call_with(200);
  signer.sign(later);
  CHECK_FALSE(signer.is_answer(later, answer));
  CHECK_FALSE(signer.is_answer(call, answer_to(call, {own_secret(), ProcessId(1), 3})));
  CHECK_FALSE(signer.is_answer(call, answer_to(call, {secret_of_another_job(), server, 3})));
  // The request, sent back.
  CHECK_FALSE(signer.is_answer(call, call.request));
}

TEST_SUITE_END();
