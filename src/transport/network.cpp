#include "tessera/transport/network.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/base/checks.hpp"
#include "tessera/base/environment.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "agreement.hpp"
#include "beats.hpp"
#include "channels.hpp"
#include "control.hpp"
#include "control_calls.hpp"
#include "host_address.hpp"
#include "host_cores.hpp"
#include "postbox.hpp"
#include "questions.hpp"
#include "served_calls.hpp"
#include "waiters.hpp"
#include "waits.hpp"

namespace tessera {
namespace {

/// Looks before the first yield, where each waiting thread of the host has a core and where not:
/// there who is waited for may need this one.
constexpr int spins_on_own_core = 2000;
constexpr int spins_on_shared_core = 4;

/// A look for messages may yield the core, and waits look by themselves.
constexpr std::uint64_t statements_between_looks = 16;

std::string words_of(std::exception_ptr const& error) {
  try {
    std::rethrow_exception(error);
  } catch (std::exception const& known) {
    return known.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

bool is_mismatch(std::exception_ptr const& error) {
  try {
    std::rethrow_exception(error);
  } catch (Mismatch const&) {
    return true;
  } catch (...) {
    return false;
  }
}

// What all processes have to do alike, if one of them is told to.
NetworkOptions agreed(Bootstrap& bootstrap, NetworkOptions options) {
  std::array<std::int64_t, 2> asked{options.compares_statements ? 1 : 0, options.slot_bytes};
  bootstrap.max_of_each(asked);
  options.compares_statements = asked[0] != 0;
  options.slot_bytes = asked[1];
  return options;
}

}  // namespace

bool is_built(Route route) {
  if (route == Route::ucx) return ucx_transport_traits() != nullptr;
  return route != Route::mpi || mpi_transport_traits() != nullptr;
}

NetworkOptions NetworkOptions::from_environment() {
  NetworkOptions options;
  if (auto const route = environment_choice("TESSERA_ROUTE", {"shm", "ucx", "mpi"}))
    for (auto const choice : {Route::shm, Route::ucx, Route::mpi})
      if (*route == to_string(choice)) options.forced = choice;
  options.slot_bytes =
      environment_integer("TESSERA_SLOT_BYTES", NetworkOptions::least_slot_bytes).value_or(0);
  if (options.slot_bytes > NetworkOptions::most_slot_bytes)
    throw ConfigError(text("TESSERA_SLOT_BYTES=", options.slot_bytes, " is more than ",
                           NetworkOptions::most_slot_bytes, "; mend or unset it"));
  if (auto const seconds = environment_seconds("TESSERA_STALL")) options.stall_seconds = *seconds;
  if (auto const seconds = environment_seconds("TESSERA_SILENCE"))
    options.silence_seconds = *seconds;
  options.compares_statements = Checks::from_environment().communication;
  return options;
}

namespace {

// What a device of another process told one of this.
struct Notes {
  std::deque<std::vector<std::byte>> waiting;
  std::uint64_t heard = 0;
};

}  // namespace

struct Network::Impl {
  Impl(Bootstrap& bootstrap_to_use, Job const& job_to_use, NetworkOptions const& options_to_use)
      : bootstrap(bootstrap_to_use),
        job(job_to_use),
        options(agreed(bootstrap, options_to_use)),
        postbox(bootstrap),
        door(side_thread, {options.maps_by_proc, options.maps_by_socket}),
        channels({bootstrap, postbox, job, door}, options),
        beats(bootstrap, side_thread, door),
        shared_blocks(beats),
        waits(job),
        questions(postbox, job, channels, waits, failure, options.question_seconds),
        context{job, options, failure, beats},
        caller(context, waits.caller(), duties()) {
    if (options.compares_statements && job.process_count() > 1) {
      agreement.emplace(postbox, job, failure);
      for (auto const process : agreement->neighbours()) channels.add_partner(process);
    }
    if (!side_thread.is_running()) door.close();
    shares_cores = !every_thread_has_a_core(bootstrap, job.local_count());
    auto const spins = shares_cores ? spins_on_shared_core : spins_on_own_core;
    caller.set_spins(spins);
    for (std::int64_t i = 0; i < job.local_count(); ++i) {
      DeviceId const device(job.first_local().value() + i);
      workers.push_back(std::make_unique<WorkerWaiter>(context, waits.worker(device)));
      workers.back()->set_spins(spins);
    }
  }

  CallerDuties duties() {
    return {[this] { return channels.progress(); },
            [this] { poll(); },
            [this](auto now) { questions.ask(now); },
            [this]() -> std::set<ProcessId> const& { return channels.partners(); },
            [this](ProcessId process) { return wait_for(process); },
            [this] { return gpu_wait(); }};
  }

  std::optional<Awaited> gpu_wait() {
    std::optional<Awaited> found;
    waits.visit_all([&](WaitingNode const& waiting) {
      auto const& what = waiting.wait.what;
      if (!found && what.kind == Awaited::Kind::gpu) found = what;
    });
    return found;
  }

  std::string wait_for(ProcessId process) {
    std::string found;
    waits.visit_all([&](WaitingNode const& waiting) {
      auto const& what = waiting.wait.what;
      if (found.empty() && what.has_peer() && job.process_of(what.peer) == process)
        found = text(what);
    });
    return found;
  }

  void poll() {
    if (agreement) agreement->tell();  // somebody may wait for it
    postbox.poll([this](ProcessId from, std::span<std::byte const> bytes) { hear(from, bytes); });
  }

  void hear(ProcessId from, std::span<std::byte const> bytes) {
    switch (control::read<control::Kind>(bytes)) {
      case control::Kind::invite:
        return channels.on_invite(control::read<control::Invite>(bytes));
      case control::Kind::answer:
        return channels.on_answer(control::read<control::Answer>(bytes));
      case control::Kind::probe:
        return questions.on_probe(control::read<control::Probe>(bytes));
      case control::Kind::finished:
        return questions.on_finished(from, control::read<control::Finished>(bytes));
      case control::Kind::failed:
        return on_failed(from, control::read<control::Failed>(bytes));
      case control::Kind::digests:
        return agreement->on_digests(from, control::read<control::Digests>(bytes));
      case control::Kind::compared:
        return agreement->on_compared(control::read<control::Compared>(bytes));
      case control::Kind::ask:
        return agreement->on_ask(control::read<control::Ask>(bytes));
      case control::Kind::account:
        return agreement->on_account(from, control::read<control::Account>(bytes));
      case control::Kind::request:
        if (by_control) by_control->on_request(from, control::read<control::Request>(bytes));
        return;
      case control::Kind::reply:
        if (by_control) by_control->on_reply(control::read<control::Reply>(bytes));
        return;
      case control::Kind::note:
        return on_note(control::read<control::Note>(bytes));
    }
  }

  void on_note(control::Note const& note) {
    auto const bytes = std::span(note.bytes).first(note.size);
    notes[{note.from, note.to}].waiting.emplace_back(bytes.begin(), bytes.end());
  }

  // Waits for a neighbour that is too far behind.
  void keep_together(std::uint64_t most_ahead, StatementTag const& tag) {
    while (auto const peer = agreement->behind(most_ahead)) {
      // Nothing but a control message can make it true.
      auto const has_caught_up = [&] {
        poll();
        return agreement->behind(most_ahead) != peer;
      };
      caller.until(has_caught_up, {Awaited::Kind::agreement, job.first_local(),
                                   job.first_device_of(*peer), tag.number, tag});
    }
    failure.throw_if_set();
  }

  // MPI may end this process too if it cannot connect to one that has died.
  std::vector<ProcessId> living_partners() {
    auto const& all = channels.partners();
    for (auto const partner : all) beats.greet(partner);
    if (beats.has_other_hosts()) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    std::vector<ProcessId> living;
    std::copy_if(all.begin(), all.end(), std::back_inserter(living),
                 [&](ProcessId partner) { return !beats.death_of(partner); });
    return living;
  }

  void on_failed(ProcessId from, control::Failed const& failed) {
    // Who was released by another's failure passes that on; the first to give up is what matters.
    constexpr std::string_view gave_up = " gave up: ";
    bool const is_passed_on = failed.why.view().find(gave_up) != std::string_view::npos;
    auto const why =
        is_passed_on ? std::string(failed.why.view()) : text("process ", from, gave_up, failed.why);
    failure.set(failed.is_mismatch ? std::make_exception_ptr(Mismatch(why))
                                   : std::make_exception_ptr(PeerFailed(why)));
  }

  Bootstrap& bootstrap;
  Job const& job;
  NetworkOptions options;
  bool shares_cores = false;
  Failure failure;
  Postbox postbox;
  SideThread side_thread;
  SegmentDoor door;
  Channels channels;
  Beats beats;
  SharedBlocks shared_blocks;
  Waits waits;
  Questions questions;
  std::optional<Agreement> agreement;
  WaitContext context;
  CallerWaiter caller;
  std::vector<std::unique_ptr<WorkerWaiter>> workers;
  std::map<std::pair<DeviceId, DeviceId>, Notes> notes;  // by who told whom
  std::unique_ptr<ControlCalls> by_control;
  std::unique_ptr<ServedCalls> served;  ///< ends first: its thread uses what callers know
};

Network::Network(Bootstrap& bootstrap, Job const& job, NetworkOptions const& options)
    : impl_(std::make_unique<Impl>(bootstrap, job, options)) {}

Network::~Network() = default;

Sender& Network::sender(DeviceId from, DeviceId to, StatementTag const& tag) {
  auto& channels = impl_->channels;
  if (auto* known = channels.find_sender(from, to)) return *known;
  if (impl_->job.is_local(to)) {
    channels.open_local(from, to);
    return *channels.find_sender(from, to);
  }
  impl_->beats.greet(impl_->job.process_of(to));
  Sender* opened = nullptr;
  impl_->caller.until([&] { return (opened = channels.try_open_sender(from, to)) != nullptr; },
                      {Awaited::Kind::invitation, from, to, 0, tag});
  return *opened;
}

Receiver& Network::receiver(DeviceId from, DeviceId to) {
  auto& channels = impl_->channels;
  if (auto* known = channels.find_receiver(from, to)) return *known;
  if (!impl_->job.is_local(from)) {
    impl_->beats.greet(impl_->job.process_of(from));
    return channels.open_receiver(from, to);
  }
  channels.open_local(from, to);
  return *channels.find_receiver(from, to);
}

void Network::tell(DeviceId from, DeviceId to, std::span<std::byte const> note) {
  control::Note message;
  message.from = from;
  message.to = to;
  message.size = static_cast<std::uint32_t>(note.size());
  std::ranges::copy(note, message.bytes.begin());
  impl_->beats.greet(impl_->job.process_of(to));
  impl_->postbox.send(impl_->job.process_of(to), message);
  impl_->channels.count_note(from, to);
}

std::vector<std::byte> Network::hear(DeviceId from, DeviceId to, StatementTag const& tag) {
  auto& [notes, heard] = impl_->notes[{from, to}];
  impl_->channels.add_partner(impl_->job.process_of(from));
  impl_->caller.until([&] { return !notes.empty(); },
                      {Awaited::Kind::note, to, from, ++heard, tag});
  auto note = std::move(notes.front());
  notes.pop_front();
  return note;
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

Waiter& Network::worker_waiter(DeviceId device) {
  auto const place = impl_->job.local_index(device);
  TESSERA_ASSERT(impl_->job.is_local(device), device);
  return *impl_->workers[static_cast<std::size_t>(place)];
}

Waiter& Network::caller_waiter() {
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
    // That the receiver keeps room for two messages posted is known to who looks for circles. What
    // is only waited for until it has left is over before they ask twice.
    Awaited const what{Awaited::Kind::free_slot, end.from, end.to, sender->messages_put(), tag};
    impl_->caller.until([sender] { return !sender->has_unsent(); }, what);
  }
  if (has_pending())
    impl_->caller.until([&] { return !has_pending(); }, {.kind = Awaited::Kind::other});
}

void Network::set_last_statement(StatementTag const& tag) {
  impl_->questions.set_last_statement(tag);
}

bool Network::compares_statements() const {
  return impl_->agreement.has_value();
}

void Network::agree(StatementTag const& tag, std::function<std::string()> what) {
  if (!impl_->agreement) return;
  impl_->agreement->say(tag, std::move(what));
  if (tag.number % statements_between_looks == 0) impl_->poll();
  impl_->keep_together(Agreement::most_ahead, tag);
}

void Network::agree_on_end(StatementTag const& tag, std::function<std::string()> what) {
  if (!impl_->agreement) return;
  impl_->agreement->say_end(tag, std::move(what));
  impl_->keep_together(0, tag);
}

void Network::finish() {
  auto& bootstrap = impl_->bootstrap;
  impl_->questions.set_finished();
  // Each looks after the next, so that whoever does not come is missed by somebody.
  auto const self = impl_->job.self().value();
  auto const count = impl_->job.process_count();
  if (count > 1) impl_->channels.add_partner(ProcessId((self + 1) % count));
  bootstrap.begin_barrier();
  impl_->caller.until([&] { return bootstrap.barrier_done(); }, {.kind = Awaited::Kind::finish});
  impl_->beats.leave();
}

void Network::announce_failure(std::exception_ptr const& error) {
  control::Failed message;
  message.is_mismatch = is_mismatch(error);
  auto const words = words_of(error);
  message.why = decltype(message.why)(words);
  for (auto const partner : impl_->living_partners()) impl_->postbox.send(partner, message);
}

void Network::linger(std::chrono::milliseconds time) noexcept {
  auto const end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    try {
      impl_->poll();
      impl_->channels.progress();
    } catch (...) {  // of a connection that is broken: the failure is known
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
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
  return impl_->beats.sees(*next);
}

std::string Network::prepare_calls(Serve const& serve) {
  auto& bootstrap = impl_->bootstrap;
  bool const is_one_host = std::ssize(host_processes()) == impl_->job.process_count();
  auto const address = is_one_host ? loopback_address : address_among_hosts(bootstrap);
  if (impl_->options.forced == Route::mpi) return "TESSERA_ROUTE=mpi is asked for";
  if (!bootstrap.allows_threads()) return "MPI was initialised for a single thread";
  try {
    impl_->served = make_ucx_calls(address, serve);
  } catch (Error const& error) {
    return error.what();
  }
  return {};
}

void Network::open_calls(bool by_threads, Serve const& serve) {
  if (by_threads) {
    impl_->served->set_addresses(impl_->bootstrap.table_of(impl_->served->address()));
    return;
  }
  impl_->served.reset();
  impl_->by_control = std::make_unique<ControlCalls>(
      impl_->postbox, [this] { impl_->poll(); }, serve);
  impl_->caller.poll_often(true);
}

Calls* Network::calls() {
  if (impl_->by_control) return impl_->by_control.get();
  return impl_->served.get();
}

}  // namespace tessera
