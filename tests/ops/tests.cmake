# Many statements, which on GPUs the routes that pass through the host see as the floors below do.
tessera_add_test(ops MAIN runtime_main SPREADS 1x8 2x4 4x2 8x1 ROUTES shm mpi ucx
  OPTIMISED fuzz_* *_fuzz binned_sum long_rows wide_product PRECOMPILED tessera)
# The sanitizers see emulated GPUs in the programs of other floors.
if(NOT TESSERA_SANITIZE)
  tessera_add_emulated(ops SPREADS solo:8 2x4:shm:ipc 4x2:shm:nccl)
endif()
target_include_directories(ops_test PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/numpy")

# The random programs with slots so short that most messages travel in pieces, which cut rows anywhere.
foreach(how IN LISTS TESSERA_SHORT_SLOTS)
  string(REPLACE ":" "" name "short_slots.${how}")
  tessera_add_run(${name} SPREAD ${how} PROGRAM ops_test ARGUMENTS --test-suite=ops/fuzz
    PROCESSORS 3 LABELS ops
    ENVIRONMENT TESSERA_SLOT_BYTES=128 TESSERA_FUZZ_CASES=150)
  if(NOT how STREQUAL "3x1:shm" AND NOT TESSERA_SANITIZE)
    tessera_only_in_full(${name})
  endif()
endforeach()
