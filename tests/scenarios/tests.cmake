# Whole programs that go wrong on one process, and right ones.
if(NOT TESSERA_WITH_MPI)
  return()
endif()
tessera_add_test_driver(scenarios scenarios/driver.cpp LINKS tessera::tessera MPI::MPI_CXX)
add_test(NAME scenarios
  COMMAND Python3::Interpreter scenarios/run.py $<TARGET_FILE:scenarios>
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
set_tests_properties(scenarios PROPERTIES TIMEOUT 3600 LABELS "scenarios;spread;slow")

tessera_add_test_driver(forks scenarios/forks/driver.cpp LINKS tessera::tessera)
add_test(NAME scenarios.forks
  COMMAND Python3::Interpreter scenarios/forks/run.py $<TARGET_FILE:forks>
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
set_tests_properties(scenarios.forks PROPERTIES TIMEOUT 600 LABELS "scenarios;spread")

tessera_add_test_driver(starts scenarios/starts/driver.cpp LINKS tessera::tessera MPI::MPI_CXX)
add_test(NAME scenarios.starts
  COMMAND Python3::Interpreter scenarios/starts/run.py $<TARGET_FILE:starts>
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
set_tests_properties(scenarios.starts PROPERTIES TIMEOUT 600 LABELS "scenarios;spread")
tessera_mostly_waits(scenarios scenarios.forks scenarios.starts)

# Between GPUs: what is announced on the host must reach them all the same.
set(stops_over_ipc stops_with_work)
set(stops_over_nccl stopped)
set(stops_over_ucx stopped)
set(routes ipc nccl)
if(TESSERA_WITH_UCX)
  list(APPEND routes ucx)
endif()
foreach(route IN LISTS routes)
  add_test(NAME scenarios.${route}
    COMMAND Python3::Interpreter scenarios/run.py $<TARGET_FILE:scenarios>
            ${stops_over_${route}} another_statement right_with_delays
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  set_tests_properties(scenarios.${route} PROPERTIES
    TIMEOUT 900 LABELS "scenarios;spread"
    ENVIRONMENT "TESSERA_DEVICE=emulated;TESSERA_GPU_ROUTE=${route}")
  tessera_mostly_waits(scenarios.${route})
endforeach()
