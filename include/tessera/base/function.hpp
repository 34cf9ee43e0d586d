#pragma once
/// @file
/// How functions that kernels call are marked.

/// In front of every function that runs inside a kernel: on the host, and where a CUDA compiler
/// builds it, on a device too.
#if defined(__CUDACC__)
#define TESSERA_FUNCTION __host__ __device__
#else
#define TESSERA_FUNCTION
#endif

/// In front of a template of such functions that call, for some types, what only the host has. No
/// kernel of a device is made with those types.
#if defined(__CUDACC__)
#define TESSERA_HOST_FOR_SOME_TYPES _Pragma("nv_exec_check_disable")
#else
#define TESSERA_HOST_FOR_SOME_TYPES
#endif

#if defined(__FAST_MATH__)
#error "Tessera promises the same bits for any number of devices; do not build with -ffast-math"
#endif
