#pragma once
/// @file
/// Functions of the program that run on the devices' workers.

#include <functional>

#include "tessera/base/ids.hpp"

#include "src/runtime/devices/device_pool.hpp"
#include "src/runtime/devices/dispatcher.hpp"
#include "src/runtime/devices/failure_policy.hpp"

namespace tessera {

/// Calls `f` for each local device, on its worker, and returns when all are done.
/// Throws: the first exception of `f`, after the other devices have finished and the other
///         processes have been released.
void call_on_devices(std::function<void(DeviceId)> const& f, Dispatcher& dispatcher,
                     DevicePool& devices, FailurePolicy& failures);

}  // namespace tessera
