# Shell functions that start programs of this project; sourced by the run scripts.
# shellcheck shell=bash

# run_under_mpi PROCESSES SECONDS PROGRAM [ARGUMENT]...
#
# Replaces this shell by mpirun on this machine. Ends with code 110 after SECONDS, so that nothing
# hangs for ever. Any number of processes may share the cores, hence they yield while they wait and
# are bound to none.
run_under_mpi() {
  local processes=$1 seconds=$2
  shift 2
  if ((EUID == 0)); then # Open MPI refuses root otherwise; containers know no other user
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
  exec mpirun -n "$processes" --timeout "$seconds" --oversubscribe --bind-to none \
    --mca mpi_yield_when_idle 1 "$@"
}

# fail CODE MESSAGE...: says why and ends this shell.
fail() {
  local code=$1
  shift
  echo "${0##*/}: $*" >&2
  exit "$code"
}

# names_in FOLDER: its programs, one a line.
names_in() { find "$1" -maxdepth 1 -name '*.cpp' -printf '  %f\n' | sed 's/\.cpp$//' | sort; }

# build_for_this_machine ROOT TARGET [CMAKE_ARGUMENT]...: the release build of one program, in
# ROOT/build/release. Silent unless it fails.
build_for_this_machine() {
  local root=$1 target=$2 log
  shift 2
  log=$(mktemp)
  echo "building $target in build/release (the first time takes some minutes)" >&2
  if ! (cd "$root" && cmake --preset release -DTESSERA_ARCH=native "$@" &&
    cmake --build --preset release --target "$target") >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    rm -f "$log"
    fail 1 "$target could not be built"
  fi
  rm -f "$log"
}
