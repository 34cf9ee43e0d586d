#include "src/kernels/processors.hpp"

#include <vector>

#include "src/kernels/x86/kinds.hpp"

namespace tessera {
namespace {

bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}

std::vector<ProcessorKernels> find_kernels() {
  std::vector<ProcessorKernels> found;
  if (has_avx512()) found.push_back(kernels_for_avx512());
  if (has_avx2()) found.push_back(kernels_for_avx2());
  found.push_back(kernels_for_any_processor());
  return found;
}

}  // namespace

std::span<ProcessorKernels const> kernels_of_this_processor() {
  static auto const found = find_kernels();
  return found;
}

}  // namespace tessera
