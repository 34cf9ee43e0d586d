#pragma once
/// @file
/// A worker of UCX, in a context of its own.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/transport/ucx/library.hpp"

namespace tessera::ucx {

/// The options of a worker.
struct WorkerOptions {
  std::uint64_t features = 0;              ///< UCP_FEATURE_…
  ucp_config_t const* settings = nullptr;  ///< of the environment alone if null
  ucs_thread_mode_t threads = UCS_THREAD_MODE_SINGLE;
};

/// Threads: one at a time; always the same one but with UCS_THREAD_MODE_SERIALIZED.
class Worker {
 public:
  /// Throws: TransportError.
  explicit Worker(WorkerOptions const& options);
  /// Ends all pending operations, done or not. Endpoints must be closed before.
  ~Worker();
  Worker(Worker const&) = delete;
  Worker& operator=(Worker const&) = delete;

  [[nodiscard]] ucp_worker_h get() const { return worker_; }
  /// True if something happened.
  bool progress() const { return library().worker_progress(worker_) != 0; }

  /// The address by which others reach this worker.
  [[nodiscard]] std::vector<std::byte> address() const;
  /// If the connection breaks, `error` is set; it must keep its address.
  [[nodiscard]] ucp_ep_h endpoint_to(std::span<std::byte const> address, ucs_status_t& error) const;
  /// A bit for each kind of memory that it sends from and receives into: 1 << UCS_MEMORY_TYPE_….
  [[nodiscard]] std::uint64_t memory_kinds() const;

  /// Notes that data have been sent.
  void note_send() { has_sent_ = true; }
  /// True while sent data may still lie in this process, because a connection had no room.
  [[nodiscard]] bool may_hold_back() const { return has_sent_ || flush_ != nullptr; }
  /// Checks whether everything has left. A broken connection holds nothing back.
  void look_for_rest();

 private:
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  bool has_sent_ = false;  ///< since the last flush began
  void* flush_ = nullptr;  ///< under way
};

}  // namespace tessera::ucx
