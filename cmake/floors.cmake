# The floors of the library as CMake targets.

# tessera_collect_sources(<variable> <floor> [<backend>[=<option>]...])
#
# The sources of a floor: src/<floor>/*.cpp and those of its backends, src/<floor>/<backend>/*.cpp and
# *.cu. A backend whose option is off gives its not_built.cpp alone, which has the same symbols and throws.
function(tessera_collect_sources variable floor)
  set(folder "${PROJECT_SOURCE_DIR}/src/${floor}")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  foreach(entry IN LISTS ARGN)
    string(REGEX MATCH "^([^=]+)=?(.*)$" _ "${entry}")
    set(backend "${CMAKE_MATCH_1}")
    set(switch "${CMAKE_MATCH_2}")
    file(GLOB built CONFIGURE_DEPENDS "${folder}/${backend}/*.cpp" "${folder}/${backend}/*.cu")
    file(GLOB not_built CONFIGURE_DEPENDS "${folder}/${backend}/not_built.cpp")
    if("${switch}" STREQUAL "" OR "${${switch}}")
      list(REMOVE_ITEM built ${not_built})
      list(APPEND sources ${built})
    else()
      list(APPEND sources ${not_built})
    endif()
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# tessera_add_floor(<name> [USES <lower floor>...] [BACKENDS <folder>[=<option>]...]
#                   [LINKS <library>...])
#
# One floor of the library: target tessera_<name>, alias and exported name tessera::<name>.
# Its headers, include/tessera/<name>/*.hpp, form the target's file set: they are installed with it,
# and the target all_verify_interface_header_sets compiles each of them alone. USES may only name
# floors that were added before this one. LINKS are libraries that no public header mentions.
function(tessera_add_floor name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;BACKENDS;LINKS")
  set(target tessera_${name})
  tessera_collect_sources(sources ${name} ${arg_BACKENDS})

  if(sources)
    set(scope PUBLIC)
    add_library(${target} STATIC ${sources})
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
  tessera_publish(${target} ${name} ${scope} "${PROJECT_SOURCE_DIR}/include/tessera/${name}/*.hpp")
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

# tessera_publish(<target> <exported name> <PUBLIC|INTERFACE> <glob of its headers>)
function(tessera_publish target exported scope pattern)
  file(GLOB headers CONFIGURE_DEPENDS "${pattern}")
  if(pattern MATCHES "[*]")
    # Optional ones: tessera_add_header.
    list(FILTER headers EXCLUDE REGEX "/(kokkos_view|mpi_communicator)[.]hpp$")
  endif()
  add_library(tessera::${exported} ALIAS ${target})
  target_sources(${target} ${scope}
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${headers})
  target_compile_features(${target} ${scope} cxx_std_20)
  set_target_properties(${target} PROPERTIES
    VERIFY_INTERFACE_HEADER_SETS ON EXPORT_NAME ${exported})
  install(TARGETS ${target} EXPORT tesseraTargets FILE_SET HEADERS)
endfunction()
