#pragma once
/// @file
/// The trees by which reductions meet.

#include <cstddef>
#include <vector>

#include "tessera/transport/job.hpp"
#include "tessera/transport/network.hpp"

#include "record.hpp"

namespace tessera {

/// The tree of all devices, and inside it the tree of the processes' first devices.
///
/// Inside a process the first device is the root, over the processes the first one; a node's parent
/// is its number with the lowest set bit cleared.
/// Threads: the caller's; the links of a device belong to its worker while it runs a record.
class Trees {
 public:
  Trees(Job const& job, Network& network);

  /// Opens the channels, the first time it is called.
  /// Ranks: collective. Throws: PeerFailed, Mismatch.
  void open(StatementTag const& tag);
  /// The links of a local device, by its place among them. Lifetime: as long as this.
  [[nodiscard]] TreeLinks& of_device(std::size_t index) { return devices_[index]; }
  /// The links of this process's first device to those of other processes.
  [[nodiscard]] TreeLinks& across() { return across_; }
  /// True if messages along the tree need calls of this thread to move.
  [[nodiscard]] bool needs_this_thread() const;

 private:
  void open_receivers();
  void open_senders(StatementTag const& tag);

  Job const& job_;
  Network& network_;
  std::vector<TreeLinks> devices_;
  TreeLinks across_;
  bool is_open_ = false;
};

}  // namespace tessera
