# Every example as a test at a small size: 4 devices in one process, and 2 processes of 2. tests/run takes
# one of the two, the first example alone, the second spread, and so on; the other is labelled `full`.

# tessera_test_example(<name> [STRICT] [<argument>...])
function(tessera_test_example name)
  if(NOT TESSERA_WITH_MPI)
    tessera_test_example_as(${name} solo:4 ${ARGN})
    return()
  endif()
  get_property(count GLOBAL PROPERTY tessera_examples_tested)
  math(EXPR count "0${count} + 1")
  set_property(GLOBAL PROPERTY tessera_examples_tested ${count})
  math(EXPR is_odd "${count} % 2")
  set(everyday 2x2)
  set(other solo:4)
  if(is_odd)
    set(everyday solo:4)
    set(other 2x2)
  endif()
  tessera_test_example_as(${name} ${everyday} ${ARGN})
  tessera_test_example_as(${name} ${other} FULL ${ARGN})
endfunction()

# tessera_test_example_as(<name> <spread> [STRICT] [FULL] [<argument>...])
#
# The test is named by the example, the spread and the first letters of its flags: the sizes are the
# same for all. STRICT: a gather that the example does not announce is an error.
function(tessera_test_example_as name spread)
  cmake_parse_arguments(PARSE_ARGV 2 arg "STRICT;FULL" "" "")
  set(arguments ${arg_UNPARSED_ARGUMENTS})
  string(REPLACE ":" "" test "example.${name}.${spread}")
  if("--periodic" IN_LIST arguments)
    string(APPEND test ".periodic")
  endif()
  add_test(NAME ${test}
    COMMAND "${PROJECT_SOURCE_DIR}/tests/spread" ${spread} $<TARGET_FILE:${name}> ${arguments})
  set_tests_properties(${test} PROPERTIES
    TIMEOUT 130 PROCESSORS 4 ENVIRONMENT TESSERA_TIMEOUT=120 LABELS example)
  tessera_needs_core(${test})
  if(arg_STRICT)
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT TESSERA_STRICT=1)
  endif()
  if(arg_FULL)
    tessera_only_in_full(${test})
  endif()
  if(NOT spread MATCHES "^solo")
    set_property(TEST ${test} APPEND PROPERTY LABELS spread)
  endif()
endfunction()

foreach(ends "" --periodic)
  tessera_test_example(heat_1d STRICT --cells 101 --steps 100 ${ends})
  tessera_test_example(heat_2d STRICT --cells 19 30 --steps 50 ${ends})
  tessera_test_example(heat_3d --cells 9 10 7 --steps 30 ${ends})
  if(TESSERA_WITH_MPI)
    tessera_test_example_as(heat_1d_mpi 3x1 --cells 101 --steps 100 ${ends})
    tessera_test_example_as(heat_2d_mpi 4x1 --cells 19 30 --steps 50 ${ends})
  endif()
endforeach()
tessera_test_example(life --cells 33 48 --steps 70)
tessera_test_example(wave_2d --cells 19 30 --steps 150)
tessera_test_example(shallow_water_2d --cells 19 30 --steps 150)
tessera_test_example(gray_scott_2d --cells 30 --steps 150)
tessera_test_example(jacobi_poisson --cells 14 19)
tessera_test_example(histogram)
tessera_test_example(pi 20000)
tessera_test_example(cg_dense 60)
tessera_test_example(summed_area_2d 13 22)
tessera_test_example(k_means 1001)
tessera_test_example(seepage_2d 0 21 230)
tessera_test_example(polynomial_1d 101 2 2)
tessera_test_example(smooth_3d 11 2 2)
tessera_test_example(echo_2d 33 60)
tessera_test_example_as(sharding_strategies solo:1)
set_tests_properties(example.sharding_strategies.solo1 PROPERTIES PASS_REGULAR_EXPRESSION "\
       q dim 0: 0-16 [|] 16-24 [|] 24-40 [|] 40-48 [|] 48-64 [|] 64-72 [|] 72-88 [|] 88-96
       k dim 0: 0-8 [|] 0-8 [|] 8-16 [|] 8-16 [|] 16-24 [|] 16-24 [|] 24-32 [|] 24-32
.*[|]   0   [|]   1   [|]   2   [|]   3   [|] 0 [|] 1 [|] 2 [|] 3 [|] 0 [|] 1 [|] 2 [|] 3 [|]")
tessera_test_example_as(heat_1d_serial solo:1 --cells 101 --steps 100)

# All spreads and routes against each other and against the plain loop.
add_test(NAME example.check
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/check" "$<TARGET_FILE_DIR:heat_1d>")
set_tests_properties(example.check PROPERTIES
  TIMEOUT 900 PROCESSORS 1 COST 98 LABELS "example;slow;spread;full")
tessera_needs_core(example.check)
