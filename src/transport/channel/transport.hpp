#pragma once
/// @file
/// The seam between the network and the backends that carry bytes between two devices.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/error.hpp"

#include "src/job/bootstrap.hpp"
#include "src/transport/channel/channel.hpp"
#include "src/transport/channel/transports.hpp"

namespace tessera {

class DescriptorServer;

/// Thrown by `progress` when a process cannot be reached any more; the wait that it ends adds the
/// awaited event.
class ConnectionLost : public PeerFailed {
 public:
  ConnectionLost(ProcessId process, std::string const& why) : PeerFailed(why), process_(process) {}
  [[nodiscard]] ProcessId process() const { return process_; }

 private:
  ProcessId process_;
};

/// The channel for which the receiver's end is made.
struct OfferRequest {
  DeviceId from;
  DeviceId to;
  ProcessId peer;  ///< of `from`
  std::int64_t slot_bytes;
  /// The end that the sender refused over another route: the receiver keeps its memory.
  ChannelEnd const* refused = nullptr;
};

/// The receiver's end, and the invitation from which the sender's process makes its own.
struct Offer {
  ChannelEnd end;
  std::vector<std::byte> invitation;  ///< at most Transport::max_invitation_bytes
  std::function<void()> answered;     ///< called once the sender has accepted or refused
};

/// The sender's end, or the reason why there is none.
struct Acceptance {
  ChannelEnd end;
  std::string reason;  ///< empty where `end` is good
};

/// Opens channels and, where the ends share no memory, carries the messages.
/// Threads: the caller's thread.
class Transport {
 public:
  static constexpr std::size_t max_invitation_bytes = 800;

  virtual ~Transport() = default;
  Transport(Transport const&) = delete;
  Transport& operator=(Transport const&) = delete;

  [[nodiscard]] virtual TransportTraits const& traits() const = 0;
  /// Throws: TransportError if the system gives no memory.
  [[nodiscard]] virtual Offer offer(OfferRequest const& request) = 0;
  /// `request.peer` is the process of `to`.
  [[nodiscard]] virtual Acceptance accept(OfferRequest const& request,
                                          std::span<std::byte const> invitation) = 0;
  /// Makes progress on all messages; true if any advanced. Throws: ConnectionLost, at every call.
  virtual bool progress() { return false; }
  /// True while messages or free slots of this process have not been passed on.
  [[nodiscard]] virtual bool has_pending() const { return false; }

 protected:
  Transport() = default;
};

/// A plain value as the bytes of an invitation, and back.
template <class T>
[[nodiscard]] std::vector<std::byte> bytes_from(T const& value) {
  auto const bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}
template <class T>
[[nodiscard]] T value_from(std::span<std::byte const> bytes) {
  T value{};
  if (bytes.size() >= sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace tessera
