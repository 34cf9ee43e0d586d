"""Runs the benches of two builds in turn and prints their ratios; bench/against says how."""
import argparse
import json
import pathlib
import statistics
import sys

import compare
import start

COLUMNS = ["case", "form", "seconds_other", "seconds_this", "ratio", "ratio_min", "ratio_max"]
START = {"start": None}  # its only case
START_PROCESSES = 8


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/against")
    parser.add_argument("other", type=pathlib.Path)
    parser.add_argument("this", type=pathlib.Path)
    parser.add_argument("benches", nargs="*")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--least", type=float, default=0.97)
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_intermixed_args()


def seconds_of(program: pathlib.Path, bench: str, case: str) -> dict[str, float]:
    """form -> the seconds of Tessera in one run of a case."""
    asked = argparse.Namespace(program=str(program), processes=2, hosts=None, engine=None, route=None)
    if bench == "start":
        return {"tessera": start.run(asked, "tessera", START_PROCESSES)["seconds"]}
    dimensions, cells, steps = compare.CASES[bench][case]
    forms = compare.run_program(asked, case, dimensions, cells, steps, 1)
    return {form["form"]: form["pairs"][0][0] for form in forms}


def cases_of(name: str) -> list[tuple[str, str | None]]:
    """(bench, case) of "heat" or "heat.1d-256"."""
    bench, _, wanted = name.partition(".")
    cases = compare.CASES.get(bench, START)
    if wanted and wanted not in cases:
        sys.exit(f"{bench} has no case '{wanted}'; it has {', '.join(map(str, cases))}")
    return [(bench, case) for case in cases if wanted in ("", case)]


def measure(asked: argparse.Namespace, bench: str, case: str) -> list[dict]:
    """An object for each form."""
    pairs: dict[str, list[tuple[float, float]]] = {}
    for i in range(asked.pairs):
        order = ["other", "this"] if i % 2 == 0 else ["this", "other"]
        seconds = {which: seconds_of(getattr(asked, which) / f"bench_{bench}", bench, case)
                   for which in order}
        for form in seconds["this"]:
            if form in seconds["other"]:
                pairs.setdefault(form, []).append((seconds["other"][form], seconds["this"][form]))
    return [row(bench, case, form, measured) for form, measured in pairs.items()]


def row(bench: str, case: str, form: str, pairs: list[tuple[float, float]]) -> dict:
    ratios = [other / this for other, this in pairs]
    return {"case": f"{bench}.{case}" if case else bench, "form": form,
            "seconds_other": statistics.median(other for other, _ in pairs),
            "seconds_this": statistics.median(this for _, this in pairs),
            "ratio": statistics.median(ratios), "ratio_min": min(ratios), "ratio_max": max(ratios)}


def print_row(values: list[str]) -> None:
    print("".join(f"{value:<22}" if i < 2 else f"{value:>14}" for i, value in enumerate(values)),
          flush=True)


def main() -> int:
    asked = arguments()
    print("\n".join(f"# {line}" for line in compare.machine()))
    print_row(COLUMNS)
    rows = []
    for name in asked.benches:
        for bench, case in cases_of(name):
            for measured in measure(asked, bench, case):
                rows.append(measured)
                print_row([compare.cell(measured[column]) for column in COLUMNS])
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2) + "\n")
    slower = [f"{r['case']} {r['form']}" for r in rows if r["ratio"] < asked.least]
    if slower:
        print(f"slower than {asked.least} of the other commit's speed: {', '.join(slower)}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
