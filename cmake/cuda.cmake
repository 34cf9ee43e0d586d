# GPUs by CUDA: the compiler nvcc, and programs that it compiles. Installed with the library.

# tessera_find_nvcc(<variable>): whether there is an nvcc that works. CUDACXX or CMAKE_CUDA_COMPILER
# names one; else it is that of the PATH, or that of the usual folder.
macro(tessera_find_nvcc variable)
  if(NOT CMAKE_CUDA_COMPILER AND "$ENV{CUDACXX}" STREQUAL "")
    find_program(TESSERA_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
      PATH_SUFFIXES bin DOC "The CUDA compiler")
    mark_as_advanced(TESSERA_NVCC)
    if(TESSERA_NVCC)
      set(ENV{CUDACXX} "${TESSERA_NVCC}")
    endif()
  endif()
  # One compiler for both halves of a program: whether nvcc takes it is seen at once.
  if(NOT CMAKE_CUDA_HOST_COMPILER AND "$ENV{CUDAHOSTCXX}" STREQUAL "")
    set(ENV{CUDAHOSTCXX} "${CMAKE_CXX_COMPILER}")
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  set(${variable} OFF)
  if(CMAKE_CUDA_COMPILER)
    set(${variable} ON)
  endif()
endmacro()

# tessera_find_cuda_toolkit(...): find_package(CUDAToolkit ...). Of projects that require CMake 3.25 and
# later that version's module wants nvToolsExt, which CUDA 13 has no more, and stops.
macro(tessera_find_cuda_toolkit)
  set(tessera_required_cmake "${CMAKE_MINIMUM_REQUIRED_VERSION}")
  set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
  find_package(CUDAToolkit ${ARGN})
  set(CMAKE_MINIMUM_REQUIRED_VERSION "${tessera_required_cmake}")
endmacro()

# tessera_enable_cuda(): the language CUDA in this folder and those below.
macro(tessera_enable_cuda)
  tessera_find_nvcc(tessera_has_nvcc)
  # CMake 3.25 does not know how nvcc is told of C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  # Code for the two generations of large GPUs, and the newest in a form that later ones compile when a
  # program starts.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  endif()
  enable_language(CUDA)
endmacro()

# tessera_compile_as_cuda(<target>)
#
# The C++ sources of a program, unchanged, are compiled by nvcc: their statements run on GPUs too. Does
# nothing where Tessera was built without CUDA. To be called in the folder of the target, outside of
# functions, after its sources are named.
macro(tessera_compile_as_cuda target)
  if(TESSERA_WITH_CUDA)
    tessera_enable_cuda()
    tessera_set_language_cuda(${target})
  endif()
endmacro()

function(tessera_set_language_cuda target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.](cpp|cc|cxx|C)$")
  set_source_files_properties(${sources} PROPERTIES LANGUAGE CUDA)
  # A target that was added before the language has none.
  get_target_property(architectures ${target} CUDA_ARCHITECTURES)
  if(NOT architectures)
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}")
  endif()
  # A function that cannot run on a GPU is found when a kernel that calls it is compiled.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--Werror=cross-execution-space-call>)
endfunction()
