#pragma once
/// @file
/// The seam between the network and whatever carries bytes between two devices.

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
#include "tessera/transport/bootstrap.hpp"
#include "tessera/transport/channel.hpp"
#include "tessera/transport/network.hpp"
#include "tessera/transport/transports.hpp"

namespace tessera {

class SegmentDoor;

/// What `progress` throws when a process cannot be reached any more; the wait it ends adds what was
/// waited for.
class ConnectionLost : public PeerFailed {
 public:
  ConnectionLost(ProcessId process, std::string const& why) : PeerFailed(why), process_(process) {}
  [[nodiscard]] ProcessId process() const { return process_; }

 private:
  ProcessId process_;
};

/// Which channel the receiver's end is made for.
struct OfferRequest {
  DeviceId from;
  DeviceId to;
  ProcessId peer;  ///< of `from`
  std::int64_t slot_bytes;
  /// The end that the sender refused over another route: its memory stays the receiver's.
  ChannelEnd const* refused = nullptr;
};

/// The receiver's end, and what the sender's process must be told to make its own.
struct Offer {
  ChannelEnd end;
  std::vector<std::byte> invitation;  ///< at most Transport::max_invitation_bytes
  std::function<void()> answered;     ///< called once the sender has accepted or refused
};

/// The sender's end, or why there is none.
struct Acceptance {
  ChannelEnd end;
  std::string refusal;  ///< empty where `end` is good
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
  /// Moves what can be moved; true if something was. Throws: ConnectionLost, at every call.
  virtual bool progress() { return false; }
  /// True while messages or free slots of this process have not been handed on.
  [[nodiscard]] virtual bool has_pending() const { return false; }

 protected:
  Transport() = default;
};

[[nodiscard]] TransportTraits const& local_transport_traits();
[[nodiscard]] TransportTraits const& shm_transport_traits();
[[nodiscard]] std::unique_ptr<Transport> make_local_transport();
/// Lifetime: `door` outlives it.
[[nodiscard]] std::unique_ptr<Transport> make_shm_transport(SegmentDoor const& door);
/// A collective over the job. None if MPI is not what started the job, or not in this build.
[[nodiscard]] std::unique_ptr<Transport> make_mpi_transport(Bootstrap& bootstrap);
/// None if it is not in this build.
[[nodiscard]] TransportTraits const* mpi_transport_traits();
/// UCX itself is looked for when the first channel is opened. None if it is not in this build, or
/// the job has one process.
[[nodiscard]] std::unique_ptr<Transport> make_ucx_transport(Bootstrap& bootstrap);
[[nodiscard]] TransportTraits const* ucx_transport_traits();
/// Why UCX cannot be used, which is looked for now; empty if it can.
[[nodiscard]] std::string why_no_ucx();

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
