#pragma once
/// @file
/// Opens the channels that a lowered plan names.

#include <memory>

#include "src/execution/compiled_statement.hpp"
#include "src/network/network.hpp"

namespace tessera {

class GpuRoutes;

/// The routes of a plan's messages.
struct MessageTools {
  Network& network;
  GpuRoutes& gpu_routes;
};

/// Opens the channels of a plan's messages, all receiving ends first, and the GPU channels.
/// Ranks:  collective over the processes of the devices involved, if channels are new.
/// Throws: PeerFailed, Mismatch, DeviceError.
void open_channels(CompiledStatement& compiled, StatementTag const& tag, MessageTools const& tools);

/// A lowered plan of this process's devices with its channels, explained with its routes.
/// Ranks:  as open_channels.
/// Throws: PeerFailed, Mismatch, DeviceError.
[[nodiscard]] std::shared_ptr<CompiledStatement> connect(LoweredStatement&& lowered,
                                                         StatementTag const& tag,
                                                         MessageTools const& tools);

}  // namespace tessera
