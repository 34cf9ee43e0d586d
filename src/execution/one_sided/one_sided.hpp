#pragma once
/// @file
/// One-sided access without element types: one process alone reads and writes cells of an array.
/// The interface of arrays is in array/one_sided.hpp.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tessera/base/source.hpp"

#include "src/execution/one_sided/host_collectives.hpp"
#include "src/execution/one_sided/one_sided_request.hpp"
#include "src/execution/storage/array_state.hpp"

namespace tessera {

class Job;
class Network;

/// The epochs, and the operations inside them.
///
/// Ranks:   `fence` is collective over the job, everything else local.
/// Threads: the caller's thread.
/// Throws:  UsageError outside of an epoch, IndexError for cells outside the array: on this process
///          only, before anything is sent; PeerFailed if the owner of the cells has failed.
class OneSided {
 public:
  /// Lifetime: what it is handed outlives it. Nothing happens before the first fence.
  OneSided(HostCollectives& collectives, Network& network, Job const& job,
           QueueTraits const& devices);
  ~OneSided();
  OneSided(OneSided const&) = delete;
  OneSided& operator=(OneSided const&) = delete;

  /// Opens an epoch of the array, or ends the open one.
  /// Throws: UsageError, on every process alike, if it may have none.
  void fence(std::shared_ptr<ArrayState> const& array, SourceLocation const& location);

  /// Reads one cell. `into` has room for an element.
  void read(ArrayState& array, std::span<std::int64_t const> cell, std::byte* into);
  /// Writes one cell, in every copy.
  void write(ArrayState& array, std::span<std::int64_t const> cell, std::byte const* from);
  /// Changes a cell; `old`, unless it is null, receives the old value.
  void update(ArrayState& array, std::span<std::int64_t const> cell, CellUpdate const& update,
              std::byte* old);

  /// Throws the errors that an access to these cells would throw.
  void check(ArrayState& array, Box const& box);
  /// Asks for a box of cells, which come row-major `into` that place, or into the request's own
  /// memory where it is null.
  [[nodiscard]] std::shared_ptr<OneSidedRequest> begin_read(ArrayState& array, Box const& box,
                                                            std::byte* into);
  /// Sends a box of cells; `from` has been read when this returns.
  [[nodiscard]] std::shared_ptr<OneSidedRequest> begin_write(ArrayState& array, Box const& box,
                                                             std::byte const* from);
  /// Changes a cell; its old value comes into the request's memory.
  [[nodiscard]] std::shared_ptr<OneSidedRequest> begin_update(ArrayState& array,
                                                              std::span<std::int64_t const> cell,
                                                              CellUpdate const& update);

  /// True once the operation is done. Makes progress on outstanding requests. Throws: PeerFailed.
  [[nodiscard]] bool is_done(OneSidedRequest const& request);
  /// Returns once the operation is done.
  void wait(OneSidedRequest const& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera
