#include "src/network/network.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"

#include "src/base/text.hpp"
#include "src/job/host_cores.hpp"
#include "src/liveness/deadlock_detector.hpp"
#include "src/liveness/divergence_checker.hpp"
#include "src/liveness/failure_message.hpp"
#include "src/liveness/heartbeat.hpp"
#include "src/liveness/wait_policy.hpp"
#include "src/liveness/wait_registry.hpp"
#include "src/network/job_end.hpp"
#include "src/transport/channels.hpp"
#include "src/transport/protocol/control_channel.hpp"
#include "src/transport/protocol/control_messages.hpp"
#include "src/transport/protocol/handshakes.hpp"
#include "src/transport/rpc/call_service.hpp"
#include "src/transport/test_hooks.hpp"

namespace tessera {
namespace {

/// Polls before the first yield, if each waiting thread of the host has a core, and if not: then
/// the awaited thread may need this core.
constexpr int spins_on_own_core = 2000;
constexpr int spins_on_shared_core = 4;

/// Polling for messages may yield the core, and waits poll anyway.
constexpr std::uint64_t statements_between_looks = 16;

}  // namespace

struct Network::Impl {
  Impl(Bootstrap& bootstrap_to_use, Job const& job_to_use, NetworkOptions const& options_to_use,
       TransportTestHooks const& hooks)
      : bootstrap(bootstrap_to_use),
        job(job_to_use),
        options(options_to_use.agreed(bootstrap)),
        secret(JobSecret::drawn(bootstrap)),
        control_channel(bootstrap),
        descriptor_server(progress_thread, {hooks.maps_by_proc, hooks.maps_by_socket}),
        channels({bootstrap, control_channel, job, descriptor_server, secret, refused}, options,
                 hooks),
        handshakes(control_channel, job),
        heartbeats(bootstrap, progress_thread, descriptor_server, {secret, refused}),
        shared_blocks(heartbeats.directory()),
        waits(job),
        detector(
            control_channel, job, waits,
            [this](control::Edge const& edge) { return is_satisfied(edge); }, failure,
            options.question_seconds),
        context{job, options, failure, heartbeats, waits, warnings},
        caller(context, waits.caller(), duties()),
        calls(bootstrap, control_channel, secret, refused) {
    if (options.compares_statements && job.process_count() > 1) {
      checker.emplace(control_channel, job, failure);
      for (auto const process : checker->neighbours()) channels.add_peer(process);
    }
    if (!progress_thread.is_running()) descriptor_server.close();
    shares_cores = !every_thread_has_a_core(bootstrap, job.local_count(), process_cores());
    make_workers(shares_cores ? spins_on_shared_core : spins_on_own_core);
  }

  void make_workers(int spins) {
    caller.set_spins(spins);
    for (std::int64_t i = 0; i < job.local_count(); ++i) {
      DeviceId const device(job.first_local().value() + i);
      workers.push_back(std::make_unique<WorkerWaitPolicy>(context, waits.worker(device)));
      workers.back()->set_spins(spins);
    }
  }

  bool is_satisfied(control::Edge const& edge) const {
    return edge.kind == Awaited::Kind::note ? handshakes.is_satisfied(edge)
                                            : channels.is_satisfied(edge);
  }

  CallerDuties duties() {
    return {[this] { return channels.progress(); }, [this] { poll(); },
            [this](auto now) { detector.ask(now); },
            [this]() -> std::set<ProcessId> const& { return channels.peers(); }};
  }

  void poll() {
    if (checker) checker->tell();  // another process may wait for it
    control_channel.poll(
        [this](ProcessId from, std::span<std::byte const> bytes) { dispatch(from, bytes); });
  }

  // A message that no process of this job sends ends the job, with a name.
  void dispatch(ProcessId from, std::span<std::byte const> bytes) {
    try {
      hand_out(from, bytes);
    } catch (control::BadMessage const& bad) {
      failure.set(std::make_exception_ptr(
          TransportError(text("process ", from, " sent ", bad.what(),
                              "; all processes of a job must be of the same build"))));
    }
  }

