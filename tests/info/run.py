#!/usr/bin/env python3
"""What tessera-info prints: the same for people and programs, on process 0 alone, and why.

    run.py <tessera-info>
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "network" / "faults"), str(TESTS / "running")]
from run import HANGS, MPIRUN, ROOT, main, session_folder  # noqa: E402
from turns import one_by_turn  # noqa: E402

ALONE_AND_TWO = [{}, {"processes": 2}]


def run(arguments, processes=0, **environment):
    """Alone, or under mpirun."""
    return start([*MPIRUN, "-n", str(processes), *arguments] if processes else arguments, **environment)


def start(command, **environment):
    settings = {name: value for name, value in os.environ.items() if not name.startswith("TESSERA_")}
    with session_folder() as session:
        return subprocess.run(command, env={**settings, **ROOT, **session, **environment},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=HANGS + 60, check=False)


def report(program, *options, **how):
    done = run([program, "--json", *options], **how)
    assert done.returncode == 0, f"code {done.returncode}: {done.stderr}"
    return json.loads(done.stdout)


def leaves(tree):
    """All values, without numbers of processes and jobs, which change from run to run."""
    if isinstance(tree, dict):
        tree = [part for key, part in tree.items() if key != "pid" and (key != "job" or isinstance(part, dict))]
    elif not isinstance(tree, list):
        return [tree]
    return [leaf for part in tree for leaf in leaves(part)]


def words(value):
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def alone(program):
    """Alone it takes what it is told as devices, and starts no MPI."""
    found = report(program, TESSERA_DEVICES="3")
    assert found["job"] == {**found["job"], "processes": 1, "devices": 3}
    assert found["launch"]["launcher"] == "nobody" and not found["launch"]["starts_mpi"]
    assert found["routes"]["same_process"]["route"] == "local"
    assert found["routes"]["same_host"]["route"] == found["routes"]["other_host"]["route"] == "none"
    assert not found["transports"]["mpi"]["there"]


def both_forms(program):
    """People and programs are shown the same entries and values."""
    for how in one_by_turn(ALONE_AND_TWO, "both_forms"):
        tree = report(program, "--no-measure", **how)
        text = run([program, "--no-measure"], **how).stdout
        for value in leaves(tree):
            # Bytes are written in larger units.
            if re.fullmatch(r"\d{4,}", str(value)):
                continue
            assert re.search(rf"(?<!\w){re.escape(words(value))}(?!\w)", text), f"no {value!r} in:\n{text}"
        for key in tree:
            assert key.replace("_", " ") in text, key


def several(program):
    """Under mpirun process 0 prints, with the route of each kind of pair, why, and how fast it is."""
    found = report(program, processes=3, TESSERA_DEVICES="2")
    assert found["job"]["processes"] == 3 and found["job"]["devices"] == 6
    assert [line["devices"] for line in found["processes_and_devices"]] == ["0-1", "2-3", "4-5"]
    host = found["routes"]["same_host"]
    assert host["route"] == "shm" and "mapped" in host["why"]
    measured = {line.pop("by"): line for line in host["measured"]}
    assert {"shm", "mpi", "plain MPI"} <= set(measured), set(measured)
    for name, line in measured.items():
        assert line["round_trip_of_8_B_us"] > 0 and line["1_MiB_one_way_gb_per_s"] > 0, name


def forced(program):
    """A route that TESSERA_ROUTE asks for is taken, and that is why."""
    host = report(program, "--no-measure", processes=2, TESSERA_ROUTE="mpi")["routes"]["same_host"]
    assert host == {"route": "mpi", "why": "mpi: TESSERA_ROUTE asks for it"}


def hidden(program):
    """Processes of a host that do not see each other, as in containers, are told how they are joined."""
    if not shutil.which("unshare") or os.geteuid() != 0:
        print("skipped: needs root and unshare")
        return
    single_copy = ["--mca", "btl_vader_single_copy_mechanism", "none"]
    done = start([*MPIRUN, *single_copy, "-n", "1", program, "--json", ":", "-n", "1",
                  "unshare", "--pid", "--fork", program, "--json"])
    assert done.returncode == 0, f"code {done.returncode}: {done.stderr}"
    host = json.loads(done.stdout)["routes"]["same_host"]
    ways = {"shm": r"shm: a segment was mapped by both", "mpi": r"shm: .+; mpi: a channel to process 1 is open"}
    assert re.match(ways[host["route"]], host["why"]), host
    assert (host["route"] == "shm") == ("shm" in [line["by"] for line in host["measured"]]), host


def mistakes(program):
    """An option that is none is told once, by every process with code 2; help and version end well."""
    for how in one_by_turn(ALONE_AND_TWO, "mistakes"):
        done = run([program, "--jason"], **how)
        assert done.returncode == 2 and done.stdout == "", done
        assert done.stderr.count("tessera-info: there is no option '--jason'") == 1, done.stderr
        assert run([program, "--help"], **how).stdout.count("usage: tessera-info") == 1
        assert re.fullmatch(r"\d+\.\d+\.\d+\n", run([program, "--version"], **how).stdout)
        done = run([program], **how, TESSERA_DEVICES="none")
        assert done.returncode != 0 and "TESSERA_DEVICES=none is not a whole number" in done.stderr, done


def sruns(program):
    """Processes that srun starts without MPI are warned about."""
    found = report(program, "--no-measure", SLURM_PROCID="0", SLURM_STEP_NUM_TASKS="4",
                   SLURM_STEP_NODELIST="n[1-2]")["launch"]
    assert found["launcher"] == "Slurm" and found["host_list"] == "n[1-2]"
    assert "srun started 4 processes without MPI" in found["warning"]


if __name__ == "__main__":
    sys.exit(main([alone, both_forms, several, forced, hidden, mistakes, sruns], __doc__))
