# What scripts check of the sources and the documents.

# tessera_add_check(<name> <script> [<argument>...]): a script of this folder; 77 means that what it
# needs is not installed.
function(tessera_add_check name script)
  set(interpreter "")
  if(script MATCHES "[.]py$")
    set(interpreter Python3::Interpreter)
  endif()
  add_test(NAME ${name} COMMAND ${interpreter} checks/${script} ${ARGN}
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}/tests")
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS check SKIP_RETURN_CODE 77)
  tessera_needs_core(${name})
endfunction()

tessera_add_check(includes floors.py "${PROJECT_SOURCE_DIR}")
if(TESSERA_BUILD_EXAMPLES AND NOT TESSERA_SANITIZE)
  tessera_add_check(house house.py "${PROJECT_SOURCE_DIR}" --build "${PROJECT_BINARY_DIR}"
    --limit headers=82 --limit names=165 --limit bare=0 --limit lines=11100 --limit room=3000
    --limit file=400 --limit function=40 --limit symbols=0)
endif()
tessera_add_check(drawing floors.py --check-drawing "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md" "${PROJECT_SOURCE_DIR}")
tessera_add_check(floors_check floors_test.py)
tessera_when_changed("^tests/checks/floors" floors_check)
tessera_add_check(locales locales.py "${PROJECT_SOURCE_DIR}")
tessera_add_check(style style)
tessera_add_check(variables variables.py "${PROJECT_SOURCE_DIR}")
tessera_add_check(words words.py "${PROJECT_SOURCE_DIR}")
# The README's program is the example, word for word.
tessera_add_check(readme readme.py "${PROJECT_SOURCE_DIR}")
tessera_add_check(doxygen doxygen)
tessera_when_changed("^(include|docs)/" doxygen)
tessera_add_check(mpich mpich "${PROJECT_BINARY_DIR}/mpich" ${CMAKE_CXX_COMPILER})
set_tests_properties(mpich PROPERTIES TIMEOUT 2400 LABELS "check;spread;slow")
tessera_when_changed("^(cmake/find|src/job/|src/transport/(mpi|protocol)/|tests/checks/mpich)" mpich)

# Every public header alone, and every private one; tests/run compiles those that changed, and those that
# include them.
tessera_add_check(headers headers.py "${PROJECT_BINARY_DIR}")
set_tests_properties(headers PROPERTIES TIMEOUT 1800 LABELS "check;slow" PROCESSORS 2)

# Every mutant applies, and its test is there.
tessera_add_check(mutants_apply mutants.py "${PROJECT_SOURCE_DIR}")
