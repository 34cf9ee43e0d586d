#pragma once
/// @file
/// Calls that a thread of the other process answers, independently of its caller's thread.

#include <cstdint>
#include <memory>
#include <span>

#include "src/job/host_address.hpp"
#include "src/job/job_secret.hpp"
#include "src/transport/protocol/refused.hpp"
#include "src/transport/rpc/remote_calls.hpp"

namespace tessera {

/// Both ends of a process: it serves from its construction on, and may call after it has received
/// the addresses of all processes.
class ServedCalls : public Calls {
 public:
  [[nodiscard]] bool needs_the_other_caller() const final { return false; }
  /// The address by which others find this process; never 0.
  [[nodiscard]] virtual std::int64_t address() const = 0;
  /// Sets the addresses, indexed by rank. The caller keeps the memory alive.
  virtual void set_addresses(std::span<std::int64_t const> addresses) = 0;
};

/// What served calls are made with. Lifetime: `refused` outlives them.
struct ServedCallTools {
  HostAddress own;  ///< this host's address among the hosts of the job
  ProcessId self;
  std::int64_t process_count;
  JobSecret secret;
  Refused& refused;
};

/// By UCX. Requests and answers are signed, so only processes of the job are answered and believed.
/// Throws: TransportError, with a remedy, if this process cannot serve in this way.
[[nodiscard]] std::unique_ptr<ServedCalls> make_ucx_calls(ServedCallTools const& tools,
                                                          Serve serve);

}  // namespace tessera
