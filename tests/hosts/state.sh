# The folder with the state of the emulated hosts; sourced by the scripts of this folder.
# shellcheck shell=bash

state=${TESSERA_HOSTS_DIR:-/var/tmp/tessera-hosts-$EUID}

# fail CODE MESSAGE...
fail() {
  local code=$1
  shift
  echo "${0##*/}: $*" >&2
  exit "$code"
}

joined_by() { cat "$state/joined_by" 2>/dev/null || fail 1 "no hosts are up"; }

# process_of HOST|switch: its first process.
process_of() { cat "$state/$1.process" 2>/dev/null || fail 1 "there is no host $1"; }

# network_of PROCESS: the name of its network namespace; nothing once it is gone.
network_of() { readlink "/proc/$1/ns/net" 2>/dev/null || true; }

# remember NAME PROCESS: `down` ends whatever lives in the network of that process.
remember() {
  local network
  network=$(network_of "$2")
  echo "$2" >"$state/$1.process"
  # The switch for tap devices stays in the machine's own network.
  if [[ $network != "$(network_of $$)" ]]; then echo "$network" >>"$state/networks"; fi
}

# on_host HOST COMMAND...
on_host() {
  local host=$1 process own_processes=(--pid)
  shift
  process=$(process_of "$host")
  if [[ $host == h1 ]]; then own_processes=(); fi
  nsenter --target "$process" --net --uts --ipc --mount "${own_processes[@]}" --wd="$PWD" -- "$@"
}

on_switch() { nsenter --target "$(process_of switch)" --net -- "$@"; }
