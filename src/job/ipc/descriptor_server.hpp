#pragma once
/// @file
/// The descriptor server: hands memory of this process to others of the host that /proc does not
/// lead to it.

#include <chrono>
#include <cstdint>
#include <string>

#include "src/job/ipc/descriptor.hpp"
#include "src/job/ipc/progress_thread.hpp"
#include "src/job/ipc/shared_segment.hpp"

namespace tessera {

/// A Unix socket of this process without a name in any file system. A process of the same user that
/// knows the number of a descriptor and the nonce in front of its memory receives a copy of the
/// descriptor. Containers that share a network but no process numbers reach each other in this way.
///
/// Threads: answers on the progress thread.
class DescriptorServer {
 public:
  /// Call this before the thread is started. If there can be no socket, no request is answered.
  DescriptorServer(ProgressThread& thread, SegmentWays ways);

  /// For a process without a progress thread.
  void close() { number_ = 0; }
  /// The number by which other processes find it; 0 if it answers no requests.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// The ways in which this process reaches the memory of others.
  [[nodiscard]] SegmentWays ways() const { return ways_; }

 private:
  void answer_all();

  SegmentWays ways_;
  Descriptor socket_;
  std::uint64_t number_ = 0;
};

/// Requests a descriptor from another process. The caller owns the result; it is negative if no
/// descriptor arrives in time, and then `reason` gives the reason. A server whose queue is full,
/// because it is stopped or somebody floods it, is not waited for.
[[nodiscard]] Descriptor descriptor_from(
    std::uint64_t descriptor_server, std::int64_t descriptor, std::uint64_t nonce,
    std::string& reason, std::chrono::milliseconds patience = std::chrono::seconds(2));

}  // namespace tessera
