#pragma once
/// @file
/// Requests to other processes and their answers (RPC): the seam between one-sided access and the
/// transport of its requests where memory is not shared.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/ids.hpp"

#include "src/base/siphash.hpp"

namespace tessera {

/// In front of the payloads of a request and of its answer.
struct CallFront {
  std::uint64_t number = 0;   ///< of the call, by which its answer finds it
  std::uint64_t counter = 0;  ///< of the requests from one process to another, from 1
  std::int64_t from = 0;      ///< the process that sends these bytes
  Mac mac;                    ///< over these numbers and the beginning of the payload
};

/// A request under way. The first bytes of request and answer belong to the transport.
///
/// Lifetime: must not move from `begin` until it is done.
struct Call {
  /// Bytes in front of the payloads of request and answer.
  static constexpr std::size_t front_bytes = sizeof(CallFront);

  ProcessId to;
  std::vector<std::byte> request;
  std::vector<std::byte> answer;
  std::string reason;  ///< the reason why there is no answer; empty if there is one
  bool is_sent = false;
  bool is_answered = false;

  [[nodiscard]] bool is_done() const { return is_sent && is_answered; }
};

/// Executes a request, and appends to the answer. Throws nothing.
/// Threads: the serving thread.
using Serve =
    std::function<void(std::span<std::byte const> request, std::vector<std::byte>& answer)>;

/// Transports calls. Threads: the caller's.
class Calls {
 public:
  virtual ~Calls() = default;
  Calls(Calls const&) = delete;
  Calls& operator=(Calls const&) = delete;

  /// The largest payload of a request, and of an answer, in bytes.
  [[nodiscard]] virtual std::int64_t most_bytes() const = 0;
  /// True if a call is answered only while the caller's thread of the other process waits in
  /// Tessera.
  [[nodiscard]] virtual bool needs_the_other_caller() const = 0;
  /// Sends a call. If the process cannot be reached, the call's `reason` says so.
  virtual void begin(Call& call) = 0;
  /// Makes progress on all calls; true if any advanced.
  virtual bool progress() = 0;

 protected:
  Calls() = default;
};

}  // namespace tessera
