"""Chooses the tests of a build that a script runs.

Who runs a test follows from its labels (cmake/testing.cmake), from what changed, and from the turn
(changes.py). By hand, `choose.py BUILD_FOLDER LEVEL` prints the names.
"""
import dataclasses
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import changes  # noqa: E402

SANITIZER_TURNS = 3
# Floors without a program of their own, and the program that tests them.
TESTED_BY = {"execution": "runtime", "job": "network", "transport": "network", "liveness": "network"}
THREADED = r"^(src|include/tessera|include/tessera/detail)/(device|job|transport|liveness|network|execution|runtime)/"
FLOOR = re.compile(r"^(?:src|include/tessera/detail|include/tessera|tests)/(\w+)/")


@dataclasses.dataclass(frozen=True)
class Test:
    """A test as CMake registered it."""
    name: str
    labels: frozenset[str]
    program: str  # the target that has to be built for it; empty if it needs none of its own
    processors: int = 1

    def has(self, *labels: str) -> bool:
        return any(label in self.labels for label in labels)

    @property
    def patterns(self) -> list[str]:
        return [label.removeprefix("changed:") for label in self.labels if label.startswith("changed:")]


def registered(build: pathlib.Path) -> list[Test]:
    """All tests of a build folder, which needs only to be configured."""
    listed = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                            capture_output=True, text=True, check=True).stdout
    return [_test(entry, build) for entry in json.loads(listed)["tests"]]


def _test(entry: dict, build: pathlib.Path) -> Test:
    properties = {item["name"]: item["value"] for item in entry.get("properties", [])}
    labels = frozenset(properties.get("LABELS", []))
    # ctest leaves out commands that are not built yet: those named by their program.
    command = entry.get("command") or [str(build / entry["name"])]
    programs = [word for word in command if pathlib.Path(word).is_relative_to(build)
                and pathlib.Path(word) != build and "." not in pathlib.Path(word).name]
    name = pathlib.Path(programs[0]).name if programs else ""
    return Test(entry["name"], labels, name, properties.get("PROCESSORS", 1))


def is_due(test: Test) -> bool:
    """Whether tests/run takes it: it is no matter of tests/full, or one of its files changed."""
    if test.patterns:
        return any(changes.has_changed(pattern) for pattern in test.patterns)
    return not test.has("full")


def for_run(tests: list[Test]) -> list[Test]:
    return [test for test in tests if is_due(test)]


def for_quick(tests: list[Test]) -> list[Test]:
    return [test for test in tests if not test.patterns and not test.has("full", "spread", "slow", "waits")]


def for_asan(tests: list[Test]) -> list[Test]:
    """Of the tests of one process, those of the floors that changed, and a third of the others by turn."""
    alone = [test for test in tests if not test.has("full", "spread", "slow", "check")]
    return _touched_and_turn(alone, touched_programs())


def for_tsan(tests: list[Test]) -> list[Test]:
    """All tests of threads where a floor that has threads changed, else a third by turn."""
    threaded = [test for test in tests if test.has("threads") and not test.has("full", "spread", "slow")]
    if changes.has_changed(THREADED):
        return threaded
    return _touched_and_turn(threaded, set())


def touched_programs() -> set[str] | None:
    """The test programs of the floors that have changed files; None for all."""
    files = changes.changed_files()
    if files is None:
        return None
    floors = {found.group(1) for name in files if (found := FLOOR.match(name))}
    return {TESTED_BY.get(floor, floor) + "_test" for floor in floors}


def _touched_and_turn(tests: list[Test], touched: set[str] | None) -> list[Test]:
    programs = list(dict.fromkeys(test.program for test in tests))
    due = {program for number, program in enumerate(programs)
           if touched is None or program in touched
           or number % SANITIZER_TURNS == changes.turn() % SANITIZER_TURNS}
    return [test for test in tests if test.program in due]


def everything(tests: list[Test]) -> list[Test]:
    return tests


LEVELS = {"run": for_run, "quick": for_quick, "asan": for_asan, "tsan": for_tsan, "full": everything}


def as_regex(tests: list[Test]) -> str:
    """What ctest's -R takes for exactly these tests."""
    return "^(" + "|".join(re.escape(test.name).replace(r"\-", "-") for test in tests) + ")$"


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[2] not in LEVELS:
        print(f"usage: choose.py BUILD_FOLDER {'|'.join(LEVELS)}", file=sys.stderr)
        return 2
    build = pathlib.Path(sys.argv[1]).resolve()
    for test in LEVELS[sys.argv[2]](registered(build)):
        print(test.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
