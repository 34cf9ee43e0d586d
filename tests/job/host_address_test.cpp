#include "src/job/host_address.hpp"

#include <array>
#include <cstdint>
#include <vector>

#include <arpa/inet.h>
#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("job/host_address");

namespace {

HostAddress address(char const* words) {
  return ::inet_addr(words);
}

Interface interface_of(char const* words, char const* mask) {
  return {address(words), address(mask)};
}

HostAddress no_way(HostAddress /*other*/) {
  return 0;
}

std::vector<Interface> const own{interface_of("10.0.0.5", "255.255.255.0"),
                                 interface_of("192.168.7.5", "255.255.255.0"),
                                 interface_of("127.0.0.1", "255.0.0.0")};

}  // namespace

TEST_CASE("the address in a network that both hosts are in is chosen") {
  std::array const others{address("192.168.7.9")};
  CHECK(address_towards(own, others, no_way) == address("192.168.7.5"));
}

TEST_CASE("of several shared networks the other host's first counts") {
  std::array const others{address("192.168.7.9"), address("10.0.0.9")};
  CHECK(address_towards(own, others, no_way) == address("192.168.7.5"));
}

TEST_CASE("an address that both hosts have leads nowhere: it is that of a network inside each") {
  std::array const others{address("127.0.0.1"), address("10.0.0.9")};
  CHECK(address_towards(own, others, no_way) == address("10.0.0.5"));
}

TEST_CASE("where no network is shared, the system says by which address it leaves") {
  std::array const others{address("172.16.1.1")};
  auto const by_gateway = [](HostAddress other) {
    return other == address("172.16.1.1") ? address("10.0.0.5") : 0;
  };
  CHECK(address_towards(own, others, by_gateway) == address("10.0.0.5"));
}

TEST_CASE(
    "an address that both have is taken where there is nothing else, and 0 where nothing is") {
  std::array const loopback{loopback_address};
  CHECK(address_towards(own, loopback, no_way) == loopback_address);
  std::array const unreachable{address("172.16.1.1")};
  CHECK(address_towards(own, unreachable, no_way) == 0);
  CHECK(address_towards({}, unreachable, no_way) == 0);
}

TEST_CASE("the loopback address is 127.0.0.1") {
  CHECK(loopback_address == address("127.0.0.1"));
}

TEST_SUITE_END();
