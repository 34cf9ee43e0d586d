#include "src/device/host/memory.hpp"

#include <utility>

#include "src/device/host_memory.hpp"

namespace tessera::host {
namespace {

class Region final : public DeviceBuffer {
 public:
  explicit Region(HostMemory memory)
      : DeviceBuffer(memory.data(), memory.size_bytes()), memory_(std::move(memory)) {}

 private:
  HostMemory memory_;
};

}  // namespace

std::unique_ptr<DeviceBuffer> make_buffer(std::int64_t size_bytes) {
  return std::make_unique<Region>(HostMemory(size_bytes));
}

}  // namespace tessera::host