  void hand_out(ProcessId from, std::span<std::byte const> bytes) {
    switch (control::kind_of(bytes)) {
      case control::Kind::invite:
        return channels.on_invite(control::read<control::Invite>(bytes));
      case control::Kind::answer:
        return channels.on_answer(control::read<control::Answer>(bytes));
      case control::Kind::probe:
        return detector.on_probe(control::read<control::Probe>(bytes));
      case control::Kind::finished:
        return detector.on_finished(from, control::read<control::Finished>(bytes));
      case control::Kind::failed:
        return failure.set(to_exception(from, control::read<control::Failed>(bytes)));
      case control::Kind::digests:
        return checks().on_digests(from, control::read<control::Digests>(bytes));
      case control::Kind::compared:
        return checks().on_compared(from, control::read<control::Compared>(bytes));
      case control::Kind::ask:
        return checks().on_ask(from, control::read<control::Ask>(bytes));
      case control::Kind::description:
        return checks().on_description(from, control::read<control::StatementDescription>(bytes));
      case control::Kind::request:
        return calls.on_request(from, control::read<control::Request>(bytes));
      case control::Kind::reply:
        return calls.on_reply(control::read<control::Reply>(bytes));
      case control::Kind::note:
        return handshakes.on_handshake(control::read<control::Note>(bytes));
    }
  }

  DivergenceChecker& checks() {
    if (!checker) throw control::BadMessage("a message about statements, which are not compared");
    return *checker;
  }

  // Waits for a neighbour that is too far behind.
  void keep_together(std::uint64_t most_ahead, StatementTag const& tag) {
    while (auto const peer = checker->behind(most_ahead)) {
      // Only a control message can make it true.
      auto const has_caught_up = [&] {
        poll();
        return checker->behind(most_ahead) != peer;
      };
      caller.until(has_caught_up, {Awaited::Kind::checker, job.first_local(),
                                   job.first_device_of(*peer), tag.number, tag});
    }
    failure.throw_if_set();
  }

