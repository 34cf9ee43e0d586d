#pragma once
/// @file
/// The ways in which messages travel between GPUs.

#include "src/execution/message_path.hpp"

namespace tessera {

[[nodiscard]] MessagePath const& peer_path();
[[nodiscard]] MessagePath const& communicator_path();
[[nodiscard]] MessagePath const& staged_path();

}  // namespace tessera
