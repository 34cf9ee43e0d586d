#pragma once
/// @file
/// How a process learns the address of another's worker, which is too long for a table of all: the
/// table has where the other one listens, and who connects there is sent the address.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../host_address.hpp"

namespace tessera::ucx {

/// A socket that listens, on an address that other hosts reach.
///
/// Threads: one.
class Doorstep {
 public:
  /// Throws: TransportError if there is no such address, or nobody can listen there.
  explicit Doorstep(HostAddress own);
  ~Doorstep();
  Doorstep(Doorstep const&) = delete;
  Doorstep& operator=(Doorstep const&) = delete;

  [[nodiscard]] int descriptor() const { return socket_; }
  /// IPv4 address, port, and a number that tells this process from an earlier one at that port.
  [[nodiscard]] std::int64_t where() const { return where_; }
  /// Sends `address` to all that have connected. Never waits.
  void hand_out(std::span<std::byte const> address) const;

 private:
  int socket_ = -1;
  std::int64_t where_ = 0;
};

/// Asks at a doorstep. Throws: TransportError, naming `whose`, after ten seconds without an answer.
[[nodiscard]] std::vector<std::byte> ask_for_address(std::int64_t where, std::string const& whose);

}  // namespace tessera::ucx
