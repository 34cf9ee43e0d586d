# The target `docs` writes the reference of the public interface to reference/html in the build
# folder, where Doxygen is found.
find_program(DOXYGEN_PROGRAM doxygen)
if(DOXYGEN_PROGRAM)
  add_custom_target(docs
    COMMAND ${CMAKE_COMMAND} -E env "TESSERA_REFERENCE=${PROJECT_BINARY_DIR}/reference"
            "${DOXYGEN_PROGRAM}" docs/Doxyfile
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Reference: ${PROJECT_BINARY_DIR}/reference/html/index.html"
    VERBATIM)
endif()
