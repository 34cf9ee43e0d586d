#pragma once
/// @file
/// Which process drives which devices: ids follow the ranks.

#include <cstdint>
#include <span>

#include "tessera/base/ids.hpp"

#include "src/job/bootstrap.hpp"
#include "src/mesh/member_hosts.hpp"

namespace tessera {

/// The devices of all processes: formulas if every process drives the same number; otherwise a
/// table that exists once per host.
class Job {
 public:
  /// A collective over the job: every process passes the number of devices that it drives.
  Job(Bootstrap& bootstrap, std::int64_t local_devices);

  [[nodiscard]] ProcessId self() const { return self_; }
  [[nodiscard]] std::int64_t process_count() const { return process_count_; }
  [[nodiscard]] std::int64_t device_count() const { return device_count_; }
  [[nodiscard]] std::int64_t local_count() const { return local_count_; }
  /// The most devices that one process drives: equal on every process.
  [[nodiscard]] std::int64_t most_local_count() const { return most_local_count_; }
  [[nodiscard]] DeviceId first_local() const { return first_local_; }

  /// True if this process drives the device; the number may come from outside.
  [[nodiscard]] bool is_local(DeviceId device) const {
    return device >= first_local_ && device.value() - first_local_.value() < local_count_;
  }
  /// True for the number of a device of the job.
  [[nodiscard]] bool has(DeviceId device) const {
    return device.value() >= 0 && device.value() < device_count_;
  }
  /// True for a device that another process drives.
  [[nodiscard]] bool is_remote(DeviceId device) const { return has(device) && !is_local(device); }
  /// True for the number of a process of the job.
  [[nodiscard]] bool has(ProcessId process) const {
    return process.value() >= 0 && process.value() < process_count_;
  }
  /// The place of a device of this process among its devices, from 0.
  [[nodiscard]] std::int64_t local_index(DeviceId device) const {
    return device.value() - first_local_.value();
  }
  /// The process that drives a device of the job.
  [[nodiscard]] ProcessId process_of(DeviceId device) const;
  /// The first of the devices that a process drives.
  [[nodiscard]] DeviceId first_device_of(ProcessId process) const;
  /// How many devices a process drives.
  [[nodiscard]] std::int64_t devices_of(ProcessId process) const;
  /// The hosts of the devices, if these are consecutive on each host and equally many, but for the
  /// last host, which may have fewer; otherwise all count as one host.
  [[nodiscard]] MemberHosts const& hosts() const { return hosts_; }

 private:
  void count_devices(Bootstrap& bootstrap);
  void find_hosts(Bootstrap& bootstrap);

  ProcessId self_;
  std::int64_t process_count_;
  std::int64_t device_count_;
  std::int64_t local_count_;
  std::int64_t most_local_count_;
  DeviceId first_local_;
  std::int64_t even_;                     ///< devices per process; 0 where they differ
  std::span<std::int64_t const> firsts_;  ///< first device by rank; empty where counts are even
  MemberHosts hosts_;
};

}  // namespace tessera
