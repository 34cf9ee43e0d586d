#pragma once
/// @file
/// All drivers that there are, by the kind of their devices.

#include <memory>
#include <string_view>
#include <vector>

#include "tessera/device/device_kind.hpp"

#include "src/device/driver.hpp"

namespace tessera {

/// The words by which the environment names a kind of devices.
[[nodiscard]] std::vector<std::string_view> const& device_words();
/// The kind that one of these words names.
[[nodiscard]] DeviceKind kind_of_devices(std::string_view word);

/// The driver of devices of that kind. Throws: BackendNotBuilt.
[[nodiscard]] std::unique_ptr<DeviceDriver> make_driver(DeviceKind kind);
/// A driver that is built and has GPUs, which are not emulated; null if there is none.
[[nodiscard]] std::unique_ptr<DeviceDriver> find_gpus();

}  // namespace tessera
