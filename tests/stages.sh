# Shell functions for scripts that go through several stages; sourced by tests/run and its kin.
# shellcheck shell=bash

passed=0 failed=0 skipped=0 # tests of all suites so far

# stage NAME COMMAND...: runs one stage and prints how long it took.
stage() {
  local name=$1 begin=$SECONDS code=0
  shift
  echo "=== $name"
  "$@" </dev/null || code=$?
  echo "=== $name: $((SECONDS - begin)) s$( ((code == 0)) || echo ", code $code")"
  return "$code"
}

# suite NAME CTEST_ARGUMENT...: a stage that runs ctest and adds up its tests.
suite() {
  local name=$1 log ran wrong left_out
  shift
  log=$(mktemp)
  stage "$name" count_tests "$log" ctest --parallel "$(nproc)" --output-on-failure "$@" || true
  # "97% tests passed, 1 tests failed out of 30"
  read -r wrong ran < <(sed -n 's/.* tests passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' \
    "$log") || { wrong=1 ran=1; }
  left_out=$(grep -c '\*\*\*Skipped' "$log") || true # ctest takes these for passed
  rm -f "$log"
  passed=$((passed + ran - wrong - left_out))
  failed=$((failed + wrong))
  skipped=$((skipped + left_out))
}

# count_tests LOG COMMAND...: the command's output goes to the terminal and to a file.
count_tests() {
  local log=$1
  shift
  "$@" 2>&1 | tee "$log"
}

# build PRESET [TARGET]...: configures and builds; what cannot be built counts as one failed test.
build() {
  local preset=$1
  shift
  if ! stage "configure $preset" cmake --preset "$preset" ||
    ! stage "build $preset" cmake --build --preset "$preset" ${1:+--target "$@"}; then
    failed=$((failed + 1))
    return 1
  fi
}

# summary: prints the last line of every run; its code says whether all is well.
summary() {
  if ((skipped > 0)); then echo "$skipped skipped; the lines above say why"; fi
  echo "$passed passed, $failed failed"
  ((failed == 0 && passed > 0))
}
