#pragma once
/// @file
/// The waits of this process's threads, and which of them another thread's wait depends on.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tessera/transport/job.hpp"

#include "control.hpp"
#include "wait_slot.hpp"

namespace tessera {

/// A thread of this process that waits, and what for.
struct WaitingNode {
  control::Node node;
  Wait wait;
};

/// One slot for each worker and one for the caller's thread.
class Waits {
 public:
  explicit Waits(Job const& job);

  [[nodiscard]] WaitSlot& worker(DeviceId device) {
    return workers_[static_cast<std::size_t>(job_.local_index(device))];
  }
  [[nodiscard]] WaitSlot& caller() { return caller_; }
  void set_idle_test(std::function<bool(DeviceId)> is_idle) { is_idle_ = std::move(is_idle); }

  /// The wait that keeps a local device from doing anything, if there is one: its worker's own, or
  /// the caller's where that drives the device, or while the worker has nothing to do.
  [[nodiscard]] std::optional<WaitingNode> blocking(DeviceId device) const;
  /// Calls `visit(waiting)` for each wait of this process. Allocates nothing: long waits look
  /// often.
  template <class Visit>
  void visit_all(Visit const& visit) const {
    for (std::int64_t i = 0; i < job_.local_count(); ++i)
      if (auto const wait = workers_[static_cast<std::size_t>(i)].read())
        visit(WaitingNode{{false, job_.first_local().value() + i}, *wait});
    if (auto const wait = caller_.read()) visit(WaitingNode{caller_node(), *wait});
  }

 private:
  [[nodiscard]] control::Node caller_node() const;

  Job const& job_;
  std::vector<WaitSlot> workers_;
  WaitSlot caller_;
  std::function<bool(DeviceId)> is_idle_;
};

}  // namespace tessera
