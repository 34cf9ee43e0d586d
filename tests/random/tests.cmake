tessera_add_test(random MAIN runtime_main SPREADS 1x8 2x4 4x2 8x1 ROUTES shm mpi
  LABELS threads OPTIMISED moments PRECOMPILED tessera)
tessera_add_emulated(random SPREADS solo:8 2x4:shm:ipc 4x2:shm:nccl)
