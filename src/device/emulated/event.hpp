#pragma once
/// @file
/// Events of emulated queues.

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "src/device/emulated/progress.hpp"
#include "src/device/queue.hpp"

namespace tessera::emulated {

/// An event of this process, or one that another process opened or has open.
class Event final : public GpuEvent {
 public:
  Event() = default;
  explicit Event(std::shared_ptr<SharedMark> mark, bool is_opened)
      : shared(std::move(mark)), opened(is_opened) {}

  bool has_passed() override {
    if (opened) {
      auto& mark = shared->mark();
      auto const last = mark.recorded.load(std::memory_order_acquire);
      mark.asked.store(last, std::memory_order_release);
      return mark.passed.load(std::memory_order_acquire) >= last;
    }
    return stream == nullptr || stream->has_done(number);
  }

  std::shared_ptr<Progress> stream;  ///< none before it is first recorded, or of another process
  std::uint64_t number = 0;
  std::shared_ptr<SharedMark> shared;  ///< where another process knows of it
  bool opened = false;                 ///< recorded by the other process
};

}  // namespace tessera::emulated
