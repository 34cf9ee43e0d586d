# Installs the library so that find_package(tessera) finds it.

include(CMakePackageConfigHelpers)

# tessera_build_before_install()
#
# Both `cmake --install` and the target `install` build what they install, from any state of the build
# folder, and not the tests. To be called before the first rule of install: they run in that order.
function(tessera_build_before_install)
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON PARENT_SCOPE)
  add_custom_target(tessera_installed)
  install(CODE "
    execute_process(
      COMMAND \"${CMAKE_COMMAND}\" --build \"${PROJECT_BINARY_DIR}\" --target tessera_installed
              --config \"\${CMAKE_INSTALL_CONFIG_NAME}\" --parallel
      COMMAND_ERROR_IS_FATAL ANY)")
  if(TESSERA_ARCH STREQUAL "native")
    install(CODE "message(WARNING
      \"the installed library was built with -march=native: it runs on processors like this one's\")")
  endif()
endfunction()

# tessera_install(<target> <argument>...): install(TARGETS <target> <argument>...), and builds it then.
function(tessera_install target)
  install(TARGETS ${target} ${ARGN})
  if(TARGET tessera_installed)
    add_dependencies(tessera_installed ${target})
  endif()
endfunction()

# tessera_install_package(): what find_package reads.
function(tessera_install_package)
  set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/tessera")
  configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/tesseraConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/tesseraConfig.cmake"
    INSTALL_DESTINATION "${package_folder}")
  # Before 1.0 every minor version may change the interface.
  write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake" COMPATIBILITY SameMinorVersion)

  install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION "${package_folder}")
  install(FILES
    "${PROJECT_BINARY_DIR}/tesseraConfig.cmake"
    "${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/build_type.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/cuda.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/find_kokkos.cmake"
    DESTINATION "${package_folder}")
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
endfunction()
