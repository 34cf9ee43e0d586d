# These floors decide how bytes travel: every spread over every route, and every route between GPUs.
tessera_add_test(runtime MAIN runtime_main SPREADS 1x8 2x4 4x2 8x1 ROUTES shm mpi ucx
  LABELS threads LINKS tessera::array FOLDERS execution PRECOMPILED standard)
tessera_add_emulated(runtime SPREADS solo:8 2x4:shm:ipc 4x2:mpi:host 4x2:shm:nccl 2x4:shm:ucx
  EVERYDAY 5 LABELS threads)

# The steps of operations where nothing travels while they compute.
foreach(how IN ITEMS solo:8 8x1:shm 2x4:mpi 8x1:ucx)
  string(REPLACE ":" "" name "steps.${how}")
  tessera_add_run(${name} SPREAD ${how} PROGRAM runtime_test
    ARGUMENTS --test-suite=runtime/steps PROCESSORS 8 LABELS runtime threads
    ENVIRONMENT TESSERA_OVERLAP=0)
endforeach()

# After its first rounds a loop allocates nothing and takes no lock. The program counts calls of
# malloc and of the locks by replacing them, which the sanitizers do too.
if(NOT TESSERA_SANITIZE)
  tessera_add_test_driver(steady_test runtime/steady/steady_test.cpp
    LINKS tessera::ops ${CMAKE_DL_LIBS})
  foreach(devices 1 8)
    tessera_add_run(steady_test.solo${devices} SPREAD solo:${devices} PROGRAM steady_test
      PROCESSORS ${devices} LABELS runtime threads)
  endforeach()
  # The same with a report and a trace.
  tessera_add_run(steady_test.observed SPREAD solo:4 PROGRAM steady_test
    PROCESSORS 4 LABELS runtime threads
    ENVIRONMENT TESSERA_REPORT=1 TESSERA_TRACE=steady_test.json)
endif()

# What strictness, reports and traces show of a program.
tessera_add_test_driver(seeing runtime/seeing/driver.cpp LINKS tessera::array)
tessera_label_target(threads seeing)
add_library(count_launches MODULE runtime/seeing/count_launches.cpp)
tessera_compile_as_test(count_launches)
target_compile_features(count_launches PRIVATE cxx_std_20)
add_dependencies(seeing count_launches)
add_test(NAME seeing
  COMMAND Python3::Interpreter runtime/seeing/run.py "${TESSERA_SPREAD}" $<TARGET_FILE:seeing>
          solo:1 solo:3
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
set_tests_properties(seeing PROPERTIES TIMEOUT 600 LABELS "runtime;threads"
  ENVIRONMENT "TESSERA_COUNTING_TOOL=$<TARGET_FILE:count_launches>")
if(TESSERA_WITH_MPI)
  add_test(NAME seeing.spread
    COMMAND Python3::Interpreter runtime/seeing/run.py "${TESSERA_SPREAD}" $<TARGET_FILE:seeing>
            3x2:shm 2x1:mpi
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  set_tests_properties(seeing.spread PROPERTIES
    TIMEOUT 900 LABELS "runtime;spread"
    ENVIRONMENT "TESSERA_TIMEOUT=180;TESSERA_COUNTING_TOOL=$<TARGET_FILE:count_launches>")
  tessera_mostly_waits(seeing.spread)
endif()
tessera_mostly_waits(seeing)
