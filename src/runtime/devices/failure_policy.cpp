#include "src/runtime/devices/failure_policy.hpp"

#include <chrono>

#include "src/execution/gpu_channels/gpu_routes.hpp"

namespace tessera {

using std::chrono::milliseconds;

// Returns when no worker uses what callers own: their waits end by the failure.
void FailurePolicy::give_up(std::exception_ptr const& error) {
  announce(error);
  devices_.drop_waiting();
  for (auto const& context : devices_.contexts())
    while (!context.is_idle()) network_.serve_for(milliseconds(1));
  if (!gpu_routes_.are_needed()) return;
  // The announcement must leave before anything that may take long.
  network_.serve_for(milliseconds(20));
  gpu_routes_.abandon();
}

void FailurePolicy::give_up_in_job(std::exception_ptr const& error) {
  if (job_.process_count() > 1) give_up(error);
}

void FailurePolicy::announce(std::exception_ptr const& error) {
  network_.failure().set(error);
  if (!has_announced_) network_.announce_failure(error);
  has_announced_ = true;
}

bool FailurePolicy::quiesce_workers() {
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!devices_.are_idle()) {
    if (std::chrono::steady_clock::now() > end) return false;
    network_.serve_for(milliseconds(10));
  }
  return true;
}

}  // namespace tessera
