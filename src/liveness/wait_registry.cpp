#include "src/liveness/wait_registry.hpp"

namespace tessera {

WaitRegistry::WaitRegistry(Job const& job)
    : job_(job), workers_(static_cast<std::size_t>(job.local_count())) {}

control::Node WaitRegistry::caller_node() const {
  // The only device of a process and its caller are one thread.
  if (job_.local_count() == 1) return {false, job_.first_local().value()};
  return {true, job_.self().value()};
}

std::optional<WaitingNode> WaitRegistry::blocking(DeviceId device) const {
  auto const& worker = workers_[static_cast<std::size_t>(job_.local_index(device))];
  if (auto const wait = worker.read()) return WaitingNode{{false, device.value()}, *wait};
  bool const is_driven_by_caller = job_.local_count() == 1 || (is_idle_ && is_idle_(device));
  if (!is_driven_by_caller) return std::nullopt;
  if (auto const wait = caller_.read()) return WaitingNode{caller_node(), *wait};
  return std::nullopt;
}

std::optional<Awaited> WaitRegistry::of_process(ProcessId process) const {
  return find([&](Awaited const& what) {
    return what.has_peer() && job_.process_of(what.peer) == process;
  });
}

std::optional<Awaited> WaitRegistry::of_kind(Awaited::Kind kind) const {
  return find([&](Awaited const& what) { return what.kind == kind; });
}

}  // namespace tessera
