#include "src/device/device_memory.hpp"

#include <utility>

#include <sched.h>

namespace tessera {

DeviceMemory::DeviceMemory(std::int64_t size_bytes, std::shared_ptr<GpuStream> stream)
    : size_bytes_(size_bytes) {
  if (stream == nullptr) {
    host_ = HostMemory(size_bytes);
    data_ = host_.data();
  } else if (size_bytes > 0) {
    data_ = stream->allocate(size_bytes);
    stream_ = std::move(stream);
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
      stream_(std::move(other.stream_)),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  if (this == &other) return *this;
  release();
  host_ = std::move(other.host_);
  stream_ = std::move(other.stream_);
  data_ = std::exchange(other.data_, nullptr);
  size_bytes_ = std::exchange(other.size_bytes_, 0);
  return *this;
}

void DeviceMemory::poison() {
  if (stream_ == nullptr)
    tessera::poison(data_, size_bytes_);
  else if (poisons_memory())
    stream_->fill(data_, poison_pattern, size_bytes_ / 8 * 8);
}

void DeviceMemory::release() noexcept {
  if (stream_ != nullptr) stream_->release(data_);
  stream_.reset();
}

void wait_for(GpuStream& stream) {
  while (!stream.is_idle()) ::sched_yield();
}

}  // namespace tessera
