// Datagrams of heartbeats, as they arrive at a socket that anybody reaches.
#include <algorithm>
#include <set>
#include <vector>

#include <netinet/in.h>

#include "src/liveness/heartbeat_seal.hpp"
#include "src/liveness/remote_heartbeat.hpp"

#include "one_of_four.hpp"
#include "target.hpp"

namespace tessera::fuzz {
namespace {

constexpr std::size_t most_datagram = 64;  // longer than a right one
constexpr std::int64_t processes = 4;

JobSecret const secret({1, 2});

// A process of the first of two hosts, whose states of others are known.
struct Process {
  OneOfFour bootstrap{0, true};
  ProgressThread thread;
  Refused refused;
  std::set<ProcessId> asked_about;
  RemoteHeartbeats heartbeats{bootstrap, thread, {secret, refused}, [this](ProcessId about) {
                                asked_about.insert(about);
                                return 'R';
                              }};

  Process() { heartbeats.announce_address(bootstrap); }

  [[nodiscard]] bool believes_in_a_death() {
    bool result = false;
    for (std::int64_t other = 1; other < processes; ++other)
      result = heartbeats.death_of(ProcessId(other)).has_value() || result;
    return result;
  }
};

sockaddr_in place(Input& in) {
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = in.value<std::uint8_t>();
  from.sin_port = in.value<std::uint8_t>();
  return from;
}

// What another process of the job signs, whatever it says.
std::vector<std::byte> signed_datagram(Input& in, HeartbeatSeal& by) {
  HeartbeatDatagram datagram{.to = in.value<std::int8_t>(), .about = in.value<std::int8_t>()};
  datagram.is_answer = in.below(2) == 1;
  datagram.state = static_cast<char>(in.value<std::uint8_t>());
  by.sign(datagram);
  auto const bytes = std::as_bytes(std::span(&datagram, 1));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

void attack(std::span<std::byte const> bytes) {
  Process process;
  HeartbeatSeal one(secret, ProcessId(1), processes);
  Input in(bytes);
  bool has_come_signed = false;
  while (!in.is_empty()) {
    auto const kind = in.below(3);
    auto const from = place(in);
    std::vector<std::byte> datagram;
    if (kind == 0) {
      auto const taken = in.bytes(1 + in.below(most_datagram));
      datagram.assign(taken.begin(), taken.end());
    } else {
      datagram = signed_datagram(in, one);
      has_come_signed = has_come_signed || kind == 1;
      // A stranger changes what was signed.
      if (kind == 2) datagram[in.below(8)] ^= std::byte{1};
    }
    process.heartbeats.take(datagram, from);
  }
  for (auto const about : process.asked_about)
    require(about.value() >= 0 && about.value() < processes, "a question about nobody of the job");
  require(has_come_signed || !process.believes_in_a_death(), "a stranger's word for a death");
  HeartbeatWatch watch;
  (void)process.heartbeats.failure_of(ProcessId(2), watch, 0);
}

}  // namespace tessera::fuzz
