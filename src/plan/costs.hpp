#pragma once
/// @file
/// What plans know of the machine: the hosts of the devices, and how long things take.

#include "src/mesh/axis_roles.hpp"
#include "src/mesh/member_hosts.hpp"

namespace tessera {

/// How much a device or a host does in a second. Plans are compared by these numbers, so they are
/// the same on every process, and a plan depends on no measurement.
struct Costs {
  double multiplications = 2e10;  ///< with an addition each, by a device
  double read_cells = 1e9;        ///< of operands, packed to be multiplied
  double received_bytes = 2.5e9;  ///< by a device, wherever they come from
  /// Received by a host from other hosts, for all its devices together: 10 Gbit/s.
  double network_bytes = 1.25e9;
  double messages = 8e4;  ///< from one device to another of the host, one after the other

  /// No number is larger.
  static constexpr double most = 1e18;

  /// Those of TESSERA_COSTS, "network_bytes=1e8,messages=1e5", and the usual ones for the others.
  /// Throws: ConfigError if the variable is no such list.
  [[nodiscard]] static Costs from_environment();
  friend bool operator==(Costs const&, Costs const&) = default;
};

/// The devices of a job as plans see them. Equal on every process.
struct Machine {
  MemberHosts hosts;
  Costs costs;
  AxisRoles roles = {};  ///< that plans have to give to axes of these names
  friend bool operator==(Machine const&, Machine const&) = default;
};

}  // namespace tessera
