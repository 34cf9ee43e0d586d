#pragma once
/// @file
/// The address server: a worker's address is too long for a table of all processes. The table
/// contains the socket at which a process listens, and a process that connects there receives the
/// worker's address.
///
///     guest                                  server
///       | -- its number, 16 random bytes, ---> |
///       |    and a code over these             |
///       | <----------- 16 random bytes ------- |
///       | -- a code over both random bytes --> |
///       | <-- the address, and a code -------- |   over both random bytes and the address
///
/// The codes take the job's secret, so strangers get nothing, and no recorded conversation can be
/// repeated to either. The guest speaks first so that the server need not answer a stranger.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "src/job/host_address.hpp"
#include "src/job/job_secret.hpp"
#include "src/transport/rpc/served_calls.hpp"

namespace tessera::ucx {

/// A socket that listens, on an address that other hosts reach. A stranger costs one accepted
/// connection, one short message and a place among the guests for at most two seconds. While
/// strangers come, all who come within 10 ms are served together.
///
/// Threads: one.
class AddressServer {
 public:
  /// Guests that have not shown yet who they are; one more takes the place of the one that has been
  /// there longest. Who loses its place so tries again.
  static constexpr std::size_t most_guests = 64;

  /// Throws: TransportError if there is no such address, or if it cannot be listened on.
  explicit AddressServer(ServedCallTools const& tools);
  ~AddressServer();
  AddressServer(AddressServer const&) = delete;
  AddressServer& operator=(AddressServer const&) = delete;

  /// Readable when `serve` has something to do; negative while it rests after it has refused
  /// somebody.
  [[nodiscard]] int descriptor() const { return is_resting_ ? -1 : events_; }
  /// After how many milliseconds `serve` has to be called at the latest; -1: not before
  /// `descriptor` is readable.
  [[nodiscard]] int next_look_ms() const;
  /// IPv4 address and port.
  [[nodiscard]] std::int64_t where() const { return where_; }
  /// Sends `address` to the processes of the job that have connected. Never waits.
  void serve(std::span<std::byte const> address);

 private:
  struct Guest;

  [[nodiscard]] bool accept_some(std::span<std::byte const> address);
  [[nodiscard]] bool hear(Guest& guest, std::span<std::byte const> address);
  [[nodiscard]] bool challenge(Guest& guest);
  [[nodiscard]] bool answer(Guest& guest, std::span<std::byte const> address);
  bool refuse(Guest& guest);

  JobSecret secret_;
  ProcessId self_;
  std::int64_t process_count_;
  Refused& refused_;
  int socket_ = -1;
  int events_ = -1;  ///< of epoll
  std::int64_t where_ = 0;
  std::list<Guest> guests_;  ///< the earliest first
  std::chrono::steady_clock::time_point strangers_until_{};
  std::chrono::steady_clock::time_point next_look_{};  ///< while it rests
  bool is_resting_ = false;
};

/// Whose address a process asks for.
struct AddressRequest {
  std::int64_t where;
  ProcessId of;
  ProcessId self;
  JobSecret secret;
  double patience_seconds = 10;
};

/// Requests an address from such a server.
/// Throws: TransportError, naming the process, if the time runs out without an answer.
[[nodiscard]] std::vector<std::byte> ask_for_address(AddressRequest const& request);

}  // namespace tessera::ucx
