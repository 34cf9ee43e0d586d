# Tests as CMake targets. tests/spread explains what a spread and a route are.
#
# Every test is registered in every build. Its labels say who runs it (tests/running/choose.py):
#   full            only tests/full
#   changed:REGEX   only tests/full, and tests/run if a file that matches has changed
#   waits           it mostly waits for processes, so it runs beside tests that need the cores; if it
#                   fails it is tried a second time, alone
#   spread, slow    not tests/quick

set(TESSERA_SPREAD "${PROJECT_SOURCE_DIR}/tests/spread")
# A test that takes longer hangs: this tells nothing of how long it takes on a busy machine.
set(TESSERA_HANGS_AFTER 600) # seconds
include(precompile)

# The seeds of random tests, by slices (tests/support/seeds.hpp): the run of a program alone, in `dev`, takes
# the usual ones, and every other run a slice of its own.
set(TESSERA_FIRST_SLICE 1)
if(TESSERA_SANITIZE MATCHES "address")
  set(TESSERA_FIRST_SLICE 100)
elseif(TESSERA_SANITIZE MATCHES "thread")
  set(TESSERA_FIRST_SLICE 200)
endif()

# tessera_next_slice(<program> <variable>): the slice of the random seeds that the next run of a program
# takes, so that no two of its runs have a random case in common.
function(tessera_next_slice program variable)
  get_property(runs GLOBAL PROPERTY tessera_runs_of_${program})
  if(NOT runs)
    set(runs 0)
  endif()
  math(EXPR next "${runs} + 1")
  set_property(GLOBAL PROPERTY tessera_runs_of_${program} ${next})
  math(EXPR slice "${TESSERA_FIRST_SLICE} + ${runs}")
  set(${variable} ${slice} PARENT_SCOPE)
endfunction()

# tessera_needs_core(<test>): at most one such test runs per core, where ctest is told of the cores.
function(tessera_needs_core test)
  set_tests_properties(${test} PROPERTIES RESOURCE_GROUPS cores:1)
endfunction()

# tessera_mostly_waits(<test>...): tests whose processes wait for silence, time limits or launchers.
function(tessera_mostly_waits)
  foreach(test IN LISTS ARGN)
    set_property(TEST ${test} APPEND PROPERTY LABELS waits)
    set_tests_properties(${test} PROPERTIES PROCESSORS 1 COST 100 RESOURCE_GROUPS "")
  endforeach()
endfunction()

# tessera_only_in_full(<test>...)
function(tessera_only_in_full)
  foreach(test IN LISTS ARGN)
    set_property(TEST ${test} APPEND PROPERTY LABELS full)
  endforeach()
endfunction()

# tessera_when_changed(<regex> <test>...): tests that take long and depend on few files. The regular
# expression is Python's, for paths from the root of the sources.
function(tessera_when_changed regex)
  foreach(test IN LISTS ARGN)
    set_property(TEST ${test} APPEND PROPERTY LABELS "changed:${regex}")
  endforeach()
endfunction()

# tessera_add_test_main(<name> USES <floor>)
#
# tests/support/<name>.cpp, a main function for test programs, compiled once for all of them.
function(tessera_add_test_main name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "USES" "")
  add_library(tessera_test_${name} OBJECT "${PROJECT_SOURCE_DIR}/tests/support/${name}.cpp")
  tessera_compile_as_test(tessera_test_${name})
  target_link_libraries(tessera_test_${name} PUBLIC doctest::doctest tessera::${arg_USES})
endfunction()

# tessera_compile_as_test(<target> [UNOPTIMISED])
#
# What all sources of tests have in common: they include what they share as "support/<file>.hpp" and
# private headers as "src/<floor>/<file>.hpp". Tests are many and run once, so the time to compile
# them counts most: they are optimised little, or not at all. TESSERA_TEST_OPTIMIZATION overrides
# both; with the address sanitizer's code in them, they take three times as long to optimise.
function(tessera_compile_as_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "UNOPTIMISED" "" "")
  set(optimization -O1)
  if(TESSERA_TEST_OPTIMIZATION)
    set(optimization ${TESSERA_TEST_OPTIMIZATION})
  elseif(arg_UNOPTIMISED)
    set(optimization -O0)
  elseif(TESSERA_SANITIZE MATCHES address)
    set(optimization -Og)
  endif()
  target_compile_options(${target} PRIVATE ${optimization})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  tessera_use_private_headers(${target})
  target_link_libraries(${target} PRIVATE tessera_warnings)
endfunction()

