#!/usr/bin/env bash
# Installs the Debian packages that Tessera needs.
#
#   cmake/packages.sh run     to build and run the examples
#   cmake/packages.sh test    to build and run the tests as well
#   cmake/packages.sh test --list    only lists them
#
# Calls apt-get only if something is missing, so a second run takes no time and no network. On a system
# without apt-get it names the missing requirements and stops with code 3.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/launch.sh"

run_packages=(
  cmake ninja-build g++
  libopenmpi-dev openmpi-bin # processes and hosts
  libucx-dev                 # between hosts
  libtrilinos-kokkos-dev     # kernels
  libcli11-dev               # options of the examples
)
test_packages=(
  doctest-dev python3
  libmpfr-dev # tests/kernels/mpfr
  libopenblas-serial-dev # bench/matmul
  iproute2    # tests/hosts
  mpich libmpich-dev # tests/checks/mpich; the default stays Open MPI
  clang-format-14 clang-tidy-16 # tests/checks/style, tests/checks/tidy.py
  clang-16 libclang-rt-16-dev   # tests/fuzz
  universal-ctags # tests/checks/floors.py, tests/checks/house.py
  ccache mold # only faster
)

is_installed() {
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Where there is no dpkg: are the programs there that cannot be done without?
check_by_hand() {
  local program missing=()
  for program in cmake ninja c++ mpirun; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  if ((${#missing[@]} == 0)); then return 0; fi
  fail 3 "this is not a Debian system, and these programs are missing: ${missing[*]}. Needed are" \
    "CMake 3.25, Ninja, a C++20 compiler, Open MPI and Kokkos (CLI11 for the examples; doctest and" \
    "Python 3 for the tests). The Debian packages: ${packages[*]}"
}

install_packages() {
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail 3 "neither root nor sudo; as root: apt-get install $*"
    as_root=(sudo)
  fi
  echo "installing $*" >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --quiet update >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get --quiet --yes --no-install-recommends install "$@" >&2 </dev/null
}

case "${1:-}" in
  run) packages=("${run_packages[@]}") ;;
  test) packages=("${run_packages[@]}" "${test_packages[@]}") ;;
  *) fail 2 "usage: cmake/packages.sh run|test [--list]" ;;
esac
if [[ ${2:-} == --list ]]; then
  printf '%s\n' "${packages[@]}"
  exit
fi
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  check_by_hand
  exit
fi

missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
if ((${#missing[@]} > 0)); then install_packages "${missing[@]}"; fi
