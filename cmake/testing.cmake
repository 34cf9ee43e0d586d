# Tests as CMake targets. tests/spread explains what a spread and a route are.

set(TESSERA_SPREAD "${PROJECT_SOURCE_DIR}/tests/spread")

# tessera_add_test_main(<name> USES <floor>)
#
# tests/support/<name>.cpp, a main function for test programs, compiled once for all of them.
function(tessera_add_test_main name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "USES" "")
  add_library(tessera_test_${name} OBJECT "${PROJECT_SOURCE_DIR}/tests/support/${name}.cpp")
  tessera_compile_as_test(tessera_test_${name})
  target_link_libraries(tessera_test_${name} PUBLIC doctest::doctest tessera::${arg_USES})
endfunction()

# tessera_compile_as_test(<target>): tests are many and run once, so what counts is how fast they
# compile; what the address sanitizer puts into them takes three times as long to optimise. They include
# what they share as "support/<file>.hpp".
function(tessera_compile_as_test target)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  if(TESSERA_SANITIZE MATCHES address)
    target_compile_options(${target} PRIVATE -Og)
  else()
    target_compile_options(${target} PRIVATE -O1)
  endif()
  target_link_libraries(${target} PRIVATE tessera_warnings)
endfunction()

# tessera_add_test(<floor> [MAIN <name>] [SPREADS <PxD>...] [ROUTES <route>...] [LABELS <label>...]
#                  [LINKS <library>...] [TIMEOUT <seconds>])
#
# One doctest program for a whole floor, <floor>_test, from tests/<floor>/*.cpp. It runs alone as
# <floor>_test, and once more for every spread, as 4 processes of 2 devices for 4x2; with several
# processes, once for every route: <floor>_test.4x2.shm. A spread solo:D is one process of D devices
# without mpirun. Labels: the floor, `spread` where mpirun is used, and LABELS.
function(tessera_add_test floor)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MAIN;TIMEOUT" "SPREADS;ROUTES;LABELS;LINKS")
  set(program ${floor}_test)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${floor}/*.cpp")
  if(NOT sources)
    return()
  endif()
  set(main main)
  if(arg_MAIN)
    set(main ${arg_MAIN})
  endif()
  set(timeout 120)
  if(arg_TIMEOUT)
    set(timeout ${arg_TIMEOUT})
  endif()

  add_executable(${program} ${sources})
  tessera_compile_as_test(${program})
  target_link_libraries(${program} PRIVATE tessera::${floor} tessera_test_${main} ${arg_LINKS})
  foreach(label IN LISTS arg_LABELS)
    tessera_label_target(${label} ${program})
  endforeach()

  add_test(NAME ${program} COMMAND ${program})
  set_tests_properties(${program} PROPERTIES TIMEOUT ${timeout} LABELS "${floor};${arg_LABELS}")
  if("threads" IN_LIST arg_LABELS)
    set_tests_properties(${program} PROPERTIES PROCESSORS 2)  # threads that wait for each other
  endif()
  foreach(spread IN LISTS arg_SPREADS)
    tessera_spread_test(${floor} ${spread} ${timeout} "${arg_ROUTES}" "${arg_LABELS}")
  endforeach()
endfunction()

# tessera_spread_test(<floor> <spread> <timeout> <routes> <labels>): the runs of one spread.
function(tessera_spread_test floor spread timeout routes labels)
  string(REGEX MATCH "^(solo:|([0-9]+)x)([0-9]+)$" _ "${spread}")
  set(processes "${CMAKE_MATCH_2}")
  set(devices "${CMAKE_MATCH_3}")
  if(NOT devices)
    message(FATAL_ERROR "a spread is PxD or solo:D, not ${spread}")
  endif()
  if(processes)
    if(NOT TESSERA_WITH_MPI)
      return()
    endif()
    list(APPEND labels spread)
    math(EXPR busy "${processes} * ${devices}")
  else()
    set(busy ${devices})
  endif()
  # One process sends nothing to another, so no route is to choose.
  if(NOT routes OR NOT processes OR processes EQUAL 1)
    set(routes "default")
  endif()

  foreach(route IN LISTS routes)
    if(route STREQUAL "ucx" AND NOT TESSERA_WITH_UCX)
      continue()
    endif()
    set(how "${spread}")
    if(NOT route STREQUAL "default")
      string(APPEND how ":${route}")
    endif()
    string(REPLACE "solo:" "solo" name "${floor}_test.${how}")
    string(REPLACE ":" "." name "${name}")
    add_test(NAME ${name} COMMAND "${TESSERA_SPREAD}" ${how} $<TARGET_FILE:${floor}_test>)
    # Twice the time of the program alone; mpirun itself gives up a little earlier and says so.
    math(EXPR ctest_timeout "${timeout} * 2 + 20")
    math(EXPR mpirun_timeout "${timeout} * 2")
    set_tests_properties(${name} PROPERTIES
      TIMEOUT ${ctest_timeout} PROCESSORS ${busy} LABELS "${floor};${labels}"
      ENVIRONMENT "TESSERA_TIMEOUT=${mpirun_timeout}")
  endforeach()
endfunction()

# tessera_label_target(<label> <program>): building tests_<label> builds every program so labelled.
function(tessera_label_target label program)
  if(NOT TARGET tests_${label})
    add_custom_target(tests_${label})
  endif()
  add_dependencies(tests_${label} ${program})
endfunction()
