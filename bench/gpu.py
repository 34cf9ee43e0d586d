"""Runs the cases of the bench of GPUs and prints the table; bench/gpu says how it is called."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import compare

COLUMNS = ["case", "form", "processes", "us_per_step", "raw_us", "ratio", "ratio_min", "ratio_max",
           "GB/s", "of_copy"]
# Dimensions, cells along each, steps of a run, processes. A field of two dimensions has 256 rows.
CASES = {
    "1d-256Mi": (1, 2**28, 20, 1),
    "3d-512": (3, 512, 50, 1),
    "1d-256": (1, 256, 20_000, 1),
    "halo-8B": (1, 256, 2_000, 2),
    "halo-1MiB": (2, 131_072, 100, 2),
}
NO_GPU = 77


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/gpu")
    parser.add_argument("cases", nargs="*", metavar="case")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--program", required=True)
    asked = parser.parse_intermixed_args()
    for case in asked.cases:
        if case not in CASES:
            parser.error(f"there is no case {case}; there are {', '.join(CASES)}")
    if asked.pairs < compare.FEWEST_PAIRS:
        parser.error(f"fewer than {compare.FEWEST_PAIRS} pairs say nothing")
    return asked


def gpu_of(program: str) -> str:
    """The GPU's name; ends this program where there is none."""
    done = subprocess.run([program, "gpu"], capture_output=True, text=True, check=False)
    said = (done.stdout + done.stderr).strip()
    if done.returncode == NO_GPU:
        print(f"{said}; bench/gpu is built, and measures nothing")
        sys.exit(NO_GPU)
    if done.returncode != 0:
        sys.exit(f"{program} gpu ended with {done.returncode}: {said}")
    return said


def rows_of(asked: argparse.Namespace, name: str) -> list[dict]:
    dimensions, cells, steps, processes = CASES[name]
    how = argparse.Namespace(program=asked.program, processes=processes, engine=None, route=None, hosts=None)
    forms = compare.run_program(how, name, dimensions, cells, steps, asked.pairs)
    copies = next([ours for ours, _ in form["pairs"]] for form in forms if form["form"] == "copy")
    by_hand = {"case": name, "form": "raw", "processes": processes, "is_right": True, "bytes": forms[0]["bytes"],
               "pairs": [(raw, raw) for _, raw in forms[0]["pairs"]]}
    return [row(form, steps, copies) for form in [*forms, by_hand]]


def row(form: dict, steps: int, copies: list[float]) -> dict:
    """Ratios are taken within rounds, in which every form has run once."""
    seconds = [ours for ours, _ in form["pairs"]]
    ratios = [raw / ours for ours, raw in form["pairs"]]
    return {
        "case": form["case"], "form": form["form"], "processes": form["processes"],
        "us_per_step": statistics.median(seconds) / steps * 1e6,
        "raw_us": statistics.median(raw for _, raw in form["pairs"]) / steps * 1e6,
        "ratio": statistics.median(ratios), "ratio_min": min(ratios), "ratio_max": max(ratios),
        "GB/s": form["bytes"] / statistics.median(seconds) / 1e9,
        "of_copy": statistics.median(copy / ours for copy, ours in zip(copies, seconds)),
        "pairs": form["pairs"],
    }


def main() -> int:
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
        return 0
    asked = arguments()
    gpu = gpu_of(asked.program)
    os.environ["TESSERA_DEVICE"] = "cuda"
    machine = [*compare.machine(), f"gpu    {gpu}"]
    print("\n".join(f"# {line}" for line in machine))
    compare.print_row(COLUMNS)
    rows = []
    for name in asked.cases or CASES:
        for measured in rows_of(asked, name):
            rows.append(measured)
            compare.print_row([compare.cell(measured[column]) for column in COLUMNS])
    if asked.json:
        asked.json.write_text(json.dumps({"machine": machine, "rows": rows}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
