#!/usr/bin/env bash
# Makes a folder with Tessera's dependencies for a machine without network: Debian packages, unpacked
# and trimmed. That machine still needs a compiler, CMake and the CUDA toolkit. The folder works at any
# path, on any Linux with glibc 2.36 or later.
#
#   cmake/carry.sh            into build/carried, where tests/gpu and bench/gpu look for it
#   cmake/carry.sh FOLDER     elsewhere; set TESSERA_CARRIED so that they find it
#
# Needs Debian 12 with network and binutils; nothing is installed. Fails if the folder is over 60 MiB.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/cmake/launch.sh"

# Those of packages.sh and what they need at run time, but for glibc and the libraries of the compiler.
packages=(
  ninja-build
  libopenmpi-dev libopenmpi3 openmpi-bin openmpi-common
  libevent-core-2.1-7 libevent-pthreads-2.1-7 libhwloc15 libmunge2 libpmix2 libudev1
  libucx-dev libucx0 libnuma1
  libtrilinos-kokkos-dev libtrilinos-kokkos-13.2
  libcli11-dev doctest-dev
)
# Libraries that every Linux has where g++ and dpkg run.
system_libraries='^(ld-linux-x86-64|lib(c|dl|m|pthread|rt|util|gcc_s|stdc\+\+|z))\.so'
most_mib=60

case "${1:-}" in
  -h | --help)
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
    exit
    ;;
esac
if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
  fail 3 "the packages are Debian's, so this needs apt-get and dpkg"
fi
command -v readelf >/dev/null || fail 3 "readelf is missing (apt-get install binutils)"
(($# <= 1)) || fail 2 "usage: cmake/carry.sh [FOLDER]"
folder=$(realpath --canonicalize-missing "${1:-$root/build/carried}")
[[ ! -e $folder || -e $folder/.carried ]] || fail 2 "$folder is there, and not of this script's making"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The newest packages that apt knows of, into $work/tree.
fetch() {
  local archive
  mkdir "$work/debs" "$work/tree"
  cd "$work/debs"
  if ! apt-get --quiet -o APT::Sandbox::User=root download "${packages[@]}" >"$work/log" 2>&1; then
    cat "$work/log" >&2
    fail 1 "packages could not be fetched; apt-get update may help"
  fi
  for archive in *.deb; do dpkg --extract "$archive" "$work/tree"; done
}

# Documentation, static libraries, and the languages and networks that Tessera does not use.
trim() {
  cd "$work/tree"
  rm -rf usr/share/{bash-completion,bug,doc,doc-base,emacs,emacsen-common,lintian,man,vim,zsh} usr/lib/{udev,tmpfiles.d} lib/udev
  rm -rf usr/lib/x86_64-linux-gnu/{fortran,pkgconfig} usr/lib/x86_64-linux-gnu/openmpi/lib/pkgconfig
  find . -name '*.a' -delete
  find . \( -name 'libmpi_java*' -o -name 'libmpi_mpifh*' -o -name 'libmpi_usempi*' -o -name 'liboshmem*' \
    -o -name 'osh*' -o -name 'shmem*' -o -name 'pshmem*' -o -name 'mpijavac*' -o -name 'mpif*' -o -name 'libompitrace*' \) -prune -exec rm -rf {} +
  if [[ -d lib ]]; then # beside usr/lib on Debian 12, though it is one folder once installed
    cp -a lib/. usr/lib/
    rm -rf lib
  fi
}

# What an installation would do by update-alternatives.
link_programs() {
  local name
  cd "$work/tree/usr/bin"
  for name in mpicc mpicxx mpic++ mpiCC; do ln -sf opal_wrapper "$name"; done
  for name in mpirun mpiexec; do ln -sf orterun "$name"; done
}

# Paths of an installation in CMake's files, by paths from where these lie.
# shellcheck disable=SC2016  # the variable is CMake's
relocate() {
  cd "$work/tree"
  sed -i 's|set(_IMPORT_PREFIX "/usr")|get_filename_component(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)|' \
    usr/lib/cmake/doctest/doctestTargets.cmake
  find . -name '*.cmake' -exec sed -i 's|"/usr/lib/x86_64-linux-gnu/libdl\.a"|"dl"|' {} +
}

# missing_libraries: pairs of a file and a library that it needs, and neither the folder nor the system has.
missing_libraries() {
  local file needed
  cd "$work/tree"
  find . \( -type f -o -type l \) -name '*.so*' -printf '%f\n' | sort -u >"$work/there"
  find . -type f \( -name '*.so*' -o -path './usr/bin/*' \) | while read -r file; do
    for needed in $(readelf --dynamic "$file" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
      if ! [[ $needed =~ $system_libraries ]] && ! grep -qxF "$needed" "$work/there"; then
        echo "$file $needed"
      fi
    done
  done
}

# Plugins for networks that need more libraries: without them they only complain.
drop_plugins() {
  local file
  while read -r file _; do
    case $file in
      */mca_*.so | */ucx/libuct_* | */libmca_common_*) rm -f "$work/tree/$file" ;;
      *) continue ;;
    esac
  done < <(missing_libraries)
  find "$work/tree" -xtype l -delete
}

fetch
trim
link_programs
relocate
drop_plugins
drop_plugins # those that needed the dropped ones
lacking=$(missing_libraries)
[[ -z $lacking ]] || fail 1 "libraries that no package brings:"$'\n'"$lacking"
(cd "$work/debs" && printf '%s\n' *.deb) >"$work/tree/.carried"

bytes=$(du --summarize --bytes "$work/tree" | cut -f1)
mib=$(((bytes + (1 << 20) - 1) >> 20))
((mib <= most_mib)) || fail 1 "the folder would have $mib MiB, more than $most_mib"
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
mv "$work/tree" "$folder"
chmod 755 "$folder"
echo "$folder: ${#packages[@]} packages, $mib MiB, $(find "$folder" -type f | wc -l) files"
