#pragma once
/// @file
/// Who is missing while the processes bring up their job, before there are heartbeats.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/job/launched_processes.hpp"

namespace tessera {

/// Looks at the other processes of this host while this one waits for all in a collective.
///
/// A process that has died, or is stopped for TESSERA_SILENCE seconds, has failed. One that lives
/// is only late: after TESSERA_STALL seconds the first waiting process of the host names it in a
/// warning. Processes of other hosts are those hosts' to judge.
///
/// A wait counts its own looks, so that a job that is suspended as a whole sees no failure.
///
/// Threads: one at a time.
class StartWatch {
 public:
  using Clock = std::chrono::steady_clock;
  /// The processes that can be seen; see launched_processes.
  using Look = std::function<std::vector<LaunchedProcess>()>;
  /// The rank of the process with a launcher's number; nothing if it is no member.
  using RankOf = std::function<std::optional<std::int64_t>(std::int64_t number)>;

  static constexpr std::chrono::milliseconds interval{500};

  StartWatch() = default;
  /// For `size` processes; `own` has the rank of this one.
  StartWatch(Progress const& own, std::int64_t size, Look look);

  /// This process begins the next collective, in which all take part.
  void next_step();
  /// A wait begins.
  void begin_wait();
  /// True if `interval` has passed since the last look of this wait.
  [[nodiscard]] bool is_time_to_look() { return Clock::now() >= next_look_; }
  /// The reason why the wait cannot end, if there is one. Prints the warning.
  /// `rank_of` is asked about processes that show no progress; without it they are ignored.
  [[nodiscard]] std::optional<std::string> look(RankOf const& rank_of);

 private:
  struct Known {
    std::int64_t pid = 0;
    std::uint64_t started = 0;
    std::int64_t looks_stopped = 0;
    bool is_late = false;
  };

  [[nodiscard]] std::optional<std::int64_t> member_rank(LaunchedProcess const& process,
                                                        RankOf const& rank_of) const;
  void note(std::int64_t rank, LaunchedProcess const& process);
  [[nodiscard]] std::optional<std::string> failure() const;
  void warn_once();
  [[nodiscard]] std::string late_ones() const;

  Progress own_;
  std::int64_t size_ = 1;
  Look look_;
  ProgressMark mark_;
  std::map<std::int64_t, Known> known_;  ///< by rank: processes of this host
  Clock::time_point next_look_{};
  std::int64_t looks_ = 0;  ///< of this wait
  bool has_warned_ = false;
};

}  // namespace tessera
