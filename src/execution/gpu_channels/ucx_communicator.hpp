#pragma once
/// @file
/// GPU communicators whose messages UCX reads from and writes to GPU memory, if UCX was built for
/// these GPUs.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/device/communicator.hpp"
#include "src/device/queue.hpp"
#include "src/job/job_secret.hpp"

namespace tessera {

/// A member with its own UCX worker. There is no table of all members: each pair is introduced
/// before its first message.
///
/// The host must poll: messages move during calls of `is_ready`, and leave once the stream has
/// reached the position of their `end`. A member is ready when its messages have arrived at both
/// ends.
///
/// Threads: one at a time.
/// Throws:  DeviceError; TransportError if a connection cannot be made, or has been broken for some
///          seconds: meanwhile the waiting process may learn the reason.
class UcxCommunicator : public GpuCommunicator {
 public:
  /// The address by which others send to this member.
  [[nodiscard]] virtual std::vector<std::byte> address() const = 0;
  /// Introduces the member `rank` with its address, so that this member can send to it.
  virtual void connect(std::int64_t rank, std::span<std::byte const> address) = 0;
};

/// Says whether UCX is available and reaches memory of such a GPU. Cost: starts UCX, some
/// milliseconds.
[[nodiscard]] GpuCommunicatorTraits ucx_communicator_traits(Queue& stream);

/// Makes a member whose messages follow the work of a stream. Their tags take the secret to know,
/// so a stranger's message is never taken for one of them. Throws: TransportError; BackendNotBuilt
/// where TESSERA_WITH_UCX is off.
[[nodiscard]] std::unique_ptr<UcxCommunicator> make_ucx_communicator(std::shared_ptr<Queue> stream,
                                                                     std::int64_t rank,
                                                                     JobSecret const& secret);

}  // namespace tessera
