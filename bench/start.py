"""Measures what it takes to start and to end, and what a Runtime keeps; bench/run says how it is called.

Jobs of bare MPI and of Tessera in turn, who is first changes from pair to pair. The seconds are those of
process 0, from its first line to its last: MPI lets nobody go on before all have started. ratio is Tessera ÷
MPI, unlike in the other benches: 1 is equal, 1.2 is what is allowed.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

import compare

COLUMNS = ["processes", "seconds", "mpi_seconds", "ratio", "ratio_min", "ratio_max"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run")
    parser.add_argument("bench", choices=["start"])
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--program", required=True)
    return parser.parse_args()


def run(asked: argparse.Namespace, what: str, processes: int) -> dict:
    how = argparse.Namespace(processes=processes, engine=None, route=None, hosts=None)
    command = [*compare.mpirun(how), asked.program, what]
    done = subprocess.run(command, env=compare.environment(how), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def pair(asked: argparse.Namespace, is_first: bool) -> tuple[float, float]:
    order = ["tessera", "mpi"] if is_first else ["mpi", "tessera"]
    seconds = {what: run(asked, what, asked.processes)["seconds"] for what in order}
    return seconds["tessera"], seconds["mpi"]


def main() -> int:
    asked = arguments()
    print("\n".join(f"# {line}" for line in compare.machine()))
    pairs = [pair(asked, i % 2 == 0) for i in range(asked.pairs)]
    ratios = [ours / mpi for ours, mpi in pairs]
    ours = statistics.median(seconds for seconds, _ in pairs)
    mpi = statistics.median(seconds for _, seconds in pairs)
    # Medians of each: one job that another program disturbed would count twice in a ratio of pairs.
    row = dict(zip(COLUMNS, [asked.processes, ours, mpi, ours / mpi, min(ratios), max(ratios)]))
    for values in COLUMNS, [compare.cell(row[name]) for name in COLUMNS]:
        print("".join(f"{value:>12}" for value in values))
    memory = {count: run(asked, "memory", count) for count in sorted({8, asked.processes})}
    for count, kept in memory.items():
        print(f"{count} processes: a Runtime keeps {kept['heap_bytes']} B in each, and maps "
              f"{kept['shared_bytes']} B of the host's")
    if asked.json:
        asked.json.write_text(json.dumps([{**row, "memory": memory}], indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
