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
endfunction()

tessera_add_check(includes floors.py "${PROJECT_SOURCE_DIR}")
if(TESSERA_BUILD_EXAMPLES AND NOT TESSERA_SANITIZE)
  tessera_add_check(house house.py "${PROJECT_SOURCE_DIR}" --build "${PROJECT_BINARY_DIR}"
    --limit headers=99 --limit names=180 --limit bare=0 --limit lines=13100 --limit room=3000
    --limit file=400 --limit function=40 --limit symbols=0)
endif()
tessera_add_check(drawing floors.py --check-drawing "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md" "${PROJECT_SOURCE_DIR}")
tessera_add_check(floors_check floors_test.py)
tessera_add_check(life_check life_test.py)
tessera_add_check(locales locales.py "${PROJECT_SOURCE_DIR}")
tessera_add_check(locales_check locales_test.py)
tessera_add_check(style style)
tessera_add_check(tidy_check tidy_test.py)
tessera_add_check(variables variables.py "${PROJECT_SOURCE_DIR}")
tessera_add_check(words words.py "${PROJECT_SOURCE_DIR}")
# The README's program is the example, word for word.
tessera_add_check(readme readme.py "${PROJECT_SOURCE_DIR}")
tessera_add_check(doxygen doxygen)
set_tests_properties(doxygen PROPERTIES TIMEOUT 120)
tessera_add_check(mpich mpich "${PROJECT_BINARY_DIR}/mpich" ${CMAKE_CXX_COMPILER})
set_tests_properties(mpich PROPERTIES TIMEOUT 2400 LABELS "check;spread;slow" PROCESSORS 4)

# Every public header alone, and every private one. Ninja knows which of them changed.
add_test(NAME headers
  COMMAND ${CMAKE_COMMAND} --build "${PROJECT_BINARY_DIR}"
          --target all_verify_interface_header_sets tessera_verify_private_headers)
set_tests_properties(headers PROPERTIES TIMEOUT 1800 LABELS "check;slow" RUN_SERIAL ON)

# What takes part in the life of one statement. Functions that are inlined are not counted: without
# optimisation there are about twice as many.
if(NOT TESSERA_SANITIZE)
  tessera_add_test_driver(statement_life checks/life/driver.cpp LINKS tessera::tessera)
  set(limits steady.climbs=0 first.climbs=0)
  if(NOT "${CMAKE_CXX_FLAGS_DEBUG}" MATCHES "-O0")
    list(APPEND limits steady.functions=92 steady.files=48 first.functions=230 first.files=78)
  endif()
  list(TRANSFORM limits PREPEND --limit=)
  tessera_add_check(life life.py $<TARGET_FILE:statement_life> ${limits})
  set_tests_properties(life PROPERTIES TIMEOUT 300 PROCESSORS 2)
endif()
