#!/usr/bin/env python3
"""What becomes of a job across hosts when something breaks, row by row.

    faults.py <driver> [--all] [row...]

The driver is tests/network/faults/driver.cpp. Each fault happens in one place and over one route by
turn (TESSERA_TURN, tests/running/turns.py), or in all of them. --all runs one row at a time, and one
that takes long, so that the times are those of a quiet machine.
Prints a table: the fault, where the processes were and how they talked, seconds from the fault to the
first error and to the end of the job, its exit code, and what was said. Code 77: this machine cannot
emulate hosts.
"""
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "network" / "faults"), str(HERE.parent / "running")]
from run import HANGS, PATIENT, Run, hold, last_run  # noqa: E402
from turns import one_by_turn, taken  # noqa: E402

PLACES = {"2x2": "h1:2,h2:2", "3x1": "h1:1,h2:1,h3:1"}
SILENCE = 2
WAITS = r"while (device \d waits .* statement \d+ \(driver.cpp:\d+\)|this process is done)"
UNREACHED = rf"has not answered for {SILENCE} s: it is stopped, its host is down or the link to it is cut"


class Hosts:
    """Emulated hosts for one job."""

    def __init__(self, count, folder, retries=5):
        self.variables = {"TESSERA_HOSTS_DIR": f"{folder}/state", "TESSERA_HOSTS_RETRIES": str(retries)}
        self.tell("up", str(count))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tell("down")

    def tell(self, *words):
        subprocess.run([HERE / "hosts", *words], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, **self.variables})

    def processes_of(self, driver, host=None):
        """Those on all hosts, or on one: the machine sees them all, and each has our variables."""
        process = (self.variables["TESSERA_HOSTS_DIR"] + f"/{host}.process") if host else None
        network = os.readlink(f"/proc/{int(open(process).read())}/ns/net") if host else None
        mark = os.fsencode("TESSERA_HOSTS_DIR=" + self.variables["TESSERA_HOSTS_DIR"])
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if host and os.readlink(folder / "ns/net") != network:
                    continue
                if ((folder / "cmdline").read_bytes().split(b"\0")[0] == os.fsencode(driver) and
                        mark in (folder / "environ").read_bytes().split(b"\0")):
                    found.append(int(folder.name))
            except OSError:
                pass
        return found


def count(place):
    """Processes."""
    return sum(int(part[-1]) for part in PLACES[place].split(","))


class Row:
    """One job with one fault."""

    def __init__(self, hosts, where, *arguments, fault=None, seconds=HANGS, **environment):
        self.hosts, (self.driver, place, route) = hosts, where
        environment = {"TESSERA_SILENCE": str(SILENCE), "TESSERA_ROUTE": route,
                       **hosts.variables, **environment}
        self.began = None

        def meanwhile(run):
            if not fault:
                return
            run.pids(count(place))
            self.began = time.monotonic()
            fault()

        launcher = [HERE / "hosts-mpirun", "-H", PLACES[place]]
        self.run = Run([self.driver, *arguments], meanwhile, launcher,
                       TESSERA_TIMEOUT=str(seconds), **environment)
        ended = time.monotonic()
        told = self.run.time_of(r"^fault$")
        self.began = told if told else self.began
        assert self.began is not None, "the job ended before the fault"
        self.seconds = ended - self.began
        first = self.run.time_of("PeerFailed|Mismatch")
        self.first = first - self.began if first else None

    def says(self, *patterns):
        self.run.says(*patterns)

    def each_says(self, processes, pattern):
        for process in processes:
            assert re.search(rf"\[{process}\]: error: PeerFailed: .*{pattern}", self.run.output), \
                f"process {process} does not say '{pattern}'"

    def fails(self):
        self.run.fails()

    def goes_on(self, count):
        self.run.ends_well(count)

    def leaves_nothing(self):
        """No process, on whichever host; the system takes a moment."""
        end = time.monotonic() + 30
        while left := self.hosts.processes_of(self.driver):
            assert time.monotonic() < end, f"left behind: {left}"
            time.sleep(0.1)

    def words(self):
        found = re.search(r"PeerFailed: (.*)", self.run.output) or \
            re.search(r"(?:error|warning): (.*)", self.run.output)
        if found or self.run.code == 0:
            return found.group(1) if found else "goes on"
        return "(mpirun) " + next((line for line in self.run.output.splitlines()
                                   if re.search("lost|noticed|terminated", line)), "")


# On a busy machine a process that is killed takes a while to end, and is silent meanwhile.
ENDING = {**PATIENT, "TESSERA_SILENCE": "20"}


def killed(hosts, where):
    row = Row(hosts, where, "killed", **ENDING)
    row.says(rf"PeerFailed: process 1 \(.*\) has died, {WAITS}")
    row.each_says([0, 2], "process 1 .* has died")
    row.fails()
    return row


def exits(hosts, where):
    row = Row(hosts, where, "exits", **ENDING)
    row.says(rf"PeerFailed: process 1 \(.*\) has died, {WAITS}")
    row.fails()
    return row


def stopped(hosts, where):
    row = Row(hosts, where, "stopped")
    # Who has another process beside it is told of by that one.
    row.says(rf"PeerFailed: process 1 \(at 10.77.0.\d\) {UNREACHED}" if where[1] == "3x1" else
             rf"process 1 \(at 10.77.0.1\) has not answered for {SILENCE} s: it is stopped, while",
             WAITS)
    row.each_says([0, 2], "process 1 .*(given no heartbeat|not answered)")
    row.fails()
    return row


