"""Measures how the heat equation scales with processes; bench/run says how it is called.

Jobs of 1, 2, 4, … processes in turn, and in each job the forms of bench/heat.cpp in turn. Strong: as many cells
for all of them together. Weak: as many cells for each of them (in two dimensions nearly, as fields are square).

cores are those that a job's processes have, cell_rate the cells that all of them update in a second. efficiency
is the rate of a core ÷ that of the job of one process in the same round, the median over the rounds: 1 is
perfect. Where processes share cores it is against the cores that there are, and the row ends in a star.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys

import compare

COLUMNS = ["case", "form", "scaling", "processes", "cores", "cells", "seconds", "cell_rate",
           "efficiency", "eff_min", "eff_max"]
# Dimensions, cells along each of all processes together (strong), and of one (weak), steps of a run.
CASES = {"1d": (1, 16_777_216, 4_194_304, 64), "2d": (2, 4096, 2048, 64)}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run")
    parser.add_argument("bench", choices=["scaling"])
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--cells", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--program", required=True)
    asked = parser.parse_intermixed_args()
    for case in asked.cases:
        if case not in CASES:
            parser.error(f"scaling has no case {case}; there are {', '.join(CASES)}")
    return asked


def cells_along(asked: argparse.Namespace, case: str, scaling: str, processes: int) -> int:
    dimensions, of_all, of_one, _ = CASES[case]
    if scaling == "strong":
        return asked.cells or of_all
    return round((asked.cells or of_one) * processes ** (1 / dimensions))


def run(asked: argparse.Namespace, case: str, processes: int, cells: int) -> dict[str, float]:
    """The seconds of each form, once ghost cells have their widths: in the second round that counts."""
    how = argparse.Namespace(processes=processes, engine=None, route=None, hosts=None,
                             program=asked.program)
    dimensions, _, _, steps = CASES[case]
    forms = compare.run_program(how, case, dimensions, cells, asked.steps or steps, 2)
    seconds = {measured["form"]: measured["pairs"][1][0] for measured in forms}
    return {**seconds, "raw": forms[-1]["pairs"][1][1]}


def rows_of(asked: argparse.Namespace, case: str, scaling: str, counts: list[int]) -> list[dict]:
    dimensions, _, _, steps = CASES[case]
    cells = {count: cells_along(asked, case, scaling, count) for count in counts}
    cores = {count: min(count, len(os.sched_getaffinity(0))) for count in counts}
    updates = {count: cells[count] ** dimensions * (asked.steps or steps) for count in counts}
    rounds = [{count: run(asked, case, count, cells[count])
               for count in (counts if i % 2 == 0 else counts[::-1])} for i in range(asked.pairs)]
    rows = []
    for form in rounds[0][1]:
        for count in counts:
            rates = [updates[count] / seconds[count][form] for seconds in rounds]
            alone = [updates[1] / seconds[1][form] for seconds in rounds]
            efficiencies = [rate / cores[count] / one for rate, one in zip(rates, alone)]
            rows.append({
                "case": case, "form": form, "scaling": scaling, "processes": count,
                "cores": cores[count], "cells": cells[count] ** dimensions,
                "seconds": statistics.median(seconds[count][form] for seconds in rounds),
                "cell_rate": statistics.median(rates),
                "efficiency": statistics.median(efficiencies),
                "eff_min": min(efficiencies), "eff_max": max(efficiencies),
            })
    return rows


def main() -> int:
    asked = arguments()
    print("\n".join(f"# {line}" for line in compare.machine()))
    print(f"# {len(os.sched_getaffinity(0))} cores: in rows with a star, processes share them")
    counts = [2 ** i for i in range(asked.processes.bit_length())]
    compare.print_row(COLUMNS)
    rows = []
    for case in asked.cases or CASES:
        for scaling in ("strong", "weak"):
            for row in rows_of(asked, case, scaling, counts):
                rows.append(row)
                star = " *" if row["processes"] > row["cores"] else ""
                compare.print_row([compare.cell(row[name]) for name in COLUMNS] + [star])
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
