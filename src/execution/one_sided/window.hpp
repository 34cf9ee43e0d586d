#pragma once
/// @file
/// The locations of an array's cells, as one process reaches them.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "src/execution/storage/array_state.hpp"
#include "src/job/job.hpp"
#include "src/network/network.hpp"

namespace tessera {

/// A cell as a box.
[[nodiscard]] Box box_of_one(std::span<std::int64_t const> cell);

/// A box of a device, and how this process reaches its cells.
struct Owner {
  Box cells;
  std::int64_t replica = 0;
  DeviceId device;
  std::size_t box = 0;         ///< as Layout::boxes_of counts
  std::byte* first = nullptr;  ///< of the cells; null if a request to the owner is needed
  Index strides;               ///< in elements

  [[nodiscard]] bool holds(std::span<std::int64_t const> cell) const {
    for (std::size_t d = 0; d < cell.size(); ++d)
      if (cell[d] < cells.lo[d] || cell[d] >= cells.hi[d]) return false;
    return true;
  }
  /// A cell of the box, in memory that can be reached.
  [[nodiscard]] std::byte* place_of(std::span<std::int64_t const> cell,
                                    std::int64_t element_bytes) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < cell.size(); ++d) offset += (cell[d] - cells.lo[d]) * strides[d];
    return first + offset * element_bytes;
  }
  /// Returns where some of the box's cells lie behind `first`.
  [[nodiscard]] StridedBlock block_of(Box const& some, std::int64_t element_bytes) const;
};

/// The owners of cells that this process has looked up, a few of them: every owner is a formula.
///
/// Threads: the caller's.
class Window {
 public:
  Window(ArrayState& array, Job const& job, Network& network);

  /// Begins an epoch: publishes the locations of this process's cells, and forgets those of other
  /// processes.
  void open();

  /// The copy of a cell that is cheapest to reach.
  /// Throws: TransportError if it cannot be reached at all.
  [[nodiscard]] Owner const& nearest(std::span<std::int64_t const> cell) {
    if (last_ < nearest_.size() && nearest_[last_].holds(cell)) return nearest_[last_];
    return find_nearest(cell);
  }
  /// Copy number `replica` of a cell.
  [[nodiscard]] Owner const& copy_of(std::span<std::int64_t const> cell, std::int64_t replica);
  [[nodiscard]] std::int64_t replicas() const { return replicas_; }

 private:
  struct Mapped {
    std::shared_ptr<SharedBlock> block;
    std::uint64_t epoch = 0;  ///< in which it was looked up
    std::string reason;       ///< where there is no block
  };

  [[nodiscard]] Owner const& find_nearest(std::span<std::int64_t const> cell);
  [[nodiscard]] Owner find_owner(Box const& one, std::int64_t replica);
  void reach(Owner& owner);
  void reach_own(Owner& owner);
  [[nodiscard]] bool reach_mapped(Owner& owner, ProcessId process);
  [[nodiscard]] SharedBlock* block_of(ProcessId process);
  void note_replicas();

  ArrayState& array_;
  Job const& job_;
  Network& network_;
  std::int64_t replicas_;
  std::vector<std::int64_t> own_replicas_;   ///< copies of which this process holds something
  std::vector<std::int64_t> host_replicas_;  ///< and other processes whose memory it shares
  std::uint64_t epoch_ = 0;
  std::size_t last_ = 0;
  std::size_t next_nearest_ = 0;
  std::vector<Owner> nearest_;
  std::size_t next_copy_ = 0;
  std::vector<Owner> copies_;
  std::map<ProcessId, Mapped> mapped_;  ///< of processes of this host that were asked
};

}  // namespace tessera
