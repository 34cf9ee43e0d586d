#pragma once
/// @file
/// What devices are made of.

#include <cstdint>

namespace tessera {

/// What the devices of a job are made of; all of one kind.
enum class DeviceKind : std::uint8_t {
  cpu,           ///< cores
  cuda,          ///< GPUs, through CUDA
  emulated_gpu,  ///< threads of the host that keep to the rules of GPUs, for tests
};

/// "cpu", "cuda", "emulated gpu".
[[nodiscard]] char const* to_string(DeviceKind kind);

}  // namespace tessera
