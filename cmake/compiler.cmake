# How Tessera is compiled: its warnings, the flags its users inherit, and faster tools where found.

# Warnings for Tessera's own sources; never installed, so no consumer inherits them.
# What nvcc makes of a source before the host's compiler sees it is not pedantic, and converts as C
# does.
add_library(tessera_warnings INTERFACE)
target_compile_options(tessera_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  "$<$<COMPILE_LANGUAGE:CXX>:-Wpedantic;-Wconversion;-Wsign-conversion;-Wold-style-cast>")
if(TESSERA_WERROR)
  target_compile_options(tessera_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror>
    "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-Xcompiler=-Werror;--Werror=cross-execution-space-call,all-warnings>")
endif()

# What everything that compiles statements must be compiled with, the library and programs alike:
#   -ffp-contract=off                  the same bits however a statement is cut into pieces
#   -fno-math-errno                    sqrt and its like become vector instructions
#   -fno-trapping-math                 so do comparisons, and both sides of `where`
#   -ftree-vectorize and its cost model: g++ 12 else makes few loops vectors at -O2
# None of them changes a number, but for the sign and the payload of a NaN.
set(TESSERA_KERNEL_FLAGS -ffp-contract=off -fno-math-errno -fno-trapping-math)
set(TESSERA_GNU_KERNEL_FLAGS -ftree-vectorize -fvect-cost-model=dynamic)

# tessera_apply_build_flags(<target>)
#
# Flags that the library and the programs that use it must share. They hang on the lowest floor and
# reach everything above it, installed or not.
#   TESSERA_KERNEL_FLAGS, and those of g++; nvcc hands them to the host's compiler
#   TESSERA_POISON     templates of the user's program ask for it too
#   -fsanitize         a program linked with a sanitized library needs the same run time
# And of programs that nvcc compiles:
#   --fmad=false               the bits of the host
#   --expt-relaxed-constexpr   constexpr functions, as those of std::complex, run on GPUs too
#   --diag-suppress=186        it is said of every loop over no dimensions
function(tessera_apply_build_flags target)
  target_compile_options(${target} PUBLIC ${TESSERA_KERNEL_FLAGS}
    "$<$<CXX_COMPILER_ID:GNU>:${TESSERA_GNU_KERNEL_FLAGS}>")
  target_compile_options(${target} PUBLIC
    "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--fmad=false;--expt-relaxed-constexpr;--diag-suppress=186>")
  if(TESSERA_ARCH STREQUAL "native")
    # Of the machine that builds, not of those that an installed library is used on.
    target_compile_options(${target} PUBLIC $<BUILD_INTERFACE:-march=native>)
    if(TESSERA_PORTABLE_ARCH)
      target_compile_options(${target} PUBLIC $<INSTALL_INTERFACE:-march=${TESSERA_PORTABLE_ARCH}>)
    endif()
  elseif(TESSERA_ARCH)
    target_compile_options(${target} PUBLIC -march=${TESSERA_ARCH})
  endif()
  if(TESSERA_POISON)
    target_compile_definitions(${target} PUBLIC TESSERA_POISON)
  endif()
  if(TESSERA_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${TESSERA_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${TESSERA_SANITIZE})
    if(TESSERA_SANITIZE MATCHES undefined)
      # A finding that is only printed would let the test pass.
      target_compile_options(${target} PUBLIC -fno-sanitize-recover=undefined)
    endif()
  endif()
endfunction()

# The rest is the taste of whoever builds Tessera itself, not of a project that contains it.
if(NOT PROJECT_IS_TOP_LEVEL)
  include(build_type)
  tessera_warn_without_build_type()
  return()
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()

# To the cache, what is compiled is the same in every build folder and copy of the sources; only
# debuggers are told where they lie. For precompiled headers it needs the second line, and room: one is
# up to 200 MB long.
find_program(CCACHE_PROGRAM ccache)
foreach(language CXX CUDA)
  if(CCACHE_PROGRAM AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_NOHASHDIR=1;CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
      "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime"
      "CCACHE_MAXSIZE=25G"
      "${CCACHE_PROGRAM}")
  endif()
endforeach()

include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=mold TESSERA_HAS_MOLD)
if(TESSERA_HAS_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
