#include "src/liveness/remote_heartbeat.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <linux/errqueue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/log.hpp"
#include "src/base/text.hpp"

namespace tessera {
namespace {

/// Heartbeats between two questions to the same process.
constexpr std::uint64_t ask_interval = 4;
/// Heartbeats without an answer after which others are asked about a process.
constexpr std::uint64_t patience = 3 * ask_interval;
/// The largest distance in rank at which another process of the same host is searched.
constexpr std::int64_t farthest_neighbour = 16;
/// Datagrams that are read at a time.
constexpr int most_looks = 100;

std::int64_t encode_address(sockaddr_in const& place) {
  return static_cast<std::int64_t>(place.sin_addr.s_addr) << 16 | place.sin_port;
}

sockaddr_in decode_address(std::int64_t packed) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = static_cast<HostAddress>(packed >> 16);
  place.sin_port = static_cast<in_port_t>(packed & 0xffff);
  return place;
}

/// A socket that is bound to `address`; negative if there is none.
int bound_socket(HostAddress address) {
  int const made = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return made;
  // Makes the kernel also report which question had no reader.
  int const on = 1;
  (void)::setsockopt(made, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = address;
  if (::bind(made, reinterpret_cast<sockaddr const*>(&place), sizeof place) == 0) return made;
  ::close(made);
  return -1;
}

}  // namespace

RemoteHeartbeats::RemoteHeartbeats(Bootstrap& bootstrap, ProgressThread& thread, Trust const& trust,
                                   StateOf state_of)
    : self_(bootstrap.self()),
      state_of_(std::move(state_of)),
      refused_(trust.refused),
      seal_(trust.secret, self_, bootstrap.process_count()) {
  auto const address = address_among_hosts(bootstrap);
  thread.at_each_heartbeat([this] { heartbeats_.fetch_add(1, std::memory_order_relaxed); });
  if (address == 0 || !bootstrap.allows_threads()) return;
  socket_ = bound_socket(address);
  if (socket_ < 0) return;
  sockaddr_in place{};
  socklen_t size = sizeof place;
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&place), &size) == 0)
    own_place_ = encode_address(place);
  thread.when_readable(socket_, [this] { read_all(); });
}

RemoteHeartbeats::~RemoteHeartbeats() {
  if (socket_ >= 0) ::close(socket_);
}

void RemoteHeartbeats::announce_address(Bootstrap& bootstrap) {
  auto const places = bootstrap.table_of(own_place_);
  {
    std::lock_guard const guard(mutex_);
    places_ = places;
  }
  // The processes that it most often waits for: its neighbours in a row and in a tree.
  auto const self = self_.value();
  auto const count = bootstrap.process_count();
  greet(ProcessId((self + 1) % count));
  greet(ProcessId((self + count - 1) % count));
  greet(ProcessId(self & (self - 1)));
}

sockaddr_in RemoteHeartbeats::place_of(ProcessId process) const {
  auto const rank = static_cast<std::size_t>(process.value());
  return decode_address(rank < places_.size() ? places_[rank] : 0);
}

sockaddr_in RemoteHeartbeats::own_place() const {
  return decode_address(own_place_);
}

std::string RemoteHeartbeats::name_of(ProcessId peer) const {
  auto const place = place_of(peer);
  if (place.sin_port == 0) return text("process ", peer);
  std::array<char, INET_ADDRSTRLEN> letters{};
  (void)::inet_ntop(AF_INET, &place.sin_addr, letters.data(), letters.size());
  return text("process ", peer, " (at ", letters.data(), ')');
}

void RemoteHeartbeats::send(ProcessId to, ProcessId about) {
  auto const place = place_of(to);
  if (socket_ < 0 || place.sin_port == 0) return;
  HeartbeatDatagram question{.to = to.value(), .about = about.value()};
  seal_.sign(question);
  // An error belongs to an earlier question; and if this question is lost, more follow.
  (void)::sendto(socket_, &question, sizeof question, 0, reinterpret_cast<sockaddr const*>(&place),
                 sizeof place);
}

void RemoteHeartbeats::greet(ProcessId peer) {
  std::lock_guard const guard(mutex_);
  if (peer != self_) send(peer, peer);
}

void RemoteHeartbeats::ask(ProcessId process, Peer& peer) {
  auto const now = heartbeats_.load(std::memory_order_relaxed);
  if (peer.has_been_asked && now - peer.asked_at < ask_interval) return;
  peer.has_been_asked = true;
  peer.asked_at = now;
  send(process, process);
}

void RemoteHeartbeats::ask_about(ProcessId process) {
  auto const address = address_of(process);
  auto const count = static_cast<std::int64_t>(places_.size());
  int asked = 0;
  for (std::int64_t distance = 1; distance <= farthest_neighbour && asked < 2; ++distance)
    for (auto const rank : {process.value() - distance, process.value() + distance}) {
      if (rank < 0 || rank >= count || rank == self_.value()) continue;
      if (address == 0 || address_of(ProcessId(rank)) != address) continue;
      ++asked;
      send(ProcessId(rank), process);
    }
}

bool RemoteHeartbeats::gets_through(ProcessId process) const {
  return answered_from_.contains(address_of(process));
}

