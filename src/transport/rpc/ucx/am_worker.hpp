#pragma once
/// @file
/// A worker of UCX that takes active messages.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "src/transport/ucx/worker.hpp"

namespace tessera::ucx {

/// Threads: one at a time.
class AmWorker {
 public:
  static constexpr unsigned message_id = 1;
  /// Receives a message and the endpoint for the answer.
  using Handler = std::function<void(std::span<std::byte const> bytes, ucp_ep_h back)>;

  /// Throws: TransportError.
  explicit AmWorker(Handler handler);
  AmWorker(AmWorker const&) = delete;
  AmWorker& operator=(AmWorker const&) = delete;

  [[nodiscard]] ucp_worker_h get() const { return worker_.get(); }
  /// True if something happened.
  bool progress() const { return worker_.progress(); }
  /// The address by which others reach this worker.
  [[nodiscard]] std::vector<std::byte> address() const { return worker_.address(); }
  /// If the connection breaks, `error` is set; it must keep its address.
  [[nodiscard]] ucp_ep_h endpoint_to(std::span<std::byte const> address,
                                     ucs_status_t& error) const {
    return worker_.endpoint_to(address, error);
  }

 private:
  Handler handler_;
  Worker worker_;
};

}  // namespace tessera::ucx
