#pragma once
/// @file
/// Calls that a thread of the other process answers, independently of its calling thread.

#include <cstdint>
#include <memory>
#include <span>

#include "src/job/host_address.hpp"
#include "src/transport/rpc/remote_calls.hpp"

namespace tessera {

/// Both ends of a process: it serves from its construction on, and may call after it has received
/// the addresses of all processes.
class ServedCalls : public Calls {
 public:
  [[nodiscard]] bool needs_the_other_caller() const final { return false; }
  /// The address by which others find this process; never 0.
  [[nodiscard]] virtual std::int64_t address() const = 0;
  /// By rank. The memory stays.
  virtual void set_addresses(std::span<std::int64_t const> addresses) = 0;
};

/// By UCX; `own` is this host's address among the hosts of the job.
/// Throws: TransportError, with a remedy, if this process cannot serve in this way.
[[nodiscard]] std::unique_ptr<ServedCalls> make_ucx_calls(HostAddress own, Serve serve);

}  // namespace tessera