def throws(hosts, where):
    row = Row(hosts, where, "throws")
    row.says("PeerFailed: process 1 gave up: process 1 has had enough")
    # On a busy machine its connections may end before its words are read.
    row.each_says([0, 2], "process 1 (gave up: process 1 has had enough|.* has died)")
    row.fails()
    return row


def crash(hosts, where):
    row = Row(hosts, where, "slow", "3000", fault=lambda: hosts.tell("crash", "h2"))
    # mpirun may be the first to see it, and ends the job.
    row.says(rf"PeerFailed: process \d \(at 10.77.0.2\) has (died|not answered)|lost communication"
             "|unable to reliably start|exited on signal|terminated")
    row.fails()
    return row


def cut(hosts, where):
    row = Row(hosts, where, "slow", "3000", fault=lambda: hosts.tell("cut", "h2"))
    row.says(rf"PeerFailed: process \d \(at 10.77.0.\d\) {UNREACHED}, {WAITS}")
    row.fails()
    return row


def healed(hosts, where):
    def cut_for_three_seconds():
        hosts.tell("cut", "h2")
        time.sleep(3)
        hosts.tell("heal", "h2")
    # What was lost is sent again after 6, 13 or 26 s: each time twice as late.
    row = Row(hosts, where, "slow", "400", fault=cut_for_three_seconds,
              TESSERA_SILENCE="60")
    row.goes_on(count(where[1]))
    return row


def held(hosts, where):
    # Process numbers of h1 are those of the machine.
    row = Row(hosts, where, "slow", "400",
              fault=lambda: hold(max(hosts.processes_of(where[0], host="h1")), 2 * SILENCE))
    row.goes_on(count(where[1]))
    return row


def computes(seconds, silence):
    def computing(hosts, where):
        row = Row(hosts, where, "computes", "100", str(seconds), seconds=seconds + HANGS,
                  TESSERA_STALL="1", TESSERA_SILENCE=str(silence))
        row.goes_on(count(where[1]))
        row.says("warning: device .* may only be late")
        return row
    computing.__name__ = f"computes_{seconds}_s"
    return computing


ROWS = [killed, exits, stopped, throws, crash, cut, healed, held, computes(3, 2)]


def places_of(row):
    """Where a row runs, with which routes."""
    places = ["2x2"] if row is held else PLACES  # it needs one beside it to tell
    return itertools.product(places, ("ucx", "mpi"))


def everyday_places_of(row):
    """Where a row tells the same whatever else the machine does. Where processes die and bytes go by MPI,
    Open MPI may end the job before all have said why."""
    return [where for where in places_of(row) if where[1] == "ucx" or row in (stopped, healed)]


def rows_of_this_turn(wanted):
    return [(row, *where) for row in ROWS if is_wanted(row, wanted) and row not in (throws, crash)
            for where in one_by_turn(everyday_places_of(row), row.__name__)]


def every_row(wanted):
    rows = [(row, *where) for row in (*ROWS[:-1], computes(10, 2)) for where in places_of(row)]
    rows.append((computes(90, 10), "2x2", "ucx"))
    return [row for row in rows if is_wanted(row[0], wanted)]


def is_wanted(row, wanted):
    return not wanted or row.__name__ in wanted


def check_row(row, where):
    """Runs a row; its line of the table, and what is wrong."""
    driver, place, route = where
    began = time.monotonic()
    name = f"{row.__name__.replace('_', ' '):14} {place} {route}"
    # On a busy machine three seconds may become ten, and what is healed has to bear them.
    retries = 30 if row is healed else 5
    with tempfile.TemporaryDirectory(prefix="tessera-faults.", dir="/var/tmp") as folder, \
            Hosts(len(PLACES[place].split(",")), folder, retries) as hosts:
        try:
            done = row(hosts, where)
            done.leaves_nothing()
        except AssertionError as error:
            output = last_run().output[-4000:] if last_run() else ""
            return f"{name}  FAILED ({time.monotonic() - began:.1f} s)", f"{error}\n{output}"
    first = f"{done.first:6.1f}" if done.first is not None else "     -"
    return f"{name}  {first} {done.seconds:6.1f} {done.run.code:4}  {done.words()}", None


def why_not():
    if os.geteuid() != 0:
        return "needs root"
    for tool in "mpirun", "ip", "tc", "nsenter", "unshare":
        if not shutil.which(tool):
            return f"there is no {tool}"
    new = ["unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--fork"]
    for command in [*new, "true"], [*new, "ip", "link", "add", "br0", "type", "bridge"]:
        if subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0:
            return "namespaces or network bridges are not allowed"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("driver", help="the program that the jobs run")
    parser.add_argument("row", nargs="*", help="only these faults")
    parser.add_argument("--all", action="store_true", help="everything, one row at a time")
    chosen = parser.parse_args()
    driver = os.path.realpath(chosen.driver)
    everything, wanted = chosen.all, chosen.row
    rows_of = every_row if everything else rows_of_this_turn
    known = {row.__name__ for row, *_ in rows_of(())}
    taken()  # notes only of the rows that will run
    if unknown := set(wanted) - known:
        parser.error(f"there is no fault {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}" +
                     ("" if everything else "; more with --all"))
    if reason := why_not():
        print(f"skipped: {reason}")
        return 77
    rows = [(row, (driver, place, route)) for row, place, route in rows_of(wanted)]
    print(taken().removeprefix(", "))
    print("fault          where route told  ended code  (seconds after the fault)")
    failed = 0
    # Most of the time they wait.
    with concurrent.futures.ThreadPoolExecutor(1 if everything else 3) as pool:
        for line, wrong in pool.map(lambda row: check_row(*row), rows):
            print(line, flush=True)
            if wrong:
                failed += 1
                print(wrong, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
