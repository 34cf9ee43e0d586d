#include "beats.hpp"

#include <csignal>
#include <new>
#include <system_error>

#include <pthread.h>

#include "tessera/base/log.hpp"
#include "tessera/base/text.hpp"

#include "process_state.hpp"

namespace tessera {
namespace {

/// Signals are for the program's own threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(SignalsBlocked const&) = delete;
  SignalsBlocked& operator=(SignalsBlocked const&) = delete;

 private:
  sigset_t before_{};
};

std::int64_t as_signed(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}
std::uint64_t as_unsigned(std::int64_t number) {
  return static_cast<std::uint64_t>(number);
}

}  // namespace

Beats::Beats(Bootstrap& bootstrap) : self_(bootstrap.self()) {
  if (bootstrap.host_processes().size() == 1) return;
  own_ = Segment::make(sizeof(Page));
  new (own_.data()) Page{};
  if (bootstrap.allows_threads()) {
    try {
      SignalsBlocked const blocked;
      thread_ = std::thread([this] { beat(); });
      own().has_thread = true;
    } catch (std::system_error const&) {
      log_warning_once(
          "the system gives no thread: other processes cannot see that this one lives");
    }
  }
  learn_partners(bootstrap);
}

Beats::~Beats() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard const guard(stop_mutex_);
    is_stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
}

void Beats::learn_partners(Bootstrap& bootstrap) {
  auto const& mine = own_.ticket();
  auto const pids = bootstrap.host_values(mine.pid);
  auto const descriptors = bootstrap.host_values(mine.descriptor);
  auto const nonces = bootstrap.host_values(as_signed(mine.nonce));
  auto const namespaces = bootstrap.host_values(pid_namespace());
  auto const& processes = bootstrap.host_processes();
  for (std::size_t i = 0; i < processes.size(); ++i) {
    auto& partner = partners_[processes[i]];
    partner.ticket = {pids[i], descriptors[i], mine.size_bytes, as_unsigned(nonces[i])};
    partner.pid_means_the_same = namespaces[i] == pid_namespace() && namespaces[i] != 0;
  }
}

void Beats::beat() {
  std::unique_lock lock(stop_mutex_);
  while (!stop_.wait_for(lock, interval, [this] { return is_stopping_; }))
    own().beats.fetch_add(1, std::memory_order_relaxed);
}

Beats::Partner* Beats::partner(ProcessId peer) {
  auto const found = partners_.find(peer);
  if (found == partners_.end() || peer == self_) return nullptr;
  auto& partner = found->second;
  if (partner.is_asked) return &partner;
  partner.is_asked = true;
  std::string why_not;
  partner.segment = Segment::map(partner.ticket, Segment::Access::read, why_not);
  if (partner.pid_means_the_same)
    if (auto const state = process_state(partner.ticket.pid)) partner.started = state->started;
  return &partner;
}

std::optional<std::string> Beats::trouble(ProcessId peer, BeatWatch& watch,
                                          double silence_seconds) {
  std::lock_guard const guard(partners_mutex_);
  auto const* known = partner(peer);
  if (known == nullptr) return std::nullopt;
  return trouble_of(peer, *known, watch, silence_seconds);
}

std::optional<ProcessState> Beats::live_state(Partner const& partner) {
  if (!partner.pid_means_the_same) return ProcessState{};
  auto const state = process_state(partner.ticket.pid);
  bool const is_alive = state && !state->is_dead() && state->started == partner.started;
  return is_alive ? state : std::nullopt;
}

std::optional<std::string> Beats::death_of(ProcessId peer) {
  std::lock_guard const guard(partners_mutex_);
  auto const* known = partner(peer);
  if (known == nullptr || live_state(*known)) return std::nullopt;
  return text(name_of(peer), " has died");
}

std::optional<std::string> Beats::trouble_of(ProcessId peer, Partner const& partner,
                                             BeatWatch& watch, double silence_seconds) {
  auto const* page = partner.page();
  if (page != nullptr && page->has_left) return std::nullopt;
  auto const peer_beats = page == nullptr ? 0 : page->beats.load(std::memory_order_relaxed);
  // Without a beat of its own, a process counts its looks, which come as often.
  auto const own_beats = thread_.joinable() ? own().beats.load(std::memory_order_relaxed)
                                            : own().beats.fetch_add(1, std::memory_order_relaxed);
  if (!watch.has_looked || peer_beats != watch.peer_beats) {
    watch = {true, peer_beats, own_beats};
    return std::nullopt;
  }
  auto const silent_beats = own_beats - watch.own_beats;
  if (silent_beats < 2) return std::nullopt;

  auto const state = live_state(partner);
  if (!state) return text(name_of(peer), " has died");
  if (state->is_held()) watch.own_beats = own_beats;
  if (page == nullptr || !page->has_thread) return std::nullopt;
  auto const silent_seconds = std::chrono::duration<double>(interval).count() *
                              static_cast<double>(own_beats - watch.own_beats);
  if (silent_seconds < silence_seconds) return std::nullopt;
  return text(name_of(peer), " has given no sign of life for ", silence_seconds, " s",
              state->letter == 'T' ? " (it is stopped)" : "");
}

std::string Beats::name_of(ProcessId peer) const {
  auto const found = partners_.find(peer);
  if (found == partners_.end() || !found->second.pid_means_the_same) return text("process ", peer);
  return text("process ", peer, " (pid ", found->second.ticket.pid, ')');
}

void Beats::leave() {
  if (own_) own().has_left = true;
}

}  // namespace tessera
