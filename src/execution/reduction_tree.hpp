#pragma once
/// @file
/// The reduction trees.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/execution/device_task.hpp"
#include "src/job/job.hpp"
#include "src/network/network.hpp"

namespace tessera {

/// The neighbours of a node in a tree of nodes numbered from 0, which is the root.
struct TreeNeighbours {
  std::optional<std::int64_t> parent;  ///< none for the root
  std::vector<std::int64_t> children;
};
/// A node's parent is its number with the lowest set bit cleared. Cost: O(log count).
[[nodiscard]] TreeNeighbours neighbours_in_tree(std::int64_t node, std::int64_t count);

/// The tree of all devices, and inside it the tree of the processes' first devices.
///
/// The first device of a process is the root of its tree. Process 0 is the root of the processes'
/// tree.
/// Threads: the caller's; the links of a device belong to its worker while it runs a task.
class ReductionTrees {
 public:
  ReductionTrees(Job const& job, Network& network);

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
