#include "src/transport/rpc/pending_calls.hpp"

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("transport/rpc/call_slots");

namespace {

Call call_to(std::int64_t process) {
  Call call;
  call.to = ProcessId(process);
  call.request.resize(Call::front_bytes);
  return call;
}

}  // namespace

TEST_CASE("an answer finds its call by the number in front, whatever the order") {
  CallSlots slots;
  auto first = call_to(1);
  auto second = call_to(2);
  slots.add(first);
  slots.add(second);

  CHECK(slots.answer(second.request) == &second);
  CHECK(second.is_answered);
  CHECK_FALSE(first.is_answered);
  CHECK(slots.answer(first.request) == &first);
}

TEST_CASE("a second answer, and one to a call that is over, find nobody") {
  CallSlots slots;
  auto first = call_to(1);
  slots.add(first);
  auto const number_of_first = first.request;
  REQUIRE(slots.answer(number_of_first) == &first);

  CHECK(slots.answer(number_of_first) == nullptr);
  auto next = call_to(1);
  slots.add(next);  // takes the same place
  CHECK(slots.answer(number_of_first) == nullptr);
  CHECK(slots.answer(next.request) == &next);
}

TEST_CASE("an answer that is too short or of no call at all finds nobody") {
  CallSlots slots;
  CHECK(slots.answer({}) == nullptr);
  std::vector<std::byte> const unknown(Call::front_bytes, std::byte{255});
  CHECK(slots.answer(unknown) == nullptr);
}

TEST_CASE("a process that fails ends its own calls alone, with the reason") {
  CallSlots slots;
  auto to_one = call_to(1);
  auto to_two = call_to(2);
  slots.add(to_one);
  slots.add(to_two);

  slots.fail(ProcessId(1), "it is gone");

  CHECK(to_one.is_answered);
  CHECK(to_one.reason == "it is gone");
  CHECK_FALSE(to_two.is_answered);
  CHECK(slots.answer(to_one.request) == nullptr);
}

TEST_SUITE_END();
