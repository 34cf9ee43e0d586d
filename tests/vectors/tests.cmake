# Statements that g++ must make vectors of.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_test(NAME vectors
    COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/vectors/check.py"
            "${CMAKE_CURRENT_SOURCE_DIR}/vectors/statements.cpp" -- ${CMAKE_CXX_COMPILER} -std=c++20
            ${TESSERA_KERNEL_FLAGS} ${TESSERA_GNU_KERNEL_FLAGS} "-I${PROJECT_SOURCE_DIR}/include")
  set_tests_properties(vectors PROPERTIES TIMEOUT 300 LABELS check PROCESSORS 2)
  tessera_needs_core(vectors)
  tessera_when_changed("^include/tessera/(detail/)?array/|^tests/vectors/|^cmake/compiler" vectors)
endif()
