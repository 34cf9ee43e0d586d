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

/// Marks a template of such functions that for some types calls functions that only the host has.
/// No device kernel is made with those types.
#if defined(__CUDACC__)
#define TESSERA_HOST_FOR_SOME_TYPES _Pragma("nv_exec_check_disable")
#else
#define TESSERA_HOST_FOR_SOME_TYPES
#endif

#if defined(__FAST_MATH__)
#error "Tessera promises the same bits for any number of devices; do not build with -ffast-math"
#endif
