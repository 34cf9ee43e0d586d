#!/usr/bin/env bash
# Runs a program across emulated hosts and checks that it really was on all of them.
#
#   run_hosts_test.sh SCENARIOS HEAT_1D [INFO]     the driver of tests/scenarios, the example, tessera-info
#
# Checks that shared memory joins the processes of one host, that UCX (or MPI, where requested) joins
# those of two hosts, and that the heat equation has the same bits as on one host. Each number of hosts
# has one route and size of the heat equation by turn, and one of the slower links is taken; or all of
# them (TESSERA_TURN, tests/running/turns.py).
#
# Code 77: this machine cannot emulate hosts; the reason is printed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scenarios=$(realpath "$1")
heat=$(realpath "$2")
info=${3:+$(realpath "$3")}

skip() {
  echo "skipped: $*"
  exit 77
}
((EUID == 0)) || skip "needs root"
for tool in mpirun ip tc nsenter unshare; do
  command -v "$tool" >/dev/null || skip "there is no $tool"
done
unshare --net --uts --ipc --mount --pid --fork true 2>/dev/null || skip "namespaces are not allowed"
unshare --net ip link add br0 type bridge 2>/dev/null || skip "the kernel has no network bridges"

# A state of its own: hosts that somebody works with stay untouched.
TESSERA_HOSTS_DIR=$(mktemp -d /var/tmp/tessera-hosts-test.XXXXXX)
export TESSERA_HOSTS_DIR
build=$(cd "$(dirname "$scenarios")/.." && pwd)
if [[ $build == /tmp/* ]]; then export TESSERA_HOSTS_KEEP=$build; fi
compiled=$(mktemp -d /var/tmp/tessera-hosts-test.XXXXXX)
clean_up() {
  "$here/hosts" down
  rm -rf "$TESSERA_HOSTS_DIR" "$compiled"
}
trap clean_up EXIT

# by_turn NAME CHOICE...: the choices of this turn, one a line.
by_turn() { python3 "$here/../running/turns.py" "$@"; }

bits_of() { grep -oE "^bits:? [0-9a-f]{16}" | sort -u; }

# check_routes COUNT OUTPUT: devices 0 and 1 are on h1, 2 and 3 on h2, and so on.
check_routes() {
  local i named wrong
  for ((i = 1; i <= $1; i++)); do
    named=$(grep -c "^on h$i$" <<<"$2") || true
    ((named == 2)) || {
      echo "h$i ran $named processes instead of 2"
      return 1
    }
  done
  wrong=$(awk '$1 == "route" {
    expected = int($2 / 2) == int($3 / 2) ? "shm" : "ucx"
    if ($4 != expected) print
  }' <<<"$2")
  if [[ -n $wrong ]]; then
    echo "a wrong route: $wrong"
    return 1
  fi
}

# check_told_routes OUTPUT: tessera-info tells what joins two processes of one host and of two.
check_told_routes() {
  local told
  told=$(grep -A1 -E "^  (same|other) host$" <<<"$1" | awk '$1 == "route" { print $2 }' | xargs)
  if [[ $told != "shm ucx" ]]; then
    echo "tessera-info tells of other routes: $told"
    return 1
  fi
}

# run_on COUNT HOW: two processes on each of COUNT hosts.
run_on() {
  local count=$1 how=$2 where="" i output choices route cells steps
  for ((i = 1; i <= count; i++)); do where+=",h$i:2"; done
  "$here/hosts" up "$count" "$how"
  output=$("$here/hosts-mpirun" -H "${where#,}" "$scenarios" routes)
  check_routes "$count" "$output"
  [[ $(bits_of <<<"$output") == "$program_bits" ]] || {
    echo "other bits than on one host: $output"
    return 1
  }
  if [[ -n $info ]]; then
    output=$("$here/hosts-mpirun" -H "${where#,}" "$info" --no-measure)
    check_told_routes "$output"
  fi
  choices=$(by_turn "run_on $count $how" {any,mpi}" "{"5 200","100 200","1000003 100"})
  while read -r route cells steps; do
    output=$(TESSERA_ROUTE=${route#any} "$here/hosts-mpirun" -H "${where#,}" "$heat" \
      --cells "$cells" --steps "$steps" </dev/null)
    echo "$count hosts ($how), $route route, $cells cells: $(bits_of <<<"$output")"
    [[ $(bits_of <<<"$output") == "${heat_bits[$cells]}" ]] || {
      echo "$cells cells: other bits than on one host, ${heat_bits[$cells]}"
      return 1
    }
  done <<<"$choices"
  "$here/hosts" down
}

# check_crossing BYTES SCENARIO [OPTION...]: with four devices on each of two hosts, these bytes pass between the
# hosts in all, and no cell is wrong.
check_crossing() {
  local bytes=$1 scenario=$2 output crossed wrong
  shift 2
  output=$(TESSERA_DEVICES=2 "$here/hosts-mpirun" "$@" -H h1:2,h2:2 "$scenarios" "$scenario")
  crossed=$(awk '/^between hosts/ { sum += $3 } END { print sum + 0 }' <<<"$output")
  wrong=$(awk '/^between hosts/ { sum += $7; n++ } END { print n == 4 ? sum : "unknown" }' <<<"$output")
  echo "$scenario on 2 hosts $*: $crossed bytes between them"
  [[ $wrong == 0 && $crossed == "$bytes" ]] || {
    echo "$wrong wrong cells; $bytes bytes expected: $output"
    return 1
  }
}

# run_crossing: of 400000 bytes, a half on each host, copies for all devices cross once; without
# forwarding each device gets its half by itself. Of a layer the sums cross, there and back, and no
# cell of the weight.
run_crossing() {
  "$here/hosts" up 2 bridge
  check_crossing 400000 copies_for_all
  TESSERA_FORWARD=0 check_crossing 1600000 copies_for_all
  # Hosts whose devices are not in a row: nothing is forwarded.
  check_crossing 1600000 copies_for_all --map-by node
  TESSERA_COSTS=network_bytes=1.25e8 check_crossing $((2 * 512 * 2048 * 4)) row_layer
  "$here/hosts" down
}

# run_gpus: with emulated GPUs, whose messages between hosts UCX takes from their memory.
run_gpus() {
  local output
  "$here/hosts" up 2 bridge
  output=$(TESSERA_DEVICE=emulated TESSERA_REPORT=1 "$here/hosts-mpirun" -H h1:2,h2:2 "$heat" \
    --cells 1000003 --steps 100 2>&1)
  echo "2 hosts (bridge), emulated GPUs: $(bits_of <<<"$output")"
  [[ $(bits_of <<<"$output") == "${heat_bits[1000003]}" ]] || {
    echo "other bits than on cores, ${heat_bits[1000003]}: $output"
    return 1
  }
  grep -qE "^ *place .* ipc +ucx_gpu" <<<"$output" || {
    echo "messages of GPUs on other ways than ipc and ucx_gpu: $output"
    return 1
  }
  "$here/hosts" down
}

# run_delayed COMMAND...: over a link that is slower by the given command of `hosts`. One message per
# neighbour and step, those between hosts by UCX, and the same bits.
run_delayed() {
  local output steps=100
  "$here/hosts" up 2 tap
  "$here/hosts" "$@"
  output=$(TESSERA_REPORT=1 TESSERA_DEPTH=1 "$here/hosts-mpirun" -H h1:2,h2:2 "$heat" --cells 100 \
    --steps $steps 2>&1)
  echo "2 hosts (tap, $*): $(bits_of <<<"$output")"
  [[ $(bits_of <<<"$output") == "$delayed_bits" ]] || {
    echo "other bits than on one host, $delayed_bits"
    return 1
  }
  # place, statement, runs, three times, imbalance, messages, and bytes with their units:
  # none local, some by shared memory and by UCX, none by MPI
  awk -v steps=$steps '$2 == "assignment" || $2 == "loop" {
      runs += $3
      messages += $8
      if ($9 != "-" || NF != 14 || $14 != "-") other = 1
    }
    END { exit !(runs == steps && messages == 6 * steps && !other) }' <<<"$output" || {
    echo "other messages than one per neighbour and step, between hosts by UCX: $output"
    return 1
  }
  "$here/hosts" down
}

program_bits=$(TESSERA_DEVICES=4 "$scenarios" right_with_delays | bits_of)
declare -A heat_bits
heat_bits[5]=$("$heat" --cells 5 --steps 200 | bits_of)
heat_bits[100]=$("$heat" --cells 100 --steps 200 | bits_of)
heat_bits[1000003]=$("$heat" --cells 1000003 --steps 100 | bits_of)

delayed_bits=$("$heat" --cells 100 --steps 100 | bits_of)

run_on 2 bridge
run_crossing
run_gpus
run_on 3 bridge
if [[ -c /dev/net/tun ]]; then
  if [[ -z ${TESSERA_HOSTS_SWITCH:-} ]]; then
    export TESSERA_HOSTS_SWITCH=$compiled/switch
    c++ -std=c++20 -O2 -o "$TESSERA_HOSTS_SWITCH" "$here/switch.cpp"
  fi
  run_on 2 tap
  links=$(by_turn run_delayed "delay 200" "rate 100")
  while read -r what number; do
    run_delayed "$what" "$number" </dev/null
  done <<<"$links"
else
  echo "without /dev/net/tun: not run over our own switch"
fi