  Bootstrap& bootstrap;
  Job const& job;
  NetworkOptions options;
  bool shares_cores = false;
  Failure failure;
  JobSecret secret;
  Refused refused;
  ControlChannel control_channel;
  ProgressThread progress_thread;
  DescriptorServer descriptor_server;
  Channels channels;
  Handshakes handshakes;
  Heartbeats heartbeats;
  SharedBlocks shared_blocks;
  WaitRegistry waits;
  DeadlockDetector detector;
  std::optional<DivergenceChecker> checker;
  StallWarnings warnings;
  WaitContext context;
  CallerWaitPolicy caller;
  std::vector<std::unique_ptr<WorkerWaitPolicy>> workers;
  JobEnd end{{bootstrap, job, control_channel, channels, heartbeats, [this] {
                poll();
                channels.progress();
              }}};
  CallService calls;  // ends first: its thread uses what callers know
};

Network::Network(Bootstrap& bootstrap, Job const& job, NetworkOptions const& options)
    : Network(bootstrap, job, options, TransportTestHooks{}) {}

Network::Network(Bootstrap& bootstrap, Job const& job, NetworkOptions const& options,
                 TransportTestHooks const& hooks)
    : impl_(std::make_unique<Impl>(bootstrap, job, options, hooks)) {}

Network::~Network() = default;

Sender& Network::sender(DeviceId from, DeviceId to, StatementTag const& tag) {
  auto& channels = impl_->channels;
  if (auto* known = channels.find_sender(from, to)) return *known;
  if (impl_->job.is_local(to)) {
    channels.open_local(from, to);
    return *channels.find_sender(from, to);
  }
  impl_->heartbeats.greet(impl_->job.process_of(to));
  Sender* opened = nullptr;
  impl_->caller.until([&] { return (opened = channels.try_open_sender(from, to)) != nullptr; },
                      {Awaited::Kind::invitation, from, to, 0, tag});
  return *opened;
}

Receiver& Network::receiver(DeviceId from, DeviceId to) {
  auto& channels = impl_->channels;
  if (auto* known = channels.find_receiver(from, to)) return *known;
  if (!impl_->job.is_local(from)) {
    impl_->heartbeats.greet(impl_->job.process_of(from));
    return channels.open_receiver(from, to);
  }
  channels.open_local(from, to);
  return *channels.find_receiver(from, to);
}

void Network::send_handshake(DeviceId from, DeviceId to, std::span<std::byte const> note) {
  impl_->heartbeats.greet(impl_->job.process_of(to));
  impl_->handshakes.send(from, to, note);
}

std::vector<std::byte> Network::receive_handshake(DeviceId from, DeviceId to,
                                                  StatementTag const& tag) {
  auto& handshakes = impl_->handshakes;
  impl_->channels.add_peer(impl_->job.process_of(from));
  impl_->caller.until([&] { return handshakes.has_next(from, to); },
                      {Awaited::Kind::note, to, from, handshakes.next(from, to), tag});
  return handshakes.take(from, to);
}

Route Network::route(DeviceId from, DeviceId to) const {
  return impl_->channels.route(from, to);
}

std::string Network::route_reason(DeviceId from, DeviceId to) const {
  return impl_->channels.reason(from, to);
}

bool Network::shares_cores() const {
  return impl_->shares_cores;
}

std::int64_t Network::slot_bytes(DeviceId from, DeviceId to) const {
  return impl_->channels.slot_bytes(from, to);
}

Waiter& Network::worker_wait_policy(DeviceId device) {
  auto const place = impl_->job.local_index(device);
  TESSERA_ASSERT(impl_->job.is_local(device), device);
  return *impl_->workers[static_cast<std::size_t>(place)];
}

Waiter& Network::caller_wait_policy() {
  return impl_->caller;
}

void Network::set_idle_test(std::function<bool(DeviceId)> is_idle) {
  impl_->waits.set_idle_test(std::move(is_idle));
}

void Network::progress() {
  impl_->channels.progress();
}

bool Network::has_pending() const {
  return impl_->channels.has_pending();
}

void Network::drain(StatementTag const& tag) {
  while (auto const* sender = impl_->channels.unsent()) {
    auto const& end = sender->end();
    // The deadlock detector knows that the receiver keeps two receives posted. A wait for a message
    // to leave ends before the detector asks twice.
    Awaited const what{Awaited::Kind::free_slot, end.from, end.to, sender->messages_put(), tag};
    impl_->caller.until([sender] { return !sender->has_unsent(); }, what);
  }
  if (has_pending())
    impl_->caller.until([&] { return !has_pending(); }, {.kind = Awaited::Kind::other});
}

void Network::set_last_statement(StatementTag const& tag) {
  impl_->detector.set_last_statement(tag);
}

bool Network::compares_statements() const {
  return impl_->checker.has_value();
}

bool Network::compares_numbers() const {
  return impl_->checker.has_value() && impl_->options.compares_numbers;
}

void Network::agree(StatementTag const& tag, std::function<std::string()> what) {
  if (!impl_->checker) return;
  impl_->checker->say(tag, std::move(what));
  if (tag.number % statements_between_looks == 0) impl_->poll();
  impl_->keep_together(DivergenceChecker::most_ahead, tag);
}

void Network::catch_up(StatementTag const& tag) {
  if (!impl_->checker) return;
  impl_->checker->tell_and_wait();
  impl_->keep_together(0, tag);
}

void Network::agree_on_end(StatementTag const& tag, std::function<std::string()> what) {
  if (!impl_->checker) return;
  impl_->checker->say_end(tag, std::move(what));
  impl_->keep_together(0, tag);
}

void Network::finish() {
  impl_->detector.set_finished();
  // Each process watches the next one, so that a missing process is always noticed.
  auto const self = impl_->job.self().value();
  auto const count = impl_->job.process_count();
  if (count > 1) impl_->channels.add_peer(ProcessId((self + 1) % count));
  impl_->end.begin_barrier();
  impl_->caller.until([&] { return impl_->end.all_are_here(); }, {.kind = Awaited::Kind::finish});
  impl_->heartbeats.leave();
}

void Network::announce_failure(std::exception_ptr const& error) {
  impl_->end.announce(error);
}

void Network::serve_for(std::chrono::milliseconds time) noexcept {
  impl_->end.serve_for(time);
}

void Network::serve_until_all_end(Limits limits) noexcept {
  impl_->end.serve_until_all_end(limits);
}

JobSecret const& Network::secret() const {
  return impl_->secret;
}

Refused const& Network::refused() const {
  return impl_->refused;
}

Failure& Network::failure() {
  return impl_->failure;
}

std::span<ProcessId const> Network::host_processes() const {
  return impl_->bootstrap.host_processes();
}

bool Network::may_share_memory() const {
  auto const& forced = impl_->options.forced;
  return host_processes().size() > 1 && (!forced || *forced == Route::shm);
}

SharedBlocks& Network::shared_blocks() {
  return impl_->shared_blocks;
}

bool Network::sees_next_process() {
  auto const all = host_processes();
  if (all.size() == 1) return true;
  auto const self = std::find(all.begin(), all.end(), impl_->job.self());
  auto const next = self + 1 == all.end() ? all.begin() : self + 1;
  return impl_->heartbeats.sees(*next);
}

std::string Network::prepare_calls(Serve const& serve) {
  return impl_->calls.prepare(impl_->options.forced, serve);
}

void Network::open_calls(bool by_threads, Serve const& serve) {
  if (by_threads) return impl_->calls.open_by_threads();
  impl_->calls.open_by_callers([this] { impl_->poll(); }, serve);
  impl_->caller.poll_often(true);
}

Calls* Network::calls() {
  return impl_->calls.calls();
}

}  // namespace tessera
