#pragma once
/// @file
/// Where cells are forwarded: if several devices of a host read the same cells of one owner on
/// another host, and not in ghost cells, the owner sends them to one of these devices, and that one
/// sends them to the others.

#include <cstdint>
#include <optional>

#include "src/mesh/member_hosts.hpp"
#include "src/plan/costs.hpp"

namespace tessera {

struct Forwarding {
  MemberHosts hosts;  ///< of the devices of the job; nothing is forwarded on one host
  /// Where a reader needs fewer bytes of an operand from one owner, the owner sends them to each.
  std::int64_t least_bytes = 0;

  [[nodiscard]] bool applies() const { return hosts.count() > 1; }

  /// That of a job, unless TESSERA_FORWARD says otherwise: 0 forwards nothing; n takes n devices in
  /// a row for a host and forwards however little.
  /// Throws: ConfigError if the variable is no number.
  [[nodiscard]] static Forwarding in_job(Machine const& machine);
  friend bool operator==(Forwarding const&, Forwarding const&) = default;
};

/// The value of TESSERA_FORWARD, which is to be the same on all processes.
/// Throws: ConfigError if it is no number.
[[nodiscard]] std::optional<std::int64_t> forward_variable();

}  // namespace tessera
