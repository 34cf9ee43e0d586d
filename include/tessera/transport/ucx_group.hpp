#pragma once
/// @file
/// Groups of GPUs whose messages UCX takes from their memory and brings there, where it was built
/// for them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tessera/device/gpu.hpp"

namespace tessera {

/// A member, with a worker of UCX of its own. Nobody has a table of all: each pair is introduced
/// before its first message.
///
/// The host has to look: messages move while `is_ready` is called, and leave once the stream has
/// come to the place of their `end`. A member is ready when its messages have arrived at both ends.
///
/// Threads: one at a time.
/// Throws:  DeviceError; TransportError where a connection cannot be made, or has been broken for
///          some seconds: whoever waits may hear of the reason meanwhile.
class UcxGroup : public GpuGroup {
 public:
  /// By which others send to this member.
  [[nodiscard]] virtual std::vector<std::byte> address() const = 0;
  /// This member will send to the member `rank`, of that address.
  virtual void connect(std::int64_t rank, std::span<std::byte const> address) = 0;
};

/// Whether UCX is there and reaches memory of such a GPU. Cost: begins UCX, some milliseconds.
[[nodiscard]] GpuGroupTraits ucx_group_traits(GpuStream& stream);

/// A member with messages behind the work of a stream.
/// Throws: TransportError; BackendNotBuilt where TESSERA_WITH_UCX is off.
[[nodiscard]] std::unique_ptr<UcxGroup> make_ucx_group(std::shared_ptr<GpuStream> stream,
                                                       std::int64_t rank);

}  // namespace tessera
