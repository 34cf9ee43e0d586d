#pragma once
/// @file
/// The transports of the library: the one place where they are listed.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "src/job/bootstrap.hpp"
#include "src/job/job_secret.hpp"
#include "src/transport/channel/transport.hpp"
#include "src/transport/channel/transports.hpp"
#include "src/transport/protocol/refused.hpp"
#include "src/transport/protocol/route.hpp"

namespace tessera {

/// What transports are made with. Lifetime: outlives them.
struct TransportTools {
  Bootstrap& bootstrap;
  DescriptorServer const& descriptor_server;
  JobSecret const& secret;
  Refused& refused;
};

/// A transport as the library knows it, whether or not it is in this build.
struct TransportEntry {
  Route route;
  char const* option;  ///< of CMake, that puts it into the build; null: it is in every build
  /// Null if it is not in this build.
  TransportTraits const* (*traits)();
  /// Null if it is not in this build or cannot join the processes of this job.
  std::unique_ptr<Transport> (*make)(TransportTools const& tools);
  /// Looks for the means that the transport needs, and names the one that this process lacks; empty
  /// if there is none. Only called where the transport is in the build.
  std::string (*what_is_missing)(Bootstrap& bootstrap);
  char const* how_known;  ///< how a process knows that it can use it, for people
};

/// In the order of their routes.
[[nodiscard]] std::span<TransportEntry const> transport_table();

/// How far apart two devices are.
enum class Distance : std::uint8_t { process, host, job };

/// The routes that may join devices at a distance, best first.
[[nodiscard]] std::span<Route const> preferred_routes(Distance distance);
/// True if the route joins devices of different processes.
[[nodiscard]] bool is_between_processes(Route route);
/// True if a transport can join devices at a distance.
[[nodiscard]] bool reaches(TransportTraits const& traits, Distance distance);

}  // namespace tessera
