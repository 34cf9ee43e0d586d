tessera_add_test(io MAIN runtime_main SPREADS 1x8 2x4 4x2 8x1 ROUTES shm mpi ucx
  PRECOMPILED tessera)
tessera_add_emulated(io SPREADS solo:8 4x2:mpi:host 2x4:shm:ipc)
target_include_directories(io_test PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/numpy")

# Files from NumPy to NumPy.
tessera_add_test_driver(npy_round_trip io/round_trip/driver.cpp LINKS tessera::tessera)
add_test(NAME npy_round_trip
  COMMAND Python3::Interpreter io/round_trip/run.py "${TESSERA_SPREAD}"
          $<TARGET_FILE:npy_round_trip> solo:1 solo:3
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
set_tests_properties(npy_round_trip PROPERTIES
  TIMEOUT 300 LABELS io PROCESSORS 3 SKIP_RETURN_CODE 77)
if(TESSERA_WITH_MPI)
  add_test(NAME npy_round_trip.spread
    COMMAND Python3::Interpreter io/round_trip/run.py "${TESSERA_SPREAD}"
            $<TARGET_FILE:npy_round_trip> 3x2
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  set_tests_properties(npy_round_trip.spread PROPERTIES
    TIMEOUT 300 LABELS "io;spread" PROCESSORS 6 SKIP_RETURN_CODE 77)
endif()
