# Many statements, which on GPUs the routes that pass through the host see as the floors below do.
tessera_add_test(ops MAIN runtime_main SPREADS 1x8 2x4 4x2 8x1 ROUTES shm mpi ucx
  OPTIMISED fuzz_* *_fuzz binned_sum long_rows wide_product PRECOMPILED tessera)
# The sanitizers see emulated GPUs in the programs of other floors.
if(NOT TESSERA_SANITIZE)
  tessera_add_emulated(ops SPREADS solo:8 2x4:shm:ipc 4x2:shm:nccl)
endif()
target_include_directories(ops_test PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/numpy")

# The random programs where cells are forwarded among three devices in a row, as on a host.
foreach(how IN ITEMS solo:8 2x4:mpi)
  string(REPLACE ":" "" name "forwarded.${how}")
  tessera_add_run(${name} SPREAD ${how} PROGRAM ops_test
    ARGUMENTS "--test-suite=ops/fuzz,ops/products*" PROCESSORS 8 LABELS ops
    ENVIRONMENT TESSERA_FORWARD=3 TESSERA_FUZZ_CASES=100)
  if(how STREQUAL "solo:8" AND TESSERA_WITH_MPI AND NOT TESSERA_SANITIZE)
    tessera_only_in_full(${name})
  endif()
endforeach()

# Products whose steps run one after the other: nothing travels while one computes.
foreach(how IN ITEMS solo:8 8x1:shm 2x4:mpi 4x2:ucx)
  string(REPLACE ":" "" name "one_by_one.${how}")
  tessera_add_run(${name} SPREAD ${how} PROGRAM ops_test
    ARGUMENTS "--test-suite=ops/products*,ops/einsum*" PROCESSORS 8 LABELS ops
    ENVIRONMENT TESSERA_OVERLAP=0 TESSERA_FUZZ_CASES=100)
endforeach()

# The random programs with slots so short that most messages travel in pieces, which cut rows anywhere.
foreach(how IN LISTS TESSERA_SHORT_SLOTS)
  string(REPLACE ":" "" name "short_slots.${how}")
  tessera_add_run(${name} SPREAD ${how} PROGRAM ops_test ARGUMENTS --test-suite=ops/fuzz
    PROCESSORS 3 LABELS ops
    ENVIRONMENT TESSERA_SLOT_BYTES=128 TESSERA_FUZZ_CASES=150 TESSERA_FORWARD=2)
  if(NOT how STREQUAL "3x1:shm" AND NOT TESSERA_SANITIZE)
    tessera_only_in_full(${name})
  endif()
endforeach()
