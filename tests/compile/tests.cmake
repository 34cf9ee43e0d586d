# Programs that the compiler must refuse.
file(GLOB must_not_compile CONFIGURE_DEPENDS compile/*.cpp)
add_test(NAME must_not_compile
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/compile/must_not_compile.py"
          ${must_not_compile} -- ${CMAKE_CXX_COMPILER} -std=c++20 ${TESSERA_KERNEL_FLAGS}
          "-I${PROJECT_SOURCE_DIR}/include")
set_tests_properties(must_not_compile PROPERTIES TIMEOUT 300 LABELS check PROCESSORS 2)
tessera_needs_core(must_not_compile)
tessera_when_changed("^(include|tests/compile)/|^cmake/compiler" must_not_compile)
