# Whole programs that go wrong on one process, and right ones.
if(NOT TESSERA_WITH_MPI)
  return()
endif()
tessera_add_test_driver(programs programs/driver.cpp LINKS tessera::tessera MPI::MPI_CXX)
add_test(NAME programs
  COMMAND Python3::Interpreter programs/run.py $<TARGET_FILE:programs>
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
set_tests_properties(programs PROPERTIES TIMEOUT 3600 LABELS "programs;spread;slow")

tessera_add_test_driver(forks programs/forks/driver.cpp LINKS tessera::tessera)
add_test(NAME programs.forks
  COMMAND Python3::Interpreter programs/forks/run.py $<TARGET_FILE:forks>
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
set_tests_properties(programs.forks PROPERTIES TIMEOUT 600 LABELS "programs;spread")

tessera_add_test_driver(starts programs/starts/driver.cpp LINKS tessera::tessera MPI::MPI_CXX)
add_test(NAME programs.starts
  COMMAND Python3::Interpreter programs/starts/run.py $<TARGET_FILE:starts>
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
set_tests_properties(programs.starts PROPERTIES TIMEOUT 600 LABELS "programs;spread")
tessera_mostly_waits(programs programs.forks programs.starts)

# Between GPUs: what is announced on the host must reach them all the same.
set(stops_over_ipc stops_with_work)
set(stops_over_nccl stopped)
set(stops_over_ucx stopped)
set(routes ipc nccl)
if(TESSERA_WITH_UCX)
  list(APPEND routes ucx)
endif()
foreach(route IN LISTS routes)
  add_test(NAME programs.${route}
    COMMAND Python3::Interpreter programs/run.py $<TARGET_FILE:programs>
            ${stops_over_${route}} another_statement right_with_delays
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  set_tests_properties(programs.${route} PROPERTIES
    TIMEOUT 900 LABELS "programs;spread"
    ENVIRONMENT "TESSERA_DEVICE=emulated;TESSERA_GPU_ROUTE=${route}")
  tessera_mostly_waits(programs.${route})
endforeach()
