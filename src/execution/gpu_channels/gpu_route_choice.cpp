#include "src/execution/gpu_channels/gpu_route_choice.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "tessera/detail/base/assert.hpp"

#include "src/base/environment.hpp"

namespace tessera {

std::vector<std::string_view> const& gpu_route_words() {
  // The words follow the order of GpuRouteChoice, whose first value has no word.
  static std::vector<std::string_view> const words{"host", "ipc", to_string(Route::nccl), "ucx"};
  return words;
}

GpuRouteChoice gpu_route_choice(std::optional<std::string> const& word) {
  if (!word) return GpuRouteChoice::automatic;
  auto const& words = gpu_route_words();
  auto const found = std::ranges::find(words, *word);
  TESSERA_ASSERT(found != words.end(), *word, " is no route of GPUs");
  return static_cast<GpuRouteChoice>(1 + std::distance(words.begin(), found));
}

GpuRouteChoice gpu_route_asked_for() {
  return gpu_route_choice(environment_choice("TESSERA_GPU_ROUTE", gpu_route_words()));
}

std::string_view to_string(GpuRouteChoice choice) {
  if (choice == GpuRouteChoice::automatic) return "";
  return gpu_route_words()[static_cast<std::size_t>(choice) - 1];
}

std::optional<Route> communicator_asked_for(GpuRouteChoice choice) {
  if (choice == GpuRouteChoice::nccl) return Route::nccl;
  if (choice == GpuRouteChoice::ucx) return Route::ucx_gpu;
  return std::nullopt;
}

std::optional<Route> choose_gpu_route(GpuRouteChoice choice, std::optional<Route> communicator,
                                      GpuPair const& pair) {
  if (pair.is_of_one_process) return Route::peer;
  if (communicator && choice != GpuRouteChoice::automatic) return communicator;
  if (choice == GpuRouteChoice::host) return std::nullopt;
  if (!pair.is_of_one_host) return communicator;
  return pair.can_share_memory ? std::optional(Route::ipc) : std::nullopt;
}

}  // namespace tessera
