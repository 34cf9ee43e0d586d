#!/usr/bin/env python3
"""Programs whose Runtime begins or ends in trouble, and what each process says of it.

    run.py <driver> [scenario...]
"""
import os
import pathlib
import re
import signal
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "network" / "faults"), str(TESTS / "running")]
from run import Run, main  # noqa: E402
from turns import one_by_turn  # noqa: E402

SPREADS = [(2, 1, {}), (3, 2, {}), (4, 1, {"TESSERA_ROUTE": "mpi"})]


def first_cause(driver, name, cause, to_others):
    """The process that fails says why, and the others say it too; what the jobs have printed.

    On a busy machine mpirun may end some of the others before they have spoken."""
    printed = ""
    for processes, devices, environment in one_by_turn(SPREADS, name):
        run = Run(["-n", str(processes), driver, name], TESSERA_DEVICES=str(devices), **environment)
        run.fails()
        run.says(cause)
        others = re.findall(r"^tessera\[[^1]\]: error: (.*)$", run.output, re.M)
        assert others, "no other process says anything"
        for words in others:
            assert re.match(f"process 1 gave up: {to_others}", words), f"another process says: {words}"
        printed += run.output
    return printed


def throws(driver):
    """What main catches outside of the Runtime is main's to say; the others are sent there."""
    first_cause(driver, "throws", r"(?m)^caught: the program's own trouble$", r".* see its output")


def makes_a_mistake(driver):
    """An error of Tessera's that main catches there is told with its words."""
    words = r"index 40 .*"
    first_cause(driver, "makes_a_mistake", rf"tessera\[1\]: error: {words}", words)


def functor_throws(driver):
    """A function of the program that throws before anything was sent is told with its words."""
    words = r"the functor's own trouble"
    first_cause(driver, "functor_throws", rf"tessera\[1\]: error: {words}", words)


def handles_and_throws(driver):
    """An error that was handled long ago is not taken for the cause."""
    printed = first_cause(driver, "handles_and_throws", r"(?m)^caught: the program's own trouble$",
                          r".* see its output")
    assert "index 40" not in printed


def all_caught(run, processes, words):
    run.fails()
    told = set(re.findall(r"^caught: .*$", run.output, re.M))
    assert len(told) == 1, f"not one message: {told}"
    assert len(re.findall(r"^caught: .*$", run.output, re.M)) == processes
    run.says("caught: " + words)


def too_many_devices(driver):
    """A number of devices that the limits do not allow is refused by all processes, in the same words."""
    words = r": this process can drive at most \d+ devices, since .* is \d+"
    for many in one_by_turn(("100000000", "9223372036854775807"), "too_many_devices"):
        run = Run(["-n", "2", driver, "begins"], TESSERA_DEVICES=many)
        all_caught(run, 2, f"TESSERA_DEVICES={many}{words}")
    run = Run(["-n", "1", "-x", "TESSERA_DEVICES=1", driver, "begins", ":",
               "-n", "1", "-x", "TESSERA_DEVICES=100000000", driver, "begins"])
    all_caught(run, 2, rf"TESSERA_DEVICES=100000000{words}.* \(process 1\)")


def plans_differ(driver):
    """Variables that plans follow from are the same on all processes, or all refuse them."""
    settings = ("TESSERA_FORWARD=2", "TESSERA_COSTS=messages=7", "TESSERA_ROLES=x=terms")
    setting = one_by_turn(settings, "plans_differ")
    for one in setting:
        run = Run(["-n", "1", "-x", one, driver, "begins", ":", "-n", "1", driver, "begins"])
        all_caught(run, 2, "TESSERA_FORWARD, TESSERA_COSTS or TESSERA_ROLES is not the same on all processes")


def lacks_memory(driver):
    """What fails all the same while devices are made is an error of all processes, with its cause."""
    run = Run(["-n", "3", driver, "begins", "lacks_memory"], TESSERA_DEVICES="16")
    all_caught(run, 3, r"no thread for device \d+: .* \(process 1\)")


def stopped(driver, *trouble, **environment):
    run = Run(["-n", "3", driver, "begins", *trouble], TESSERA_SILENCE="1", **environment)
    run.fails()
    run.says(r"process 1 \(pid \d+\) has given no sign for 1 s \(it is stopped\), while")


def stops(driver):
    """A process that is stopped between MPI_Init and its Runtime has failed, and is named."""
    stopped(driver, "stops")


def stops_in_collectives(driver):
    """So has one that is stopped while the Runtimes are made: at the first of their collectives, at a
    later one, and in one that blocks."""
    places = ("MPI_Iallreduce", "0"), ("MPI_Iallreduce", "4"), ("MPI_Comm_split_type", "0")
    for trouble in one_by_turn(places, "stops_in_collectives"):
        stopped(driver, *trouble)


def stops_behind_a_shell(driver):
    """A shell in front of each process, which lives, does not hide that its program is stopped."""
    run = Run(["-n", "2", "sh", "-c", '"$0" begins stops; exit $?', driver], TESSERA_SILENCE="1")
    run.fails()
    run.says(r"process 1 \(pid \d+\) has given no sign for 1 s")


def is_late(driver):
    """A process that comes late to its Runtime is named by one of the others, once, and waited for."""
    def wake(run):
        pid, = run.pids(1)
        while not run.time_of(r"may only be late"):
            assert run.job.poll() is None, "the job ended before the warning"
            time.sleep(0.02)
        os.kill(pid, signal.SIGUSR1)
    run = Run(["-n", "3", driver, "begins", "is_late"], wake, TESSERA_STALL="1", TESSERA_SILENCE="1")
    run.ends_well(3)
    pid, = run.pids(1)
    told = re.findall(r"warning: process (\d) waits for all processes to make their Runtime, and has "
                      rf"done so for 1 s; process 1 \(pid {pid}\) may only be late", run.output)
    assert told == ["0"], f"told by {told}"


SCENARIOS = [stops, stops_in_collectives, stops_behind_a_shell, is_late, too_many_devices, plans_differ,
             lacks_memory, throws, makes_a_mistake, functor_throws, handles_and_throws]

if __name__ == "__main__":
    sys.exit(main(SCENARIOS, __doc__))
