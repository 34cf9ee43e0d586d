#pragma once
/// @file
/// Between the devices of a process: both ends use the same private memory.

#include <memory>

#include "src/transport/channel/transport.hpp"

namespace tessera {

/// What it can do.
[[nodiscard]] TransportTraits const* local_transport_traits();
[[nodiscard]] std::unique_ptr<Transport> make_local_transport();

}  // namespace tessera
