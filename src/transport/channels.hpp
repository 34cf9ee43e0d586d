#pragma once
/// @file
/// How channels come to be: the receiver's process makes its end and invites, the sender's accepts
/// or refuses, and after a refusal is invited over the next route.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/transport/job.hpp"
#include "tessera/transport/network.hpp"

#include "control.hpp"
#include "postbox.hpp"
#include "transport.hpp"

namespace tessera {

/// What channels are made with.
struct ChannelTools {
  Bootstrap& bootstrap;
  Postbox& postbox;
  Job const& job;
  SegmentDoor const& door;
};

/// The channels of this process. Threads: the caller's.
class Channels {
 public:
  /// A collective over the job. Throws: ConfigError if the forced route cannot join its processes.
  Channels(ChannelTools const& tools, NetworkOptions const& options);

  [[nodiscard]] Sender* find_sender(DeviceId from, DeviceId to);
  [[nodiscard]] Receiver* find_receiver(DeviceId from, DeviceId to);

  /// Makes both ends of a channel between local devices.
  void open_local(DeviceId from, DeviceId to);
  /// Makes the receiving end and invites the sender.
  Receiver& open_receiver(DeviceId from, DeviceId to);
  /// Answers an invitation for from -> to, if one has come and can be accepted.
  Sender* try_open_sender(DeviceId from, DeviceId to);

  void on_invite(control::Invite const& invite);
  void on_answer(control::Answer const& answer);

  [[nodiscard]] Route route(DeviceId from, DeviceId to) const;
  /// Why it is that route: what the better ones lacked, and what is known of it.
  [[nodiscard]] std::string reason(DeviceId from, DeviceId to) const;
  [[nodiscard]] std::int64_t slot_bytes(DeviceId from, DeviceId to) const;
  /// From now on `process` is told of failures and watched, as if a channel led to it.
  void add_partner(ProcessId process) { partners_.insert(process); }
  /// The processes at the other ends, open or not yet.
  [[nodiscard]] std::set<ProcessId> const& partners() const { return partners_; }

  /// A note of a device of this process is on its way.
  void count_note(DeviceId from, DeviceId to) { ++notes_told_[{from, to}]; }

  bool progress();
  [[nodiscard]] bool has_pending() const;
  /// A sending end with a message that its transport still needs; null if there is none.
  [[nodiscard]] Sender const* unsent() const;

  /// True if what `edge` waits for has been done by `edge.peer`, a device of this process: then the
  /// wait depends on it no more.
  [[nodiscard]] bool is_satisfied(control::Edge const& edge) const;

 private:
  using Pair = std::pair<DeviceId, DeviceId>;
  enum class Distance : std::uint8_t { process, host, job };
  struct Incoming {
    Receiver receiver;
    Transport* transport;
    std::function<void()> answered;
  };

  [[nodiscard]] Distance distance(DeviceId from, DeviceId to) const;
  [[nodiscard]] static bool reaches(TransportTraits const& traits, Distance distance);
  [[nodiscard]] static std::span<Route const> preferred(Distance distance);
  [[nodiscard]] Transport* transport_of(Route route) const;
  [[nodiscard]] std::string why_not(Route route, ProcessId peer) const;
  [[nodiscard]] std::optional<Route> forced(DeviceId from, DeviceId to) const;
  [[nodiscard]] ProcessId remote_process(DeviceId from, DeviceId to) const;
  /// The best transport of a pair, from the preference numbered `first` on.
  /// Throws: TransportError if there is none.
  [[nodiscard]] Transport& best(DeviceId from, DeviceId to, std::size_t first = 0) const;
  /// The number of the preference behind this transport's.
  [[nodiscard]] std::size_t after(Transport const& transport, DeviceId from, DeviceId to) const;
  /// The receiver's end over the best transport from `first` on that has the memory.
  [[nodiscard]] std::pair<Transport*, Offer> offer(OfferRequest const& request, std::size_t first);
  void invite(OfferRequest const& request, Transport const& transport, Offer const& offer);
  void make_transports(ChannelTools const& tools);
  void check_forced_route(bool one_host) const;

  Postbox& postbox_;
  Job const& job_;
  NetworkOptions options_;
  std::span<ProcessId const> on_host_;  ///< by rank
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<Transport*> carrying_;  ///< those of them that must be driven
  std::map<Pair, Sender> senders_;
  std::map<Pair, Incoming> receivers_;
  std::map<Pair, control::Invite> invites_;
  std::set<ProcessId> partners_;
  std::map<Pair, std::uint64_t> notes_told_;
  std::map<std::pair<ProcessId, Route>, std::string> refusals_;
  std::map<ProcessId, std::size_t> first_route_;  ///< preferences, after a refusal
};

}  // namespace tessera
