#pragma once
/// @file
/// What tests and measurements may change about how processes are joined.

#include <functional>
#include <memory>
#include <optional>

#include "tessera/base/ids.hpp"

#include "src/job/bootstrap.hpp"
#include "src/transport/protocol/route.hpp"

namespace tessera {

class Transport;

/// Replaces what a network would choose by itself. No program has a way to set it.
struct TransportTestHooks {
  /// One route per ordered pair of devices, before `NetworkOptions::forced`.
  std::function<std::optional<Route>(DeviceId from, DeviceId to)> forced_pair;
  /// Ways to the memory of another process of the host; false: as if they were not there.
  bool maps_by_proc = true;
  bool maps_by_socket = true;
  /// Carries all messages between processes, in place of every other transport.
  std::function<std::unique_ptr<Transport>(Bootstrap& bootstrap)> carrier;
};

}  // namespace tessera
