#pragma once
/// @file
/// A transport whose messages arrive when the test says so: by a list of events, or by chance.
///
/// It keeps to what MPI and UCX promise and to nothing more. Sends and receives of a channel meet
/// in order; either may end at any time after that, and in any order. Bytes are fetched from the
/// sender's slot as late as that allows, and until a receive has ended there is rubbish in its
/// slot.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "src/transport/channel/channel_memory.hpp"
#include "src/transport/channel/port.hpp"
#include "src/transport/channel/transport.hpp"

namespace tessera::test {

constexpr TransportTraits mock_traits{.route = Route::mpi,
                                      .name = "mock",
                                      .within_process = false,
                                      .within_host = true,
                                      .crosses_hosts = true,
                                      .shares_memory = false,
                                      .slot_bytes = 256 * 1024,
                                      .slots_beyond = 2};

/// What may happen next: a process gives its transport what there is to carry, or one send or
/// receive ends.
struct WireEvent {
  std::size_t channel = 0;
  bool at_sender = false;
  std::optional<std::uint64_t> ends;  ///< number of the message; none: posts
};

/// What lies between the processes of one network. Threads: one at a time.
class Wire {
 public:
  /// A wire may have more sends confirmed than it has to.
  explicit Wire(bool confirms_all = false) : confirms_all_(confirms_all) {}

  std::mutex& mutex() { return mutex_; }

  std::size_t add_channel() {
    channels_.emplace_back();
    return channels_.size() - 1;
  }
  void attach(std::size_t channel, bool as_sender, ProcessId process, Port* port) {
    auto& end = channels_[channel].ends[as_sender ? 1 : 0];
    end.process = process;
    end.port = port;
  }
  /// Whatever it has not sent is lost with it.
  void detach(ProcessId process) {
    for (auto& channel : channels_)
      for (auto& end : channel.ends)
        if (end.process == process) end = {};
  }

  /// Everything that may happen now at this process, or at all.
  [[nodiscard]] std::vector<WireEvent> possible(std::optional<ProcessId> at = std::nullopt) const {
    std::vector<WireEvent> found;
    for (std::size_t c = 0; c < channels_.size(); ++c)
      for (bool const at_sender : {false, true}) {
        auto const& end = channels_[c].ends[at_sender ? 1 : 0];
        if (end.port == nullptr || (at && end.process != *at)) continue;
        found.push_back({c, at_sender, std::nullopt});
        for (auto n = channels_[c].over; n < end.started.size(); ++n)
          if (may_end(channels_[c], end.started[n], n)) found.push_back({c, at_sender, n});
      }
    return found;
  }

  /// True if anything has changed.
  bool happen(WireEvent const& event) {
    auto& channel = channels_[event.channel];
    if (event.ends) {
      end_one(channel, event.at_sender, *event.ends);
      return true;
    }
    auto& end = channel.ends[event.at_sender ? 1 : 0];
    auto const before = end.started.size();
    end.port->post([&](std::span<std::byte> bytes, std::size_t place, bool confirmed) {
      bool const waits = confirmed || confirms_all_ || !event.at_sender;
      end.started.push_back({bytes, place, waits, false, {}});
    });
    for (auto n = std::min(before, end.started.size()); n < channel.met(); ++n) spoil(channel, n);
    return end.started.size() != before;
  }

  /// All that the future depends on, in numbers.
  void describe(std::vector<std::uint64_t>& into) const {
    for (auto const& channel : channels_)
      for (auto const& end : channel.ends) {
        into.push_back(end.started.size());
        for (auto const& one : end.started) into.push_back(one.has_ended ? 1 : 0);
      }
  }

 private:
  struct Started {
    std::span<std::byte> bytes;
    std::size_t place;
    bool waits;  ///< ends only once send and receive have met
    bool has_ended;
    std::vector<std::byte> fetched;  ///< of a send that ended before its receive
  };
  struct End {
    ProcessId process{-1};
    Port* port = nullptr;
    std::deque<Started> started;
  };
  struct Channel {
    std::array<End, 2> ends;  ///< the receiver's, the sender's
    std::uint64_t over =
        0;  ///< messages whose sends and receives have ended, up to the first other

