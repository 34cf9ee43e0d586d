#include "src/kernels/processors.hpp"

namespace tessera {

std::span<ProcessorKernels const> kernels_of_this_processor() {
  static ProcessorKernels const only[] = {kernels_for_any_processor()};
  return only;
}

}  // namespace tessera
