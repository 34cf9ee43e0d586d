#include "src/statement/statement.hpp"

namespace tessera {
namespace {

bool built = false;  // set before main, by what a compiler for GPUs made

}  // namespace

bool detail::gpu_kernels_built() {
  return built;
}

void detail::note_gpu_kernels() {
  built = true;
}

}  // namespace tessera
