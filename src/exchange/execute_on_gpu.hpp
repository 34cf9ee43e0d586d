#pragma once
/// @file
/// What records do on a device that is a GPU: its stream is given work, and waited for only where
/// the host needs what it made.

#include <cstdint>

#include "gpu_launch.hpp"
#include "record.hpp"

namespace tessera {

/// Bytes in which a plan's messages are put together and taken apart.
struct MessageRoom {
  std::int64_t on_gpu = 0;
  std::int64_t on_host = 0;  ///< of what travels through it
};
[[nodiscard]] MessageRoom room_of(DevicePlan const& plan);

/// The statement of a record; a reduction ends with its value on the host.
/// Throws: PeerFailed, Mismatch, DeviceError.
void execute_on_gpu(Record& record);

/// As `exchange_cells`, `send_cells` and `receive_cells`.
void exchange_on_gpu(Record& record);
void send_from_gpu(Record& record);
void receive_on_gpu(Record& record);

}  // namespace tessera
