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

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "network" / "faults"), str(TESTS / "running")]
from run import Run, main  # noqa: E402
from turns import one_by_turn  # noqa: E402

SPREADS = [(2, 1, {}), (2, 1, {"TESSERA_ROUTE": "mpi"}), (3, 2, {}), (2, 3, {"TESSERA_ROUTE": "mpi"})]


# On a busy machine a killed process may take longer to die than the others wait for its heartbeat.
DEAD = (r"process \d+ \(pid \d+\) has died|exited on signal 9|"
        r"process \d+ \(pid \d+\) has given no heartbeat for 2 s")


def job(driver, name, processes, devices, environment, meanwhile=None):
    return Run(["-n", str(processes), driver, name], meanwhile=meanwhile,
               TESSERA_DEVICES=str(devices), **environment)


def fails_with(driver, name, *patterns):
    for processes, devices, environment in one_by_turn(SPREADS, name):
        run = job(driver, name, processes, devices, environment)
        run.fails()
        run.says(*patterns)


def same_bits(driver, name):
    """On every spread as on one process of four devices."""
    found = set()
    for processes, devices, environment in [(1, 4, {}), *one_by_turn([(1, 1, {}), *SPREADS], name)]:
        run = job(driver, name, processes, devices, environment)
        run.ends_well(processes)
        found |= set(re.findall(r"^(?:bits|sum) .*$", run.output, re.M))
    assert len(found) == 1, f"different results: {found}"


def signalled(number):
    def send(run):
        pids = run.pids(2)
        time.sleep(0.5)
        os.kill(pids[1], number)
    return send


def killed(driver):
    """A killed process ends the job, and is named."""
    for _, devices, environment in one_by_turn(SPREADS[:3], "killed"):
        run = job(driver, "killed", 2, devices, environment, signalled(signal.SIGKILL))
        run.fails()
        run.says(DEAD)


def stopped(driver):
    """A stopped process ends the job, and is named with what was waited for."""
    for _, devices, environment in one_by_turn(SPREADS[:3], "stopped"):
        run = job(driver, "stopped", 2, devices, environment, signalled(signal.SIGSTOP))
        run.fails()
        run.says(r"no heartbeat for 2 s", r"\(driver.cpp:\d+\)")


def stops_with_work(driver):
    """A process that stops behind what it has said on the host is named by those whose devices wait for its."""
    for _, devices, environment in one_by_turn(SPREADS[:3], "stops_with_work"):
        run = job(driver, "stops_with_work", 2, devices, environment)
        run.fails()
        run.says(r"no heartbeat for 2 s")


def stops_at_the_end(driver):
    """So is one that stops when it has done all of its work."""
    for _, devices, environment in one_by_turn(SPREADS[:3], "stops_at_the_end"):
        run = job(driver, "stops_at_the_end", 2, devices, environment)
        run.fails()
        run.says(r"no heartbeat for 2 s.*, while this process is done")


def another_statement(driver):
    """Two statements of one shape are told apart, with both places."""
    fails_with(driver, "another_statement", r"the processes run different programs",
               r"driver.cpp:\d+.*driver.cpp:\d+")


def another_array(driver):
    """The same statement on another array is told apart."""
    fails_with(driver, "another_array", r"different programs")


def another_layout(driver):
    """An array that lies otherwise on one process is told when it is read."""
    fails_with(driver, "another_layout", r"different programs")


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


def one_device_is_late(driver):
    """A device that is late is named and waited for, in a process alone as between processes."""
    whom = r"device \d of this process|process \d \(pid \d+\)|some of those it depends on"
    for processes, devices in [(1, 2), (1, 3), *one_by_turn([(2, 1), (2, 2), (3, 1)], "one_device_is_late")]:
        for kind in one_by_turn(["host", "emulated"], "one_device_is_late"):
            run = job(driver, "one_device_is_late", processes, devices,
                      {"TESSERA_DEVICE": kind, "TESSERA_STALL": "0.2"})
            run.ends_well(processes)
            run.says(rf"warning: .* waits .*, and has done so for 0.2 s; ({whom}) may only be late")


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


BY_MESSAGES = [(2, 1, {"TESSERA_ROUTE": "ucx"}), (2, 2, {"TESSERA_ROUTE": "mpi"})]


def one_sided_stopped(driver):
    """A process that is stopped while others ask it for cells ends the job, and is named."""
    for processes, devices, environment in one_by_turn(BY_MESSAGES, "one_sided_stopped"):
        run = job(driver, "asks_for_long", processes, devices, environment,
                  signalled(signal.SIGSTOP))
        run.fails()
        run.says(r"no heartbeat for 2 s.*, while this process waits for cells of device \d")


