#include "src/transport/rpc/address_server.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/job/ipc/descriptor.hpp"

#include "support/secrets.hpp"

using namespace tessera;
using namespace tessera::test;
using ucx::AddressRequest;
using ucx::AddressServer;
using ucx::ask_for_address;

TEST_SUITE_BEGIN("transport/rpc/address_server");

namespace {

std::vector<std::byte> const worker_address(200, std::byte{42});
constexpr ProcessId server_process{1};
constexpr ProcessId guest_process{0};
constexpr std::int64_t processes = 2;

/// Process 1 of a job of two, which serves as long as the object lives.
class Serving {
 public:
  Serving() {
    thread_ = std::jthread([this](std::stop_token const& stop) {
      while (!stop.stop_requested()) {
        pollfd look{server_.descriptor(), POLLIN, 0};
        (void)::poll(&look, 1, 5);
        server_.serve(worker_address);
      }
    });
  }

  [[nodiscard]] AddressRequest request(JobSecret const& secret = own_secret()) const {
    return {server_.where(), server_process, guest_process, secret, 10};
  }
  [[nodiscard]] std::int64_t refused() const { return refused_.count(RefusedKind::guest); }
  /// Waits until so many have been refused.
  void until_refused(std::int64_t count) const {
    while (refused() < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  Refused refused_;
  AddressServer server_{{loopback_address, server_process, processes, own_secret(), refused_}};
  std::jthread thread_;
};

// A stranger's connection.
Descriptor connected(std::int64_t where) {
  auto const bits = static_cast<std::uint64_t>(where);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = static_cast<in_addr_t>(bits >> 32U);
  address.sin_port = static_cast<in_port_t>(bits >> 16U);
  Descriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(made.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0);
  return made;
}

std::size_t send_bytes(Descriptor const& to, std::span<std::byte const> bytes) {
  auto const n = ::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return n < 0 ? 0 : static_cast<std::size_t>(n);
}

// All that the server sends until it closes.
std::vector<std::byte> all_from(Descriptor const& server) {
  std::vector<std::byte> all;
  std::array<std::byte, 256> some;
  for (;;) {
    auto const n = ::recv(server.get(), some.data(), some.size(), 0);
    if (n <= 0) return all;
    all.insert(all.end(), some.begin(), some.begin() + n);
  }
}

// The bytes that a process of the job would send for these random bytes.
std::vector<std::byte> introduction(JobSecret const& secret, std::int64_t from, MacKey nonce) {
  SipHash hash(secret.key(KeyPurpose::guest, ProcessId(from), server_process));
  hash.add_value(nonce);
  auto const mac = hash.finish();
  std::vector<std::byte> bytes(sizeof from + sizeof mac);
  std::memcpy(bytes.data(), &from, sizeof from);
  std::memcpy(bytes.data() + sizeof from, &mac, sizeof mac);
  return bytes;
}

MacKey nonce_from(Descriptor const& server) {
  MacKey nonce;
  REQUIRE(::recv(server.get(), &nonce, sizeof nonce, MSG_WAITALL) == sizeof nonce);
  return nonce;
}

}  // namespace

TEST_CASE("a process of the job is sent the address") {
  Serving const serving;

  CHECK(ask_for_address(serving.request()) == worker_address);
  CHECK(serving.refused() == 0);
}

TEST_CASE("who does not know the secret gets nothing but random bytes") {
  Serving const serving;
  auto const where = serving.request().where;
  std::vector<std::byte> const garbage(24, std::byte{'x'});

  for (auto const* what : {"garbage", "a secret of another job", "a number that the job lacks"}) {
    CAPTURE(what);
    auto const stranger = connected(where);
    auto const nonce = nonce_from(stranger);
    auto const said = *what == 'g'     ? garbage
                      : what[2] == 's' ? introduction(secret_of_another_job(), 0, nonce)
                                       : introduction(own_secret(), processes, nonce);
    (void)send_bytes(stranger, said);
    CHECK(all_from(stranger).empty());
  }
  CHECK(serving.refused() == 3);
}

TEST_CASE("what was said in one conversation is worth nothing in the next") {
  Serving const serving;
  auto const first = connected(serving.request().where);
  auto const said = introduction(own_secret(), 0, nonce_from(first));
  (void)send_bytes(first, said);
  CHECK(all_from(first).size() > worker_address.size());

  auto const again = connected(serving.request().where);
  (void)nonce_from(again);
  (void)send_bytes(again, said);
  CHECK(all_from(again).empty());
  CHECK(serving.refused() == 1);
}

TEST_CASE("a guest may speak slowly, but not for long") {
  Serving const serving;
  auto const slow = connected(serving.request().where);
  auto const said = introduction(own_secret(), 0, nonce_from(slow));
  for (auto const& byte : said) {
    (void)send_bytes(slow, {&byte, 1});
    std::this_thread::yield();
  }
  CHECK(all_from(slow).size() > worker_address.size());

  auto const silent = connected(serving.request().where);
  CHECK(all_from(silent).size() == sizeof(MacKey));  // until the server closes
  CHECK(serving.refused() == 1);
}

TEST_CASE("guests who say half of it and go are refused") {
  Serving const serving;
  {
    auto const hasty = connected(serving.request().where);
    auto const said = introduction(own_secret(), 0, nonce_from(hasty));
    (void)send_bytes(hasty, std::span(said).first(10));
  }
  serving.until_refused(1);
  CHECK(ask_for_address(serving.request()) == worker_address);
}

TEST_CASE("a crowd of silent strangers keeps no process of the job out") {
  Serving const serving;
  std::vector<Descriptor> crowd;
  for (std::size_t i = 0; i < 3 * AddressServer::most_guests; ++i)
    crowd.push_back(connected(serving.request().where));

  CHECK(ask_for_address(serving.request()) == worker_address);
  serving.until_refused(2 * AddressServer::most_guests);
  CHECK(serving.refused() >= 2 * static_cast<std::int64_t>(AddressServer::most_guests));
}

TEST_CASE("a server that does not know the secret is not believed") {
  Serving const serving;
  auto request = serving.request(secret_of_another_job());
  request.patience_seconds = 0.1;
  std::string words;
  try {
    (void)ask_for_address(request);
  } catch (TransportError const& error) {
    words = error.what();
  }

  CHECK(words.starts_with("process 1 (127.0.0.1:"));
  CHECK(words.ends_with("does not answer as a process of this job"));
}

TEST_CASE("a host without an address has no server") {
  Refused refused;
  CHECK_THROWS_WITH_AS(AddressServer({0, server_process, processes, own_secret(), refused}),
                       "this host shares no network with the others", TransportError);
}

TEST_SUITE_END();
