"""Measures how good the plans of products are; bench/run says how it is called.

Each case is a product of two matrices of floats over one mesh axis x. It runs as the library plans it, and with
each role that TESSERA_ROLES can give to x, in turn. regret is the time of the chosen plan ÷ that of the fastest
one: 1 is perfect. Roles that are not possible for a case are left out. The result has the same bits under all.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import compare

COLUMNS = ["case", "chosen", "seconds", "expected", "fastest", "best", "regret"]
ROLES = ("x=copies", "x=0", "x=1", "x=terms")
RUNS = 3
# M, K, N, and how A, B and C lie.
SHAPES = {
    "cube-256": (256, 256, 256), "cube-512": (512, 512, 512), "cube-1024": (1024, 1024, 1024),
    "thin-left": (32, 2048, 2048), "thin-right": (2048, 2048, 32), "thin-inner": (1024, 32, 1024),
    "long": (256, 32768, 256), "longer": (64, 131072, 64), "layer": (512, 5632, 2048), "vector": (2048, 2048, 1),
}
LAYOUTS = {
    "rows": ("rows", "copies", "rows"), "columns": ("copies", "columns", "columns"),
    "terms": ("columns", "rows", "copies"),
}
CASES = {f"{shape}-{layout}": (*SHAPES[shape], *LAYOUTS[layout]) for shape in SHAPES for layout in LAYOUTS}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run")
    parser.add_argument("bench", choices=["roles"])
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=5, help="rounds")
    parser.add_argument("--hosts", type=int, metavar="N")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--program", required=True)
    asked = parser.parse_intermixed_args()
    if asked.processes < 2:
        parser.error("one process has no choice")
    for case in asked.cases:
        if case not in CASES:
            parser.error(f"roles has no case {case}; there are {', '.join(CASES)}")
    return asked


def run(asked: argparse.Namespace, product: tuple, variables: dict[str, str]) -> dict | None:
    """What the program prints; none if the roles are not possible."""
    how = argparse.Namespace(processes=asked.processes, engine=None, route=None, hosts=asked.hosts)
    command = [*compare.mpirun(how), asked.program, *map(str, product), str(RUNS)]
    done = subprocess.run(command, env={**compare.environment(how), **variables},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    if "cannot be computed so" in done.stderr:
        return None
    sys.exit(f"{variables} {' '.join(command)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")


def row_of(asked: argparse.Namespace, case: str) -> dict:
    possible = ["", *ROLES]
    rounds = []
    for i in range(asked.pairs):
        order = possible if i % 2 == 0 else possible[::-1]
        measured = {roles: run(asked, CASES[case], {"TESSERA_ROLES": roles}) for roles in order}
        possible = [roles for roles in possible if measured[roles]]
        rounds.append(measured)
    if len({measured[roles]["hash"] for measured in rounds for roles in possible}) > 1:
        sys.exit(f"{case} has other bits with other roles")
    seconds = {roles: min(min(measured[roles]["seconds"]) for measured in rounds) for roles in possible}
    chosen = rounds[0][""]
    # The same plan under its own name is as good as the chosen one.
    of_choice = min(seconds[""], seconds[chosen["roles"]])
    best = min(possible[1:], key=lambda roles: seconds[roles])
    return {"case": case, "chosen": chosen["roles"], "seconds": of_choice, "expected": chosen["expected"],
            "fastest": best, "best": seconds[best], "regret": of_choice / min(of_choice, seconds[best]),
            "all": seconds}


def print_row(values: list[str]) -> None:
    compare.print_row([f"{values[0]:<20}", *values[1:]])


def main() -> int:
    asked = arguments()
    print("\n".join(f"# {line}" for line in compare.machine()))
    print(f"# {len(os.sched_getaffinity(0))} cores, {asked.processes} processes, {asked.hosts or 1} hosts")
    print_row(COLUMNS)
    rows = []
    for case in asked.cases or CASES:
        rows.append(row_of(asked, case))
        print_row([compare.cell(rows[-1][name]) for name in COLUMNS])
    regrets = [row["regret"] for row in rows]
    print(f"# regret: median {statistics.median(regrets):.3f}, largest {max(regrets):.3f}, "
          f"at most 1.15 in {sum(r <= 1.15 for r in regrets)} of {len(regrets)} cases")
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
