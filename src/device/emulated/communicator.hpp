#pragma once
/// @file
/// Communicators of emulated GPUs.

#include <cstdint>
#include <memory>

#include "src/device/communicator.hpp"
#include "src/device/emulated/peers.hpp"
#include "src/device/emulated/shared_bytes.hpp"

namespace tessera::emulated {

/// A member of a communicator: see GpuPeers::join_communicator.
[[nodiscard]] GpuCommunicatorId make_group_id(std::int64_t members,
                                              std::unique_ptr<SharedBytes>& keeps);
[[nodiscard]] std::unique_ptr<GpuCommunicator> join_communicator(StreamParts const& parts,
                                                                 GpuCommunicatorId const& id,
                                                                 std::int64_t rank,
                                                                 std::int64_t members);

}  // namespace tessera::emulated
