# What tessera-info prints.
if(TESSERA_WITH_MPI AND TESSERA_BUILD_TOOLS)
  add_test(NAME info
    COMMAND Python3::Interpreter info/run.py $<TARGET_FILE:tessera-info>
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  set_tests_properties(info PROPERTIES TIMEOUT 300 LABELS "scenarios;spread")
  tessera_mostly_waits(info)
endif()
