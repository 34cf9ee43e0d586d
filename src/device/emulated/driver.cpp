#include "src/device/driver.hpp"

#include <cstdint>
#include <memory>

#include "src/device/cores.hpp"
#include "src/device/emulated/memory.hpp"
#include "src/device/emulated/queue.hpp"

namespace tessera {
namespace {

using emulated::Memory;

class EmulatedDriver final : public DeviceDriver {
 public:
  EmulatedDriver() : DeviceDriver({.are_dealt_out = true, .threads_of_device = 2}) {}

  DeviceKind kind() const override { return DeviceKind::emulated_gpu; }
  int count() const override { return static_cast<int>(Memory::gpu_count); }
  std::int64_t devices_alone() const override { return available_cores(); }
  GpuFacts facts(int) const override { return {"emulated GPU", "", 0, 1}; }
  std::shared_ptr<tessera::Queue> make_queue(int gpu) override {
    return std::make_shared<emulated::Queue>(memory_, static_cast<std::size_t>(gpu));
  }

 private:
  std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
};

}  // namespace

std::unique_ptr<DeviceDriver> make_emulated_driver() {
  return std::make_unique<EmulatedDriver>();
}

}  // namespace tessera
