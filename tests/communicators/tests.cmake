# Programs that hand a communicator to their Runtimes.
if(TESSERA_WITH_MPI)
  tessera_add_test_driver(communicators communicators/driver.cpp
    LINKS tessera::tessera tessera::mpi)
  add_test(NAME communicators
    COMMAND Python3::Interpreter communicators/run.py $<TARGET_FILE:communicators>
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  set_tests_properties(communicators PROPERTIES
    TIMEOUT 600 LABELS "scenarios;spread")
  tessera_mostly_waits(communicators)
endif()
