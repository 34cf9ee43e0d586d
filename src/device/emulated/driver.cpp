#include <memory>
#include <string_view>

#include "src/device/emulated/memory.hpp"
#include "src/device/emulated/queue.hpp"
#include "src/device/gpu.hpp"

namespace tessera {
namespace {

using emulated::Memory;

class EmulatedDriver : public GpuDriver {
 public:
  std::string_view name() const override { return "emulated"; }
  int count() const override { return static_cast<int>(Memory::gpu_count); }
  GpuFacts facts(int) const override { return {"emulated GPU", "", 0, 1}; }
  std::shared_ptr<GpuStream> make_stream(int gpu) override {
    return std::make_shared<emulated::Queue>(memory_, static_cast<std::size_t>(gpu));
  }

 private:
  std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
};

}  // namespace

std::unique_ptr<GpuDriver> make_emulated_driver() {
  return std::make_unique<EmulatedDriver>();
}

}  // namespace tessera
