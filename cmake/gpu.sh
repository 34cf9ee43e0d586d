# Shell functions of tests/gpu and bench/gpu.
# shellcheck shell=bash

# use_carried ROOT: uses programs, headers and libraries from the folder that cmake/carry.sh made, if it
# exists. Otherwise they must be installed, or CMake reports them as missing.
use_carried() {
  local folder=${TESSERA_CARRIED:-$1/build/carried} libraries
  if [[ ! -e $folder/.carried ]]; then
    echo "no folder of cmake/carry.sh in $folder: installed packages are used" >&2
    return
  fi
  folder=$(cd "$folder" && pwd)
  libraries=$folder/usr/lib/x86_64-linux-gnu
  export PATH=$folder/usr/bin:$PATH
  export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export CMAKE_PREFIX_PATH=$folder/usr${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}
  export UCX_MODULE_DIR=$libraries/ucx
  export OPAL_PREFIX=$folder/usr OPAL_SYSCONFDIR=$folder/etc/openmpi
  export PMIX_PREFIX=$libraries/pmix2 PMIX_LIBDIR=$libraries/pmix2/lib PMIX_PKGLIBDIR=$libraries/pmix2/lib/pmix
  # mpirun ends where it finds no ssh, which it needs for other hosts alone.
  if ! command -v ssh >/dev/null; then export OMPI_MCA_plm_rsh_agent=; fi
}

# gpu_architecture: CMAKE_CUDA_ARCHITECTURES for this machine's first GPU; 90-real where none is seen.
gpu_architecture() {
  local capability
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1) || true
  if [[ $capability =~ ^([0-9]+)\.([0-9]+)$ ]]; then
    echo "${BASH_REMATCH[1]}${BASH_REMATCH[2]}-real"
  else
    echo 90-real
  fi
}