def one_sided_killed(driver):
    """So does one that is killed."""
    for processes, devices, environment in one_by_turn(BY_MESSAGES, "one_sided_killed"):
        run = job(driver, "asks_for_long", processes, devices, environment,
                  signalled(signal.SIGKILL))
        run.fails()
        run.says(DEAD)


def another_fence(driver):
    """Fences of different arrays are told apart."""
    fails_with(driver, "another_fence", r"different programs", r"driver.cpp:\d+")


def one_fence_less(driver):
    """A process that ends inside an epoch is told from a late one."""
    fails_with(driver, "one_fence_less", r"statement \d+")


def index_on_one(driver):
    """A cell that the array does not have, asked for by one process, releases the others."""
    fails_with(driver, "index_on_one", r"there is no cell \(40,\) in an array of shape \(40,\)")


def all_add(driver):
    """What processes add to the same cells at once is the same over all routes."""
    found = set()
    forced = [{"TESSERA_ROUTE": route} for route in ("shm", "ucx", "mpi")]
    for environment in {}, *one_by_turn(forced, "all_add"):
        run = job(driver, "all_add", 3, 2, environment)
        run.ends_well(3)
        found |= set(re.findall(r"^sum .*$", run.output, re.M))
    assert len(found) == 1, f"different results: {found}"


COMPARED = [(2, 1, {}), (3, 2, {}), (4, 1, {"TESSERA_ROUTE": "mpi"})]
BOTH = r"process 0 is at statement \d+ \(driver.cpp:\d+\), "


def told_all(driver, name, *patterns, check="communication", begin=BOTH, **more):
    """Every process is told the same: both statements in full."""
    for processes, devices, environment in one_by_turn(COMPARED, name):
        run = job(driver, name, processes, devices, {**environment, "TESSERA_CHECK": check, **more})
        run.fails()
        told = re.findall(r"^told .*$", run.output, re.M)
        assert len(told) == processes, f"{len(told)} of {processes} processes were told"
        for pattern in patterns:
            for line in told:
                assert re.search(begin + pattern, line), f"no '{pattern}' in: {line}"


def compared_pointwise(driver):
    """Another statement for which nothing travels is told to every process."""
    told_all(driver, "another_pointwise",
             r"assignment of 40 cells \(40,\) to array 1 \(40,\), reads 1 slice of array 1 \(40,\); "
             r"on NamedSharding\(.*, but process 1 is at statement \d+ \(driver.cpp:\d+\), assignment")


def compared_shape(driver):
    """Another range of cells is told with both shapes."""
    told_all(driver, "another_shape", r"assignment of 5 cells \(5,\) to .*assignment of 6 cells \(6,\) to")


def compared_size(driver):
    """An array of another shape is told with both shapes."""
    told_all(driver, "another_size", r"assignment of 40 cells \(40,\) to array 1 \(40,\).*to array 1 \(41,\)")


def compared_product(driver):
    """A product of several steps is told as one statement, with its operands and its target."""
    told_all(driver, "another_target_of_product",
             r"matmul_into of .* reads 1 slice of array 1 \(8, \d+\).*; written by sums that pass along x "
             r"through \d devices, in 1 chunk, and then copied; its last statement is copy of 24 cells "
             r"\(8, 3\) to array 3 \(8, 3\).* to array 4 \(8, 3\)", TESSERA_ROLES="x=terms")


def compared_message(driver):
    """A message of another statement is told with both statements in full too."""
    for processes, devices, environment in one_by_turn(COMPARED, "compared_message"):
        run = job(driver, "another_statement", processes, devices,
                  {**environment, "TESSERA_CHECK": "communication"})
        run.fails()
        run.says(BOTH + r"assignment of 38 cells .*, but process 1 is at statement \d+ \(driver.cpp:\d+\), assignment")


def compared_more(driver):
    """A statement more on one process is told, with the end of the others."""
    for processes, devices, environment in one_by_turn(COMPARED, "compared_more"):
        run = job(driver, "one_statement_more", processes, devices,
                  {**environment, "TESSERA_CHECK": "communication"})
        run.fails()
        run.says(r"process 0 is at its end, after 50 statements \(driver.cpp:\d+\), but process 1 is at "
                 r"statement \d+ \(driver.cpp:\d+\), assignment of 40 cells")
        # Without comparisons nobody sees it, since nothing travels.
        job(driver, "one_statement_more", processes, devices, environment).ends_well(processes)


