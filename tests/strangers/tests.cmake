# Strangers to a running job: on its host, and on another one.
if(NOT TESSERA_WITH_MPI OR NOT TESSERA_WITH_UCX)
  return()
endif()
tessera_add_test_driver(attacked strangers/driver.cpp LINKS tessera::tessera tessera_ucx_headers)
target_link_options(attacked PRIVATE -Wl,--wrap=dlsym,--wrap=listen,--wrap=send)
tessera_add_test_driver(stranger strangers/stranger.cpp LINKS tessera::tessera tessera_ucx_headers)
add_test(NAME strangers
  COMMAND Python3::Interpreter strangers/run.py $<TARGET_FILE:attacked> $<TARGET_FILE:stranger>
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
set_tests_properties(strangers PROPERTIES TIMEOUT 600 LABELS "scenarios;spread")
tessera_mostly_waits(strangers)
