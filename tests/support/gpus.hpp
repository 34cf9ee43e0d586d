#pragma once
/// @file
/// GPUs that tests can have.

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "src/device/cuda/driver.hpp"

namespace tessera::test {

/// The drivers that this machine has GPUs for: always the emulation, and CUDA where there is one.
inline std::vector<std::unique_ptr<DeviceDriver>> drivers_with_gpus() {
  std::vector<std::unique_ptr<DeviceDriver>> drivers;
  drivers.push_back(make_emulated_driver());
  if (!has_cuda_driver()) return drivers;
  if (auto cuda = make_cuda_driver(); cuda->count() > 0)
    drivers.push_back(std::move(cuda));
  else
    MESSAGE("CUDA shows no GPU: only emulated ones are tested");
  return drivers;
}

/// Whether the host can read a byte: the system tells without dying.
inline bool host_can_read(void const* address) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  bool const can = ::write(ends[1], address, 1) == 1;
  ::close(ends[0]);
  ::close(ends[1]);
  return can;
}

}  // namespace tessera::test
