#include "src/job/job.hpp"

#include <algorithm>

#include "tessera/detail/base/assert.hpp"

namespace tessera {

Job::Job(Bootstrap& bootstrap, std::int64_t local_devices)
    : self_(bootstrap.self()),
      process_count_(bootstrap.process_count()),
      local_count_(local_devices),
      most_local_count_(local_devices),
      even_(0) {
  count_devices(bootstrap);
  find_hosts(bootstrap);
}

void Job::count_devices(Bootstrap& bootstrap) {
  if (bootstrap.is_equal_on_all(local_count_)) {
    even_ = local_count_;
    first_local_ = DeviceId(self_.value() * even_);
    device_count_ = process_count_ * even_;
    return;
  }
  most_local_count_ = bootstrap.max_of(local_count_);
  first_local_ = DeviceId(bootstrap.sum_before(local_count_));
  device_count_ = bootstrap.max_of(first_local_.value() + local_count_);
  firsts_ = bootstrap.table_of(first_local_.value());
}

void Job::find_hosts(Bootstrap& bootstrap) {
  hosts_ = {device_count_, std::max<std::int64_t>(device_count_, 1)};
  auto const processes = bootstrap.host_processes();
  if (std::ssize(processes) == process_count_) return;
  auto const first = first_device_of(processes.front()).value();
  auto const end = first_device_of(processes.back()).value() + devices_of(processes.back());
  auto const per_host = std::max<std::int64_t>(bootstrap.max_of(end - first), 1);
  bool const has_ranks_in_a_row =
      processes.back().value() - processes.front().value() + 1 == std::ssize(processes);
  bool const is_regular = has_ranks_in_a_row && first % per_host == 0 &&
                          (end - first == per_host || end == device_count_);
  if (bootstrap.max_of(is_regular ? 0 : 1) == 0) hosts_.per_host = per_host;
}

ProcessId Job::process_of(DeviceId device) const {
  TESSERA_ASSERT(device.value() >= 0 && device.value() < device_count_, device);
  if (even_ > 0) return ProcessId(device.value() / even_);
  // A process without devices begins where the next one begins, which is then found.
  auto const after = std::upper_bound(firsts_.begin(), firsts_.end(), device.value());
  return ProcessId(after - firsts_.begin() - 1);
}

DeviceId Job::first_device_of(ProcessId process) const {
  if (firsts_.empty()) return DeviceId(process.value() * even_);
  return DeviceId(firsts_[static_cast<std::size_t>(process.value())]);
}

std::int64_t Job::devices_of(ProcessId process) const {
  if (firsts_.empty()) return even_;
  auto const next = process.value() + 1 == process_count_
                        ? device_count_
                        : first_device_of(ProcessId(process.value() + 1)).value();
  return next - first_device_of(process).value();
}

}  // namespace tessera
