#pragma once
/// @file
/// How functions that kernels call are marked.

/// Defined while a compiler for GPUs builds the program's kernels.
#if defined(__CUDACC__)
#define TESSERA_COMPILES_FOR_GPUS
#endif

/// Marks every function that runs inside a kernel: on the host, and on a device too if a
/// compiler for GPUs builds it.
#if defined(TESSERA_COMPILES_FOR_GPUS)
#define TESSERA_FUNCTION __host__ __device__
#else
#define TESSERA_FUNCTION
#endif
/// The same, of one that must become part of the loop that calls it, or the loop is no vector loop.
#define TESSERA_FORMULA TESSERA_FUNCTION __attribute__((always_inline)) inline

/// Marks a template of such functions that for some types calls functions that only the host has.
/// No device kernel is made with those types.
#if defined(__CUDACC__)
#define TESSERA_HOST_FOR_SOME_TYPES _Pragma("nv_exec_check_disable")
#else
#define TESSERA_HOST_FOR_SOME_TYPES
#endif

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__)
#error \
    "Tessera promises the same bits for any number of devices, and -ffast-math, \
-fassociative-math, -freciprocal-math, -fno-signed-zeros would let them differ: build without them"
#endif

// Clang has no macro for the second flag, and does not need it.
#if !defined(TESSERA_ALLOW_SLOW_LOOPS) && !defined(__CUDA_ARCH__) && \
    (!defined(__NO_MATH_ERRNO__) || (!defined(__clang__) && !defined(__NO_TRAPPING_MATH__)))
#pragma message(                                                                                    \
    "Tessera's loops are slower without -fno-math-errno -fno-trapping-math; link tessera::tessera " \
    "in CMake, add the flags of docs/guide/running.md, or pass -DTESSERA_ALLOW_SLOW_LOOPS")
#endif
