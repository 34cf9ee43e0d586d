#pragma once
/// @file
/// Which transports there are, and what they can do: for people and tools.

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/transport/bootstrap.hpp"
#include "tessera/transport/channel.hpp"

namespace tessera {

/// What a transport can do. Callers choose by these and never by its name.
struct TransportTraits {
  Route route;
  char const* name;           ///< for people
  bool within_process;        ///< joins devices of one process
  bool within_host;           ///< joins devices of different processes of a host
  bool crosses_hosts;         ///< joins devices of different hosts
  bool shares_memory;         ///< both ends see the same slots; else `progress` carries them
  std::int64_t slot_bytes;    ///< payload of a message where this is a pair's best route
  std::int64_t slots_beyond;  ///< messages that a receiver asks for beyond those it has read
};

/// A transport as this process finds it.
struct TransportFacts {
  Route route = Route::local;
  TransportTraits const* traits = nullptr;  ///< none if it is not in this build
  bool is_there = false;                    ///< this process could use it
  std::string why;                          ///< how that is known, or what is missing
};

/// All routes in their order. Ranks: local.
/// Cost:  loads UCX if it is in the build, and makes a page of memory.
[[nodiscard]] std::vector<TransportFacts> transport_facts(Bootstrap& bootstrap);

}  // namespace tessera
