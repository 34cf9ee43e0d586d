#include "waiters.hpp"

#include <sched.h>

#include "tessera/base/error.hpp"
#include "tessera/base/log.hpp"
#include "tessera/base/text.hpp"

namespace tessera {

void WorkerWaiter::begin(Awaited const& what) {
  what_ = what;
  has_looked_ = false;
  slot_.begin(what);
}

void WorkerWaiter::idle() {
  context_.failure.throw_if_set();
  ::sched_yield();
  if (is_time_to_look()) look(Clock::now());
}

void WorkerWaiter::look(Clock::time_point now) {
  if (!has_looked_) {
    has_looked_ = true;
    has_warned_ = false;
    watch_ = {};
    began_ = now;
    next_look_ = now + Beats::interval;
    return;
  }
  if (now < next_look_) return;
  next_look_ = now + Beats::interval;
  check_peers();
  warn_once(now);
}

void WorkerWaiter::check_peers() {
  if (!what_.has_peer() || context_.job.is_local(what_.peer)) return;
  check_peer(context_.job.process_of(what_.peer), watch_);
}

void WorkerWaiter::check_peer(ProcessId peer, BeatWatch& watch) {
  auto const trouble = context_.beats.trouble(peer, watch, context_.options.silence_seconds);
  if (trouble) throw PeerFailed(text(*trouble, ", while ", what_));
}

void WorkerWaiter::warn_once(Clock::time_point now) {
  std::chrono::duration<double> const waited = now - began_;
  if (has_warned_ || waited.count() < context_.options.stall_seconds) return;
  if (!what_.has_peer() && what_.kind != Awaited::Kind::finish) return;
  has_warned_ = true;
  auto const whom = what_.has_peer()
                        ? text("; ", context_.beats.name_of(context_.job.process_of(what_.peer)))
                        : text("; some of them");
  log_warning(text(what_, ", and has done so for ", context_.options.stall_seconds, " s", whom,
                   " may only be late, so the wait goes on"));
}

void CallerWaiter::begin(Awaited const& what) {
  watches_.clear();
  WorkerWaiter::begin(what);
}

void CallerWaiter::spin() {
  duties_.progress();
  relax();
}

void CallerWaiter::idle() {
  context().failure.throw_if_set();
  bool const moved = duties_.progress();
  // A channel that is being opened waits for nothing but a control message.
  if (awaited().kind == Awaited::Kind::invitation) duties_.poll();
  if (!moved) ::sched_yield();
  if (is_time_to_look()) serve(Clock::now());
}

void CallerWaiter::serve(Clock::time_point now) {
  constexpr std::chrono::milliseconds poll_interval{1};
  if (now >= next_poll_) {
    next_poll_ = now + poll_interval;
    duties_.poll();
  }
  if (now >= next_ask_) {
    next_ask_ = now + Beats::interval;
    duties_.ask(now);
  }
  look(now);
}

void CallerWaiter::check_peers() {
  WorkerWaiter::check_peers();
  if (awaited().kind != Awaited::Kind::finish) return;
  for (auto const partner : duties_.partners()) check_peer(partner, watches_[partner]);
}

}  // namespace tessera
