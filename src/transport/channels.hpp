#pragma once
/// @file
/// How channels are opened: the receiver's process makes its end and invites; the sender's process
/// accepts or refuses; after a refusal it is invited over the next route.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/job/job.hpp"
#include "src/job/job_secret.hpp"
#include "src/transport/channel/channel.hpp"
#include "src/transport/channel/transport.hpp"
#include "src/transport/network_options.hpp"
#include "src/transport/protocol/control_channel.hpp"
#include "src/transport/protocol/control_messages.hpp"
#include "src/transport/protocol/refused.hpp"
#include "src/transport/routing.hpp"
#include "src/transport/test_hooks.hpp"

namespace tessera {

/// The objects that channels need.
struct ChannelTools {
  Bootstrap& bootstrap;
  ControlChannel& control_channel;
  Job const& job;
  DescriptorServer const& descriptor_server;
  JobSecret const& secret;
  Refused& refused;
};

/// The channels of this process. Threads: the caller's.
class Channels {
 public:
  /// A collective over the job. Throws: ConfigError if the forced route cannot join its processes.
  Channels(ChannelTools const& tools, NetworkOptions const& options,
           TransportTestHooks const& hooks = {});

  [[nodiscard]] Sender* find_sender(DeviceId from, DeviceId to);
  [[nodiscard]] Receiver* find_receiver(DeviceId from, DeviceId to);

  /// Makes both ends of a channel between local devices.
  void open_local(DeviceId from, DeviceId to);
  /// Makes the receiving end and invites the sender.
  Receiver& open_receiver(DeviceId from, DeviceId to);
  /// Answers an invitation for from -> to, if one has arrived and can be accepted.
  Sender* try_open_sender(DeviceId from, DeviceId to);

  // Throws: BadMessage for what no process of this job sends.
  void on_invite(control::Invite const& invite);
  void on_answer(control::Answer const& answer);

  [[nodiscard]] Route route(DeviceId from, DeviceId to) const;
  /// The reason for the route: why better ones are unavailable, and the evidence for this one.
  [[nodiscard]] std::string reason(DeviceId from, DeviceId to) const;
  [[nodiscard]] std::int64_t slot_bytes(DeviceId from, DeviceId to) const;
  /// Treats `process` as a peer from now on: it is informed of failures and watched, as if a
  /// channel led to it.
  void add_peer(ProcessId process) { peers_.insert(process); }
  /// The processes at the other ends, open or not yet.
  [[nodiscard]] std::set<ProcessId> const& peers() const { return peers_; }

  bool progress();
  [[nodiscard]] bool has_pending() const;
  /// A sending end with a message that its transport still needs; null if there is none.
  [[nodiscard]] Sender const* unsent() const;

  /// True if `edge.peer`, a device of this process, has already done what `edge` waits for: then
  /// the wait no longer depends on it.
  [[nodiscard]] bool is_satisfied(control::Edge const& edge) const;

 private:
  using Pair = std::pair<DeviceId, DeviceId>;
  struct Incoming {
    Receiver receiver;
    Transport* transport;
    std::function<void()> answered;
  };

  [[nodiscard]] Transport* transport_of(Route route) const;
  [[nodiscard]] std::string reason_against(Route route, ProcessId peer) const;
  /// The best transport of a pair, from the preference numbered `first` on.
  /// Throws: TransportError if there is none.
  [[nodiscard]] Transport& best(DeviceId from, DeviceId to, std::size_t first = 0) const;
  /// The receiver's end over the best transport from `first` on that has the memory.
  [[nodiscard]] std::pair<Transport*, Offer> offer(OfferRequest const& request, std::size_t first);
  void invite(OfferRequest const& request, Transport const& transport, Offer const& offer);
  void check_forced_route(bool one_host) const;

  ControlChannel& control_channel_;
  Job const& job_;
  NetworkOptions options_;
  std::vector<std::unique_ptr<Transport>> transports_;
  Routing routing_;
  std::vector<Transport*> carrying_;  ///< those of them that must be driven
  std::map<Pair, Sender> senders_;
  std::map<Pair, Incoming> receivers_;
  std::map<Pair, control::Invite> invites_;
  std::set<ProcessId> peers_;
  std::map<std::pair<ProcessId, Route>, std::string> reasons_;
  std::map<ProcessId, std::size_t> first_route_;  ///< preferences, after a refusal
};

}  // namespace tessera
