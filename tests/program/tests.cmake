# Loops go ahead of their messages and run blocks: every route decides differently how far.
tessera_add_test(program MAIN runtime_main SPREADS 1x8 2x4 4x2 8x1 ROUTES shm mpi ucx
  LABELS threads LINKS tessera::tessera OPTIMISED fuzz_* PRECOMPILED tessera)
tessera_add_emulated(program SPREADS solo:8 4x2:shm:nccl 2x4:shm:ipc 4x2:mpi:host 2x4:shm:ucx
  LABELS threads)

# The bodies of loops run in every step and are compared. These cases are skipped elsewhere.
set(checked solo:3)
if(TESSERA_WITH_MPI)
  list(APPEND checked 2x2)
endif()
foreach(how IN LISTS checked)
  tessera_add_run(program_test.checked.${how} SPREAD ${how} PROGRAM program_test
    ARGUMENTS --test-suite=program/checked,program/iterate,program/fuzz --no-skip
    PROCESSORS 4 LABELS program threads
    ENVIRONMENT TESSERA_FUZZ_CASES=20 TESSERA_CHECK=numbers,recording)
endforeach()
if(TESSERA_WITH_MPI AND NOT TESSERA_SANITIZE)
  tessera_only_in_full(program_test.checked.solo:3)
endif()
tessera_add_run(program_test.strict SPREAD solo:2 PROGRAM program_test
  ARGUMENTS "--test-case=an explanation says that gathers are refused" --no-skip
  LABELS program threads ENVIRONMENT TESSERA_STRICT=1)

# Random loops with slots so short that messages may be too long for a device to go ahead of.
foreach(how IN LISTS TESSERA_SHORT_SLOTS)
  string(REPLACE ":" "" name "short_slots.loops.${how}")
  tessera_add_run(${name} SPREAD ${how} PROGRAM program_test ARGUMENTS --test-suite=program/fuzz
    PROCESSORS 3 LABELS program threads
    ENVIRONMENT TESSERA_SLOT_BYTES=128 TESSERA_FUZZ_CASES=100 TESSERA_OVERLAP=1)
  if(NOT how STREQUAL "2x1:mpi" AND NOT TESSERA_SANITIZE)
    tessera_only_in_full(${name})
  endif()
endforeach()

# Statements run together wherever they can, in bands of two rows: on the caller's thread, on workers,
# and beside messages.
set(together solo:1 solo:3)
if(TESSERA_WITH_MPI)
  list(APPEND together 2x1:shm 2x1:mpi 2x2:shm)
endif()
foreach(how IN LISTS together)
  string(REPLACE ":" "" name "program_test.together.${how}")
  tessera_add_run(${name} SPREAD ${how} PROGRAM program_test
    ARGUMENTS --test-suite=program/together,program/fuzz,program/iterate PROCESSORS 3
    LABELS program threads ENVIRONMENT TESSERA_TOGETHER=2)
  if(NOT how STREQUAL "2x2:shm" AND NOT TESSERA_SANITIZE)
    tessera_only_in_full(${name})
  endif()
endforeach()
