#pragma once
/// @file
/// Memory and events that emulated GPUs share with other processes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "src/device/emulated/memory.hpp"
#include "src/device/emulated/progress.hpp"
#include "src/device/peers.hpp"

namespace tessera::emulated {

/// The parts of a stream that its peers need. Lifetime: the stream's.
struct StreamParts {
  std::shared_ptr<Memory> memory;
  std::size_t gpu = 0;
  std::shared_ptr<Progress> progress;
  /// Queues work; returns its number.
  std::function<std::uint64_t(std::function<void()>)> post;
};

/// The word of TESSERA_EMULATED_PEERS. Throws: ConfigError if it is none of those that there are.
[[nodiscard]] std::optional<std::string> limit_of_peers();

[[nodiscard]] std::unique_ptr<GpuPeers> make_peers(StreamParts parts);

}  // namespace tessera::emulated
