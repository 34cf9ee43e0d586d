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
  if (bootstrap.is_equal_on_all(local_devices)) {
    even_ = local_devices;
    first_local_ = DeviceId(self_.value() * even_);
    device_count_ = process_count_ * even_;
    return;
  }
  most_local_count_ = bootstrap.max_of(local_devices);
  first_local_ = DeviceId(bootstrap.sum_before(local_devices));
  device_count_ = bootstrap.max_of(first_local_.value() + local_devices);
  firsts_ = bootstrap.table_of(first_local_.value());
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
