#pragma once
/// @file
/// The devices of one kind that this machine has.

#include <cstdint>
#include <memory>
#include <string>

#include "tessera/device/device_kind.hpp"

#include "src/device/queue.hpp"

namespace tessera {

/// What is known of a GPU, for people.
struct GpuFacts {
  std::string name;               ///< "NVIDIA H200"
  std::string bus;                ///< its place on the bus, as "0000:1b:00.0"
  std::int64_t memory_bytes = 0;  ///< in all
  int multiprocessors = 0;
};

/// What devices of a kind are like. Callers choose by these, never by a name.
struct DriverTraits {
  bool is_one_device = false;          ///< a kernel takes all threads of the process
  bool are_dealt_out = false;          ///< processes of a host are given different ones
  std::int64_t threads_of_device = 1;  ///< where a process drives several
};

/// The GPUs of this machine that the process may use, counted from 0; or the host, which is one
/// whatever the number of its cores.
class DeviceDriver {
 public:
  virtual ~DeviceDriver() = default;
  DeviceDriver(DeviceDriver const&) = delete;
  DeviceDriver& operator=(DeviceDriver const&) = delete;

  /// What its devices are like: equal on all processes whose devices are of one kind.
  [[nodiscard]] DriverTraits const& traits() const { return traits_; }
  /// What its devices are made of.
  [[nodiscard]] virtual DeviceKind kind() const = 0;
  [[nodiscard]] virtual int count() const = 0;
  /// Why there are none, where `count` is 0: a clause for people.
  [[nodiscard]] virtual std::string reason_for_none() const { return {}; }
  /// How many devices a process drives that is alone on the machine.
  [[nodiscard]] virtual std::int64_t devices_alone() const = 0;
  /// Throws: DeviceError.
  [[nodiscard]] virtual GpuFacts facts(int gpu) const = 0;
  /// A queue for a device; several devices may share a GPU. Throws: DeviceError.
  [[nodiscard]] virtual std::shared_ptr<Queue> make_queue(int gpu) = 0;

 protected:
  explicit DeviceDriver(DriverTraits const& traits) : traits_(traits) {}

 private:
  DriverTraits traits_;
};

/// The host, whose cores are devices.
[[nodiscard]] std::unique_ptr<DeviceDriver> make_host_driver();

/// Two emulated GPUs, neither of which stores into the other's memory, with a host thread for each
/// stream. The rest of the program cannot touch their memory: an access ends in SIGSEGV.
[[nodiscard]] std::unique_ptr<DeviceDriver> make_emulated_driver();

}  // namespace tessera
