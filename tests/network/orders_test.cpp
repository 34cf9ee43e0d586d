#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

#include "support/seeds.hpp"

#include "contract.hpp"
#include "mock_transport.hpp"

using namespace tessera;
using namespace tessera::test;

/// Channels whose messages arrive in every order that is possible, or in many.
TEST_SUITE_BEGIN("network/orders" * doctest::skip(launched_by_mpi()));

namespace {

/// Thrown where a device would have to wait.
struct Blocked {};

class NoWaiting final : public Waiter {
 public:
  NoWaiting() { set_spins(0); }

 protected:
  void begin(Awaited const& /*what*/) override {}
  void end() override {}
  void idle() override { throw Blocked{}; }
};

/// One step of a device: puts its next message to `peer`, or takes the next of it.
struct Step {
  bool puts;
  std::int64_t peer;
};
using Program = std::vector<std::vector<Step>>;  ///< by device

/// Devices, each a process of its own, that run a program step by step. Each event is one step of a
/// device, if it need not wait, or one of the wire's.
class World {
 public:
  explicit World(Program const& program, bool confirms_all = false)
      : program_(program), wire_(confirms_all), next_(program.size(), 0) {
    auto const count = static_cast<std::int64_t>(program.size());
    for (std::int64_t i = 0; i < count; ++i)
      transports_.push_back(std::make_unique<MockTransport>(wire_, ProcessId(i), 0U));
    for (std::int64_t from = 0; from < count; ++from)
      for (auto const& step : program[static_cast<std::size_t>(from)])
        if (step.puts && !senders_.contains({from, step.peer})) open(from, step.peer);
  }

  struct Event {
    std::optional<std::size_t> device;
    WireEvent wire;
  };
  [[nodiscard]] std::vector<Event> possible() const {
    std::vector<Event> events;
    for (std::size_t device = 0; device < program_.size(); ++device)
      if (next_[device] < program_[device].size()) events.push_back({device, {}});
    for (auto const& event : wire_.possible()) events.push_back({std::nullopt, event});
    return events;
  }
  /// False if nothing has changed. Throws: Error if a device has taken a wrong message.
  bool happen(Event const& event) {
    return event.device ? step(*event.device) : wire_.happen(event.wire);
  }

  [[nodiscard]] bool is_done() const {
    for (std::size_t device = 0; device < program_.size(); ++device)
      if (next_[device] < program_[device].size() || transports_[device]->has_pending())
        return false;
    return true;
  }
  /// Equal for two worlds whose future is the same.
  [[nodiscard]] std::vector<std::uint64_t> state() const {
    std::vector<std::uint64_t> state(next_.begin(), next_.end());
    wire_.describe(state);
    for (auto const& [pair, sender] : senders_) describe(sender.end(), state);
    for (auto const& [pair, receiver] : receivers_) describe(receiver.end(), state);
    return state;
  }

 private:
  using Pair = std::pair<std::int64_t, std::int64_t>;

  void open(std::int64_t from, std::int64_t to) {
    OfferRequest request{DeviceId(from), DeviceId(to), ProcessId(from), 8};
    auto offer = transports_[static_cast<std::size_t>(to)]->offer(request);
    request.peer = ProcessId(to);
    auto accepted = transports_[static_cast<std::size_t>(from)]->accept(request, offer.invitation);
    receivers_.try_emplace({from, to}, std::move(offer.end));
    senders_.try_emplace({from, to}, std::move(accepted.end));
  }

  bool step(std::size_t device) {
    auto const& what = program_[device][next_[device]];
    auto const self = static_cast<std::int64_t>(device);
    try {
      if (what.puts)
        put(self, what.peer);
      else
        take(what.peer, self);
    } catch (Blocked const&) {
      return false;
    }
    ++next_[device];
    return true;
  }
  void put(std::int64_t from, std::int64_t to) {
    auto& sender = senders_.at({from, to});
    auto const tag = statement(sender.messages_put() + 1);
    auto const slot = sender.slot(waiter_, tag);
    auto const value = 100 * (10 * from + to) + static_cast<std::int64_t>(sender.messages_put());
    std::memcpy(slot.data(), &value, sizeof value);
    sender.put(tag, sizeof value);
  }
  void take(std::int64_t from, std::int64_t to) {
    auto& receiver = receivers_.at({from, to});
    auto& taken = taken_[{from, to}];
    auto const bytes = receiver.take(waiter_, statement(static_cast<std::uint64_t>(taken) + 1));
    std::int64_t value = -1;
    std::memcpy(&value, bytes.data(), sizeof value);
    if (value != 100 * (10 * from + to) + taken)
      throw Error(text("device ", to, " took ", value, " for message ", taken));
    receiver.release();
    ++taken;
  }

