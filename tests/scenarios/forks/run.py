#!/usr/bin/env python3
"""Programs that fork while they have a Runtime: neither the child nor its end touches the job.

    run.py <driver> [scenario...]
"""
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "network" / "faults"), str(TESTS / "running")]
from run import Run, main  # noqa: E402
from turns import one_by_turn  # noqa: E402

ALONE = (1, 1, {})
SPREADS = [(1, 3, {}), (2, 1, {}), (2, 2, {"TESSERA_ROUTE": "mpi"}), (2, 1, {"TESSERA_ROUTE": "ucx"})]


def goes_on(driver, name):
    """The job ends with the bits that it has without a child's doings."""
    sums = set()
    for processes, devices, environment in ALONE, *one_by_turn(SPREADS, name):
        run = Run(["-n", str(processes), driver, name], TESSERA_DEVICES=str(devices), **environment)
        assert run.code == 0, f"exit code {run.code}"
        assert len(re.findall(r"^done$", run.output, re.M)) == processes
        sums |= set(re.findall(r"^sum .*$", run.output, re.M))
    assert len(sums) == 1, f"different results: {sums}"


def calls(driver):
    """A child that calls Tessera is told so, whatever it calls."""
    goes_on(driver, "calls")


def returns(driver):
    """A child may return from main."""
    goes_on(driver, "returns")


def exits(driver):
    """A child may call exit."""
    goes_on(driver, "exits")


def throws(driver):
    """A child's uncaught exception is its own."""
    goes_on(driver, "throws")


def execs(driver):
    """A child may become another program."""
    goes_on(driver, "execs")


SCENARIOS = [calls, returns, exits, throws, execs]

if __name__ == "__main__":
    sys.exit(main(SCENARIOS, __doc__))
