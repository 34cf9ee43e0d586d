#include "src/transport/rpc/address_server.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera::ucx {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{10};

/// In front of the address that is handed out.
struct Greeting {
  std::int64_t where = 0;
  std::int64_t size_bytes = 0;
};
constexpr std::int64_t most_address_bytes = 64 * 1024;

class Socket {
 public:
  explicit Socket(int number) : number_(number) {}
  ~Socket() {
    if (number_ >= 0) ::close(number_);
  }
  Socket(Socket const&) = delete;
  Socket& operator=(Socket const&) = delete;
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

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

}  // namespace

AddressServer::AddressServer(HostAddress own) {
  if (own == 0) throw TransportError("this host shares no network with the others");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = own;
  Socket made(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (made.get() < 0 || ::bind(made.get(), plain, size) != 0 || ::listen(made.get(), 1024) != 0 ||
      ::getsockname(made.get(), plain, &size) != 0)
    fail("a socket cannot listen");
  std::random_device random;
  where_ = static_cast<std::int64_t>(std::uint64_t{address.sin_addr.s_addr} << 32U |
                                     std::uint64_t{address.sin_port} << 16U | (random() & 0xffffU));
  socket_ = made.release();
}

AddressServer::~AddressServer() {
  ::close(socket_);
}

void AddressServer::hand_out(std::span<std::byte const> address) const {
  Greeting const greeting{where_, std::ssize(address)};
  std::vector<std::byte> bytes(sizeof greeting);
  std::memcpy(bytes.data(), &greeting, sizeof greeting);
  bytes.insert(bytes.end(), address.begin(), address.end());
  while (true) {
    Socket const guest(::accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (guest.get() < 0) return;
    // So few bytes fit any socket's buffer; a guest that is gone does not matter.
    (void)::send(guest.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
}

std::vector<std::byte> ask_for_address(std::int64_t where, std::string const& whose) {
  auto const end = Clock::now() + patience;
  auto const address = socket_address(where);
  auto const name = text(whose, " (", words(address), ')');
  Socket const made(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (made.get() < 0 || !connect_to(made.get(), address, end))
    fail(text(
        name,
        " cannot be reached by TCP for one-sided access: a firewall may be there, or the hosts "
        "share another network; TESSERA_ROUTE=mpi does without"));
  Greeting greeting;
  std::vector<std::byte> bytes;
  if (read_all(made.get(), std::as_writable_bytes(std::span(&greeting, 1)), end) &&
      greeting.where == where && greeting.size_bytes > 0 &&
      greeting.size_bytes <= most_address_bytes) {
    bytes.resize(static_cast<std::size_t>(greeting.size_bytes));
    if (read_all(made.get(), bytes, end)) return bytes;
  }
  throw TransportError(text(name, " does not say how it is reached"));
}

}  // namespace tessera::ucx
