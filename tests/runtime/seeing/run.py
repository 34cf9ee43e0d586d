#!/usr/bin/env python3
"""What TESSERA_STRICT, TESSERA_REPORT, TESSERA_TRACE and Kokkos tools show of a program.

TESSERA_COUNTING_TOOL names the library of count_launches.cpp.

    run.py <spread> <driver> [PxD | solo:D]...
"""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "running"))
from turns import one_by_turn, taken  # noqa: E402

STEPS = 20


def run(spread, how, driver, scenario, fails=False, **environment):
    job = subprocess.run([spread, how, driver, scenario], env={**os.environ, **environment},
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert (job.returncode != 0) == fails, f"exit code {job.returncode}\n{job.stdout}{job.stderr}"
    return job.stdout, job.stderr


def counts(how):
    """Processes, devices of each."""
    if how.startswith("solo:"):
        return 1, int(how[5:])
    return tuple(int(n) for n in how.split(":")[0].split("x"))


def strict(spread, driver, how):
    """A gather that nobody announced is refused on every process; what was asked for is not. Needs two
    devices at least."""
    processes, _ = counts(how)
    for environment in {}, {"TESSERA_STRICT": "1"}:
        out, _ = run(spread, how, driver, "gathers", **environment)
        assert "WRONG" not in out, out
        assert out.count("as expected") == 7 * processes, out
        assert out.count("done") == processes, out
    assert "TESSERA_STRICT: 1 gather without an announcement" in out, out
    assert re.search(r"driver.cpp:\d+: assignment", out) and "reshard(u, sharding)" in out, out


def report(spread, driver, how):
    """One table, by process 0: statements by their places, with what they sent."""
    processes, devices = counts(how)
    all_devices = processes * devices
    out, err = run(spread, how, driver, "heat", TESSERA_REPORT="1")
    assert err.count("tessera: report of") == 1, err
    assert "report" not in out
    lines = [line.split() for line in err[err.index("tessera: report of"):].splitlines()]
    head = lines[1]
    assert head[:3] == ["place", "statement", "runs"], head
    steps = [line for line in lines if re.fullmatch(r"driver.cpp:\d+", line[0])]
    assert len(steps) == 2 and all(line[2] == str(STEPS) for line in steps), err
    messages = sorted(int(line[7]) for line in steps)
    assert messages == [0, 2 * (all_devices - 1) * STEPS], err
    last = next(line for line in lines if line[0] == "all")
    assert last[1] == str(2 * STEPS) and float(last[2]) > 0, err
    quiet = run(spread, how, driver, "heat")[1]
    assert "report of" not in quiet


def report_of_branches(spread, driver, how):
    """Processes whose statements stand at different places are not added up."""
    processes, _ = counts(how)
    _, err = run(spread, how, driver, "branches", TESSERA_REPORT="1")
    assert ("process 0 alone" in err) == (processes > 1), err


def trace(spread, driver, how):
    """A file of each process, in the trace event format, with a track for each device."""
    processes, devices = counts(how)
    stem = "run"
    for suffix in one_by_turn((".json", ""), "suffix"):
        with tempfile.TemporaryDirectory(prefix="a.b") as folder:
            path = pathlib.Path(folder) / (stem + suffix)
            run(spread, how, driver, "heat", TESSERA_TRACE=str(path))
            files = [path] + [path.with_name(f"{stem}.{p}{suffix}") for p in range(1, processes)]
            assert set(path.parent.iterdir()) == set(files)
            for p, file in enumerate(files):
                check_trace(json.loads(file.read_text()), p, devices)


def check_trace(found, process, devices, whole=True):
    events = found["traceEvents"]
    assert all(event["pid"] == process for event in events)
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    first = process * devices
    assert tracks == {d: f"device {d}" for d in range(first, first + devices)}, tracks
    spans = [e for e in events if e["ph"] == "X"]
    assert {e["cat"] for e in spans} >= {"statement", "kernel", "pack"}
    statements = [e for e in spans if e["cat"] == "statement"]
    assert all(re.fullmatch(r"driver.cpp:\d+ assignment", e["name"]) for e in statements)
    for device in tracks:
        own = [e for e in statements if e["tid"] == device]
        assert len(own) >= STEPS, len(own)
        inside = [e for e in spans if e["tid"] == device and e["cat"] != "statement"]
        in_phases, in_statements = (sum(e["dur"] for e in some) for some in (inside, own))
        assert in_phases <= in_statements * 1.01 + 1, \
            f"device {device}: {in_phases} us in phases, {in_statements} in statements"
        assert all(e["ts"] >= 0 and e["dur"] >= 0 for e in own)
    assert found["otherData"]["overwritten spans"] == 0 or not whole


def trace_to_nowhere(spread, driver, how):
    """A file that cannot be written is refused before the program computes."""
    out, err = run(spread, how, driver, "heat", fails=True, TESSERA_TRACE="no such folder/run.json")
    assert "TESSERA_TRACE=no such folder/run.json: the file no such folder/run" in err, err
    assert "done" not in out, out


def wrong_variables(spread, driver, how):
    """A variable that cannot be read is refused before the program computes, whether it is needed or not."""
    wrong = ("TESSERA_COLOR", "pink"), ("TESSERA_GPU_ROUTE", "pigeon"), ("TESSERA_DEPTH", "deep")
    for name, value in one_by_turn(wrong, "variable"):
        out, err = run(spread, how, driver, "heat", fails=True, **{name: value})
        assert f"{name}={value} is not " in err, err
        assert "done" not in out, out


def full_disk(spread, driver, how):
    """A disk without room for the trace is told, nothing of it remains, and the program ends well."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"]).returncode != 0:
        print("skipped: needs root and mounts")
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", folder], check=True)
        try:
            _, err = run(spread, how, driver, "heat", TESSERA_TRACE=f"{folder}/run.json")
            left = os.listdir(folder)
        finally:
            subprocess.run(["umount", folder], check=True)
    assert "No space left on device; set TESSERA_TRACE to a file in a folder that has room" in err
    assert not left, left


def after_an_error(spread, driver, how):
    """A program that ends in an error leaves the trace of each process, and the report of process 0, also
    if the others see the error seconds later."""
    processes, devices = counts(how)
    for scenario in "fails", "fails-caught", "fails-long-before":
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.json"
            _, err = run(spread, how, driver, scenario, fails=True, TESSERA_TRACE=str(path),
                         TESSERA_REPORT="1")
            files = [path] + [path.with_name(f"run.{p}.json") for p in range(1, processes)]
            assert set(path.parent.iterdir()) == set(files), err
            for p, file in enumerate(files):
                check_trace(json.loads(file.read_text()), p, devices, whole=False)
        assert "report of process 0 alone, since the program ends in an error" in err, err
        if processes > 1:
            assert f"process {processes - 1} gave up: " in err, err


def labels(spread, driver, how):
    """A Kokkos tool sees each launch by the place of its statement."""
    processes, devices = counts(how)
    tool = os.environ["TESSERA_COUNTING_TOOL"]
    out, _ = run(spread, how, driver, "heat", KOKKOS_PROFILE_LIBRARY=tool, KOKKOS_TOOLS_LIBS=tool)
    seen = {}
    for name, number in re.findall(r"^launches of (.*): (\d+)$", out, re.M):
        seen[name] = seen.get(name, 0) + int(number)
    places = {name: number for name, number in seen.items() if re.fullmatch(r"driver.cpp:\d+", name)}
    # The step on each device, and one cell on the first.
    assert sorted(places.values()) == [STEPS, processes * devices * STEPS], seen
    assert set(seen) <= {*places, "tessera"}, seen
    without, _ = run(spread, how, driver, "heat")
    assert "launches of" not in without


CHECKS = [labels, strict, report, report_of_branches, trace, trace_to_nowhere, wrong_variables, full_disk,
          after_an_error]


def main():
    spread, driver, *spreads = sys.argv[1:]
    failed = 0
    for check in CHECKS:
        possible = [how for how in spreads if check is not strict or math.prod(counts(how)) > 1]
        for how in one_by_turn(possible, check.__name__):
            try:
                check(spread, driver, how)
                verdict = "ok"
            except AssertionError as error:
                failed += 1
                verdict = f"FAILED: {error}"
            print(f"{check.__name__} {how}: {verdict}{taken()}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
