#pragma once
/// @file
/// What the processes of a job do together on the host, between statements.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "tessera/base/source.hpp"

namespace tessera {

/// A collective operation other than a statement; equal on all processes.
struct Collective {
  char const* purpose = "";   ///< as "which reads cells"; of static storage
  std::uint64_t array = 0;    ///< the number of the array concerned; 0: none
  std::uint64_t details = 0;  ///< a hash of all else that must be equal
};

/// The seam between the code that has to hear of other processes and the runtime.
///
/// Threads: the caller's.
class HostCollectives {
 public:
  virtual ~HostCollectives() = default;
  HostCollectives(HostCollectives const&) = delete;
  HostCollectives& operator=(HostCollectives const&) = delete;

  /// Replaces the bytes of every process by the bitwise or of all of them.
  /// Ranks:  collective. Throws: PeerFailed, Mismatch if the processes do not meet for the same.
  virtual void or_over_processes(std::span<std::byte> bytes, SourceLocation const& location,
                                 Collective const& collective) = 0;
  /// Waits until this process's devices have executed all statements so far.
  /// Ranks: local. Throws: PeerFailed, Mismatch.
  virtual void synchronize() = 0;
  /// Runs `f`. An exception of `f` ends this process's part, and is announced to the other
  /// processes.
  virtual void guarded(std::function<void()> const& f) = 0;

 protected:
  HostCollectives() = default;
};

}  // namespace tessera
