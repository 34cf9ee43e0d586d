# Several hosts on one machine. The scripts compile the switch where they need it; here it is held to
# the warnings of the project.
add_executable(tessera_hosts_switch hosts/switch.cpp)
target_compile_features(tessera_hosts_switch PRIVATE cxx_std_20)
target_link_libraries(tessera_hosts_switch PRIVATE tessera_warnings)
if(TESSERA_WITH_MPI)
  add_test(NAME hosts_faults
    COMMAND Python3::Interpreter hosts/faults.py $<TARGET_FILE:transport_faults>
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  set_tests_properties(hosts_faults PROPERTIES
    TIMEOUT 1800 LABELS "transport;spread;slow" SKIP_RETURN_CODE 77)
  tessera_mostly_waits(hosts_faults)
endif()
if(TESSERA_WITH_MPI AND TESSERA_BUILD_EXAMPLES)
  add_test(NAME hosts COMMAND hosts/run_hosts_test.sh $<TARGET_FILE:scenarios> $<TARGET_FILE:heat_1d>
           $<$<BOOL:${TESSERA_BUILD_TOOLS}>:$<TARGET_FILE:tessera-info>>
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  set_tests_properties(hosts PROPERTIES
    TIMEOUT 900 LABELS "spread;slow" SKIP_RETURN_CODE 77)
  tessera_mostly_waits(hosts)
endif()
