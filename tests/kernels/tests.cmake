tessera_add_test(kernels PRECOMPILED standard OPTIMISED formulas products
  LINKS tessera::index)

# The formulas beside MPFR. Unlike other tests they are compiled as programs are, because vector loops
# are under test; the functions choose their instructions themselves, so that the machine that builds
# does not count.
if(TESSERA_SANITIZE) # arithmetic on numbers alone
  return()
endif()
find_library(TESSERA_MPFR_LIBRARY mpfr)
find_path(TESSERA_MPFR_INCLUDE mpfr.h)
if(NOT TESSERA_MPFR_LIBRARY OR NOT TESSERA_MPFR_INCLUDE)
  message(STATUS "MPFR is not here: formulas_mpfr_test is left out")
  return()
endif()
file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/mpfr/*_test.cpp")
add_executable(formulas_mpfr_test ${sources})
target_link_libraries(formulas_mpfr_test PRIVATE tessera_test_main)
add_test(NAME formulas_mpfr_test COMMAND formulas_mpfr_test)
set_tests_properties(formulas_mpfr_test PROPERTIES TIMEOUT 600 LABELS kernels)
tessera_needs_core(formulas_mpfr_test)
tessera_when_changed("/kernels/" formulas_mpfr_test)
# Programs for people: the largest errors of all functions, and their speed.
foreach(name errors circular_errors speed)
  add_executable(formulas_${name} EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/mpfr/${name}.cpp")
endforeach()
foreach(program formulas_mpfr_test formulas_errors formulas_circular_errors formulas_speed)
  target_include_directories(${program} PRIVATE
    "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests" "${CMAKE_CURRENT_LIST_DIR}/mpfr"
    "${TESSERA_MPFR_INCLUDE}")
  target_compile_options(${program} PRIVATE -O2)
  target_link_libraries(${program} PRIVATE
    tessera::kernels "${TESSERA_MPFR_LIBRARY}" tessera_warnings)
endforeach()
