#pragma once
/// @file
/// What the processor that runs the program has, for code that is compiled for several kinds.

namespace tessera::detail {

/// AVX2 with fused multiply-add.
[[nodiscard]] inline bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}
/// The parts of AVX-512 that all processors with wide vectors of it have, and the above.
[[nodiscard]] inline bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}

}  // namespace tessera::detail
