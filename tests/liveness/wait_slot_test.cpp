#include "src/liveness/wait_slot.hpp"

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("liveness/wait_slot");

namespace {

Awaited wait_for(std::int64_t peer) {
  return {
      Awaited::Kind::message, DeviceId(0), DeviceId(peer), 5, {7, 70, SourceLocation("a.cpp", 41)}};
}

}  // namespace

TEST_CASE("a wait is seen from its beginning to its end") {
  WaitSlot slot;
  CHECK_FALSE(slot.read());

  slot.begin(wait_for(3));
  auto const seen = slot.read();
  REQUIRE(seen);
  CHECK(seen->what.kind == Awaited::Kind::message);
  CHECK(seen->what.peer == DeviceId(3));
  CHECK(seen->what.statement.number == 7);
  CHECK(seen->what.statement.location.line == 41);

  slot.end();
  CHECK_FALSE(slot.read());
}

TEST_CASE("two waits for the same thing have different numbers") {
  WaitSlot slot;
  slot.begin(wait_for(3));
  auto const first = slot.read();
  REQUIRE(first);
  CHECK(slot.is_still(first->number));
  slot.end();
  CHECK_FALSE(slot.is_still(first->number));

  slot.begin(wait_for(3));
  auto const second = slot.read();
  REQUIRE(second);
  CHECK(second->number != first->number);
  CHECK_FALSE(slot.is_still(first->number));
}

TEST_SUITE_END();
