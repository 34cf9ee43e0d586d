#pragma once
/// @file
/// Where other processes of the host ask for memory of this one that /proc does not lead them to.

#include <cstdint>
#include <string>

#include "descriptor.hpp"
#include "segment.hpp"
#include "side_thread.hpp"

namespace tessera {

/// A Unix socket of this process without a name in any file system. Who knows the number of a
/// descriptor, and the nonce in front of the memory that it stands for, is handed a copy, if it
/// belongs to the same user: containers that share a network but no process numbers reach each
/// other so.
///
/// Threads: answers on the side thread.
class SegmentDoor {
 public:
  /// The thread has not been started yet. Where there can be no socket, nobody is answered.
  SegmentDoor(SideThread& thread, SegmentWays ways);

  /// For a process without a side thread.
  void close() { number_ = 0; }
  /// By which it is found; 0 where nobody is answered.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// In which this process comes by the memory of others.
  [[nodiscard]] SegmentWays ways() const { return ways_; }

 private:
  void answer_all();

  SegmentWays ways_;
  Descriptor socket_;
  std::uint64_t number_ = 0;
};

/// Asks at another process's door. The descriptor belongs to the caller; negative if it is not
/// handed over within a second or two, and then `why_not` says why.
[[nodiscard]] Descriptor descriptor_from(std::uint64_t door, std::int64_t descriptor,
                                         std::uint64_t nonce, std::string& why_not);

}  // namespace tessera
