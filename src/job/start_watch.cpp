#include "src/job/start_watch.hpp"

#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/log.hpp"
#include "src/base/text.hpp"

namespace tessera {
namespace {

constexpr int most_named = 8;

/// A value that cannot be read is refused later, by all processes alike.
double seconds_of(char const* variable, double otherwise) {
  try {
    return environment_seconds(variable).value_or(otherwise);
  } catch (ConfigError const&) {
    return otherwise;
  }
}

double stall_seconds() {
  return seconds_of("TESSERA_STALL", 30);
}

double silence_seconds() {
  return seconds_of("TESSERA_SILENCE", 10);
}

double seconds_in(std::int64_t looks) {
  return std::chrono::duration<double>(StartWatch::interval).count() * static_cast<double>(looks);
}

std::string name_of(std::int64_t rank, std::int64_t pid) {
  return text("process ", rank, " (pid ", pid, ')');
}

bool is_alive(std::int64_t pid, std::uint64_t started) {
  auto const state = process_state(pid);
  return state && (state->letter == '?' || (!state->is_dead() && state->started == started));
}

}  // namespace

StartWatch::StartWatch(Progress const& own, std::int64_t size, Look look)
    : own_(own), size_(size), look_(std::move(look)) {
  mark_.show(own_);
}

void StartWatch::next_step() {
  ++own_.step;
  mark_.show(own_);
}

void StartWatch::begin_wait() {
  next_look_ = Clock::now() + interval;
  looks_ = 0;
  has_warned_ = false;
  for (auto& [rank, process] : known_) process.looks_stopped = 0;
}

std::optional<std::string> StartWatch::look(RankOf const& rank_of) {
  next_look_ = Clock::now() + interval;
  ++looks_;
  for (auto const& process : look_())
    if (auto const rank = member_rank(process, rank_of); rank && *rank != own_.rank)
      note(*rank, process);
  auto found = failure();
  if (!found) warn_once();
  return found;
}

std::optional<std::int64_t> StartWatch::member_rank(LaunchedProcess const& process,
                                                    RankOf const& rank_of) const {
  auto const& shown = process.progress;
  if (shown && shown->communicator == own_.communicator) return shown->rank;
  return rank_of ? rank_of(process.number) : std::nullopt;
}

void StartWatch::note(std::int64_t rank, LaunchedProcess const& process) {
  auto& known = known_.try_emplace(rank, Known{process.pid, process.state.started}).first->second;
  auto const& shown = process.progress;
  known.is_late = !shown || shown->communicator != own_.communicator || shown->step < own_.step;
  known.looks_stopped = process.state.is_stopped() ? known.looks_stopped + 1 : 0;
}

std::optional<std::string> StartWatch::failure() const {
  for (auto const& [rank, process] : known_) {
    if (!is_alive(process.pid, process.started))
      return text(name_of(rank, process.pid), " has died");
    if (process.looks_stopped > 1 && seconds_in(process.looks_stopped - 1) >= silence_seconds())
      return text(name_of(rank, process.pid), " has given no sign for ", silence_seconds(),
                  " s (it is stopped)");
  }
  return std::nullopt;
}

void StartWatch::warn_once() {
  if (has_warned_ || seconds_in(looks_) < stall_seconds()) return;
  has_warned_ = true;
  // One of a host is enough: the first that waits.
  for (auto const& [rank, process] : known_)
    if (rank < own_.rank && !process.is_late) return;
  auto const late = late_ones();
  if (late.empty()) return;
  log_warning(text("process ", own_.rank,
                   " waits for all processes to make their Runtime, and has "
                   "done so for ",
                   stall_seconds(), " s; ", late, " may only be late, so the wait goes on"));
}

std::string StartWatch::late_ones() const {
  std::vector<std::string> names;
  for (auto const& [rank, process] : known_)
    if (process.is_late) names.push_back(name_of(rank, process.pid));
  auto const is_known = [&](std::int64_t rank) {
    return rank == own_.rank || known_.contains(rank);
  };
  bool const names_some = !names.empty();
  for (std::int64_t rank = 0; rank < size_ && !names_some && names.size() <= most_named; ++rank)
    if (!is_known(rank)) names.push_back(text("process ", rank));
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < most_named; ++i)
    list += text(i == 0 ? "" : ", ", names[i]);
  if (names.size() > most_named) list += " or others";
  if (!names_some && !list.empty()) list = text("one that this host does not show (", list, ')');
  return list;
}

}  // namespace tessera
