#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <arpa/inet.h>
#include <doctest/doctest.h>

#include "src/transport/channel/transports.hpp"
#include "src/transport/rpc/served_calls.hpp"

#include "support/left_out.hpp"
#include "support/sanitized.hpp"
#include "support/secrets.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("transport/rpc/calls");

namespace {

Call call_to(std::int64_t process) {
  Call call;
  call.to = ProcessId(process);
  call.request.resize(Call::front_bytes + 1);
  return call;
}

// The same place but for the port, at which nobody listens.
std::int64_t with_a_dead_port(std::int64_t address) {
  constexpr std::int64_t port_bits = std::int64_t{0xffff} << 16;
  return (address & ~port_bits) | std::int64_t{htons(1)} << 16;
}

}  // namespace

TEST_CASE("a process that cannot be reached shows in the call, and others are still answered") {
  // UCX itself does not bear the sanitizers.
  bool const can_call = is_built(Route::ucx) && !test::is_sanitized;
  if (test::left_out_if(!can_call, "it needs UCX, and no sanitizer")) return;
  Refused refused;
  auto const calls =
      make_ucx_calls({loopback_address, ProcessId(0), 2, test::own_secret(), refused},
                     [](auto, std::vector<std::byte>& answer) { answer.push_back(std::byte{7}); });
  std::array const addresses{calls->address(), with_a_dead_port(calls->address())};
  calls->set_addresses(addresses);

  for (int attempt = 0; attempt < 2; ++attempt) {
    auto lost = call_to(1);
    calls->begin(lost);
    CHECK(lost.is_done());
    CHECK(lost.reason.find("process 1") != std::string::npos);
    CHECK(lost.reason.find("cannot be reached") != std::string::npos);
    (void)calls->progress();

    auto good = call_to(0);
    calls->begin(good);
    while (!good.is_done()) (void)calls->progress();
    CHECK(good.reason.empty());
    CHECK(good.answer.back() == std::byte{7});
  }
}

TEST_SUITE_END();
