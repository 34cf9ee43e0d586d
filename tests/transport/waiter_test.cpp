#include "src/transport/protocol/waiter.hpp"

#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("transport/protocol/waiter");

namespace {

/// Writes down what happens: b(egin), e(nd), s(pin), i(dle).
class Diary final : public Waiter {
 public:
  explicit Diary(int spins) { set_spins(spins); }
  std::string events;
  bool fails = false;

 protected:
  void begin(Awaited const& /*what*/) override { events += 'b'; }
  void end() override { events += 'e'; }
  void idle() override {
    events += 'i';
    if (fails) throw std::runtime_error("idle");
  }
  void spin() override { events += 's'; }
};

/// True at the look with that number, from 1.
auto at_look(int number) {
  return [number, look = 0]() mutable { return ++look == number; };
}

}  // namespace

TEST_CASE("what is there at once is not waited for") {
  Diary waiter(3);
  auto ready = at_look(1);
  waiter.until([&] { return ready(); }, {});
  CHECK(waiter.events.empty());
}

TEST_CASE("a short wait spins and is seen by nobody") {
  Diary waiter(3);
  auto ready = at_look(3);
  waiter.until([&] { return ready(); }, {});
  CHECK(waiter.events == "ss");
}

TEST_CASE("a long wait begins after the spins, idles between looks and ends") {
  Diary waiter(2);
  auto ready = at_look(5);
  waiter.until([&] { return ready(); }, {});
  CHECK(waiter.events == "ssbiie");
}

TEST_CASE("a wait that fails has ended for those that look") {
  Diary waiter(0);
  waiter.fails = true;
  CHECK_THROWS_WITH(waiter.until([] { return false; }, {}), "idle");
  CHECK(waiter.events == "bie");
}

TEST_SUITE_END();
