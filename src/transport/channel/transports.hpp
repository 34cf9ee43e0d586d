#pragma once
/// @file
/// The available transports and their capabilities: for people and tools.

#include <cstdint>
#include <string>
#include <vector>

#include "src/job/bootstrap.hpp"
#include "src/transport/protocol/route.hpp"

namespace tessera {

/// The capabilities of a transport. Callers choose by these and never by its name.
struct TransportTraits {
  Route route;
  char const* name;           ///< for people
  bool within_process;        ///< joins devices of one process
  bool within_host;           ///< joins devices of different processes of a host
  bool crosses_hosts;         ///< joins devices of different hosts
  bool shares_memory;         ///< both ends see the same slots; else `progress` carries data
  std::int64_t slot_bytes;    ///< payload of a message if this is a pair's best route
  std::int64_t slots_beyond;  ///< messages that a receiver asks for beyond those it has read
};

/// A transport as this process finds it.
struct TransportFacts {
  Route route = Route::local;
  TransportTraits const* traits = nullptr;  ///< none if it is not in this build
  bool is_there = false;                    ///< this process could use it
  std::string why;                          ///< the evidence, or the missing requirement
};

/// True if the library was built with this route; hosts and launcher must still allow it.
[[nodiscard]] bool is_built(Route route);
/// The routes that a build may leave out.
[[nodiscard]] std::vector<Route> optional_routes();

/// All transports in the order of their routes. Ranks: local.
/// Cost:  loads UCX if it is in the build, and makes a page of memory.
[[nodiscard]] std::vector<TransportFacts> transport_facts(Bootstrap& bootstrap);

}  // namespace tessera
