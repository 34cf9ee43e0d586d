#include "src/job/ipc/progress_thread.hpp"

#include <algorithm>
#include <cstdint>
#include <system_error>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "src/job/ipc/signals.hpp"

namespace tessera {
namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point time) {
  auto const left = std::chrono::ceil<std::chrono::milliseconds>(time - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

}  // namespace

ProgressThread::ProgressThread() : stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

ProgressThread::~ProgressThread() {
  stop();
  if (stop_ >= 0) ::close(stop_);
}

void ProgressThread::when_readable(int descriptor, std::function<void()> what) {
  readers_.emplace_back(descriptor, std::move(what));
}

bool ProgressThread::start() {
  if (stop_ < 0) return false;
  try {
    SignalsBlocked const blocked;
    thread_ = std::thread([this] { run(); });
  } catch (std::system_error const&) {
    return false;
  }
  return true;
}

void ProgressThread::stop() {
  if (!thread_.joinable()) return;
  std::uint64_t const one = 1;
  (void)!::write(stop_, &one, sizeof one);
  thread_.join();
}

void ProgressThread::run() {
  std::vector<pollfd> watched{{stop_, POLLIN, 0}};
  for (auto const& [descriptor, what] : readers_) watched.push_back({descriptor, POLLIN, 0});
  auto next_beat = Clock::now() + interval;
  while (true) {
    auto const count = ::poll(watched.data(), watched.size(), milliseconds_until(next_beat));
    if (count > 0 && watched.front().revents != 0) return;
    for (std::size_t i = 0; count > 0 && i < readers_.size(); ++i)
      if (watched[i + 1].revents != 0) readers_[i].second();
    if (Clock::now() < next_beat) continue;
    // Missed heartbeats are not made up: a suspended process has given none meanwhile.
    next_beat = Clock::now() + interval;
    for (auto const& beat : heartbeats_) beat();
  }
}

}  // namespace tessera
