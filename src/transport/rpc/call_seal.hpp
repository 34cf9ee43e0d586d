#pragma once
/// @file
/// The codes in front of calls: a process answers only processes of its job, and believes only
/// their answers.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "tessera/base/ids.hpp"

#include "src/job/job_secret.hpp"
#include "src/transport/protocol/replay_window.hpp"
#include "src/transport/rpc/remote_calls.hpp"

namespace tessera {

/// The bytes behind the front that a code covers, at most: the header of every request. The cells
/// behind them are as safe as the network.
inline constexpr std::size_t most_covered_bytes = 512;

/// Signs the requests of a process and checks their answers. Threads: the caller's.
class RequestSigner {
 public:
  RequestSigner(JobSecret const& secret, ProcessId self) : secret_(secret), self_(self) {}

  /// Completes the front of a request, whose number stands there already.
  void sign(Call& call);
  /// True if the bytes are the answer of the process that was called to this call.
  [[nodiscard]] bool is_answer(Call const& call, std::span<std::byte const> bytes);

 private:
  struct Peer {
    MacKey requests;
    MacKey answers;
    std::uint64_t sent = 0;
  };
  [[nodiscard]] Peer& peer(ProcessId process);

  JobSecret secret_;
  ProcessId self_;
  std::map<ProcessId, Peer> peers_;
};

/// Checks the requests of other processes and signs the answers. Threads: the serving thread.
class RequestChecker {
 public:
  RequestChecker(JobSecret const& secret, ProcessId self, std::int64_t process_count)
      : secret_(secret), self_(self), process_count_(process_count) {}

  /// The process of the job that made a request which has not come before; none for any other.
  [[nodiscard]] std::optional<ProcessId> sender_of(std::span<std::byte const> request);
  /// Completes the front of an answer, which is a copy of the request's.
  void sign_answer(std::span<std::byte> answer, ProcessId to) const;

 private:
  struct Peer {
    MacKey requests;
    MacKey answers;
    ReplayWindow<1024> taken;
  };
  Peer& add_peer(ProcessId process, MacKey const& requests);
  [[nodiscard]] MacKey answer_key(ProcessId to) const;

  JobSecret secret_;
  ProcessId self_;
  std::int64_t process_count_;
  std::map<ProcessId, Peer> peers_;  ///< those that have sent one
};

}  // namespace tessera
