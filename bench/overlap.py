"""Measures what messages that travel while products compute save; bench/run says how it is called.

Each case is a product of two matrices of floats over one mesh axis x, whose terms both matrices are cut along.
It runs as usual and with TESSERA_OVERLAP=0, in turn. gain is the median over the pairs of the seconds with 0 ÷
those as usual: 1 is no gain, more is better. The result has the same bits either way.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys

import compare
import roles

COLUMNS = ["case", "roles", "seconds", "apart", "gain", "gain_min", "gain_max"]
# M, K, N, and the role of x.
CASES = {
    "relay-65536": (512, 65536, 512, "x=terms"),
    "relay-4096": (2048, 4096, 2048, "x=terms"),
    "gather-65536": (512, 65536, 512, "x=0"),
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run")
    parser.add_argument("bench", choices=["overlap"])
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--hosts", type=int, metavar="N")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--program", required=True)
    asked = parser.parse_intermixed_args()
    for case in asked.cases:
        if case not in CASES:
            parser.error(f"overlap has no case {case}; there are {', '.join(CASES)}")
    return asked


def row_of(asked: argparse.Namespace, case: str) -> dict:
    *extents, role = CASES[case]
    product = (*extents, "columns", "rows", "copies")
    pairs = []
    for i in range(asked.pairs):
        order = ["1", "0"] if i % 2 == 0 else ["0", "1"]
        done = {overlap: roles.run(asked, product, {"TESSERA_ROLES": role, "TESSERA_OVERLAP": overlap})
                for overlap in order}
        if done["0"]["hash"] != done["1"]["hash"]:
            sys.exit(f"{case} has other bits with TESSERA_OVERLAP=0")
        pairs.append((min(done["1"]["seconds"]), min(done["0"]["seconds"])))
    gains = [apart / together for together, apart in pairs]
    return {"case": case, "roles": role, "seconds": statistics.median(pair[0] for pair in pairs),
            "apart": statistics.median(pair[1] for pair in pairs), "gain": statistics.median(gains),
            "gain_min": min(gains), "gain_max": max(gains), "pairs": pairs}


def main() -> int:
    asked = arguments()
    print("\n".join(f"# {line}" for line in compare.machine()))
    print(f"# {len(os.sched_getaffinity(0))} cores, {asked.processes} processes, {asked.hosts or 1} hosts")
    compare.print_row(COLUMNS)
    rows = []
    for case in asked.cases or CASES:
        rows.append(row_of(asked, case))
        compare.print_row([compare.cell(rows[-1][name]) for name in COLUMNS])
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
