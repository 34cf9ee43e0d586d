"""Compiles headers alone, public and private ones, without code.

usage: headers.py BUILD_FOLDER [--all]

Takes the headers that changed, and those that include them; with --all, or where everything counts as
changed, all of them. The commands are those of the targets all_verify_interface_header_sets and
tessera_verify_private_headers, for which BUILD_FOLDER needs only to be configured.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "running"))
import changes  # noqa: E402

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]((?:tessera|src)/[^">]+)', re.MULTILINE)


def path_of(included: str) -> str:
    """The path from the root of a header as it is included."""
    return included if included.startswith("src/") else f"include/{included}"


def commands(build: pathlib.Path) -> dict[str, tuple[str, list[str]]]:
    """header -> folder and command that check it."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if "_verify_" not in str(source) or not source.exists():
            continue
        headers = INCLUDE.findall(source.read_text())
        words = shlex.split(entry["command"])
        place = words.index("-o")
        found[path_of(headers[0])] = (entry["directory"], [*words[:place], *words[place + 2:], "-fsyntax-only"])
    return found


def due(headers: list[str]) -> list[str]:
    """Those that changed, and those that include one that changed."""
    files = changes.changed_files()
    if files is None:
        return headers
    return [header for header in headers if header in files
            or any(path_of(name) in files for name in INCLUDE.findall((ROOT / header).read_text()))]


def compiled(command: tuple[str, list[str]]) -> str:
    """What the compiler says; nothing if all is well."""
    done = subprocess.run(command[1], cwd=command[0], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr or f"code {done.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    known = commands(options.build.resolve())
    chosen = sorted(known) if options.all or os.environ.get("TESSERA_TURN") == "all" else due(sorted(known))
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        said = dict(zip(chosen, pool.map(lambda header: compiled(known[header]), chosen)))
    wrong = {header: text for header, text in said.items() if text}
    for header, text in wrong.items():
        print(f"{header} does not compile alone:\n{text}")
    print(f"{len(chosen)} of {len(known)} headers compiled alone, {len(wrong)} with errors")
    return 1 if wrong or not known else 0


if __name__ == "__main__":
    sys.exit(main())
