#pragma once
/// @file
/// The ways between two devices, by name.

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>

namespace tessera {

/// How bytes travel between two devices. Channels use the first four routes. Cells of GPUs can also
/// use the others; then the channel only announces that they are under way.
enum class Route : std::uint8_t {
  local,
  shm,
  ucx,
  mpi,
  peer,     ///< a GPU stores or copies into memory of another one of its process
  ipc,      ///< the same between processes of a host
  nccl,     ///< by the library of the GPUs' maker (NCCL), named "nccl"
  ucx_gpu,  ///< by UCX, from and to the memory of GPUs
};

/// The names of the routes, in the order of `Route`.
inline constexpr std::array<std::string_view, 8> route_names{"local", "shm", "ucx",  "mpi",
                                                             "peer",  "ipc", "nccl", "ucx_gpu"};
/// How many routes there are.
inline constexpr std::size_t route_count = route_names.size();

[[nodiscard]] constexpr std::string_view to_string(Route route) {
  return route_names[static_cast<std::size_t>(route)];
}
inline std::ostream& operator<<(std::ostream& out, Route route) {
  return out << to_string(route);
}

}  // namespace tessera
