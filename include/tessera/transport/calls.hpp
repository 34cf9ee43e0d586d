#pragma once
/// @file
/// Requests to other processes and their answers: the seam between one-sided access and whatever
/// carries it where memory is not shared.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/ids.hpp"

namespace tessera {

/// A request under way. The first bytes of request and answer belong to whoever carries them.
///
/// Lifetime: stays where it is from `begin` until it is done.
struct Call {
  /// Bytes in front of what is asked and of what is answered.
  static constexpr std::size_t front_bytes = 8;

  ProcessId to;
  std::vector<std::byte> request;
  std::vector<std::byte> answer;
  std::string trouble;  ///< why there is no answer; empty if there is one
  bool is_sent = false;
  bool is_answered = false;

  [[nodiscard]] bool is_done() const { return is_sent && is_answered; }
};

/// Does what a request asks, and appends to the answer. Throws nothing.
/// Threads: the one that serves.
using Serve =
    std::function<void(std::span<std::byte const> request, std::vector<std::byte>& answer)>;

/// Carries calls. Threads: the caller's.
class Calls {
 public:
  virtual ~Calls() = default;
  Calls(Calls const&) = delete;
  Calls& operator=(Calls const&) = delete;

  /// The most bytes of a request, and of an answer, without those in front.
  [[nodiscard]] virtual std::int64_t most_bytes() const = 0;
  /// True if a call is answered only while the other process's caller's thread waits in Tessera.
  [[nodiscard]] virtual bool needs_the_other_caller() const = 0;
  /// Sends a call. A process that cannot be reached shows in the call's trouble.
  virtual void begin(Call& call) = 0;
  /// Moves what can be moved; true if something did.
  virtual bool progress() = 0;

 protected:
  Calls() = default;
};

}  // namespace tessera
