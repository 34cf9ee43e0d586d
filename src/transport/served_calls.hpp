#pragma once
/// @file
/// Calls that a thread of the other process answers, whatever its caller's thread does.

#include <cstdint>
#include <memory>
#include <span>

#include "tessera/transport/calls.hpp"

#include "host_address.hpp"

namespace tessera {

/// Both ends of a process: it serves from its beginning on, and may call once it was given
/// everybody's addresses.
class ServedCalls : public Calls {
 public:
  [[nodiscard]] bool needs_the_other_caller() const final { return false; }
  /// By which others find this process; never 0.
  [[nodiscard]] virtual std::int64_t address() const = 0;
  /// By rank. The memory stays.
  virtual void set_addresses(std::span<std::int64_t const> addresses) = 0;
};

/// By UCX; `own` is this host's address among the hosts of the job.
/// Throws: TransportError, with what to do, if this process cannot serve so.
[[nodiscard]] std::unique_ptr<ServedCalls> make_ucx_calls(HostAddress own, Serve serve);

}  // namespace tessera
