# Kernels for GPUs, as far as a machine without one can tell. Every kind of statement as CUDA source:
add_test(NAME cuda_seam COMMAND cuda/check ${CMAKE_CXX_COMPILER}
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
# What the kernels of examples take of a GPU:
add_test(NAME cuda_report
  COMMAND Python3::Interpreter cuda/report ${CMAKE_CXX_COMPILER} heat_1d heat_2d heat_3d
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
# A program that is half g++'s and half nvcc's, linked in both orders, and one that is all g++'s:
set(links_programs "")
if(TESSERA_WITH_CUDA)
  foreach(half first.cpp second.cpp second.cu)
    add_library(cuda_links_${half} OBJECT cuda/links/${half})
    target_link_libraries(cuda_links_${half} PRIVATE tessera::tessera tessera_warnings)
  endforeach()
  set(host_first first.cpp second.cu)
  set(cuda_first second.cu first.cpp)
  set(host_only first.cpp second.cpp)
  foreach(program host_first cuda_first host_only)
    set(objects "")
    foreach(half IN LISTS ${program})
      list(APPEND objects $<TARGET_OBJECTS:cuda_links_${half}>)
    endforeach()
    add_executable(cuda_links_${program} ${objects})
    target_link_libraries(cuda_links_${program} PRIVATE tessera::tessera)
    set_target_properties(cuda_links_${program} PROPERTIES LINKER_LANGUAGE CXX)
    list(APPEND links_programs $<TARGET_FILE:cuda_links_${program}>)
  endforeach()
endif()
add_test(NAME cuda_links COMMAND cuda/links/check "${TESSERA_SPREAD}" ${links_programs}
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
set_tests_properties(cuda_seam cuda_report cuda_links PROPERTIES
  TIMEOUT 600 LABELS "check;slow" SKIP_RETURN_CODE 77)
foreach(name cuda_seam cuda_report cuda_links)
  tessera_needs_core(${name})
endforeach()
# What nvcc compiles: statements and their kernels.
tessera_when_changed("[.]cuh?$|/cuda/|^include/tessera/detail/(array|kernels|ops|random)/" cuda_seam cuda_report cuda_links)
