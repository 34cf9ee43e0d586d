#pragma once
/// @file
/// Memory of a device, whatever the device is made of.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/device/host_memory.hpp"
#include "src/device/queue.hpp"

namespace tessera {

/// A block of memory of the host or of a GPU. This object owns it, unless it is borrowed.
///
/// For a GPU, `data` is an address for its queue's work, and the memory is released in the order
/// of that work. Builds with TESSERA_POISON fill the memory with poison.
/// Threads: any may destroy it.
class DeviceMemory {
 public:
  /// No memory: data() is null.
  DeviceMemory() = default;
  /// Memory of the queue's device. Throws: DeviceError, naming the size.
  DeviceMemory(std::int64_t size_bytes, std::shared_ptr<Queue> queue);
  /// Memory that another object owns and keeps; it is not touched.
  [[nodiscard]] static DeviceMemory borrowed(std::byte* data, std::int64_t size_bytes);
  ~DeviceMemory() { release(); }
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  DeviceMemory(DeviceMemory const&) = delete;
  DeviceMemory& operator=(DeviceMemory const&) = delete;

  /// Null if size_bytes() is 0.
  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] std::byte const* data() const { return data_; }
  [[nodiscard]] std::int64_t size_bytes() const { return size_bytes_; }

  /// Fills it with poison, in builds with TESSERA_POISON.
  void poison();

 private:
  void release() noexcept;

  HostMemory host_;
  std::shared_ptr<Queue> queue_;  // that releases it; none where host_ or nobody does
  std::byte* data_ = nullptr;
  std::int64_t size_bytes_ = 0;
};

/// Waits, yielding, until all work of a queue is done. Throws: DeviceError.
void wait_for(Queue& queue);

}  // namespace tessera
