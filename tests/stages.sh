# Shell functions for scripts that go through several stages; sourced by tests/run and similar scripts.
# shellcheck shell=bash

passed=0 failed=0 skipped=0 # tests of all suites so far
failures=()                 # the tests and checks that failed
built=()                    # the presets that were built
times=$(mktemp)             # "SECONDS NAME" of every test
trap 'rm -f "$times"' EXIT

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
  stage "$name" with_log "$log" ctest --parallel "$(nproc)" --output-on-failure "$@" || true
  # "97% tests passed, 1 tests failed out of 30"
  read -r wrong ran < <(sed -n 's/.* tests passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' \
    "$log") || { wrong=1 ran=1; }
  left_out=$(grep -c '\*\*\*Skipped' "$log") || true # ctest takes these for passed
  # " 12/191 Test  #7: plan_test ......   Passed    0.35 sec"
  sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec.*$/\2 \1/p' "$log" |
    sed "s/\$/ ($name)/" >>"$times"
  # "	  5 - plan_test (Failed)   plan"; what was skipped is listed alike
  mapfile -t -O "${#failures[@]}" failures < <(
    sed -nE "/^[[:space:]]+[0-9]+ - [^ ]+ \(Skipped\)/d; s|^[[:space:]]+[0-9]+ - ([^ ]+) \(.*|\1 ($name)|p" \
      "$log")
  rm -f "$log"
  passed=$((passed + ran - wrong - left_out))
  failed=$((failed + wrong))
  skipped=$((skipped + left_out))
}

# with_log LOG COMMAND...: the command's output goes to the terminal and to a file.
with_log() {
  local log=$1
  shift
  "$@" 2>&1 | tee "$log"
}

# check NAME COMMAND...: a stage that counts as one test; code 77 says that it was skipped. The summary
# repeats the last lines of one that failed.
check() {
  local name=$1 log code=0
  shift
  log=$(mktemp)
  stage "$name" with_log "$log" "$@" || code=$?
  case $code in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) failures+=("$name"$'\n'"$(tail -n 8 "$log" | cut -c 1-300)") ;;
  esac
  rm -f "$log"
}

# build PRESET [TARGET]...: configures and builds; what cannot be built counts as one failed test.
# Once, g++ wrote a precompiled header that did not recognise the headers in it ("redefinition of"). So
# a build that fails is tried again without precompiled headers; a mistake in the sources fails there
# too.
build() {
  local preset=$1
  shift
  built+=("$preset")
  if configure_and_build "$preset" "" "$@"; then return; fi
  if grep --quiet '^TESSERA_PRECOMPILE:BOOL=ON' "build/$preset/CMakeCache.txt" 2>/dev/null; then
    echo "the build of $preset failed; it is tried without precompiled headers"
    if configure_and_build "$preset" -DTESSERA_PRECOMPILE=OFF "$@"; then return; fi
  fi
  failed=$((failed + 1)) failures+=("build $preset")
  return 1
}

# configure_and_build PRESET OPTION [TARGET]...: an empty OPTION is none.
configure_and_build() {
  local preset=$1 option=$2
  shift 2
  stage "configure $preset" cmake --preset "$preset" ${option:+"$option"} &&
    stage "build $preset" cmake --build --preset "$preset" ${1:+--target "$@"}
}

# slowest: prints the ten builds and the ten tests that took longest, others running beside them.
slowest() {
  local preset
  for preset in "${built[@]}"; do
    if [[ ! -f build/$preset/.ninja_log ]]; then continue; fi
    echo "slowest builds of $preset, in seconds:"
    # "BEGIN END MTIME OUTPUT HASH", in milliseconds; of several builds of an output the last counts.
    awk -F'\t' '!/^#/ { took[$4] = ($2 - $1) / 1000 }
      END { for (output in took) printf "%8.1f %s\n", took[output], output }' \
      "build/$preset/.ninja_log" | top_ten
  done
  if [[ -s $times ]]; then
    echo "slowest tests, in seconds:"
    awk '{ took = $1; $1 = ""; printf "%8.1f%s\n", took, $0 }' "$times" | top_ten
  fi
}

# top_ten: the ten lines of stdin with the largest numbers.
top_ten() { sort --numeric-sort --reverse | sed -n 1,10p; }

# summary: prints what took longest and, last, the result; its code says whether all is well.
summary() {
  slowest
  if ((skipped > 0)); then echo "$skipped skipped; the lines above say why"; fi
  if ((failed > 0)); then printf 'failed: %s\n' "${failures[@]}"; fi
  echo "$passed passed, $failed failed"
  ((failed == 0 && passed > 0))
}
