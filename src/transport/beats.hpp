#pragma once
/// @file
/// Signs of life between the processes of a host.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tessera/transport/bootstrap.hpp"

#include "process_state.hpp"
#include "segment.hpp"

namespace tessera {

/// What one wait remembers of the process it waits for.
struct BeatWatch {
  bool has_looked = false;
  std::uint64_t peer_beats = 0;
  std::uint64_t own_beats = 0;  ///< this process's, when the peer's last moved
};

/// A page per process in which a thread counts, and the pages of the partners.
///
/// Who waits counts the beats of its own process while the peer's stand still. So a job that is
/// suspended as a whole sees no failure, and how long a beat takes under load cancels out.
///
/// Threads: any.
class Beats {
 public:
  static constexpr std::chrono::milliseconds interval{50};

  /// A collective over the host. Starts the thread if there is anybody to see its beats.
  explicit Beats(Bootstrap& bootstrap);
  ~Beats();
  Beats(Beats const&) = delete;
  Beats& operator=(Beats const&) = delete;

  /// Why `peer` must be taken for failed, if so. Nothing about processes of other hosts.
  [[nodiscard]] std::optional<std::string> trouble(ProcessId peer, BeatWatch& watch,
                                                   double silence_seconds);
  /// "process 1 (pid 1234) has died", if it is one of this host and has.
  [[nodiscard]] std::optional<std::string> death_of(ProcessId peer);
  /// "process 1 (pid 1234)"
  [[nodiscard]] std::string name_of(ProcessId peer) const;

  /// From now on this process's end is no failure.
  void leave();

 private:
  struct Page {
    std::atomic<std::uint64_t> beats;
    std::atomic<bool> has_thread;
    std::atomic<bool> has_left;
  };
  struct Partner {
    SegmentTicket ticket;
    bool pid_means_the_same = false;
    bool is_asked = false;
    Segment segment;
    std::uint64_t started = 0;

    [[nodiscard]] Page const* page() const {
      return segment ? reinterpret_cast<Page const*>(segment.data()) : nullptr;
    }
  };

  void learn_partners(Bootstrap& bootstrap);
  void beat();
  /// The partner with its page mapped, if it is one of this host.
  [[nodiscard]] Partner* partner(ProcessId peer);
  [[nodiscard]] std::optional<std::string> trouble_of(ProcessId peer, Partner const& partner,
                                                      BeatWatch& watch, double silence_seconds);
  /// Nothing if it is dead; a state of no letter where process ids do not mean the same.
  [[nodiscard]] static std::optional<ProcessState> live_state(Partner const& partner);
  [[nodiscard]] Page& own() const { return *reinterpret_cast<Page*>(own_.data()); }

  ProcessId self_;
  Segment own_;
  std::mutex partners_mutex_;
  std::map<ProcessId, Partner> partners_;  ///< of this host; none is added after the start
  std::mutex stop_mutex_;
  std::condition_variable stop_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace tessera
