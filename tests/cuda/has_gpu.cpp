/// @file
/// Code 0 where the CUDA driver shows a GPU, and its name; else 77, which ctest takes for skipped,
/// and why.

#include <iostream>

#include "tessera/base/error.hpp"

#include "src/device/cuda/driver.hpp"

int main() {
  try {
    auto const driver = tessera::make_cuda_driver();
    if (driver->count() > 0) {
      std::cout << driver->facts(0).name << '\n';
      return 0;
    }
    std::cout << "skipped: the CUDA driver shows no GPU\n";
    return 77;
  } catch (tessera::Error const& error) {
    std::cout << error.what() << '\n';
    return 1;
  }
}
