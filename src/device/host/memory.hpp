#pragma once
/// @file
/// Memory of the host behind the interface of devices.

#include <cstdint>
#include <memory>

#include "src/device/queue.hpp"

namespace tessera::host {

/// Memory of the host. Throws: DeviceError, naming the size.
[[nodiscard]] std::unique_ptr<DeviceBuffer> make_buffer(std::int64_t size_bytes);

}  // namespace tessera::host
