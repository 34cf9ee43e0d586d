#include "src/network/job_end.hpp"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include "src/liveness/failure_message.hpp"

namespace tessera {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

void JobEnd::begin_barrier() {
  if (!std::exchange(is_in_barrier_, true)) parts_.bootstrap.begin_barrier();
}

void JobEnd::announce(std::exception_ptr const& error) {
  auto const message = failure_message(error);
  for (auto const process : living(processes_to_tell(parts_.channels.peers(), parts_.job)))
    parts_.control_channel.send(process, message);
}

// MPI may end this process too if it cannot connect to one that has died.
std::vector<ProcessId> JobEnd::living(std::set<ProcessId> const& all) {
  for (auto const process : all) parts_.heartbeats.greet(process);
  if (parts_.heartbeats.has_other_hosts()) std::this_thread::sleep_for(milliseconds(30));
  std::vector<ProcessId> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](ProcessId process) { return !parts_.heartbeats.death_of(process); });
  return found;
}

bool JobEnd::has_dead_peer() {
  auto const& peers = parts_.channels.peers();
  return std::any_of(peers.begin(), peers.end(),
                     [&](ProcessId peer) { return parts_.heartbeats.death_of(peer).has_value(); });
}

void JobEnd::serve_for(milliseconds time) noexcept {
  serve(time, [] { return false; });
}

void JobEnd::serve_until_all_end(Network::Limits limits) noexcept {
  try {
    begin_barrier();
  } catch (...) {  // of MPI: the failure is known, and the limits hold
  }
  auto const later = steady_clock::now() + limits.beside_dead;
  serve(limits.beside_living,
        [&] { return all_are_here() || (steady_clock::now() > later && has_dead_peer()); });
}

void JobEnd::serve(milliseconds time, std::function<bool()> const& is_done) noexcept {
  auto const end = steady_clock::now() + time;
  while (steady_clock::now() < end) {
    try {
      parts_.progress();
      if (is_done()) return;
    } catch (...) {  // of a connection that is broken: the failure is known
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
}

}  // namespace tessera
