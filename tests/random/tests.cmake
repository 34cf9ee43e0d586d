# No number is sent: one route is as good as another.
tessera_add_test(random MAIN runtime_main SPREADS 2x4 4x2 8x1 ROUTES shm
  OPTIMISED moments PRECOMPILED tessera)
tessera_add_emulated(random SPREADS solo:8 2x4:shm:ipc)
