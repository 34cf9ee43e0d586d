# The formulas of elementary functions, with MPFR as the oracle. Unlike other tests they are
# compiled as programs are, because vector loops are under test; the functions choose their
# instructions themselves, so that the machine that builds does not count.
find_library(TESSERA_MPFR_LIBRARY mpfr)
find_path(TESSERA_MPFR_INCLUDE mpfr.h)
if(NOT TESSERA_MPFR_LIBRARY OR NOT TESSERA_MPFR_INCLUDE)
  message(STATUS "MPFR is not here: formulas_test is left out")
  return()
endif()

file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*_test.cpp")
add_executable(formulas_test ${sources})
target_link_libraries(formulas_test PRIVATE tessera_test_main)
add_test(NAME formulas_test COMMAND formulas_test)
set_tests_properties(formulas_test PROPERTIES TIMEOUT 300 LABELS formulas)
# Programs for people.
add_executable(formulas_errors "${CMAKE_CURRENT_LIST_DIR}/errors.cpp")
add_executable(formulas_speed "${CMAKE_CURRENT_LIST_DIR}/speed.cpp")

foreach(program formulas_test formulas_errors formulas_speed)
  target_include_directories(${program} PRIVATE
    "${PROJECT_SOURCE_DIR}/tests" "${CMAKE_CURRENT_LIST_DIR}" "${TESSERA_MPFR_INCLUDE}")
  target_compile_options(${program} PRIVATE -O2)
  target_link_libraries(${program} PRIVATE
    tessera::base "${TESSERA_MPFR_LIBRARY}" tessera_warnings)
endforeach()
