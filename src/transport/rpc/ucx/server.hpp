#pragma once
/// @file
/// The thread that answers calls of other processes.

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "src/transport/rpc/address_server.hpp"
#include "src/transport/rpc/call_seal.hpp"
#include "src/transport/rpc/remote_calls.hpp"
#include "src/transport/rpc/served_calls.hpp"
#include "src/transport/rpc/ucx/am_worker.hpp"

namespace tessera::ucx {

/// A UCX worker with its own thread, which sleeps while there are no requests.
class Server {
 public:
  static constexpr std::int64_t most_bytes = 64 * 1024;

  /// Throws: TransportError.
  Server(ServedCallTools const& tools, Serve serve);
  ~Server();
  Server(Server const&) = delete;
  Server& operator=(Server const&) = delete;

  [[nodiscard]] std::int64_t address() const { return address_server_.where(); }

 private:
  /// An answer on its way.
  struct Answer {
    std::vector<std::byte> bytes;
    bool is_under_way = false;
  };

  void run();
  bool sleep(int worker_events);
  void take(std::span<std::byte const> request, ucp_ep_h back);
  [[nodiscard]] Answer& free_answer();

  Serve serve_;
  Refused& refused_;
  RequestChecker checker_;
  AddressServer address_server_;
  std::deque<Answer> answers_;  ///< used by operations that the worker completes during its
                                ///< destruction
  AmWorker worker_;
  std::vector<std::byte> own_address_;
  int wake_ = -1;
  std::atomic<bool> is_stopping_{false};
  std::thread thread_;
};

}  // namespace tessera::ucx
