#pragma once
/// @file
/// What TESSERA_GPU_ROUTE asks for.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/transport/channel/channel.hpp"

namespace tessera {

/// Says how cells are to travel between GPUs. The processes compare its numbers.
enum class GpuRouteChoice : std::uint8_t {
  automatic,  ///< the best route of each pair of GPUs
  host,       ///< between processes through the memory of the hosts
  ipc,        ///< between processes of a host from GPU to GPU
  nccl,       ///< by a communicator of the GPUs' own library
  ucx,        ///< by a communicator of UCX
};

/// The words of the variable: every choice but `automatic`, which is no word at all.
[[nodiscard]] std::vector<std::string_view> const& gpu_route_words();
/// The choice that one of these words names; automatic without a word.
[[nodiscard]] GpuRouteChoice gpu_route_choice(std::optional<std::string> const& word);
/// The choice of the environment. Throws: ConfigError if it cannot be read.
[[nodiscard]] GpuRouteChoice gpu_route_asked_for();
/// Returns the choice's word; empty for `automatic`.
[[nodiscard]] std::string_view to_string(GpuRouteChoice choice);
/// The communicator that is asked for by its name; none for other choices.
[[nodiscard]] std::optional<Route> communicator_asked_for(GpuRouteChoice choice);

/// Two GPUs, at least one of them of this process.
struct GpuPair {
  bool is_of_one_process = false;
  bool is_of_one_host = false;
  bool can_share_memory = false;  ///< as far as processes of a host know
};

/// The route between two GPUs; none leads through the memory of the hosts. `communicator`: of all
/// GPUs of the job, where they have joined one.
[[nodiscard]] std::optional<Route> choose_gpu_route(GpuRouteChoice choice,
                                                    std::optional<Route> communicator,
                                                    GpuPair const& pair);

}  // namespace tessera
