#pragma once
/// @file
/// The address server: a worker's address is too long for a table of all processes. The table
/// contains the socket at which a process listens, and a process that connects there receives the
/// worker's address.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/job/host_address.hpp"

namespace tessera::ucx {

/// A socket that listens, on an address that other hosts reach.
///
/// Threads: one.
class AddressServer {
 public:
  /// Throws: TransportError if there is no such address, or if it cannot be listened on.
  explicit AddressServer(HostAddress own);
  ~AddressServer();
  AddressServer(AddressServer const&) = delete;
  AddressServer& operator=(AddressServer const&) = delete;

  [[nodiscard]] int descriptor() const { return socket_; }
  /// IPv4 address, port, and a number that tells this process from an earlier one at that port.
  [[nodiscard]] std::int64_t where() const { return where_; }
  /// Sends `address` to all that have connected. Never waits.
  void hand_out(std::span<std::byte const> address) const;

 private:
  int socket_ = -1;
  std::int64_t where_ = 0;
};

/// Requests an address from such a server. Throws: TransportError, naming `whose`, after ten
/// seconds without an answer.
[[nodiscard]] std::vector<std::byte> ask_for_address(std::int64_t where, std::string const& whose);

}  // namespace tessera::ucx
