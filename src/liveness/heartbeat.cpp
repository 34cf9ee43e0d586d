#include "src/liveness/heartbeat.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/job/ipc/process_state.hpp"

namespace tessera {
namespace {

/// The numbers that each process publishes on its host: pid, descriptor, nonce, descriptor server,
/// namespace of the pid.
constexpr std::size_t ticket_numbers = 5;

std::int64_t as_signed(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}
std::uint64_t as_unsigned(std::int64_t number) {
  return static_cast<std::uint64_t>(number);
}

}  // namespace

Heartbeats::Heartbeats(Bootstrap& bootstrap, ProgressThread& thread,
                       DescriptorServer const& descriptor_server,
                       RemoteHeartbeats::Trust const& trust)
    : self_(bootstrap.self()),
      thread_(thread),
      descriptor_server_(descriptor_server),
      on_host_(bootstrap.host_processes()) {
  bool const has_other_hosts =
      static_cast<std::int64_t>(on_host_.size()) < bootstrap.process_count();
  if (bootstrap.process_count() == 1) return;
  own_ = Segment::make(sizeof(Page));
  new (own_.data()) Page{};
  thread_.at_each_heartbeat([this] { own().heartbeats.fetch_add(1, std::memory_order_relaxed); });
  if (has_other_hosts)
    remote_.emplace(bootstrap, thread_, trust,
                    [this](ProcessId process) { return state_letter(process); });
  start_thread(bootstrap);
  try {
    exchange_tickets(bootstrap);
    if (remote_) remote_->announce_address(bootstrap);
  } catch (...) {
    thread_.stop();  // before the objects that it uses end
    throw;
  }
}

void Heartbeats::start_thread(Bootstrap& bootstrap) {
  if (!bootstrap.allows_threads()) return;
  own().has_thread = thread_.start();
  if (!own().has_thread)
    log_warning_once("the system provides no thread: other processes see no heartbeat of this one");
}

Heartbeats::~Heartbeats() {
  thread_.stop();
}

void Heartbeats::exchange_tickets(Bootstrap& bootstrap) {
  auto const& mine = own_.ticket();
  auto const descriptor_server = thread_.is_running() ? as_signed(descriptor_server_.number()) : 0;
  std::array<std::int64_t, ticket_numbers> const numbers{
      mine.pid, mine.descriptor, as_signed(mine.nonce), descriptor_server, pid_namespace()};
  tickets_ = bootstrap.host_table(numbers);
}

std::optional<Heartbeats::PeerEntry> Heartbeats::introduced(ProcessId peer) const {
  if (tickets_.empty()) return std::nullopt;  // a process alone publishes nothing
  auto const found = std::lower_bound(on_host_.begin(), on_host_.end(), peer);
  if (found == on_host_.end() || *found != peer) return std::nullopt;
  auto const place = static_cast<std::size_t>(found - on_host_.begin()) * ticket_numbers;
  auto const numbers = tickets_.subspan(place, ticket_numbers);
  PeerEntry entry;
  entry.ticket = {numbers[0], numbers[1], own_.ticket().size_bytes, as_unsigned(numbers[2]),
                  as_unsigned(numbers[3])};
  entry.shares_pid_namespace = numbers[4] == pid_namespace() && numbers[4] != 0;
  return entry;
}

Heartbeats::PeerEntry* Heartbeats::entry_of(ProcessId peer) {
  if (peer == self_) return nullptr;
  auto const found = peers_.find(peer);
  if (found != peers_.end()) return &found->second;
  auto introduction = introduced(peer);
  if (!introduction) return nullptr;
  auto& entry = peers_.emplace(peer, std::move(*introduction)).first->second;
  if (!entry.shares_pid_namespace) return &entry;
  if (auto const state = process_state(entry.ticket.pid)) entry.started = state->started;
  return &entry;
}

void Heartbeats::need_page(PeerEntry& entry) const {
  if (std::exchange(entry.is_page_requested, true)) return;
  std::string reason;
  entry.segment =
      Segment::map(entry.ticket, Segment::MapMode::read, reason, descriptor_server_.ways());
}

std::optional<std::string> Heartbeats::failure_of(ProcessId peer, HeartbeatWatch& watch,
                                                  double silence_seconds) {
  if (is_remote(peer)) return remote_->failure_of(peer, watch, silence_seconds);
  std::lock_guard const guard(peers_mutex_);
  auto* const known = entry_of(peer);
  if (known == nullptr) return std::nullopt;
  need_page(*known);
  return failure_on_this_host(peer, *known, watch, silence_seconds);
}

std::optional<ProcessState> Heartbeats::live_state(PeerEntry const& entry) {
  if (!entry.shares_pid_namespace) return ProcessState{};
  auto const state = process_state(entry.ticket.pid);
  if (state && state->letter == '?') return state;
  bool const is_alive = state && !state->is_dead() && state->started == entry.started;
  return is_alive ? state : std::nullopt;
}

std::optional<std::string> Heartbeats::death_of(ProcessId peer) {
  if (is_remote(peer)) return remote_->death_of(peer);
  std::lock_guard const guard(peers_mutex_);
  auto const* known = entry_of(peer);
  if (known == nullptr || live_state(*known)) return std::nullopt;
  return text(name_of(peer), " has died");
}

std::optional<std::string> Heartbeats::failure_on_this_host(ProcessId peer, PeerEntry const& entry,
                                                            HeartbeatWatch& watch,
                                                            double silence_seconds) {
  auto const* page = entry.page();
  if (page != nullptr && page->has_left) return std::nullopt;
  auto const peer_heartbeats =
      page == nullptr ? 0 : page->heartbeats.load(std::memory_order_relaxed);
  // A process without its own heartbeat counts its checks, which are equally frequent.
  auto const own_heartbeats = thread_.is_running()
                                  ? own().heartbeats.load(std::memory_order_relaxed)
                                  : own().heartbeats.fetch_add(1, std::memory_order_relaxed);
  auto const silent_beats = watch.silence(peer_heartbeats, own_heartbeats);
  // The two counts rise at different moments, so one heartbeat without the peer's says nothing, and
  // /proc takes some microseconds to read.
  if (!silent_beats || *silent_beats < 2) return std::nullopt;

  auto const state = live_state(entry);
  if (!state) return text(name_of(peer), " has died");
  if (state->is_held()) watch.own_heartbeats = own_heartbeats;
  if (page == nullptr || !page->has_thread) return std::nullopt;
  auto const silent_seconds = std::chrono::duration<double>(interval).count() *
                              static_cast<double>(own_heartbeats - watch.own_heartbeats);
  if (silent_seconds < silence_seconds) return std::nullopt;
  return text(name_of(peer), " has given no heartbeat for ", silence_seconds, " s",
              state->letter == 'T' ? " (it is stopped)" : "");
}

std::string Heartbeats::name_of(ProcessId peer) const {
  if (is_remote(peer)) return remote_->name_of(peer);
  auto const known = introduced(peer);
  if (!known || !known->shares_pid_namespace) return text("process ", peer);
  return text("process ", peer, " (pid ", known->ticket.pid, ')');
}

bool Heartbeats::is_remote(ProcessId peer) const {
  return remote_ && !std::binary_search(on_host_.begin(), on_host_.end(), peer);
}

void Heartbeats::greet(ProcessId peer) {
  if (is_remote(peer)) remote_->greet(peer);
}

char Heartbeats::state_letter(ProcessId peer) {
  std::lock_guard const guard(peers_mutex_);
  auto const* known = entry_of(peer);
  if (known == nullptr) return '?';
  auto const state = live_state(*known);
  return state ? state->letter : '\0';
}

void Heartbeats::show_directory(SegmentTicket const& ticket) {
  if (!own_) return;
  own().directory_bytes = ticket.size_bytes;
  own().directory_nonce = ticket.nonce;
  own().directory = ticket.descriptor + 1;
}

std::optional<SegmentTicket> Heartbeats::directory_of(ProcessId peer, std::string& reason) {
  std::lock_guard const guard(peers_mutex_);
  auto* const known = entry_of(peer);
  if (known != nullptr) need_page(*known);
  auto const* const page = known == nullptr ? nullptr : known->page();
  if (page == nullptr) {
    reason = text("process ", peer, " shares no memory with this one");
    return std::nullopt;
  }
  auto const shown = page->directory.load();
  if (shown == 0) {
    reason = text("process ", peer, " has no memory to share");
    return std::nullopt;
  }
  return SegmentTicket{known->ticket.pid, shown - 1, page->directory_bytes, page->directory_nonce,
                       known->ticket.descriptor_server};
}

SegmentDirectory Heartbeats::directory() {
  return {[this](SegmentTicket const& ticket) { show_directory(ticket); },
          [this](ProcessId peer, std::string& reason) { return directory_of(peer, reason); },
          descriptor_server_.ways()};
}

bool Heartbeats::sees(ProcessId peer) {
  std::lock_guard const guard(peers_mutex_);
  auto* const known = entry_of(peer);
  if (known == nullptr) return false;
  need_page(*known);
  return known->page() != nullptr;
}

void Heartbeats::leave() {
  if (own_) own().has_left = true;
}

}  // namespace tessera
