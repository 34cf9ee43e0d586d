#include "src/liveness/deadlock_detector.hpp"

#include <algorithm>
#include <bit>
#include <exception>

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/liveness/heartbeat.hpp"

namespace tessera {
namespace {

std::uint64_t signed_on(std::uint64_t signature, WaitingNode const& waiting) {
  auto const node =
      mix(waiting.node.is_caller ? 1 : 0, static_cast<std::uint64_t>(waiting.node.number));
  return mix(mix(signature, node), waiting.wait.number) | 1U;
}

bool is_followed(Awaited::Kind kind) {
  return kind == Awaited::Kind::message || kind == Awaited::Kind::free_slot ||
         kind == Awaited::Kind::invitation || kind == Awaited::Kind::worker ||
         kind == Awaited::Kind::note;
}

}  // namespace

DeadlockDetector::DeadlockDetector(ControlChannel& control_channel, Job const& job,
                                   WaitRegistry const& waits, IsSatisfied is_satisfied,
                                   Failure& failure, double question_seconds)
    : control_channel_(control_channel),
      job_(job),
      waits_(waits),
      is_satisfied_(std::move(is_satisfied)),
      failure_(failure),
      patience_(std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(question_seconds))) {
  asked_.reserve(static_cast<std::size_t>(job.local_count()) + 1);
}

void DeadlockDetector::ask(Clock::time_point now) {
  waits_.visit_all([&](WaitingNode const& waiting) {
    auto& asked = asked_of(waiting, now);
    if (now < asked.next) return;
    asked.next = now + patience_;
    begin_probe(waiting, ++asked.probes);
  });
}

DeadlockDetector::Asked& DeadlockDetector::asked_of(WaitingNode const& waiting,
                                                    Clock::time_point now) {
  auto found = std::find_if(asked_.begin(), asked_.end(),
                            [&](auto const& asked) { return asked.node == waiting.node; });
  if (found == asked_.end()) found = asked_.insert(found, Asked(waiting.node));
  if (found->wait != waiting.wait.number)
    *found = Asked(waiting.node, waiting.wait.number, now + patience_);
  return *found;
}

void DeadlockDetector::begin_probe(WaitingNode const& waiting, std::uint64_t number) {
  control::Probe probe;
  probe.initiator = waiting.node;
  probe.initiator_process = job_.self();
  probe.initiator_wait = waiting.wait.number;
  probe.number = number;
  probe.first = control::Edge(waiting.wait.what);
  if (step(probe, waiting)) follow(probe);
}

void DeadlockDetector::on_probe(control::Probe const& probe) {
  if (!job_.has(probe.initiator_process) || !job_.is_local(probe.last.peer))
    throw control::BadMessage(
        text("a question of process ", probe.initiator_process, " about device ", probe.last.peer));
  follow(probe);
}

bool DeadlockDetector::step(control::Probe& probe, WaitingNode const& next) {
  if (!is_followed(next.wait.what.kind)) return false;
  if (probe.steps > 0 && probe.noted == next.node && probe.noted_wait == next.wait.number)
    return false;
  ++probe.steps;
  if (std::has_single_bit(probe.steps)) {
    probe.noted = next.node;
    probe.noted_wait = next.wait.number;
  }
  probe.last = control::Edge(next.wait.what);
  probe.signature = signed_on(probe.signature, next);
  return true;
}

void DeadlockDetector::follow(control::Probe probe) {
  while (true) {
    if (!job_.is_local(probe.last.peer)) {
      control_channel_.send(job_.process_of(probe.last.peer), probe);
      return;
    }
    if (is_satisfied_(probe.last)) return;
    if (is_finished_) {
      if (probe.steps == 1) reply_finished(probe);
      return;
    }
    auto const next = waits_.blocking(probe.last.peer);
    if (!next) return;  // it is busy
    if (probe.initiator_process == job_.self() && next->node == probe.initiator &&
        next->wait.number == probe.initiator_wait) {
      on_cycle(probe);
      return;
    }
    if (!step(probe, *next)) return;
  }
}

void DeadlockDetector::on_cycle(control::Probe const& probe) {
  auto const found = std::find_if(asked_.begin(), asked_.end(), [&](auto const& asked) {
    return asked.node == probe.initiator && asked.wait == probe.initiator_wait;
  });
  if (found == asked_.end()) return;
  if (found->signature != probe.signature) {
    found->signature = probe.signature;
    found->probes_when_found = found->probes;
    found->next = Clock::now() + Heartbeats::interval;
    return;
  }
  if (probe.number <= found->probes_when_found) return;
  auto const among = probe.steps == 1 ? text(" (itself)")
                     : probe.steps == 2
                         ? text(", and ", probe.last)
                         : text(", and so on through ", probe.steps, " waits until ", probe.last);
  failure_.set(std::make_exception_ptr(
      different_programs(text(probe.first, among, ": none of these waits can end, so"))));
}

void DeadlockDetector::reply_finished(control::Probe const& probe) {
  control::Finished reply;
  reply.initiator = probe.initiator;
  reply.initiator_wait = probe.initiator_wait;
  reply.last = control::Statement(last_statement_);
  if (probe.initiator_process == job_.self()) {
    on_finished(job_.self(), reply);
  } else {
    control_channel_.send(probe.initiator_process, reply);
  }
}

void DeadlockDetector::on_finished(ProcessId process, control::Finished const& finished) {
  waits_.visit_all([&](WaitingNode const& waiting) {
    if (waiting.node != finished.initiator || waiting.wait.number != finished.initiator_wait)
      return;
    auto const& what = waiting.wait.what;
    bool const ended_early = finished.last.number < what.statement.number;
    failure_.set(std::make_exception_ptr(different_programs(
        text("process ", process, " has ended after ", finished.last,
             ended_early ? ", but " : " without doing its part, but ", what, ':'))));
  });
}

}  // namespace tessera
