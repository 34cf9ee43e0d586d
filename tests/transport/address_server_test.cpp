#include "src/transport/rpc/address_server.hpp"

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

using namespace tessera;
using ucx::AddressServer;
using ucx::ask_for_address;

TEST_SUITE_BEGIN("transport/rpc/address_server");

namespace {

std::vector<std::byte> const address(200, std::byte{42});

/// Serves until the guest has its answer.
template <class Answer>
Answer serve(AddressServer const& doorstep, std::future<Answer> guest) {
  while (guest.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready)
    doorstep.hand_out(address);
  return guest.get();
}

}  // namespace

TEST_CASE("who asks is sent the address") {
  AddressServer const doorstep(loopback_address);
  auto guest = std::async(std::launch::async, [where = doorstep.where()] {
    return ask_for_address(where, "process 1");
  });

  CHECK(serve(doorstep, std::move(guest)) == address);
}

TEST_CASE("another process at the same port is not taken for the one that was asked for") {
  AddressServer const doorstep(loopback_address);
  auto const of_an_earlier_process = doorstep.where() ^ 1;
  auto guest = std::async(std::launch::async, [of_an_earlier_process] {
    try {
      return (void)ask_for_address(of_an_earlier_process, "process 1"), std::string();
    } catch (TransportError const& error) {
      return std::string(error.what());
    }
  });

  auto const words = serve(doorstep, std::move(guest));
  CHECK(words.find("process 1 (127.0.0.1:") == 0);
  CHECK(words.find("does not say how it is reached") != std::string::npos);
}

TEST_CASE("a host without an address has no server") {
  CHECK_THROWS_WITH_AS(AddressServer(0), "this host shares no network with the others",
                       TransportError);
}

TEST_SUITE_END();