  static void describe(ChannelEnd const& end, std::vector<std::uint64_t>& into) {
    into.push_back(end.memory->filled.load());
    into.push_back(end.memory->drained.load());
    for (int slot = 0; slot < 2; ++slot) {
      std::uint64_t number = 0;
      std::memcpy(&number, end.slots + slot * end.slot_stride + sizeof(MessageHeader),
                  sizeof number);
      into.push_back(number);
    }
  }

  Program program_;
  Wire wire_;
  std::vector<std::unique_ptr<MockTransport>> transports_;
  std::map<Pair, Sender> senders_;
  std::map<Pair, Receiver> receivers_;
  std::map<Pair, std::int64_t> taken_;
  std::vector<std::size_t> next_;
  NoWaiting waiter_;
};

using Path = std::vector<World::Event>;

std::unique_ptr<World> replay(Program const& program, bool confirms_all, Path const& path) {
  auto world = std::make_unique<World>(program, confirms_all);
  for (auto const& event : path) (void)world->happen(event);
  return world;
}

/// Walks through every state that a program can come to; their number. Throws: Error for a wrong
/// message or a state in which nothing can happen any more.
std::size_t explore(Program const& program, bool confirms_all = false) {
  std::set<std::vector<std::uint64_t>> seen;
  std::vector<Path> open{{}};
  seen.insert(World(program, confirms_all).state());
  while (!open.empty()) {
    auto const path = std::move(open.back());
    open.pop_back();
    bool goes_on = false;
    auto const here = replay(program, confirms_all, path);
    for (auto const& event : here->possible()) {
      auto const next = replay(program, confirms_all, path);
      if (!next->happen(event)) continue;
      goes_on = true;
      if (!seen.insert(next->state()).second) continue;
      open.push_back(path);
      open.back().push_back(event);
    }
    if (!goes_on && !here->is_done()) throw Error("nothing can happen any more");
  }
  return seen.size();
}

/// Runs a program to its end, as chance has it.
void run_at_random(Program const& program, std::uint64_t seed, bool confirms_all) {
  std::mt19937_64 random(seed);
  World world(program, confirms_all);
  while (!world.is_done()) {
    auto events = world.possible();
    std::shuffle(events.begin(), events.end(), random);
    bool const moved = std::any_of(events.begin(), events.end(),
                                   [&](auto const& event) { return world.happen(event); });
    if (!moved) throw Error("nothing can happen any more");
  }
}

Program one_way(int messages) {
  return {std::vector<Step>(static_cast<std::size_t>(messages), {true, 1}),
          std::vector<Step>(static_cast<std::size_t>(messages), {false, 0})};
}

/// As in a loop with halos: every device puts to its neighbours in a ring, then takes of them.
Program ring(std::int64_t devices, int rounds) {
  Program program(static_cast<std::size_t>(devices));
  for (std::int64_t self = 0; self < devices; ++self)
    for (int round = 0; round < rounds; ++round) {
      std::set<std::int64_t> const peers{(self + 1) % devices, (self + devices - 1) % devices};
      for (bool const puts : {true, false})
        for (auto const peer : peers)
          program[static_cast<std::size_t>(self)].push_back({puts, peer});
    }
  return program;
}

}  // namespace

TEST_CASE("two devices with three messages, in every order there is") {
  for (bool const confirms_all : {false, true}) {
    CHECK(explore(one_way(3), confirms_all) > 100);
    CHECK(explore(one_way(5), confirms_all) > 100);
    CHECK(explore(ring(2, 3), confirms_all) > 1000);
  }
}

TEST_CASE("a program in which everybody waits is found to hang") {
  Program const both_take_first{{{false, 1}, {true, 1}}, {{false, 0}, {true, 0}}};

  CHECK_THROWS_WITH_AS((void)explore(both_take_first), "nothing can happen any more", Error);
}

TEST_CASE("more devices and messages, in orders of chance") {
  auto const run = [](std::uint64_t seed) {
    bool const confirms_all = seed % 2 == 0;
    run_at_random(one_way(30), seed, confirms_all);
    run_at_random(ring(2, 20), seed, confirms_all);
    run_at_random(ring(5, 8), seed, confirms_all);
    return true;
  };
  CHECK(failed_seeds(200, run) == 0);
}

TEST_CASE("the contract holds whenever messages arrive") {
  std::vector<std::vector<std::int64_t>> const spreads{{1, 1}, {2, 2}, {1, 1, 1, 1}};
  auto const run = [&](std::uint64_t seed) {
    for (auto* const body : {pass_around_ring, send_one_way, exchange_pieces, talk_at_random})
      for (auto const& spread : spreads) {
        Wire wire;
        TestOptions options;
        options.question_seconds = 0.05;
        options.hooks.carrier = [&](Bootstrap& bootstrap) {
          auto const process = static_cast<std::uint64_t>(bootstrap.self().value());
          return std::make_unique<MockTransport>(wire, bootstrap.self(), 100 * seed + process);
        };
        on_processes(spread, body, options);
      }
    return true;
  };
  CHECK(failed_seeds(2, run) == 0);
}

TEST_SUITE_END();
