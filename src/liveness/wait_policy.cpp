#include "src/liveness/wait_policy.hpp"

#include <optional>
#include <thread>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/transport/channel/transport.hpp"

namespace tessera {

void WorkerWaitPolicy::listen(Awaited const& what) {
  if (!context_.options.compares_statements) return;
  auto const end = Clock::now() + std::chrono::seconds(2);
  until([&] { return Clock::now() > end; }, what);
}

void WorkerWaitPolicy::begin(Awaited const& what) {
  what_ = what;
  has_looked_ = false;
  slot_.begin(what);
}

void WorkerWaitPolicy::idle() {
  context_.failure.throw_if_set();
  give_core_away();
  if (is_time_to_look()) look(Clock::now());
}

void WorkerWaitPolicy::look(Clock::time_point now) {
  if (!has_looked_) {
    has_looked_ = true;
    has_warned_ = false;
    watch_ = {};
    began_ = now;
    next_look_ = now + Heartbeats::interval;
    return;
  }
  if (now < next_look_) return;
  next_look_ = now + Heartbeats::interval;
  check_peers();
  warn_once(now);
}

void WorkerWaitPolicy::check_peers() {
  if (!what_.has_peer() || context_.job.is_local(what_.peer)) return;
  check_peer(context_.job.process_of(what_.peer), watch_, what_);
}

void WorkerWaitPolicy::check_peer(ProcessId peer, HeartbeatWatch& watch, Awaited const& what) {
  auto const failure =
      context_.heartbeats.failure_of(peer, watch, context_.options.silence_seconds);
  if (failure) throw PeerFailed(text(*failure, ", while ", what));
}

void WorkerWaitPolicy::warn_once(Clock::time_point now) {
  std::chrono::duration<double> const waited = now - began_;
  if (has_warned_ || waited.count() < context_.options.stall_seconds) return;
  bool const is_for_others =
      what_.kind == Awaited::Kind::finish || what_.kind == Awaited::Kind::gpu;
  if (!what_.has_peer() && !is_for_others) return;
  has_warned_ = true;
  context_.warnings.print([&] {
    return text(what_, ", and has done so for ", context_.options.stall_seconds, " s; ",
                who_is_late(), " may only be late, so the wait goes on");
  });
}

std::string WorkerWaitPolicy::who_is_late() const {
  if (!what_.has_peer()) return "some of those it depends on";
  if (context_.job.is_local(what_.peer)) return text("device ", what_.peer, " of this process");
  return context_.heartbeats.name_of(context_.job.process_of(what_.peer));
}

void CallerWaitPolicy::begin(Awaited const& what) {
  watches_.clear();
  WorkerWaitPolicy::begin(what);
}

bool CallerWaitPolicy::progress() try {
  return duties_.progress();
} catch (ConnectionLost const& lost) {
  end_wait_for(lost.process(), lost.what());
}

// A connection is lost because its process has died, which the kernel may report a little later;
// because the process has given up, which it has announced; or by a failure of the network. It may
// take a moment until the affected wait of this process is known.
void CallerWaitPolicy::end_wait_for(ProcessId lost, std::string const& why) {
  std::optional<std::string> death;
  std::optional<Awaited> wait;
  for (int look = 0; look < 20 && (!death || !wait); ++look) {
    duties_.poll();
    context().failure.throw_if_set();
    death = context().heartbeats.death_of(lost);
    wait = context().waits.of_process(lost);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw PeerFailed(text(death ? *death : why, ", while ", wait ? *wait : awaited()));
}

void CallerWaitPolicy::drive() {
  // UCX moves some 8 KiB at a look, and a pause comes about once a millisecond.
  constexpr int most_looks = 64;
  int looks = 0;
  while (drive_once() && looks < most_looks) ++looks;
}

void CallerWaitPolicy::spin() {
  (void)drive_once();
  relax();
}

bool CallerWaitPolicy::drive_once() {
  try {
    return duties_.progress();
  } catch (ConnectionLost const&) {
    return false;  // thrown again once a wait has published what it waits for
  }
}

void CallerWaitPolicy::idle() {
  context().failure.throw_if_set();
  bool const moved = progress();
  // A channel that is being opened waits only for a control message.
  bool const is_opening =
      awaited().kind == Awaited::Kind::invitation || awaited().kind == Awaited::Kind::note;
  if (polls_often_ || is_opening) duties_.poll();
  if (!moved) give_core_away();
  if (is_time_to_look()) serve(Clock::now());
}

void CallerWaitPolicy::serve(Clock::time_point now) {
  constexpr std::chrono::milliseconds poll_interval{1};
  if (now >= next_poll_) {
    next_poll_ = now + poll_interval;
    duties_.poll();
  }
  if (now >= next_ask_) {
    next_ask_ = now + Heartbeats::interval;
    duties_.ask(now);
  }
  look(now);
}

void CallerWaitPolicy::check_peers() {
  WorkerWaitPolicy::check_peers();
  // A GPU may wait for any peer; only the worker of its device knows which.
  bool const is_for_all = awaited().kind == Awaited::Kind::finish;
  auto const what =
      is_for_all ? std::optional(awaited()) : context().waits.of_kind(Awaited::Kind::gpu);
  if (!what) return;
  for (auto const peer : duties_.peers()) {
    auto& watch = watches_[peer];
    // Nobody leaves before all processes have arrived, and this one has not while a GPU works.
    watch.may_have_left = is_for_all;
    check_peer(peer, watch, *what);
  }
}

}  // namespace tessera
