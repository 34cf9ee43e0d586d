#pragma once
/// @file
/// Between the processes of a host, by memory that both map.

#include <memory>

#include "src/job/ipc/descriptor_server.hpp"
#include "src/transport/channel/transport.hpp"

namespace tessera {

/// What it can do.
[[nodiscard]] TransportTraits const* shm_transport_traits();
/// Lifetime: `descriptor_server` outlives it.
[[nodiscard]] std::unique_ptr<Transport> make_shm_transport(
    DescriptorServer const& descriptor_server);

}  // namespace tessera
