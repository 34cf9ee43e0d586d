# The floors of the library as CMake targets.

include(unity)

# tessera_collect_sources(<variable> <floor> [<backend>=<option>...])
#
# The sources of a floor and its rooms, src/<floor>/**.cpp and *.cu. Of a backend, a folder of the
# floor, either all sources but not_built.cpp are taken, or, where its option is off, that one alone:
# it has the same symbols and throws.
function(tessera_collect_sources variable floor)
  set(folder "${PROJECT_SOURCE_DIR}/src/${floor}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp" "${folder}/*.cu")
  foreach(entry IN LISTS ARGN)
    string(REGEX MATCH "^([^=]+)=(.+)$" _ "${entry}")
    set(backend "${folder}/${CMAKE_MATCH_1}")
    if(${CMAKE_MATCH_2})
      list(REMOVE_ITEM sources "${backend}/not_built.cpp")
    else()
      list(FILTER sources EXCLUDE REGEX "^${backend}/")
      list(APPEND sources "${backend}/not_built.cpp")
    endif()
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# tessera_add_floor(<name> [USES <lower floor>...] [BACKENDS <folder>=<option>...]
#                   [LINKS <library>...])
#
# One floor of the library: target tessera_<name>, alias and exported name tessera::<name>.
# Its headers, include/tessera/<name>/ and include/tessera/detail/<name>/, form the target's file set: they are installed with it,
# and the target all_verify_interface_header_sets compiles each of them alone. USES may only name
# floors that were added before this one. LINKS are libraries that no public header mentions.
function(tessera_add_floor name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;BACKENDS;LINKS")
  set(target tessera_${name})
  tessera_collect_sources(sources ${name} ${arg_BACKENDS})
  tessera_unite(sources ${name})

  if(sources)
    set(scope PUBLIC)
    add_library(${target} STATIC ${sources})
    tessera_use_private_headers(${target})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:tessera_warnings> ${arg_LINKS})
  else()
    set(scope INTERFACE)  # headers only
    add_library(${target} INTERFACE)
  endif()
  foreach(lower IN LISTS arg_USES)
    if(NOT TARGET tessera::${lower})
      message(FATAL_ERROR "floor ${name} uses ${lower}, which is not below it")
    endif()
    target_link_libraries(${target} ${scope} tessera::${lower})
  endforeach()
  tessera_publish(${target} ${name} ${scope} "${PROJECT_SOURCE_DIR}/include/tessera/${name}/*.hpp"
    "${PROJECT_SOURCE_DIR}/include/tessera/detail/${name}/*.hpp")
endfunction()

# tessera_add_umbrella(<name> USES <floor>)
#
# What programs link to: tessera::<name> brings the given floor, hence all of them, and the headers
# that lie directly in include/tessera.
function(tessera_add_umbrella name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "USES" "")
  add_library(tessera_${name} INTERFACE)
  target_link_libraries(tessera_${name} INTERFACE tessera::${arg_USES})
  tessera_publish(tessera_${name} ${name} INTERFACE "${PROJECT_SOURCE_DIR}/include/tessera/*.hpp")
endfunction()

# tessera_add_header(<name> <header below include/tessera> USES <floor> LINKS <library>...)
#
# An optional header that brings a library of others: programs that include it link tessera::<name>.
function(tessera_add_header name header)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "USES" "LINKS")
  add_library(tessera_${name} INTERFACE)
  target_link_libraries(tessera_${name} INTERFACE tessera::${arg_USES} ${arg_LINKS})
  tessera_publish(tessera_${name} ${name} INTERFACE "${PROJECT_SOURCE_DIR}/include/tessera/${header}")
endfunction()

# tessera_publish(<target> <exported name> <PUBLIC|INTERFACE> <glob of its headers>...)
function(tessera_publish target exported scope)
  set(glob GLOB_RECURSE)
  if(ARGN MATCHES "include/tessera/[*]")
    set(glob GLOB)  # the umbrella alone
  endif()
  file(${glob} headers CONFIGURE_DEPENDS ${ARGN})
  if(ARGN MATCHES "[*]")
    # Optional ones: tessera_add_header.
    list(FILTER headers EXCLUDE REGEX "/(kokkos_view|mpi_communicator)[.]hpp$")
  endif()
  add_library(tessera::${exported} ALIAS ${target})
  target_sources(${target} ${scope}
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${headers})
  target_compile_features(${target} ${scope} cxx_std_20)
  set_target_properties(${target} PROPERTIES
    VERIFY_INTERFACE_HEADER_SETS ON EXPORT_NAME ${exported})
  tessera_install(${target} EXPORT tesseraTargets FILE_SET HEADERS)
endfunction()

# tessera_use_private_headers(<target>)
#
# For floors, tests, tools and benches: the target may include private headers, those in src/, as
# "src/<floor>/<file>.hpp".
function(tessera_use_private_headers target)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
endfunction()

# tessera_verify_private_headers([BACKENDS <folder>=<option>...] LINKS <library>...)
#
# The target tessera_verify_private_headers compiles each header below src/ alone, as the target
# all_verify_interface_header_sets does with public ones. Headers in the folder of a backend whose
# option is off are left out.
function(tessera_verify_private_headers)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "BACKENDS;LINKS")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
    "${PROJECT_SOURCE_DIR}/src/*.hpp")
  foreach(entry IN LISTS arg_BACKENDS)
    string(REGEX MATCH "^([^=]+)=(.+)$" _ "${entry}")
    if(NOT "${${CMAKE_MATCH_2}}")
      list(FILTER headers EXCLUDE REGEX "^src/(.*/)?${CMAKE_MATCH_1}/")
    endif()
  endforeach()
  set(sources "")
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "[.]hpp$" ".cpp" source
      "${CMAKE_CURRENT_BINARY_DIR}/tessera_verify_private_headers/${header}")
    file(GENERATE OUTPUT "${source}" CONTENT "#include \"${header}\"\n")
    list(APPEND sources "${source}")
  endforeach()
  if(NOT sources)
    add_custom_target(tessera_verify_private_headers)
    return()
  endif()
  add_library(tessera_verify_private_headers OBJECT EXCLUDE_FROM_ALL ${sources})
  tessera_use_private_headers(tessera_verify_private_headers)
  target_link_libraries(tessera_verify_private_headers PRIVATE ${arg_LINKS} tessera_warnings)
endfunction()
