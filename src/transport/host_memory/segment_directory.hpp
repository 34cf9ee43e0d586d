#pragma once
/// @file
/// How the processes of a host find a first segment of each other, in which they show the rest.

#include <functional>
#include <optional>
#include <string>

#include "tessera/base/ids.hpp"

#include "src/job/ipc/shared_segment.hpp"

namespace tessera {

/// Functions of whoever knows the other processes of the host. Threads: any.
struct SegmentDirectory {
  /// From now on the others can ask for this segment.
  std::function<void(SegmentTicket const&)> show;
  /// What another process shows; nothing, with the reason, if that cannot be had.
  std::function<std::optional<SegmentTicket>(ProcessId, std::string& reason)> find;
  /// The ways in which this process reaches the memory of others.
  SegmentWays ways;
};

}  // namespace tessera
