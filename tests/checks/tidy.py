"""Runs clang-tidy on the sources that changed.

Only sources that the build compiles are looked at, with the options of their compilation; nvcc's are left
out. For a header that changed, a source that includes it is looked at.

usage: tidy.py BUILD_FOLDER [--seconds N] [--all] [FILE...]

Files that are named are looked at alone, and --all looks at every source but those of tests. Otherwise N is
the limit, 240 unless given, after which no other file is begun; those that changed and were not looked at
are counted. Ends with 77 where no clang-tidy from 16 on is installed, or nothing is known of what changed.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "running"))
import changes  # noqa: E402

VERSIONS = range(16, 22)  # 14 cannot parse base/source.hpp


def for_clang(command: str) -> list[str]:
    """The options of a compilation that clang understands: precompiled headers, pragmas, warnings and
    the model of costs are those of g++."""
    kept, words = [], iter(shlex.split(command))
    for word in words:
        if word == "-include":
            header = next(words)
            if not header.endswith("cmake_pch.hxx"):
                kept += [word, header]
        elif word not in ("-Winvalid-pch", "-fpch-preprocess", "-fvect-cost-model=dynamic"):
            kept.append(word)
    return [*kept, "-w"]


def write_commands(build: pathlib.Path, folder: pathlib.Path) -> list[str]:
    """Writes the compile commands of the project's own sources, and returns these."""
    commands = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        inside = path.is_relative_to(ROOT) and not path.is_relative_to(build)
        # Launchers may stand before the compiler.
        by_nvcc = any(re.fullmatch(r"(.*/)?nvcc[-\d.]*", w) for w in shlex.split(entry["command"]))
        if inside and path.suffix == ".cpp" and not by_nvcc:
            commands.append({"directory": entry["directory"], "file": entry["file"],
                             "arguments": for_clang(entry["command"])})
    (folder / "compile_commands.json").write_text(json.dumps(commands))
    return sorted({c["file"] for c in commands})


def users_of(headers: list[str], sources: list[str]) -> list[str]:
    """One source for each header: of the same name if there is one, or one that includes it."""
    found = []
    for header in headers:
        stem = pathlib.Path(header).stem
        name = re.sub(r"^include/", "", header)
        same = [s for s in sources if pathlib.Path(s).stem in (stem, f"{stem}_test")]
        includes = (s for s in sources if f'"{name}"' in pathlib.Path(s).read_text())
        found += same[:1] or [s for s in [next(includes, "")] if s]
    return found


def changed(names: frozenset[str], sources: list[str]) -> list[str]:
    own = [str(ROOT / n) for n in names if str(ROOT / n) in sources]
    used = users_of([n for n in names if n.endswith(".hpp")], sources)
    return sorted(dict.fromkeys(own + used))


def look_at(program: str, folder: pathlib.Path, source: str) -> str:
    run = subprocess.run([program, "-p", folder, "--quiet", "--warnings-as-errors=*", source],
                         capture_output=True, text=True)
    return "" if run.returncode == 0 else run.stdout or run.stderr


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    program = next((p for v in VERSIONS if (p := shutil.which(f"clang-tidy-{v}"))), None)
    if program is None:
        print("skipped: no clang-tidy from 16 on is installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        sources = write_commands(arguments.build.resolve(), pathlib.Path(folder))
        limit = float("inf")
        if arguments.files:
            todo = [str(pathlib.Path(f).resolve()) for f in arguments.files]
        elif arguments.all:
            todo = [s for s in sources if not pathlib.Path(s).is_relative_to(ROOT / "tests")]
        elif changes.changed_files() is None:
            print("skipped: no earlier state is known to pass; tests/full looks at all sources")
            return 77
        else:
            todo = changed(changes.changed_files(), sources)
            limit = time.monotonic() + arguments.seconds
        return report(look_at_all(program, pathlib.Path(folder), todo, limit), todo)


def look_at_all(program, folder, todo, limit) -> dict[str, str]:
    """source -> what clang-tidy says of it, for those that were begun before the limit."""
    queue, done = Shared(todo), {}

    def work() -> None:
        for source in queue:
            if time.monotonic() > limit:
                return
            done[source] = look_at(program, folder, source)
            if done[source]:
                print(done[source], flush=True)

    workers = len(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(work) for _ in range(workers)]:
            future.result()
    return done


def report(done: dict[str, str], todo: list[str]) -> int:
    wrong = [source for source, text in done.items() if text]
    late = [s for s in todo if s not in done]
    print(f"clang-tidy looked at {len(done)} of {len(todo)} sources, and finds something in {len(wrong)}")
    if late:
        print(f"no time was left for {len(late)}, among them {late[0]}")
    return 1 if wrong else 0


class Shared:
    """An iterator that several threads may use."""

    def __init__(self, items):
        self._items, self._lock = iter(items), threading.Lock()

    def __iter__(self):
        return self

    def __next__(self):
        with self._lock:
            return next(self._items)


if __name__ == "__main__":
    sys.exit(main())