def compared_less(driver):
    """A statement less on one process is told where the next one differs."""
    for processes, devices, environment in one_by_turn(COMPARED, "compared_less"):
        run = job(driver, "one_statement_less", processes, devices,
                  {**environment, "TESSERA_CHECK": "communication"})
        run.fails()
        run.says(BOTH + r"assignment .*, but process 1 is at statement 50 \(after driver.cpp:\d+\), assignment")


def compared_right(driver):
    """A right program with random delays is the same with comparisons."""
    for name in "right_with_delays", "own_messages", "mistake_on_all", "growing_ghosts":
        spreads = one_by_turn(COMPARED, name)
        checks = one_by_turn(("communication", "numbers"), name)
        found = {check: bits_of(driver, name, check, spreads) for check in ("none", *checks)}
        assert len(set().union(*found.values())) == 1, f"{name}: {found}"


def bits_of(driver, name, check, spreads):
    found = set()
    for processes, devices, environment in spreads:
        run = job(driver, name, processes, devices, {**environment, "TESSERA_CHECK": check})
        run.ends_well(processes)
        found |= set(re.findall(r"^(?:bits|sum) .*$", run.output, re.M))
    return found


def compared_number(driver):
    """A number that differs on one process is told with both, in each form of statement and in a loop."""
    there = r"driver.cpp:\d+\), "
    for name, one, other in (("another_number", "2", "3"), ("another_number_in_loop", "0.5", "0.25"),
                             ("another_number_later", "0.5", "0.25"),
                             ("another_number_in_second_step", "0.5", "0.25")):
        told_all(driver, name,
                 rf"assignment of 40 cells \(40,\) with numbers \[{one}\] to array 1 .*"
                 rf"but process 1 is at .*{there}assignment of 40 cells \(40,\) with numbers \[{other}\]",
                 check="numbers", begin=rf"process 0 is at statement \d+ .*{there}")
    told_all(driver, "another_term", r"sum of 40 cells \(40,\) with numbers \[2\].*with numbers \[3\]",
             check="numbers")


def compared_fill(driver):
    """So is the number of a new array, and the cells that all processes pass for one."""
    begin = r"process 0 is at statement \d+, "
    told_all(driver, "another_fill",
             r"full of array 1 \(40,\) with numbers \[0.5\]; on .*, but process 1 is at "
             r"statement \d+, full of array 1 \(40,\) with numbers \[0.25\]; on ",
             check="numbers", begin=begin)
    told_all(driver, "other_host_cells",
             r"from_host of array 1 \(40,\) with numbers \[1, 1, .*, \.\.\.\]; on .*, but process 1 is at "
             r"statement \d+, from_host of array 1 \(40,\) with numbers \[1, 1.5, 1, ",
             check="numbers", begin=begin)


def compared_killed(driver):
    """Who waits for the statement of a process that dies is told so."""
    run = job(driver, "killed", 2, 1, {"TESSERA_CHECK": "communication"}, signalled(signal.SIGKILL))
    run.fails()
    run.says(DEAD)


def unwinds(driver):
    """An exception may unwind the Runtime of one process while work is queued."""
    for _ in range(5):
        run = job(driver, "unwinds", 1, 3, {})
        assert run.code == 0, f"exit code {run.code}"
        run.says(r"^done$|\ndone\n")


def uneven(driver):
    """Processes may drive different numbers of devices."""
    found = set()
    for first, second in ((2, 1), *one_by_turn([(1, 2), (3, 1)], "uneven")):
        run = Run(["-n", "1", "-x", f"TESSERA_DEVICES={first}", driver, "right_with_delays", ":",
                   "-n", "1", "-x", f"TESSERA_DEVICES={second}", driver, "right_with_delays"])
        run.ends_well(2)
        found |= set(re.findall(r"^bits .*$", run.output, re.M))
    assert len(found) == 1, f"different results: {found}"


SCENARIOS = [killed, stopped, stops_with_work, stops_at_the_end, another_statement, another_array,
             another_layout, another_reduction, one_array_more, ends_early, upwind_both_ways,
             throws_on_one, functor_throws_on_one, one_device_is_late, mistake_on_all, right_with_delays, own_messages,
             growing_ghosts, budget_on_one, one_sided_stopped, one_sided_killed, another_fence,
             one_fence_less, index_on_one, all_add, compared_pointwise, compared_shape,
             compared_size, compared_product, compared_message, compared_more, compared_less,
             compared_number, compared_fill, compared_right, compared_killed, unwinds, uneven]


if __name__ == "__main__":
    sys.exit(main(SCENARIOS, __doc__))
