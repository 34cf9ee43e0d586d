# The program chooses its routes itself, so no run forces one.
tessera_add_test(network MAIN transport_main SPREADS 1x8 2x4 4x2 8x1 LABELS threads
  FOLDERS job transport liveness PRECOMPILED standard)

# Processes that are killed, stopped and held, and how the others end.
if(TESSERA_WITH_MPI)
  tessera_add_test_driver(transport_faults network/faults/driver.cpp LINKS tessera::network)
  add_test(NAME transport_faults
    COMMAND Python3::Interpreter network/faults/run.py $<TARGET_FILE:transport_faults>
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  set_tests_properties(transport_faults PROPERTIES
    TIMEOUT 1200 LABELS "network;spread;slow")
  tessera_mostly_waits(transport_faults)
endif()