std::optional<std::string> RemoteHeartbeats::failure_of(ProcessId peer, HeartbeatWatch& watch,
                                                        double silence_seconds) {
  std::lock_guard const guard(mutex_);
  auto& known = peers_[peer];
  ask(peer, known);
  auto const own_heartbeats = heartbeats_.load(std::memory_order_relaxed);
  auto const silent_beats = watch.silence(known.answers, own_heartbeats);
  if (!silent_beats) return std::nullopt;
  if (known.is_dead && !watch.may_have_left) return text(name_of(peer), " has died");
  if (*silent_beats < patience) return std::nullopt;  // even if a shorter silence is configured
  if (known.asked_at == own_heartbeats) ask_about(peer);
  auto const silent_seconds = std::chrono::duration<double>(ProgressThread::interval).count() *
                              static_cast<double>(*silent_beats);
  if (silent_seconds < silence_seconds) return std::nullopt;
  if (gets_through(peer))
    return text(name_of(peer), " has not answered for ", silence_seconds,
                " s: ", reason_for_silence(known));
  log_warning_once(text("nothing from ", name_of(peer),
                        " ever answers by UDP over IPv4: this process cannot see its heartbeat"));
  return std::nullopt;
}

std::string RemoteHeartbeats::reason_for_silence(Peer const& peer) const {
  if (peer.state_of_host == 'T') return "it is stopped";
  if (peer.state_of_host != 0) return "its host answers, but it does not";
  return "it is stopped, its host is down or the link to it is cut";
}

std::optional<std::string> RemoteHeartbeats::death_of(ProcessId peer) {
  std::lock_guard const guard(mutex_);
  auto& known = peers_[peer];
  if (known.is_dead) return text(name_of(peer), " has died");
  send(peer, peer);
  return std::nullopt;
}

void RemoteHeartbeats::read_all() {
  read_refusals();
  // A crowd of strangers must not keep the thread here; it comes back for more.
  for (int look = 0; look < most_looks; ++look) {
    sockaddr_in from{};
    std::array<std::byte, sizeof(HeartbeatDatagram) + 1> bytes;  // so that a longer one shows
    socklen_t from_size = sizeof from;
    auto const size = ::recvfrom(socket_, bytes.data(), bytes.size(), 0,
                                 reinterpret_cast<sockaddr*>(&from), &from_size);
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    // Another error belongs to an earlier question, and is cleared once reported.
    if (size >= 0) take(std::span(bytes).first(static_cast<std::size_t>(size)), from);
  }
}

// Reads refused questions: if nobody listens at the address, the kernel returns the datagram. Its
// code shows that this process sent it, so nobody can say so who has not seen it on its way.
void RemoteHeartbeats::read_refusals() {
  while (true) {
    std::array<std::byte, sizeof(HeartbeatDatagram)> question;
    alignas(cmsghdr) std::array<std::byte, 256> room;
    iovec bytes{question.data(), question.size()};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    auto const size = ::recvmsg(socket_, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
    if (size < 0) return;
    auto const* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != IP_RECVERR) continue;
    sock_extended_err error{};
    std::memcpy(&error, CMSG_DATA(header), sizeof error);
    if (error.ee_errno != ECONNREFUSED) continue;
    std::lock_guard const guard(mutex_);
    auto const returned = seal_.returned(std::span(question).first(static_cast<std::size_t>(size)));
    if (!returned) {
      refused_.add(RefusedKind::heartbeat);
      continue;
    }
    // A firewall refuses, too: only an earlier answer shows that the host itself does.
    ProcessId const to(returned->to);
    if (gets_through(to)) peers_[to].is_dead = true;
  }
}

void RemoteHeartbeats::take(std::span<std::byte const> bytes, sockaddr_in const& from) {
  std::lock_guard const guard(mutex_);
  auto const datagram = seal_.open(bytes);
  if (!datagram) return refused_.add(RefusedKind::heartbeat);
  if (datagram->is_answer)
    hear_answer(*datagram, from.sin_addr.s_addr);
  else
    answer(*datagram, from);
}

void RemoteHeartbeats::answer(HeartbeatDatagram const& question, sockaddr_in const& from) {
  ProcessId const about(question.about);
  HeartbeatDatagram answer{.to = question.from, .about = question.about, .is_answer = true};
  answer.state = about == self_ ? 'R' : state_of_(about);
  seal_.sign(answer);
  (void)::sendto(socket_, &answer, sizeof answer, 0, reinterpret_cast<sockaddr const*>(&from),
                 sizeof from);
}

void RemoteHeartbeats::hear_answer(HeartbeatDatagram const& answer, HostAddress from) {
  answered_from_.insert(from);
  auto& peer = peers_[ProcessId(answer.about)];
  bool const is_by_itself = answer.from == answer.about;
  bool const is_held = answer.state == 't';  // by a debugger
  if (is_by_itself || is_held) ++peer.answers;
  if (is_by_itself) peer.is_dead = false;  // overrides earlier reports
  if (is_by_itself) return;
  peer.state_of_host = answer.state == 0 ? '?' : answer.state;
  if (answer.state == 0 || answer.state == 'Z' || answer.state == 'X') peer.is_dead = true;
}

}  // namespace tessera
