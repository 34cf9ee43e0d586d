# The data of tests/mutants: that every mutant applies, and that its test is there.
add_test(NAME mutants_apply COMMAND Python3::Interpreter checks/mutants.py "${PROJECT_SOURCE_DIR}"
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
set_tests_properties(mutants_apply PROPERTIES TIMEOUT 300 LABELS check)
