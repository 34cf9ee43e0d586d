# Unity builds of the floors (option TESSERA_UNITY): a compiler reads the headers once for several
# sources. It is for builds that are made from nothing; elsewhere each source is compiled alone, so
# that a missing include is seen and a change compiles little.
#
# CMake's own UNITY_BUILD writes where the sources lie into the units, so that to the compiler's cache
# every copy of the sources is another.

set(TESSERA_UNIT_SOURCES 8)  # of a unit at most

# tessera_unite(<variable> <floor>)
#
# Replaces the floor's sources, a list in the variable, by units that include up to 8 of them. A unit
# has whole rooms, or a part of one. Vector code stays alone, since it sets its own flags by macros and
# pragmas; so does what is not C++.
function(tessera_unite variable floor)
  set(alone ${${variable}})
  set(sources ${alone})
  list(FILTER sources INCLUDE REGEX "[.]cpp$")
  list(FILTER sources EXCLUDE REGEX "/src/kernels/|/ops/binned_sum[.]cpp$")
  if(NOT TESSERA_UNITY OR NOT sources)
    return()
  endif()
  list(REMOVE_ITEM alone ${sources})
  tessera_sort_by_room(sources)

  set(units "")
  set(unit "")
  set(last_room "")
  foreach(source IN LISTS sources)
    list(LENGTH unit length)
    get_filename_component(room "${source}" DIRECTORY)
    math(EXPR twice "2 * ${length}")
    if(length EQUAL TESSERA_UNIT_SOURCES
       OR (twice GREATER_EQUAL TESSERA_UNIT_SOURCES AND NOT room STREQUAL last_room))
      tessera_write_unit(units ${floor} "${unit}")
      set(unit "")
    endif()
    list(APPEND unit "${source}")
    set(last_room "${room}")
  endforeach()
  tessera_write_unit(units ${floor} "${unit}")
  set(${variable} ${alone} ${units} PARENT_SCOPE)
endfunction()

# tessera_sort_by_room(<variable>): sorts sources by their folders, then by their names.
function(tessera_sort_by_room variable)
  set(rooms "")
  foreach(source IN LISTS ${variable})
    file(RELATIVE_PATH room "${PROJECT_SOURCE_DIR}" "${source}")
    get_filename_component(room "${room}" DIRECTORY)
    list(APPEND rooms "${room}")
    list(APPEND sources_of_${room} "${source}")
  endforeach()
  list(REMOVE_DUPLICATES rooms)
  list(SORT rooms)
  set(sorted "")
  foreach(room IN LISTS rooms)
    list(APPEND sorted ${sources_of_${room}})
  endforeach()
  set(${variable} ${sorted} PARENT_SCOPE)
endfunction()

# tessera_write_unit(<variable> <floor> <sources>): appends the unit of these sources to the variable.
function(tessera_write_unit variable floor sources)
  list(LENGTH ${variable} number)
  set(unit "${CMAKE_CURRENT_BINARY_DIR}/unity/${floor}_${number}.cpp")
  set(content "")
  foreach(source IN LISTS sources)
    file(RELATIVE_PATH source "${PROJECT_SOURCE_DIR}" "${source}")
    string(APPEND content "#include \"${source}\"\n")
  endforeach()
  file(GENERATE OUTPUT "${unit}" CONTENT "${content}")
  # What one source declares is none of another's business: these warnings are for builds where each
  # is compiled alone.
  set_source_files_properties("${unit}" PROPERTIES COMPILE_OPTIONS
    "-Wno-shadow;$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>")
  set(${variable} ${${variable}} "${unit}" PARENT_SCOPE)
endfunction()
