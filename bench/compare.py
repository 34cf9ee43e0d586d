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
EXTRA = "extra_MiB"  # of benches that measure memory
ONE_CORE = "one_core"  # of benches that have a plain loop on one core: its seconds
OF_STREAM = "of_stream"  # of benches that measure how fast memory is
STENCILS = ("heat", "wave", "gray_scott")
MORE_COLUMNS = {"reshard": [EXTRA], **dict.fromkeys(STENCILS, [ONE_CORE, OF_STREAM])}

# What a bench's program is told for each case: dimensions, cells along each, steps of a run.
CASES = {
    "heat": {
        "1d-32M": (1, 33_554_432, 64),
        "1d-64Ki": (1, 65_536, 20_000),
        "1d-256": (1, 256, 200_000),
        "2d-4096": (2, 4096, 128),
        "3d-256": (3, 256, 64),
    },
    "wave": {"2d-4096": (2, 4096, 128)},
    "gray_scott": {"2d-2048": (2, 2048, 128)},
    "staggered": {
        "water-1024": (2, 1024, 256),
        "water-2048": (2, 2048, 64),
        "fdtd-1024": (2, 1024, 256),
        "fdtd-2048": (2, 2048, 64),
    },
    "star": {
        "2d-2048": (2, 2048, 128),
        "2d-4096": (2, 4096, 32),
    },
    "residual": {
        "adaptive-2048": (2, 2048, 64),
        "adaptive-4096": (2, 4096, 16),
        "jacobi-2048": (2, 2048, 64),
        "jacobi-4096": (2, 4096, 16),
    },
    "transpose": {
        "2d-2048": (2, 2048, 16),
        "2d-4096": (2, 4096, 4),
    },
    "matmul": {
        **{f"{kind}-{n}": (2, n, max(1, 1024 ** 3 // n ** 3 // (1 if kind == "float" else 2)))
           for kind in ("double", "float", "complex") for n in (64, 256, 512, 1024)},
        "double-2048": (2, 2048, 1),
        "float-2048": (2, 2048, 1),
        "rows-2048": (2, 2048, 1),
        "rows-64": (2, 64, 2_000),
        "columns-2048": (2, 2048, 1),
        "batch-256": (2, 256, 1),
        "terms-65536": (2, 65_536, 1),
        "row-8192": (2, 8192, 10),
        "column-8192": (2, 8192, 10),
    },
    "multigrid": {
        "3d-65": (3, 65, 128),
        "3d-129": (3, 129, 16),
    },
    "sum": {
        "binned-32M": (1, 33_554_432, 20),
        "binned-1M": (1, 1_048_576, 500),
        "binned-64Ki": (1, 65_536, 5_000),
        "binned-4Ki": (1, 4_096, 20_000),
        "fast-32M": (1, 33_554_432, 20),
        "fast-64Ki": (1, 65_536, 5_000),
    },
    "random": {
        "uniform-float-32M": (1, 33_554_432, 8),
        "uniform-float-64Ki": (1, 65_536, 3_000),
        "uniform-double-16M": (1, 16_777_216, 8),
        "uniform-double-32Ki": (1, 32_768, 3_000),
        "walk-double-16M": (1, 16_777_216, 8),
        "walk-double-32Ki": (1, 32_768, 3_000),
    },
    "onesided": {
        "read-8B": (1, 65_536, 500_000),
        "message-8B": (1, 65_536, 20_000),
    },
    # The steps are pairs of fences, and loops of ten steps.
    "meet": {
        "fences": (1, 256, 2_000),
        "iterate-10": (1, 256, 500),
    },
    # Doubles of a face: what goes to each neighbour.
    "transport": {
        "8B": (1, 1, 20_000),
        "4KiB": (1, 512, 10_000),
        "64KiB": (1, 8_192, 1_000),
        "1MiB": (1, 131_072, 100),
        "64MiB": (1, 8_388_608, 2),
    },
    # Doubles of each process.
    "collectives": {
        "8B": (1, 1, 20_000),
        "64KiB": (1, 8_192, 1_000),
        "1MiB": (1, 131_072, 100),
        "4MiB": (1, 524_288, 25),
        "64MiB": (1, 8_388_608, 2),
    },
    # The length of a side; 5792 doubles squared are 256 MiB. Copies: each process gets all.
    "reshard": {
        "8MiB": (2, 1024, 20),
        "256MiB": (2, 5792, 1),
        "copies-2MiB": (2, 512, 20),
        "copies-32MiB": (2, 2048, 3),
    },
}
# Statements of one cell at a time: cells in the caches.
STATEMENTS = ("axpy where sqrt divide floor minimum exp exp2 expm1 log log2 log10 log1p sin cos tan "
              "asin acos atan sinh cosh tanh cbrt erf erfc tgamma lgamma pow atan2 hypot").split()
CASES["cells"] = {f"{name}-{dtype}": (1, 16_384, 500)
                  for dtype in ("double", "float") for name in STATEMENTS}
FEWEST_PAIRS = 5
SECONDS_PER_CASE = 600
HOSTS = pathlib.Path(__file__).parent.parent / "tests" / "hosts"
# How Open MPI's own messages travel; its UCX is not taken unless asked for in full.
ENGINES = {
    None: [],
    "ob1": ["--mca", "pml", "ob1"],
    "ucx": ["--mca", "pml", "ucx", "--mca", "opal_common_ucx_tls", "any",
            "--mca", "opal_common_ucx_devices", "any"],
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run")
    parser.add_argument("bench", choices=CASES)
    parser.add_argument("cases", nargs="*", metavar="case")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--cells", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--route", choices=["shm", "ucx", "mpi"])
    parser.add_argument("--engine", choices=["ob1", "ucx"])
    parser.add_argument("--hosts", type=int, metavar="N")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--program", required=True)
    asked = parser.parse_intermixed_args()
    for case in asked.cases:
        if case not in CASES[asked.bench]:
            parser.error(f"{asked.bench} has no case {case}; there are {', '.join(CASES[asked.bench])}")
    if asked.check:
        asked.pairs = 1
    elif asked.pairs < FEWEST_PAIRS:
        parser.error(f"fewer than {FEWEST_PAIRS} pairs say nothing")
    if asked.hosts is not None and not 1 <= asked.hosts <= asked.processes:
        parser.error("a host has at least one process")
    return asked


def mpirun(asked: argparse.Namespace) -> list[str]:
    """The same for both versions: a core for each process, or none where there are too few."""
    processes, engine = asked.processes, ENGINES[asked.engine]
    if asked.hosts:
        counts = [processes * (i + 1) // asked.hosts - processes * i // asked.hosts for i in range(asked.hosts)]
        where = ",".join(f"h{i}:{count}" for i, count in enumerate(counts, 1))
        return [str(HOSTS / "hosts-mpirun"), "-H", where, *engine]
    enough = len(os.sched_getaffinity(0)) >= processes
    binding = ["--bind-to", "core"] if enough else ["--bind-to", "none", "--oversubscribe",
                                                    "--mca", "mpi_yield_when_idle", "1"]
    return ["mpirun", "-n", str(processes), "--timeout", str(SECONDS_PER_CASE), *binding, *engine]


def environment(asked: argparse.Namespace) -> dict[str, str]:
    result = {**os.environ, "TESSERA_DEVICES": "1", "TESSERA_TIMEOUT": str(SECONDS_PER_CASE)}
    if asked.route:
        result["TESSERA_ROUTE"] = asked.route
    if os.geteuid() == 0:  # Open MPI refuses root otherwise; containers know no other user
        result |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return result


def run_program(asked: argparse.Namespace, *words: object) -> list[dict]:
    """What the program prints: an object a line."""
    command = [*mpirun(asked), asked.program, *map(str, words)]
    done = subprocess.run(command, env=environment(asked), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def run_case(asked: argparse.Namespace, name: str) -> list[dict]:
    """An object for each form."""
    dimensions, cells, steps = CASES[asked.bench][name]
    changed = asked.cells is not None and asked.cells != cells
    cells, steps = asked.cells or cells, asked.steps or steps
    label = f"{name.split('-')[0]}-{cells}" if changed else name
    forms = run_program(asked, label, dimensions, cells, steps, asked.pairs)
    if asked.bench not in STENCILS:
        return forms
    alone = argparse.Namespace(**{**vars(asked), "processes": 1, "hosts": None})
    loop = run_program(alone, ONE_CORE, label, dimensions, cells, steps, asked.pairs)[0]
    if any(measured["hashes"] != loop["hashes"] for measured in forms):
        sys.exit(f"the plain loop on one core ends {label} with other bits")
    return [{**measured, ONE_CORE: statistics.median(loop[ONE_CORE])} for measured in forms]


def stream_of(asked: argparse.Namespace) -> float:
    """Bytes a second that all processes together read and write."""
    stream = run_program(asked, "stream")[0]["stream"]
    print(f"# stream {stream / 1e9:.1f} GB/s")
    return stream


def row(measured: dict, stream: float | None) -> dict:
    ratios = [raw / ours for ours, raw in measured["pairs"]]
    seconds = statistics.median(ours for ours, _ in measured["pairs"])
    return {
        "case": measured["case"], "form": measured["form"],
        "processes": measured["processes"], "devices": measured["devices"],
        "seconds": seconds,
        "raw_seconds": statistics.median(raw for _, raw in measured["pairs"]),
        "ratio": statistics.median(ratios),
        "ratio_min": min(ratios), "ratio_max": max(ratios),
        **({EXTRA: measured["extra_bytes"] / 2**20} if "extra_bytes" in measured else {}),
        **({ONE_CORE: measured[ONE_CORE]} if ONE_CORE in measured else {}),
        **({OF_STREAM: measured["bytes"] / seconds / stream} if stream else {}),
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
        print("start")
        print("scaling 1d 2d")
        return 0
    asked = arguments()
    print("\n".join(f"# {line}" for line in machine()))
    columns = COLUMNS + MORE_COLUMNS.get(asked.bench, [])
    stream = stream_of(asked) if OF_STREAM in columns else None
    print_row(columns)
    rows = []
    for name in asked.cases or CASES[asked.bench]:
        for measured in run_case(asked, name):
            rows.append(row(measured, stream))
            print_row([cell(rows[-1][column]) for column in columns])
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
