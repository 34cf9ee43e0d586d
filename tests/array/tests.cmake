# Few statements of its own; but arrays are created, read and freed over every route.
tessera_add_test(array MAIN runtime_main SPREADS 1x8 2x4 4x2 8x1 ROUTES shm mpi ucx
  LABELS threads LINKS tessera::kokkos PRECOMPILED tessera)
tessera_add_emulated(array SPREADS solo:8 4x2:mpi:host 2x4:shm:ipc LABELS threads)
