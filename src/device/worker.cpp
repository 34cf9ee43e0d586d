#include "src/device/worker.hpp"

#include <system_error>
#include <utility>

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/base/float_state.hpp"
#include "src/base/text.hpp"

namespace tessera {
namespace {

// A short spin catches the next task of a busy program. A longer one would delay the threads that
// share this core, so the worker then yields. Where others compute on the core, it sleeps at once.
constexpr int spins = 100;
constexpr int yields = 200;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

bool membarrier(int command) {
  return ::syscall(SYS_membarrier, command, 0, 0) == 0;
}

/// Whether one thread can issue a memory barrier on all threads of this process (membarrier).
bool can_order_others() {
  static bool const can = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  return can;
}

}  // namespace

Worker::Worker(std::function<void(std::exception_ptr)> on_failure, std::int64_t number)
    : sleeper_makes_order_(can_order_others()), on_failure_(std::move(on_failure)) {
  try {
    thread_ = std::thread([this] { work(); });
  } catch (std::system_error const& error) {
    throw DeviceError(text("no thread for device ", number, ": ", error.what()));
  }
  // Names have at most 15 letters; a longer number keeps its first digits.
  auto const name = text("tessera-", number).substr(0, 15);
  ::pthread_setname_np(thread_.native_handle(), name.c_str());
}

Worker::~Worker() {
  stopping_.store(true, std::memory_order_seq_cst);
  if (asleep_.fetch_add(0, std::memory_order_seq_cst) != 0) wake();
  thread_.join();
}

void Worker::clear_failure() {
  TESSERA_ASSERT(idle(), posted(), " posted, ", done(), " done");
  failed_.store(false, std::memory_order_release);
}

void Worker::work() {
  (void)FloatState::set_default();  // a new thread has the state of the one that made it
  for (std::uint64_t next = 0; wait_for(next); ++next) {
    running_ = next;
    run(slots_[next % capacity].item);
    done_.store(next + 1, std::memory_order_release);
  }
}

void Worker::run(WorkItem item) noexcept {
  if (failed_.load(std::memory_order_relaxed)) return;
  try {
    item.run(item.record);
  } catch (...) {
    failed_.store(true, std::memory_order_release);
    on_failure_(std::current_exception());
  }
}

bool Worker::wait_for(std::uint64_t next) {
  for (int look = 0; look < spins; ++look) {
    if (has(next)) return true;
    relax();
  }
  for (int look = 0; look < yields; ++look) {
    if (has(next)) return true;
    if (!yielder_.yield()) break;
  }
  sleep_until(next);
  return has(next);
}

/// Returns once task `next` is posted or the worker is to stop.
void Worker::sleep_until(std::uint64_t next) {
  while (true) {
    // Set before the last check, whereas the poster posts before it reads this flag: no task is
    // missed.
    asleep_.exchange(1, std::memory_order_seq_cst);
    if (sleeper_makes_order_) membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    if (has(next) || stopping_.load(std::memory_order_seq_cst)) break;
    asleep_.wait(1, std::memory_order_seq_cst);
  }
  asleep_.store(0, std::memory_order_relaxed);
}

void Worker::wake() {
  asleep_.store(0, std::memory_order_seq_cst);
  asleep_.notify_one();
}

}  // namespace tessera
