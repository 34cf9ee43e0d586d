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

constexpr MacKey guest_nonce{11, 12};

void append(std::vector<std::byte>& bytes, auto const& value) {
  auto const* const first = reinterpret_cast<std::byte const*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

// What a process of the job says first.
std::vector<std::byte> greeting(JobSecret const& secret, std::int64_t from) {
  SipHash hash(secret.key(KeyPurpose::guest, ProcessId(from), server_process));
  hash.add_value(guest_nonce);
  std::vector<std::byte> bytes;
  append(bytes, from);
  append(bytes, guest_nonce);
  append(bytes, hash.finish());
  return bytes;
}

// What it says to the server's random bits.
std::vector<std::byte> proof(JobSecret const& secret, MacKey const& nonce) {
  SipHash hash(secret.key(KeyPurpose::guest, guest_process, server_process));
  hash.add_value(guest_nonce);
  hash.add_value(nonce);
  std::vector<std::byte> bytes;
  append(bytes, hash.finish());
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

TEST_CASE("who does not know the secret gets nothing") {
  Serving const serving;
  for (auto const& said :
       {std::vector<std::byte>(40, std::byte{'x'}), greeting(secret_of_another_job(), 0),
        greeting(own_secret(), processes), greeting(own_secret(), -1)}) {
    auto const stranger = connected(serving.request().where);
    (void)send_bytes(stranger, said);
    CHECK(all_from(stranger).empty());
  }
  CHECK(serving.refused() == 4);
}

TEST_CASE("what was said in one conversation is worth nothing in the next") {
  Serving const serving;
  auto const first = connected(serving.request().where);
  (void)send_bytes(first, greeting(own_secret(), 0));
  auto const said = proof(own_secret(), nonce_from(first));
  (void)send_bytes(first, said);
  CHECK(all_from(first).size() > worker_address.size());

  auto const again = connected(serving.request().where);
  (void)send_bytes(again, greeting(own_secret(), 0));
  (void)nonce_from(again);
  (void)send_bytes(again, said);
  CHECK(all_from(again).empty());
  CHECK(serving.refused() == 1);
}

TEST_CASE("a greeting is no proof") {
  Serving const serving;
  auto const stranger = connected(serving.request().where);
  auto const said = greeting(own_secret(), 0);
  (void)send_bytes(stranger, said);
  (void)nonce_from(stranger);
  (void)send_bytes(stranger, std::span(said).last(sizeof(Mac)));
  CHECK(all_from(stranger).empty());
  CHECK(serving.refused() == 1);
}

TEST_CASE("a guest may speak slowly, but not for long") {
  Serving const serving;
  auto const slow = connected(serving.request().where);
  for (auto const& byte : greeting(own_secret(), 0)) {
    (void)send_bytes(slow, {&byte, 1});
    std::this_thread::yield();
  }
  (void)send_bytes(slow, proof(own_secret(), nonce_from(slow)));
  CHECK(all_from(slow).size() > worker_address.size());

  for (auto const& said : {std::vector<std::byte>{}, greeting(own_secret(), 0)}) {
    auto const silent = connected(serving.request().where);
    (void)send_bytes(silent, said);
    // Until the server closes.
    CHECK(all_from(silent).size() == (said.empty() ? 0 : sizeof(MacKey)));
  }
  CHECK(serving.refused() == 2);
}

TEST_CASE("guests who say half of it and go are refused") {
  Serving const serving;
  {
    auto const hasty = connected(serving.request().where);
    auto const said = greeting(own_secret(), 0);
    (void)send_bytes(hasty, std::span(said).first(10));
  }
  serving.until_refused(1);
  CHECK(ask_for_address(serving.request()) == worker_address);
}

TEST_CASE("a server that has refused somebody rests, and serves all who came meanwhile at once") {
  Refused refused;
  AddressServer server({loopback_address, server_process, processes, own_secret(), refused});
  auto const wait_and_serve = [&] {
    pollfd look{server.descriptor(), POLLIN, 0};
    (void)::poll(&look, 1, server.next_look_ms());
    server.serve(worker_address);
  };
  CHECK(server.descriptor() >= 0);
  CHECK(server.next_look_ms() == -1);

  (void)connected(server.where());
  wait_and_serve();
  CHECK(refused.count(RefusedKind::guest) == 1);
  CHECK(server.descriptor() < 0);
  CHECK(server.next_look_ms() <= 10);

  (void)connected(server.where());
  (void)connected(server.where());
  while (refused.count(RefusedKind::guest) == 1) wait_and_serve();
  CHECK(refused.count(RefusedKind::guest) == 3);
  while (server.descriptor() < 0) wait_and_serve();  // nobody has come any more
  CHECK(server.next_look_ms() == -1);
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
