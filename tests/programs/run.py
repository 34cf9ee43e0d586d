#!/usr/bin/env python3
"""Whole programs that go wrong on one process, and what the others make of it; and right ones.

    run.py <driver> [scenario...]
"""
import os
import pathlib
import re
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "transport" / "faults"))
from run import Run, run_all  # noqa: E402

SPREADS = [(2, 1, {}), (2, 1, {"TESSERA_ROUTE": "mpi"}), (3, 2, {}), (2, 3, {"TESSERA_ROUTE": "mpi"})]


def job(driver, name, processes, devices, environment, meanwhile=None):
    return Run(["-n", str(processes), driver, name], meanwhile=meanwhile,
               TESSERA_DEVICES=str(devices), **environment)


def fails_with(driver, name, *patterns, seconds=25):
    for processes, devices, environment in SPREADS:
        run = job(driver, name, processes, devices, environment)
        assert run.code != 0, "the job ended well"
        assert run.seconds < seconds, f"{run.seconds} s"
        run.says(*patterns)


def same_bits(driver, name):
    found = set()
    for processes, devices, environment in [(1, 1, {}), (1, 4, {}), *SPREADS]:
        run = job(driver, name, processes, devices, environment)
        run.ends_well(processes)
        found |= set(re.findall(r"^(?:bits|sum) .*$", run.output, re.M))
    assert len(found) == 1, f"different results: {found}"


def signalled(number):
    def send(run):
        pids = run.pids(2)
        time.sleep(0.5)
        if len(pids) == 2:
            os.kill(pids[1], number)
    return send


def killed(driver):
    """A killed process ends the job, and is named."""
    for _, devices, environment in SPREADS[:3]:
        run = job(driver, "killed", 2, devices, environment, signalled(signal.SIGKILL))
        assert run.code != 0 and run.seconds < 25
        run.says(r"process \d+ \(pid \d+\) has died|exited on signal 9")


def stopped(driver):
    """A stopped process ends the job, and is named with what was waited for."""
    for _, devices, environment in SPREADS[:3]:
        run = job(driver, "stopped", 2, devices, environment, signalled(signal.SIGSTOP))
        assert run.code != 0 and run.seconds < 25, f"code {run.code} after {run.seconds} s"
        run.says(r"no sign of life for 2 s", r"\(driver.cpp:\d+\)")


def another_statement(driver):
    """Two statements of one shape are told apart, with both places."""
    fails_with(driver, "another_statement", r"the processes run different programs",
               r"driver.cpp:\d+.*driver.cpp:\d+")


def another_array(driver):
    """The same statement on another array is told apart."""
    fails_with(driver, "another_array", r"different programs")


def another_reduction(driver):
    """min on one process and max on the others is told apart."""
    fails_with(driver, "another_reduction", r"different programs")


def one_array_more(driver):
    """An array that only one process made shows in the next statement that communicates."""
    fails_with(driver, "one_array_more", r"different programs")


def ends_early(driver):
    """A process that ends before the others is told apart from a late one."""
    fails_with(driver, "ends_early", r"statement \d+")


def upwind_both_ways(driver):
    """Processes that wait for each other for good are told so."""
    fails_with(driver, "upwind_both_ways", r"statement \d+")


def throws_on_one(driver):
    """An exception that one process does not catch is printed and releases the others."""
    fails_with(driver, "throws_on_one", r"the program's own trouble")


def functor_throws_on_one(driver):
    """So is one from a function the library calls."""
    fails_with(driver, "functor_throws_on_one", r"the functor's own trouble")


def mistake_on_all(driver):
    """A caller's mistake throws alike on every process, which go on."""
    same_bits(driver, "mistake_on_all")


def right_with_delays(driver):
    """A right program with random delays is never told wrong."""
    same_bits(driver, "right_with_delays")


def own_messages(driver):
    """The program's own blocking messages get through between statements."""
    same_bits(driver, "own_messages")


def growing_ghosts(driver):
    """Ghost cells grow while statements are queued."""
    same_bits(driver, "growing_ghosts")


def budget_on_one(driver):
    """A communication budget that differs on one process is told."""
    fails_with(driver, "budget_on_one", r"different programs", r"driver.cpp:\d+")


def unwinds(driver):
    """An exception may unwind the Runtime of one process while work is queued."""
    for _ in range(5):
        run = job(driver, "unwinds", 1, 3, {})
        assert run.code == 0, f"exit code {run.code}"
        run.says(r"^done$|\ndone\n")


def uneven(driver):
    """Processes may drive different numbers of devices."""
    found = set()
    for first, second in ((2, 1), (1, 2), (3, 1)):
        run = Run(["-n", "1", "-x", f"TESSERA_DEVICES={first}", driver, "right_with_delays", ":",
                   "-n", "1", "-x", f"TESSERA_DEVICES={second}", driver, "right_with_delays"])
        run.ends_well(2)
        found |= set(re.findall(r"^bits .*$", run.output, re.M))
    assert len(found) == 1, f"different results: {found}"


SCENARIOS = [killed, stopped, another_statement, another_array, another_reduction, one_array_more,
             ends_early, upwind_both_ways, throws_on_one, functor_throws_on_one, mistake_on_all,
             right_with_delays, own_messages, growing_ghosts, budget_on_one, unwinds, uneven]


if __name__ == "__main__":
    sys.exit(min(1, run_all(SCENARIOS, sys.argv[1], sys.argv[2:])))
