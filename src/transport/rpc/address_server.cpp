#include "src/transport/rpc/address_server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/job/ipc/descriptor.hpp"

namespace tessera::ucx {
namespace {

using Clock = std::chrono::steady_clock;

/// The time in which a guest has to show who it is.
constexpr std::chrono::seconds guest_time{2};
/// What one call of `serve` does at most, so that calls of processes wait for no crowd.
constexpr int most_events = 16;
constexpr int most_accepted = 16;
/// While strangers come, guests wait up to this long for each answer, so that several of them cost
/// one wakening together.
constexpr std::chrono::milliseconds between_looks{10};
/// Strangers come as long as one has been refused in this time.
constexpr std::chrono::seconds after_refusal{1};

/// What a guest says first.
struct Greeting {
  std::int64_t from = 0;
  MacKey nonce;  ///< its own random bits
  Mac mac;
};
/// In front of the address that it gets.
struct Welcome {
  std::int64_t size_bytes = 0;
  Mac mac;
};
constexpr std::int64_t most_address_bytes = 64 * 1024;

/// The random bits of a conversation.
struct Nonces {
  MacKey guest;
  MacKey server;
};

Mac greeting_mac(JobSecret const& secret, ProcessId from, ProcessId to, MacKey const& nonce) {
  SipHash hash(secret.key(KeyPurpose::guest, from, to));
  hash.add_value(nonce);
  return hash.finish();
}

// Of other bytes than a greeting's, since there are more of them.
Mac proof_mac(JobSecret const& secret, ProcessId from, ProcessId to, Nonces const& nonces) {
  SipHash hash(secret.key(KeyPurpose::guest, from, to));
  hash.add_value(nonces);
  return hash.finish();
}

Mac welcome_mac(MacKey const& key, Nonces const& nonces, std::span<std::byte const> address) {
  SipHash hash(key);
  hash.add_value(nonces);
  hash.add(address);
  return hash.finish();
}

template <class T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

[[noreturn]] void fail(std::string const& what) {
  throw TransportError(text(what, ": ", std::strerror(errno)));
}

sockaddr_in socket_address(std::int64_t where) {
  auto const bits = static_cast<std::uint64_t>(where);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = static_cast<in_addr_t>(bits >> 32U);
  address.sin_port = static_cast<in_port_t>(bits >> 16U);
  return address;
}

std::string words(sockaddr_in const& address) {
  std::array<char, INET_ADDRSTRLEN> letters{};
  (void)::inet_ntop(AF_INET, &address.sin_addr, letters.data(), letters.size());
  return text(letters.data(), ':', ntohs(address.sin_port));
}

// True once something can be done with the socket, false when time has run out.
bool wait_for(int socket, short events, Clock::time_point end) {
  while (true) {
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd look{socket, events, 0};
    auto const ready = ::poll(&look, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool connect_to(int socket, sockaddr_in const& address, Clock::time_point end) {
  auto const* const plain = reinterpret_cast<sockaddr const*>(&address);
  if (::connect(socket, plain, sizeof address) == 0) return true;
  if (errno != EINPROGRESS) return false;
  if (!wait_for(socket, POLLOUT, end)) {
    errno = ETIMEDOUT;
    return false;
  }
  socklen_t size = sizeof errno;
  int error = 0;
  (void)::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  errno = error;
  return error == 0;
}

// False if the other end has closed, or time has run out.
bool read_all(int socket, std::span<std::byte> into, Clock::time_point end) {
  while (!into.empty()) {
    auto const n = ::recv(socket, into.data(), into.size(), 0);
    if (n > 0)
      into = into.subspan(static_cast<std::size_t>(n));
    else if (n == 0 || (errno != EAGAIN && errno != EINTR) || !wait_for(socket, POLLIN, end))
      return false;
  }
  return true;
}

template <class T>
bool send_whole(int socket, T const& value) {
  return ::send(socket, &value, sizeof value, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof value);
}

// One try. Empty if the server has closed the connection, as it does where too many ask at once.
std::vector<std::byte> asked_once(int socket, AddressRequest const& request,
                                  Clock::time_point end) {
  auto const& [where, of, self, secret, patience] = request;
  Nonces nonces{random_bits(), {}};
  if (!send_whole(socket, Greeting{self.value(), nonces.guest,
                                   greeting_mac(secret, self, of, nonces.guest)}) ||
      !read_all(socket, bytes_of(nonces.server), end) ||
      !send_whole(socket, proof_mac(secret, self, of, nonces)))
    return {};
  Welcome welcome;
  if (!read_all(socket, bytes_of(welcome), end) || welcome.size_bytes <= 0 ||
      welcome.size_bytes > most_address_bytes)
    return {};
  std::vector<std::byte> address(static_cast<std::size_t>(welcome.size_bytes));
  if (!read_all(socket, address, end)) return {};
  auto const key = secret.key(KeyPurpose::address, of, self);
  return welcome.mac == welcome_mac(key, nonces, address) ? address : std::vector<std::byte>{};
}

}  // namespace

struct AddressServer::Guest {
  Descriptor socket;
  Clock::time_point end;
  std::optional<ProcessId> process{};  ///< that it says to be, once it has greeted as one
  Nonces nonces{};
  std::array<std::byte, sizeof(Greeting)> heard{};
  std::size_t heard_bytes = 0;
  std::list<Guest>::iterator place{};
};

AddressServer::AddressServer(ServedCallTools const& tools)
    : secret_(tools.secret),
      self_(tools.self),
      process_count_(tools.process_count),
      refused_(tools.refused) {
  if (tools.own == 0) throw TransportError("this host shares no network with the others");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = tools.own;
  Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (listener.get() < 0 || ::bind(listener.get(), plain, size) != 0 ||
      ::listen(listener.get(), 1024) != 0 || ::getsockname(listener.get(), plain, &size) != 0)
    fail("a socket cannot listen");
  Descriptor events(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event comes{EPOLLIN, {nullptr}};
  if (events.get() < 0 || ::epoll_ctl(events.get(), EPOLL_CTL_ADD, listener.get(), &comes) != 0)
    fail("a socket cannot be waited for");
  where_ = static_cast<std::int64_t>(std::uint64_t{address.sin_addr.s_addr} << 32U |
                                     std::uint64_t{address.sin_port} << 16U);
  socket_ = listener.release();
  events_ = events.release();
}

AddressServer::~AddressServer() {
  guests_.clear();
  ::close(events_);
  ::close(socket_);
}

int AddressServer::next_look_ms() const {
  if (!is_resting_ && guests_.empty()) return -1;
  auto const left = (is_resting_ ? next_look_ : guests_.front().end) - Clock::now();
  auto const ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::max<std::int64_t>(ms, 0));
}

void AddressServer::serve(std::span<std::byte const> address) {
  auto const now = Clock::now();
  if (is_resting_ && now < next_look_) return;
  std::array<epoll_event, most_events> ready;
  auto const count = ::epoll_wait(events_, ready.data(), most_events, 0);
  bool is_asked = false;
  for (int i = 0; i < count; ++i) {
    auto* const guest = static_cast<Guest*>(ready[static_cast<std::size_t>(i)].data.ptr);
    if (guest == nullptr)
      is_asked = true;
    else
      (void)hear(*guest, address);
  }
  while (!guests_.empty() && guests_.front().end <= now) (void)refuse(guests_.front());
  // Last, since a new guest may take the place of one that is among the events.
  bool const are_all_here = !is_asked || accept_some(address);
  is_resting_ = count > 0 && count < most_events && are_all_here && now < strangers_until_;
  if (is_resting_) next_look_ = now + between_looks;
}

// False if more may be waiting.
bool AddressServer::accept_some(std::span<std::byte const> address) {
  for (int i = 0; i < most_accepted; ++i) {
    Descriptor socket(::accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.get() < 0) return true;
    if (guests_.size() == most_guests) (void)refuse(guests_.front());
    guests_.push_back({std::move(socket), Clock::now() + guest_time});
    auto& guest = guests_.back();
    guest.place = std::prev(guests_.end());
    // Most have spoken by now, and a stranger then needs no more system calls.
    if (!hear(guest, address)) continue;
    epoll_event comes{EPOLLIN, {&guest}};
    if (::epoll_ctl(events_, EPOLL_CTL_ADD, guest.socket.get(), &comes) != 0) (void)refuse(guest);
  }
  return false;
}

// False if the guest is here no more.
bool AddressServer::hear(Guest& guest, std::span<std::byte const> address) {
  auto const wanted = guest.process ? sizeof(Mac) : sizeof(Greeting);
  auto const room = std::span(guest.heard).first(wanted).subspan(guest.heard_bytes);
  auto const n = ::recv(guest.socket.get(), room.data(), room.size(), 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) return refuse(guest);
  guest.heard_bytes += static_cast<std::size_t>(n);
  if (guest.heard_bytes < wanted) return true;
  guest.heard_bytes = 0;
  return guest.process ? answer(guest, address) : challenge(guest);
}

bool AddressServer::challenge(Guest& guest) {
  Greeting said;
  std::memcpy(static_cast<void*>(&said), guest.heard.data(), sizeof said);
  if (said.from < 0 || said.from >= process_count_) return refuse(guest);
  ProcessId const from(said.from);
  if (!(said.mac == greeting_mac(secret_, from, self_, said.nonce))) return refuse(guest);
  guest.process = from;
  guest.nonces = {said.nonce, random_bits()};
  // So few bytes fit any socket's buffer.
  return send_whole(guest.socket.get(), guest.nonces.server) || refuse(guest);
}

bool AddressServer::answer(Guest& guest, std::span<std::byte const> address) {
  Mac proof;
  std::memcpy(static_cast<void*>(&proof), guest.heard.data(), sizeof proof);
  if (!(proof == proof_mac(secret_, *guest.process, self_, guest.nonces))) return refuse(guest);
  auto const key = secret_.key(KeyPurpose::address, self_, *guest.process);
  Welcome const welcome{std::ssize(address), welcome_mac(key, guest.nonces, address)};
  std::vector<std::byte> bytes(sizeof welcome + address.size());
  std::memcpy(bytes.data(), &welcome, sizeof welcome);
  std::copy(address.begin(), address.end(), bytes.begin() + sizeof welcome);
  (void)::send(guest.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  guests_.erase(guest.place);
  return false;
}

// Returns false, as the guest is here no more.
bool AddressServer::refuse(Guest& guest) {
  refused_.add(RefusedKind::guest);
  strangers_until_ = Clock::now() + after_refusal;
  guests_.erase(guest.place);
  return false;
}

std::vector<std::byte> ask_for_address(AddressRequest const& request) {
  auto const end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(request.patience_seconds));
  auto const address = socket_address(request.where);
  auto const name = text("process ", request.of, " (", words(address), ')');
  constexpr std::chrono::milliseconds before_next_try{5};
  for (bool has_connected = false; !has_connected || Clock::now() < end; has_connected = true) {
    Descriptor const socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.get() < 0 || !connect_to(socket.get(), address, end)) {
      if (has_connected) break;
      fail(text(name,
                " cannot be reached by TCP for one-sided access: a firewall may be there, or the "
                "hosts share another network; TESSERA_ROUTE=mpi does without"));
    }
    if (auto bytes = asked_once(socket.get(), request, end); !bytes.empty()) return bytes;
    std::this_thread::sleep_for(before_next_try);
  }
  throw TransportError(text(name, " does not answer as a process of this job"));
}

}  // namespace tessera::ucx
