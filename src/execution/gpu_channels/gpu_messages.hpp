#pragma once
/// @file
/// Messages that a GPU packs into memory of its own.

#include <cstddef>
#include <cstdint>

#include "src/execution/compiled_statement.hpp"
#include "src/execution/device_task.hpp"

namespace tessera {

/// The sizes of the buffers in which a plan's messages are packed and unpacked.
struct MessageSpace {
  std::int64_t on_gpu = 0;
  std::int64_t on_host = 0;  ///< of messages that travel through it

  friend bool operator==(MessageSpace const&, MessageSpace const&) = default;
};

/// Gives every message of a plan its place in the buffers, and returns how large the buffers must
/// be. Received messages follow the sent ones. Messages that a GPU stores into the other one at
/// once, or reads where they were stored, need no place.
MessageSpace lay_out_messages(DevicePlan& plan);

/// Returns where a message lies in the memory of the task's GPU.
[[nodiscard]] inline std::byte* in_space(DeviceTask const& task, Message const& message) {
  return task.context->messages->data() + message.space_offset;
}
/// Returns where it lies in pinned memory of the host.
[[nodiscard]] inline std::byte* in_staging(DeviceTask const& task, Message const& message) {
  return task.context->staging->data() + message.space_offset;
}

/// Adds the packing of a message, to memory that the GPU reaches, to the task's queue.
void pack_on_gpu(DeviceTask& task, Message const& message, std::byte* to);
/// Adds the unpacking of a message to the task's queue.
void unpack_on_gpu(DeviceTask& task, Message const& message, std::byte const* from);

}  // namespace tessera
