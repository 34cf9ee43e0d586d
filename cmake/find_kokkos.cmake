# tessera_find_kokkos([REQUIRED | QUIET])
#
# find_package(Kokkos) without the traps of Debian's package, which comes with Trilinos. Used by this
# build and by the installed package.
#   - Its target names an include folder that does not exist, which CMake refuses; its variable
#     Kokkos_INCLUDE_DIRS is right.
#   - It forces CMAKE_CXX_EXTENSIONS into the cache of whoever calls, unless that is off already.
function(tessera_find_kokkos)
  set(CMAKE_CXX_EXTENSIONS OFF)
  find_package(Kokkos ${ARGN})
  if(NOT TARGET Kokkos::kokkos)
    return()
  endif()
  get_target_property(include Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
  if(include AND NOT EXISTS "${include}" AND Kokkos_INCLUDE_DIRS)
    set_target_properties(Kokkos::kokkos PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}")
  endif()
endfunction()
