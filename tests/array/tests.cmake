# Few statements of its own; but arrays are created, read and freed over every route.
tessera_add_test(array MAIN runtime_main SPREADS 1x8 2x4 4x2 8x1 ROUTES shm mpi ucx
  LABELS threads LINKS tessera::kokkos PRECOMPILED tessera)
tessera_add_emulated(array SPREADS solo:8 4x2:mpi:host 2x4:shm:ipc LABELS threads)

# Cells that are forwarded inside groups of four devices, as on two hosts: between processes, and
# with two messages of one statement from device to device on each route of GPUs.
set(forwarded host ipc host_route)
if(TESSERA_WITH_UCX)
  list(APPEND forwarded ucx)
endif()
foreach(how IN LISTS forwarded)
  set(environment TESSERA_FORWARD=4 TESSERA_DEVICE=emulated)
  if(how STREQUAL "host")
    set(environment TESSERA_FORWARD=4)
  elseif(how STREQUAL "host_route")
    list(APPEND environment TESSERA_GPU_ROUTE=host)
  else()
    list(APPEND environment TESSERA_GPU_ROUTE=${how})
  endif()
  tessera_add_run(forwarded.array.${how} SPREAD 4x2:shm PROGRAM array_test
    ARGUMENTS --test-suite=array/reshard PROCESSORS 8 LABELS array threads
    ENVIRONMENT ${environment})
endforeach()