# tessera_add_test_driver(<name> <source> [LINKS <library>...])
#
# A program of its own that scripts run, with a main function of its own.
function(tessera_add_test_driver name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LINKS")
  add_executable(${name} ${source})
  tessera_compile_as_test(${name})
  target_link_libraries(${name} PRIVATE ${arg_LINKS})
endfunction()

# tessera_add_test(<floor> [MAIN <name>] [SPREADS <PxD>...] [ROUTES <route>...]
#                  [LABELS <label>...] [LINKS <library>...] [OPTIMISED <glob>...]
#                  [PRECOMPILED standard|tessera] [FOLDERS <floor>...])
#
# One doctest program for a whole floor, <floor>_test, from tests/<floor>/*.cpp and the FOLDERS of
# floors below that are tested under the same conditions. It runs alone as
# <floor>_test, and once more for every spread, as 4 processes of 2 devices for 4x2; with several
# processes, once for every route: <floor>_test.4x2.shm. A spread solo:D is one process of D devices
# without mpirun. Labels: the floor, `spread` where mpirun is used, and LABELS.
#
# tests/run takes each spread over one route: the first program 2x4:shm 4x2:mpi 8x1:ucx, the second
# 2x4:mpi 4x2:ucx 8x1:shm, and so on. The others are labelled `full`.
#
# The sources are compiled unoptimised, except OPTIMISED ones, whose time to run counts.
function(tessera_add_test floor)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MAIN;PRECOMPILED"
    "SPREADS;ROUTES;LABELS;LINKS;OPTIMISED;FOLDERS")
  set(main main)
  if(arg_MAIN)
    set(main ${arg_MAIN})
  endif()
  tessera_add_test_program(${floor} ${main} "${arg_PRECOMPILED}" "${arg_LINKS}" "${arg_OPTIMISED}"
    "${arg_FOLDERS}")
  foreach(label IN LISTS arg_LABELS)
    tessera_label_target(${label} ${floor}_test)
  endforeach()

  add_test(NAME ${floor}_test COMMAND ${floor}_test)
  set_tests_properties(${floor}_test PROPERTIES TIMEOUT 600 LABELS "${floor};${arg_LABELS}")
  tessera_needs_core(${floor}_test)
  if(TESSERA_SANITIZE)
    tessera_next_slice(${floor}_test slice)
    set_tests_properties(${floor}_test PROPERTIES ENVIRONMENT TESSERA_FUZZ_SLICE=${slice})
  endif()
  if("threads" IN_LIST arg_LABELS OR main STREQUAL "runtime_main")
    set_tests_properties(${floor}_test PROPERTIES PROCESSORS 2)  # threads that wait for each other
  endif()
  get_property(turn GLOBAL PROPERTY tessera_route_turn)
  if(NOT turn)
    set(turn 0)
  endif()
  foreach(spread IN LISTS arg_SPREADS)
    tessera_add_spread(${floor} ${spread} "${arg_ROUTES}" "${arg_LABELS}" ${turn})
    if(NOT spread MATCHES "^(solo:|1x)")
      math(EXPR turn "${turn} + 1")
    endif()
  endforeach()
  if(arg_ROUTES)
    math(EXPR turn "${turn} + 1") # the next program begins with another route
  endif()
  set_property(GLOBAL PROPERTY tessera_route_turn ${turn})
endfunction()

