# What a build of Tessera can be asked for.

# tessera_renew_default(<option> <variable>): forgets an option that only has the default of an earlier
# configuration, if the variable, which says whether a package was found, has changed since. So a
# package that is installed later is used without a new build folder.
function(tessera_renew_default option found)
  foreach(name IN ITEMS option found)
    set(${name}_is_on OFF)
    if(${${name}})
      set(${name}_is_on ON)
    endif()
  endforeach()
  if(DEFINED ${option}_DEFAULT AND NOT found_is_on STREQUAL "${${option}_DEFAULT}"
     AND option_is_on STREQUAL "${${option}_DEFAULT}")
    unset(${option} CACHE)
  endif()
  set(${option}_DEFAULT ${found_is_on} CACHE INTERNAL "What ${option} was by default")
endfunction()

# Only the C interface of MPI is called. It is found through the C++ compiler, so that no consumer has
# to enable the C language; the C++ bindings of MPI 2 are kept out of the headers.
set(MPI_CXX_SKIP_MPICXX TRUE)
find_package(MPI QUIET COMPONENTS CXX)
tessera_renew_default(TESSERA_WITH_MPI MPI_CXX_FOUND)
option(TESSERA_WITH_MPI "Run under mpirun, over several processes and hosts" ${MPI_CXX_FOUND})

find_path(UCX_INCLUDE_DIR ucp/api/ucp.h)
set(ucx_found ON)
if(NOT UCX_INCLUDE_DIR)
  set(ucx_found OFF)
endif()
tessera_renew_default(TESSERA_WITH_UCX ucx_found)
option(TESSERA_WITH_UCX "Send between hosts by UCX; it is loaded only then" ${ucx_found})

include(cuda)
tessera_find_nvcc(nvcc_found)
tessera_renew_default(TESSERA_WITH_CUDA nvcc_found)
option(TESSERA_WITH_CUDA "Drive GPUs through the CUDA runtime" ${nvcc_found})

# Usually it lies where CUDA's own headers do.
get_filename_component(nvcc_folder "${CMAKE_CUDA_COMPILER}" DIRECTORY)
find_path(NCCL_INCLUDE_DIR nccl.h HINTS "${nvcc_folder}/../include")
set(nccl_found ON)
if(NOT NCCL_INCLUDE_DIR)
  set(nccl_found OFF)
endif()
tessera_renew_default(TESSERA_WITH_NCCL nccl_found)
include(CMakeDependentOption)
cmake_dependent_option(TESSERA_WITH_NCCL
  "Send between GPUs of several hosts by NCCL; it is loaded only then" ${nccl_found}
  TESSERA_WITH_CUDA OFF)

option(TESSERA_BUILD_TOOLS "Build tessera-info" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_BENCH "Build the benches" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BUILD_GPU_TESTS "Compile the tests of statements by nvcc too, for tests/gpu" OFF)
option(TESSERA_BUILD_FUZZERS "Build the targets of libFuzzer, for tests/fuzz; needs clang" OFF)
option(TESSERA_UNITY "Compile several sources of a floor at once, which hides missing includes" OFF)
option(TESSERA_PRECOMPILE "Precompile the headers of tests, which hides missing includes" OFF)
option(TESSERA_WERROR "Treat warnings in Tessera's own sources as errors" OFF)
option(TESSERA_POISON "Fill cells that hold no value with NaN, so that reading one is seen" OFF)

set(TESSERA_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")

# Programs instantiate Tessera's kernels, so the choice reaches them as well. `native` would die on
# hosts older than the one that compiled; x86-64-v3 is every x86 server since 2015.
set(TESSERA_PORTABLE_ARCH "")
set(tessera_on_x86_64 OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(tessera_on_x86_64 ON)
  set(TESSERA_PORTABLE_ARCH "x86-64-v3")
endif()
set(TESSERA_ARCH "${TESSERA_PORTABLE_ARCH}" CACHE STRING
  "Value of -march for the library and for programs that use it; empty for the compiler's default")
