#include "src/job/ipc/descriptor_server.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/text.hpp"

namespace tessera {
namespace {

struct Request {
  std::int64_t descriptor;
  std::uint64_t nonce;
};

/// The socket of that number. Its name begins with a zero: it lies in no file system.
std::pair<sockaddr_un, socklen_t> place_of(std::uint64_t number) {
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  auto const length = std::snprintf(place.sun_path + 1, sizeof place.sun_path - 1,
                                    "tessera-%016llx", static_cast<unsigned long long>(number));
  return {place, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                        static_cast<std::size_t>(length))};
}

Descriptor unix_socket() {
  return Descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// Room for one piece of ancillary data.
template <class T>
struct alignas(cmsghdr) Ancillary {
  std::array<std::byte, CMSG_SPACE(sizeof(T))> room{};
};

/// Reads what was sent along; nothing if it is of another kind.
template <class T>
std::optional<T> sent_along(msghdr const& message, int kind) {
  auto const* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != kind ||
      header->cmsg_len != CMSG_LEN(sizeof(T)))
    return std::nullopt;
  T value;
  std::memcpy(&value, CMSG_DATA(header), sizeof value);
  return value;
}

/// False if nothing becomes readable in that time.
bool becomes_readable(int socket, std::chrono::milliseconds patience) {
  auto const end = std::chrono::steady_clock::now() + patience;
  while (true) {
    auto const left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd watched{socket, POLLIN, 0};
    auto const ready = ::poll(&watched, 1, static_cast<int>(left.count()));
    if (ready >= 0 || errno != EINTR) return ready > 0;  // else a signal came
  }
}

/// A copy of the descriptor, if its memory begins with the nonce.
Descriptor copy_of(Request const& request) {
  Descriptor copy(::fcntl(static_cast<int>(request.descriptor), F_DUPFD_CLOEXEC, 0));
  std::uint64_t nonce = 0;
  bool const is_memory = copy.get() >= 0 && ::fcntl(copy.get(), F_GET_SEALS) >= 0;
  bool const is_meant = is_memory && ::pread(copy.get(), &nonce, sizeof nonce, 0) == sizeof nonce &&
                        nonce == request.nonce;
  return is_meant ? std::move(copy) : Descriptor();
}

/// Sends `passed`, or a refusal.
void answer(int socket, msghdr const& asked, Descriptor const& passed) {
  char word = passed.get() >= 0 ? 'y' : 'n';
  iovec bytes{&word, 1};
  msghdr message{};
  message.msg_name = asked.msg_name;
  message.msg_namelen = asked.msg_namelen;
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  Ancillary<int> ancillary;
  if (passed.get() >= 0) {
    message.msg_control = ancillary.room.data();
    message.msg_controllen = ancillary.room.size();
    auto* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    auto const number = passed.get();
    std::memcpy(CMSG_DATA(header), &number, sizeof number);
  }
  (void)::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

DescriptorServer::DescriptorServer(ProgressThread& thread, SegmentWays ways)
    : ways_(ways), socket_(unix_socket()) {
  std::random_device random;
  auto const number = (std::uint64_t{random()} << 32U | random()) | 1U;
  auto const [place, length] = place_of(number);
  int const on = 1;
  bool const good = ways.by_socket && socket_.get() >= 0 &&
                    ::setsockopt(socket_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 &&
                    ::bind(socket_.get(), reinterpret_cast<sockaddr const*>(&place), length) == 0;
  if (!good) return;
  number_ = number;
  thread.when_readable(socket_.get(), [this] { answer_all(); });
}

void DescriptorServer::answer_all() {
  while (true) {
    Request request{};
    iovec bytes{&request, sizeof request};
    sockaddr_un from{};
    Ancillary<ucred> ancillary;
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.room.data();
    message.msg_controllen = ancillary.room.size();
    auto const size = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT);
    if (size < 0) return;
    auto const who = sent_along<ucred>(message, SCM_CREDENTIALS);
    bool const may = size == sizeof request && who && who->uid == ::geteuid();
    answer(socket_.get(), message, may ? copy_of(request) : Descriptor());
  }
}

Descriptor descriptor_from(std::uint64_t descriptor_server, std::int64_t descriptor,
                           std::uint64_t nonce, std::string& reason,
                           std::chrono::milliseconds patience) {
  auto const fail = [&](std::string_view why) {
    reason = text("the other process does not pass it by a socket: ", why);
    return Descriptor();
  };
  if (descriptor_server == 0) return fail("it has none");
  auto const asking = unix_socket();
  sockaddr_un any{};
  any.sun_family = AF_UNIX;  // no more: the kernel picks a name
  auto const [place, length] = place_of(descriptor_server);
  Request const request{descriptor, nonce};
  if (::bind(asking.get(), reinterpret_cast<sockaddr const*>(&any), sizeof any.sun_family) != 0 ||
      ::sendto(asking.get(), &request, sizeof request, 0, reinterpret_cast<sockaddr const*>(&place),
               length) != sizeof request)
    return fail(std::strerror(errno));
  if (!becomes_readable(asking.get(), patience)) return fail("it does not answer");

  char word = 'n';
  iovec bytes{&word, 1};
  Ancillary<int> ancillary;
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = ancillary.room.data();
  message.msg_controllen = ancillary.room.size();
  if (::recvmsg(asking.get(), &message, MSG_CMSG_CLOEXEC) != 1) return fail(std::strerror(errno));
  auto const passed = sent_along<int>(message, SCM_RIGHTS);
  return passed ? Descriptor(*passed) : fail("it refuses");
}

}  // namespace tessera
