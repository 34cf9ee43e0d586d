# A bench at a small size is a test: that it runs, and that its result is that of the raw version. tests/run
# takes one case of each bench; the others are labelled `full`.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME bench.start
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/run" start --processes 3 --pairs 1
          --program $<TARGET_FILE:bench_start>)
set_tests_properties(bench.start PROPERTIES
  TIMEOUT 600 PROCESSORS 3 LABELS "bench;spread")
add_test(NAME bench.scaling
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/run" scaling --processes 4 --pairs 1 --cells 64 --steps 20
          --program $<TARGET_FILE:bench_heat>)
set_tests_properties(bench.scaling PROPERTIES
  TIMEOUT 600 PROCESSORS 4 LABELS "bench;spread")
add_test(NAME bench.roles
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/run" roles cube-512-terms vector-rows --pairs 1
          --program $<TARGET_FILE:bench_roles>)
set_tests_properties(bench.roles PROPERTIES
  TIMEOUT 600 PROCESSORS 2 LABELS "bench;spread")
add_test(NAME bench.overlap
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/run" overlap relay-4096 --pairs 1
          --program $<TARGET_FILE:bench_roles>)
set_tests_properties(bench.overlap PROPERTIES
  TIMEOUT 600 PROCESSORS 2 LABELS "bench;spread")
# Two builds that are one.
add_test(NAME bench.against
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/against.py"
          $<TARGET_FILE_DIR:bench_start> $<TARGET_FILE_DIR:bench_start> start transport.8B
          --pairs 1 --least 0.001)
set_tests_properties(bench.against PROPERTIES
  TIMEOUT 600 PROCESSORS 8 LABELS "bench;spread")
foreach(case heat.1d-256 heat.2d-4096 heat.3d-256 wave.2d-4096 gray_scott.2d-2048
             staggered.water-1024 staggered.fdtd-1024 star.2d-2048 residual.adaptive-2048 residual.jacobi-2048
             transpose.2d-2048 multigrid.3d-65
             sum.binned-64Ki sum.fast-64Ki random.uniform-float-64Ki random.walk-double-32Ki matmul.double-256 matmul.rows-64 matmul.terms-65536 transport.8B collectives.64KiB reshard.8MiB reshard.copies-2MiB onesided.read-8B cells.exp-double cells.axpy-float meet.fences meet.iterate-10)
  string(REPLACE "." ";" words ${case})
  list(GET words 0 bench)
  list(GET words 1 name)
  if(NOT TARGET bench_${bench}) # it is written for other processors, or needs a BLAS
    continue()
  endif()
  set(who full)
  if(NOT bench IN_LIST benches_with_a_case)
    list(APPEND benches_with_a_case ${bench})
    set(who "")
  endif()
  set(cells 64)
  if(bench STREQUAL "multigrid")
    set(cells 17) # 2^k + 1
  endif()
  add_test(NAME bench.${case}
    COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/run" ${bench} ${name} --check --cells ${cells} --steps 20
            --program $<TARGET_FILE:bench_${bench}>)
  set_tests_properties(bench.${case} PROPERTIES
    TIMEOUT 600 PROCESSORS 2 LABELS "bench;spread;${who}")
  tessera_needs_core(bench.${case})
endforeach()
foreach(test bench.start bench.scaling bench.roles bench.overlap bench.against)
  tessera_needs_core(${test})
  tessera_only_in_full(${test})
endforeach()
