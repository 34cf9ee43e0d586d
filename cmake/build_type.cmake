# tessera_warn_without_build_type()
#
# Kernels are instantiated in the programs that use the library, and are some 200 times slower if the
# compiler does not optimise. Installed with the library, for projects that find it as a package.
function(tessera_warn_without_build_type)
  if(CMAKE_BUILD_TYPE OR CMAKE_CONFIGURATION_TYPES OR "${CMAKE_CXX_FLAGS}" MATCHES "-O[1-9gsf]")
    return()
  endif()
  message(WARNING "${PROJECT_NAME} is configured without a build type, so the compiler does not "
    "optimise, and Tessera's kernels run about 200 times slower. Configure with "
    "-DCMAKE_BUILD_TYPE=Release, or with another type.")
endfunction()
