#pragma once
/// @file
/// The waits of this process's threads, and the dependences between them.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "src/job/job.hpp"
#include "src/liveness/wait_slot.hpp"
#include "src/transport/protocol/control_messages.hpp"

namespace tessera {

/// A waiting thread of this process, and the awaited event.
struct WaitingNode {
  control::Node node;
  Wait wait;
};

/// One slot for each worker and one for the caller's thread.
class WaitRegistry {
 public:
  explicit WaitRegistry(Job const& job);

  [[nodiscard]] WaitSlot& worker(DeviceId device) {
    return workers_[static_cast<std::size_t>(job_.local_index(device))];
  }
  [[nodiscard]] WaitSlot& caller() { return caller_; }
  void set_idle_test(std::function<bool(DeviceId)> is_idle) { is_idle_ = std::move(is_idle); }

  /// The wait that blocks a local device, if there is one: that of its worker, or that of the
  /// caller's thread if that thread drives the device or the worker is idle.
  [[nodiscard]] std::optional<WaitingNode> blocking(DeviceId device) const;
  /// Returns what a thread of this process awaits of `process`; nothing if none does.
  [[nodiscard]] std::optional<Awaited> of_process(ProcessId process) const;
  /// Returns a wait of that kind; nothing if there is none.
  [[nodiscard]] std::optional<Awaited> of_kind(Awaited::Kind kind) const;
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
  /// The first wait that `is_meant(awaited)`.
  template <class IsMeant>
  [[nodiscard]] std::optional<Awaited> find(IsMeant const& is_meant) const {
    std::optional<Awaited> found;
    visit_all([&](WaitingNode const& waiting) {
      if (!found && is_meant(waiting.wait.what)) found = waiting.wait.what;
    });
    return found;
  }
  [[nodiscard]] control::Node caller_node() const;

  Job const& job_;
  std::vector<WaitSlot> workers_;
  WaitSlot caller_;
  std::function<bool(DeviceId)> is_idle_;
};

}  // namespace tessera
