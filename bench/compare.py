"""Runs the cases of a bench and prints the table; bench/run says how it is called."""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

COLUMNS = ["case", "form", "processes", "devices", "seconds", "raw_seconds",
           "ratio", "ratio_min", "ratio_max"]

# What a bench's program is told for each case: dimensions, cells along each, steps of a run.
CASES = {
    "heat": {
        "1d-32M": (1, 33_554_432, 20),
        "1d-64Ki": (1, 65_536, 20_000),
        "1d-256": (1, 256, 200_000),
        "2d-4096": (2, 4096, 40),
    },
    "sum": {
        "binned-32M": (1, 33_554_432, 20),
        "binned-1M": (1, 1_048_576, 500),
        "binned-64Ki": (1, 65_536, 5_000),
        "binned-4Ki": (1, 4_096, 20_000),
        "fast-32M": (1, 33_554_432, 20),
        "fast-64Ki": (1, 65_536, 5_000),
    },
}
FEWEST_PAIRS = 5
SECONDS_PER_CASE = 600


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run")
    parser.add_argument("bench", choices=CASES)
    parser.add_argument("cases", nargs="*", metavar="case")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--cells", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--program", required=True)
    asked = parser.parse_intermixed_args()
    for case in asked.cases:
        if case not in CASES[asked.bench]:
            parser.error(f"{asked.bench} has no case {case}; there are {', '.join(CASES[asked.bench])}")
    if asked.pairs < FEWEST_PAIRS:
        parser.error(f"fewer than {FEWEST_PAIRS} pairs say nothing")
    return asked


def mpirun(processes: int) -> list[str]:
    """The same for both versions: a core for each process, or none where there are too few."""
    enough = len(os.sched_getaffinity(0)) >= processes
    binding = ["--bind-to", "core"] if enough else ["--bind-to", "none", "--oversubscribe",
                                                    "--mca", "mpi_yield_when_idle", "1"]
    return ["mpirun", "-n", str(processes), "--timeout", str(SECONDS_PER_CASE), *binding]


def environment() -> dict[str, str]:
    result = {**os.environ, "TESSERA_DEVICES": "1"}
    if os.geteuid() == 0:  # Open MPI refuses root otherwise; containers know no other user
        result |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return result


def run_case(asked: argparse.Namespace, name: str) -> dict:
    dimensions, cells, steps = CASES[asked.bench][name]
    changed = asked.cells is not None and asked.cells != cells
    cells, steps = asked.cells or cells, asked.steps or steps
    label = f"{name.split('-')[0]}-{cells}" if changed else name
    command = [*mpirun(asked.processes), asked.program, label,
               *map(str, (dimensions, cells, steps, asked.pairs))]
    done = subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def row(measured: dict, form: str) -> dict:
    ratios = [raw / ours for ours, raw in measured["pairs"]]
    return {
        "case": measured["case"], "form": form,
        "processes": measured["processes"], "devices": measured["devices"],
        "seconds": statistics.median(ours for ours, _ in measured["pairs"]),
        "raw_seconds": statistics.median(raw for _, raw in measured["pairs"]),
        "ratio": statistics.median(ratios),
        "ratio_min": min(ratios), "ratio_max": max(ratios),
    }


def cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def print_row(values: list[str]) -> None:
    print("".join(f"{value:<14}" if i < 2 else f"{value:>12}" for i, value in enumerate(values)),
          flush=True)


def machine() -> list[str]:
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                if line.startswith("model name")), platform.machine())
    here = pathlib.Path(__file__).parent
    commit = subprocess.run(["git", "-C", str(here), "describe", "--always", "--dirty"],
                            capture_output=True, text=True, check=False).stdout.strip()
    load = " ".join(f"{n:.1f}" for n in os.getloadavg())
    return [f"commit {commit or 'unknown'}", f"cpu    {len(os.sched_getaffinity(0))} of {cpu}",
            f"load   {load}"]


def main() -> int:
    if sys.argv[1:] == ["--list"]:
        for bench, cases in CASES.items():
            print(bench, *cases)
        return 0
    asked = arguments()
    print("\n".join(f"# {line}" for line in machine()))
    print_row(COLUMNS)
    rows = []
    for name in asked.cases or CASES[asked.bench]:
        rows.append(row(run_case(asked, name), "loop"))
        print_row([cell(rows[-1][column]) for column in COLUMNS])
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
