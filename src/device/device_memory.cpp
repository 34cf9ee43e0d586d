#include "src/device/device_memory.hpp"

#include <utility>

#include "tessera/detail/base/assert.hpp"

#include "src/base/yielder.hpp"

namespace tessera {

// Large memory of the host comes in huge pages, which a queue cannot release without its size.
DeviceMemory::DeviceMemory(std::int64_t size_bytes, std::shared_ptr<Queue> queue)
    : size_bytes_(size_bytes) {
  TESSERA_ASSERT(queue != nullptr, "memory belongs to a device");
  if (queue->traits().host_reaches_memory) {
    host_ = HostMemory(size_bytes);
    data_ = host_.data();
  } else if (size_bytes > 0) {
    data_ = queue->allocate(size_bytes);
    queue_ = std::move(queue);
    poison();
  }
}

DeviceMemory DeviceMemory::borrowed(std::byte* data, std::int64_t size_bytes) {
  DeviceMemory memory;
  memory.data_ = data;
  memory.size_bytes_ = size_bytes;
  return memory;
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : host_(std::move(other.host_)),
      queue_(std::move(other.queue_)),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  if (this == &other) return *this;
  release();
  host_ = std::move(other.host_);
  queue_ = std::move(other.queue_);
  data_ = std::exchange(other.data_, nullptr);
  size_bytes_ = std::exchange(other.size_bytes_, 0);
  return *this;
}

void DeviceMemory::poison() {
  if (queue_ == nullptr)
    tessera::poison(data_, size_bytes_);
  else if (poisons_memory())
    queue_->fill(data_, poison_pattern, size_bytes_ / 8 * 8);
}

void DeviceMemory::release() noexcept {
  if (queue_ != nullptr) queue_->release(data_);
  queue_.reset();
}

void wait_for(Queue& queue) {
  Yielder yielder;
  while (!queue.is_idle()) (void)yielder.yield_or_sleep();
}

}  // namespace tessera
