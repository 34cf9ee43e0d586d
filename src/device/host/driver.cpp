#include "src/device/driver.hpp"

#include <cstdint>
#include <memory>

#include "tessera/base/error.hpp"

#include "src/device/cores.hpp"
#include "src/device/row_launch.hpp"

namespace tessera {
namespace {

class HostDriver final : public DeviceDriver {
 public:
  HostDriver() : DeviceDriver({.is_one_device = launch_is_parallel()}) {}

  DeviceKind kind() const override { return DeviceKind::cpu; }
  int count() const override { return 1; }
  std::int64_t devices_alone() const override { return available_cores(); }
  GpuFacts facts(int /*gpu*/) const override { throw DeviceError("the host is no GPU"); }
  std::shared_ptr<Queue> make_queue(int /*gpu*/) override { return shared_host_queue(); }
};

}  // namespace

std::unique_ptr<DeviceDriver> make_host_driver() {
  return std::make_unique<HostDriver>();
}

}  // namespace tessera
