# The installed library, and its sources as a subfolder, as other projects use them.
add_test(NAME package
  COMMAND package/check "${PROJECT_BINARY_DIR}" ${CMAKE_CXX_COMPILER}
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
set_tests_properties(package PROPERTIES TIMEOUT 900 LABELS "check;slow")
tessera_needs_core(package)
tessera_when_changed("^(CMakeLists.txt|cmake/(?!testing|packages)|tests/package/)" package)
