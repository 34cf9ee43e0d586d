# Installs the library so that find_package(tessera) finds it.

include(CMakePackageConfigHelpers)

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
  "${PROJECT_SOURCE_DIR}/cmake/cuda.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/find_kokkos.cmake"
  DESTINATION "${package_folder}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