# tessera_add_test_program(<floor> <main> <precompiled> <libraries> <globs> <folders>): the program <floor>_test.
# Its property TESSERA_SOURCES has all sources, TESSERA_LIBRARIES what they link.
function(tessera_add_test_program floor main precompiled libraries globs folders)
  set(folder "${PROJECT_SOURCE_DIR}/tests/${floor}")
  set(program ${floor}_test)
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  foreach(more IN LISTS folders)
    file(GLOB found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${more}/*.cpp")
    list(APPEND sources ${found})
  endforeach()
  set(optimised "")
  foreach(glob IN LISTS globs)
    file(GLOB found CONFIGURE_DEPENDS "${folder}/${glob}_test.cpp")
    if(NOT found)
      message(FATAL_ERROR "tests/${floor} has no ${glob}_test.cpp")
    endif()
    list(APPEND optimised ${found})
  endforeach()
  set(unoptimised ${sources})
  if(optimised)
    list(REMOVE_ITEM unoptimised ${optimised})
  endif()

  list(APPEND libraries tessera_test_${main})
  if(TARGET tessera::${floor})
    list(APPEND libraries tessera::${floor})
  endif()
  add_executable(${program} ${unoptimised})
  tessera_compile_as_test(${program} UNOPTIMISED)
  tessera_precompile(${program} "${precompiled}" unoptimised)
  target_link_libraries(${program} PRIVATE ${libraries})
  set_target_properties(${program} PROPERTIES
    TESSERA_SOURCES "${sources}" TESSERA_LIBRARIES "${libraries}")
  if(optimised)
    add_library(${program}_optimised OBJECT ${optimised})
    tessera_compile_as_test(${program}_optimised)
    tessera_precompile(${program}_optimised "${precompiled}" optimised)
    target_link_libraries(${program}_optimised PRIVATE ${libraries})
    target_sources(${program} PRIVATE $<TARGET_OBJECTS:${program}_optimised>)
  endif()
endfunction()

# tessera_add_spread(<floor> <spread> <routes> <labels> <turn>): the runs of one spread; tests/run takes
# that of the route whose turn it is.
function(tessera_add_spread floor spread routes labels turn)
  # One process sends nothing to another, so there is no route to choose.
  if(NOT routes OR spread MATCHES "^(solo:|1x)")
    set(routes default)
  endif()
  list(LENGTH routes count)
  math(EXPR everyday "${turn} % ${count}")
  set(number 0)
  foreach(route IN LISTS routes)
    set(how "${spread}")
    if(NOT route STREQUAL "default")
      string(APPEND how ":${route}")
    endif()
    string(REPLACE "solo:" "solo" name "${floor}_test.${how}")
    string(REPLACE ":" "." name "${name}")
    tessera_devices_of(${spread} devices)
    set(who "")
    if(NOT number EQUAL everyday)
      set(who full)
    endif()
    math(EXPR number "${number} + 1")
    tessera_add_run(${name} SPREAD ${how} PROGRAM ${floor}_test
      PROCESSORS ${devices} LABELS ${floor} ${labels} ${who})
  endforeach()
endfunction()

# tessera_add_emulated(<floor> SPREADS <spread>[:<route between GPUs>]... [LABELS <label>...])
#
# The program <floor>_test once more for each entry, with emulated GPUs for devices: they are lazy, and
# the host cannot touch their memory. 2x4:shm:ipc forces a route between processes and one between
# GPUs. tests/run takes the first two entries, or EVERYDAY ones; the others are labelled `full`.
function(tessera_add_emulated floor)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EVERYDAY" "SPREADS;LABELS")
  if(NOT arg_EVERYDAY)
    set(arg_EVERYDAY 2)
  endif()
  set(number 0)
  foreach(how IN LISTS arg_SPREADS)
    set(who "")
    if(number GREATER_EQUAL arg_EVERYDAY)
      set(who full)
    endif()
    math(EXPR number "${number} + 1")
    set(environment TESSERA_DEVICE=emulated)
    set(spread "${how}")
    if(how MATCHES "^(.*):([a-z]+)$")
      set(spread "${CMAKE_MATCH_1}")
      set(route "${CMAKE_MATCH_2}")
      list(APPEND environment TESSERA_GPU_ROUTE=${route})
      if(route STREQUAL "ucx" AND NOT TESSERA_WITH_UCX)
        continue()
      endif()
    endif()
    string(REPLACE "solo:" "solo" name "emulated.${floor}_test.${how}")
    string(REPLACE ":" "." name "${name}")
    tessera_add_run(${name} SPREAD ${spread} PROGRAM ${floor}_test
      PROCESSORS 8 LABELS ${floor} ${arg_LABELS} ${who} ENVIRONMENT ${environment})
  endforeach()
endfunction()

# tessera_add_run(<name> SPREAD <spread>[:<route>] PROGRAM <target>
#                 [ARGUMENTS <argument>...] [PROCESSORS <n>] [LABELS <label>...]
#                 [ENVIRONMENT <name>=<value>...])
#
# One run of a test program, with random cases of its own. What this build cannot run is left out:
# several processes without MPI, and the route ucx without UCX. ctest waits a little longer than the program, which says why it ends.
function(tessera_add_run name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SPREAD;PROGRAM;PROCESSORS"
    "ARGUMENTS;LABELS;ENVIRONMENT")
  if(NOT arg_SPREAD MATCHES "^solo:")
    if(NOT TESSERA_WITH_MPI)
      return()
    endif()
    list(APPEND arg_LABELS spread)
  endif()
  if(arg_SPREAD MATCHES ":ucx$" AND NOT TESSERA_WITH_UCX)
    return()
  endif()
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  add_test(NAME ${name}
    COMMAND "${TESSERA_SPREAD}" ${arg_SPREAD} $<TARGET_FILE:${arg_PROGRAM}> ${arg_ARGUMENTS})
  math(EXPR limit "${TESSERA_HANGS_AFTER} + 20")
  tessera_next_slice(${arg_PROGRAM} slice)
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${limit} PROCESSORS ${arg_PROCESSORS} LABELS "${arg_LABELS}"
    ENVIRONMENT "TESSERA_TIMEOUT=${TESSERA_HANGS_AFTER};TESSERA_FUZZ_SLICE=${slice};${arg_ENVIRONMENT}")
  tessera_needs_core(${name})
endfunction()

# tessera_devices_of(<spread> <variable>): how many devices a spread has in all.
function(tessera_devices_of spread variable)
  if(NOT spread MATCHES "^(solo:|([0-9]+)x)([0-9]+)$")
    message(FATAL_ERROR "a spread is PxD or solo:D, not ${spread}")
  endif()
  set(processes 1)
  if(CMAKE_MATCH_2)
    set(processes ${CMAKE_MATCH_2})
  endif()
  math(EXPR devices "${processes} * ${CMAKE_MATCH_3}")
  set(${variable} ${devices} PARENT_SCOPE)
endfunction()

# tessera_label_target(<label> <program>): building tests_<label> builds every program so labelled.
function(tessera_label_target label program)
  if(NOT TARGET tests_${label})
    add_custom_target(tests_${label})
  endif()
  add_dependencies(tests_${label} ${program})
endfunction()