    /// Sends that have met their receives.
    [[nodiscard]] std::uint64_t met() const {
      return std::min(ends[0].started.size(), ends[1].started.size());
    }
  };

  static bool may_end(Channel const& channel, Started const& one, std::uint64_t number) {
    return !one.has_ended && (number < channel.met() || !one.waits);
  }

  static void spoil(Channel& channel, std::uint64_t number) {
    auto const bytes = channel.ends[0].started[number].bytes;
    std::fill(bytes.begin(), bytes.end(), std::byte{0xee});
  }

  static void end_one(Channel& channel, bool at_sender, std::uint64_t number) {
    auto& send = channel.ends[1].started[number];
    if (at_sender) {
      send.fetched.assign(send.bytes.begin(), send.bytes.end());
    } else {
      auto const from = send.has_ended ? std::span<std::byte const>(send.fetched) : send.bytes;
      std::copy(from.begin(), from.end(), channel.ends[0].started[number].bytes.begin());
    }
    auto& ended = channel.ends[at_sender ? 1 : 0].started[number];
    ended.has_ended = true;
    channel.ends[at_sender ? 1 : 0].port->end_one(ended.place);
    auto const is_over = [&](std::uint64_t n) {
      return channel.ends[0].started[n].has_ended && channel.ends[1].started[n].has_ended;
    };
    while (channel.over < channel.met() && is_over(channel.over)) ++channel.over;
  }

  bool confirms_all_;
  std::mutex mutex_;
  std::deque<Channel> channels_;
};

/// One process's transport over a wire. `progress` does what chance says; a test that decides
/// itself what happens leaves that alone.
class MockTransport final : public Transport {
 public:
  MockTransport(Wire& wire, ProcessId self, std::uint64_t seed)
      : wire_(wire), self_(self), random_(seed) {}
  ~MockTransport() override {
    std::lock_guard const guard(wire_.mutex());
    wire_.detach(self_);
  }

  [[nodiscard]] TransportTraits const& traits() const override { return mock_traits; }

  [[nodiscard]] Offer offer(OfferRequest const& request) override {
    std::lock_guard const guard(wire_.mutex());
    Offer made;
    made.end = private_end(request, request.slot_bytes);
    auto const channel = wire_.add_channel();
    open(made.end, channel, false);
    made.invitation = bytes_from(channel);
    made.answered = [] {};
    return made;
  }

  [[nodiscard]] Acceptance accept(OfferRequest const& request,
                                  std::span<std::byte const> invitation) override {
    std::lock_guard const guard(wire_.mutex());
    Acceptance result{private_end(request, request.slot_bytes), ""};
    open(result.end, value_from<std::size_t>(invitation), true);
    return result;
  }

  bool progress() override {
    std::lock_guard const guard(wire_.mutex());
    auto events = wire_.possible(self_);
    std::shuffle(events.begin(), events.end(), random_);
    bool moved = false;
    for (auto const& event : events)
      if (random_() % 2 == 0) moved = wire_.happen(event) || moved;
    return moved;
  }

  [[nodiscard]] bool has_pending() const override {
    return std::any_of(ports_.begin(), ports_.end(),
                       [](auto const& port) { return port->has_pending(); });
  }

 private:
  void open(ChannelEnd& end, std::size_t channel, bool sends) {
    auto& port = *ports_.emplace_back(std::make_unique<Port>(end, sends, rung_));
    end.doorbell = &port;
    end.route = mock_traits.route;
    wire_.attach(channel, sends, self_, &port);
  }

  Wire& wire_;
  ProcessId self_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::atomic<std::uint64_t> rung_{0};
};

}  // namespace tessera::test
