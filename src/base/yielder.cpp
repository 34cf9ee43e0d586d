#include "src/base/yielder.hpp"

#include <ctime>

namespace tessera {

bool Yielder::yield_or_sleep() {
  if (yield()) return took_ >= YieldRule::long_yield;
  // The kernel adds its timer slack, which is 50 us unless it was changed.
  constexpr timespec pause{.tv_sec = 0, .tv_nsec = 50'000};
  (void)::nanosleep(&pause, nullptr);
  return true;
}

}  // namespace tessera
