#include "tessera/transport/job.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"

namespace tessera {

Job::Job(Bootstrap& bootstrap, std::int64_t local_devices)
    : self_(bootstrap.self()),
      process_count_(bootstrap.process_count()),
      local_count_(local_devices),
      first_local_(bootstrap.sum_before(local_devices)),
      even_(0) {
  device_count_ = bootstrap.max_of(first_local_.value() + local_devices);
  auto const most = bootstrap.max_of(local_devices);
  auto const least = -bootstrap.max_of(-local_devices);
  if (most == least) {
    even_ = most;
  } else {
    firsts_ = bootstrap.table_of(first_local_.value());
  }
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
