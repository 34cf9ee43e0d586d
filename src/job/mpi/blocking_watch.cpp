#include "src/job/mpi/blocking_watch.hpp"

#include <cstdlib>
#include <system_error>

#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/job/ipc/signals.hpp"

namespace tessera::mpi {

BlockingWatch::BlockingWatch(StartWatch& watch, bool allows_threads) : watch_(watch) {
  watch_.begin_wait();
  if (!allows_threads) return;
  try {
    SignalsBlocked const blocked;
    thread_ = std::jthread([this](std::stop_token const& stop) { look_until(stop); });
  } catch (std::system_error const&) {
    return;
  }
}

void BlockingWatch::look_until(std::stop_token const& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, StartWatch::interval, [] { return false; });
    if (stop.stop_requested() || !watch_.is_time_to_look()) continue;
    // All have shown their rank by now, so MPI need not be asked for it.
    auto const failure = watch_.look({});
    if (!failure) continue;
    log_error(text("PeerFailed: ", *failure, ", while the processes make their communicators"));
    std::_Exit(1);
  }
}

}  // namespace tessera::mpi
