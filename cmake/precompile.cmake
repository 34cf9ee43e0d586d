# Precompiled headers, which save a third of the time to compile a test (option TESSERA_PRECOMPILE).

# tessera_precompile(<target> standard|tessera optimised|unoptimised)
#
# The sources of a test program begin with precompiled headers: doctest and those of the standard
# library that most tests include, and with `tessera` also the umbrella header, which suits programs
# that include most of it anyway. Programs that are compiled alike share them.
function(tessera_precompile target contents optimization)
  if(NOT TESSERA_PRECOMPILE OR "${contents}" STREQUAL "")
    return()
  endif()
  set(owner tessera_precompiled_${contents}_${optimization})
  if(NOT TARGET ${owner})
    tessera_add_precompiled(${owner} ${contents} ${optimization})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
  tessera_allow_cached_precompiled(${target})
endfunction()

# tessera_add_precompiled(<owner> <contents> <optimization>): the target that compiles the headers.
function(tessera_add_precompiled owner contents optimization)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${owner}.cpp")
  file(GENERATE OUTPUT "${source}" CONTENT "// Headers are precompiled for a source.\n")
  add_library(${owner} OBJECT "${source}")
  if(optimization STREQUAL "optimised")
    tessera_compile_as_test(${owner})
  else()
    tessera_compile_as_test(${owner} UNOPTIMISED)
  endif()
  set(headers <algorithm> <array> <cmath> <complex> <cstdint> <cstring> <functional> <iostream>
    <limits> <map> <memory> <numeric> <optional> <random> <set> <span> <sstream> <string>
    <string_view> <thread> <tuple> <utility> <vector> <doctest/doctest.h>)
  target_link_libraries(${owner} PRIVATE doctest::doctest tessera::base)
  if(contents STREQUAL "tessera")
    list(APPEND headers <tessera/tessera.hpp>)
    target_link_libraries(${owner} PRIVATE tessera::tessera)
  endif()
  target_precompile_headers(${owner} PRIVATE ${headers})
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    set_target_properties(${owner} PROPERTIES CXX_COMPILER_LAUNCHER
      "${PROJECT_SOURCE_DIR}/cmake/compile_afresh.sh;${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
  tessera_allow_cached_precompiled(${owner})
endfunction()

# tessera_allow_cached_precompiled(<target>): without this option of g++, ccache does not see that a
# source includes a precompiled header.
function(tessera_allow_cached_precompiled target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endfunction()
