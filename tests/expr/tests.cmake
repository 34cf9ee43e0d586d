# The thread sanitizer looks at the engine's threads in the programs of array and program; the statements
# here add no threads.
# Every form of statement: every spread, over every route.
tessera_add_test(expr MAIN runtime_main SPREADS 1x8 2x4 4x2 8x1 ROUTES shm mpi ucx
  LINKS tessera::array PRECOMPILED tessera)
# The sanitizers see emulated GPUs in the programs of other floors.
if(NOT TESSERA_SANITIZE)
  tessera_add_emulated(expr SPREADS solo:8 2x4:shm:ipc 4x2:mpi:host)
endif()
target_include_directories(expr_test
  PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/numpy" "${PROJECT_SOURCE_DIR}/src")

if(NOT TESSERA_WITH_MPI)
  return()
endif()
# Processes of a host that cannot open each other's memory, as in containers, or that find too few
# resources.
foreach(trouble apart short_of_memory short_of_events)
  tessera_add_run(emulated.expr_test.2x4.${trouble} SPREAD 2x4:shm PROGRAM expr_test
    ARGUMENTS --test-suite=expr/gpu_arrays PROCESSORS 8 LABELS expr
    ENVIRONMENT TESSERA_DEVICE=emulated TESSERA_EMULATED_PEERS=${trouble})
  if(NOT trouble STREQUAL "apart")
    tessera_only_in_full(emulated.expr_test.2x4.${trouble})
  endif()
endforeach()
# A process for each device, so that rings of two devices span two processes, too.
set(routes nccl)
if(TESSERA_WITH_UCX)
  list(APPEND routes ucx)
endif()
foreach(route IN LISTS routes)
  tessera_add_run(emulated.expr_test.8x1.${route} SPREAD 8x1:shm PROGRAM expr_test
    ARGUMENTS --test-suite=expr/shift,expr/gpu_arrays PROCESSORS 8 LABELS expr
    ENVIRONMENT TESSERA_DEVICE=emulated TESSERA_GPU_ROUTE=${route})
  if(NOT route STREQUAL "nccl")
    tessera_only_in_full(emulated.expr_test.8x1.${route})
  endif()
endforeach()
