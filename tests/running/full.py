"""Everything that can be tested, without a limit of time: for a night, or before a release.

    tests/full                 all parts, one after the other
    tests/full --part 2/13     one part, by its number or by its name, as --part mutants-1
    tests/full --list          the parts, and what each does

A part takes at most 50 minutes on 2 cores. One that passes on a clean work tree notes the commit in
bench/results/full.txt. Ends with code 1 if a part failed.
"""
import argparse
import dataclasses
import datetime
import pathlib
import sys
from typing import Callable

import changes
import choose
import levels
from stages import ROOT, Stages

UPPER_FLOORS = ("program", "ops", "random", "io")
REPEATED = 5  # runs of each test that waits for processes
MUTANT_PARTS = 4
EXPLORE_MINUTES = 40


@dataclasses.dataclass(frozen=True)
class Part:
    """What is run in one go."""
    name: str
    what: str
    run: Callable[[Stages], None]


def is_of_floors(test: choose.Test) -> bool:
    return not test.has("waits", "check", "example", "bench", "gpu")


def run_chosen(stages: Stages, name: str, preset: str, wanted: Callable[[choose.Test], bool],
               options: list[str] = ()) -> None:
    """Builds a preset, and runs the wanted tests of all that it registers."""
    if not stages.configure(preset) or not stages.build(preset):
        return
    tests = [test for test in choose.registered(ROOT / "build" / preset) if wanted(test)]
    options = [*options, "-R", choose.as_regex(tests)] if options else []
    stages.suite(name, preset, tests, options)


def lower_floors(stages: Stages) -> None:
    run_chosen(stages, "tests of the floors up to array", "dev",
               lambda test: is_of_floors(test) and not test.has(*UPPER_FLOORS))


def upper_floors(stages: Stages) -> None:
    run_chosen(stages, "tests of " + ", ".join(UPPER_FLOORS), "dev",
               lambda test: is_of_floors(test) and test.has(*UPPER_FLOORS))


def waiting(stages: Stages) -> None:
    run_chosen(stages, f"tests that wait, {REPEATED} times", "dev", lambda test: test.has("waits"),
               ["--repeat", f"until-fail:{REPEATED}"])


def checks(stages: Stages) -> None:
    run_chosen(stages, "checks, examples and benches", "dev",
               lambda test: test.has("check", "example", "bench"))


def plain(stages: Stages) -> None:
    """A missing include shows only without precompiled headers."""
    folder = ROOT / "build" / "plain"
    code, _ = stages.stage("configure without precompiled headers",
                           ["cmake", "--preset", "dev", "-B", folder, "-DTESSERA_PRECOMPILE=OFF"])
    if code == 0:
        stages.check("build without precompiled headers", ["cmake", "--build", folder])
    else:
        stages.failures.append("configure without precompiled headers")


def sanitized(preset: str, targets: list[str]) -> Callable[[Stages], None]:
    def run(stages: Stages) -> None:
        if not stages.configure(preset) or not stages.build(preset, targets):
            return
        wanted = "threads" if preset == "tsan" else ""
        tests = [test for test in choose.registered(ROOT / "build" / preset)
                 if not test.has("spread", "slow", "check") and (not wanted or test.has(wanted))]
        stages.suite(f"everything under {preset}", preset, tests)
    return run


def explore(stages: Stages) -> None:
    stages.check("new random cases", ["tests/explore", "--all", "--minutes", EXPLORE_MINUTES])


def fuzz(half: int) -> Callable[[Stages], None]:
    def run(stages: Stages) -> None:
        names = sorted(path.stem for path in (ROOT / "tests" / "fuzz_targets" / "corpus").iterdir())
        stages.check("fuzzing", ["tests/fuzz", "--long", *names[half::2]])
    return run


def mutants(number: int) -> Callable[[Stages], None]:
    def run(stages: Stages) -> None:
        names = sorted(path.stem for path in (ROOT / "tests" / "mutants").glob("*.mutant"))
        stages.check("mutants", ["tests/mutate", *names[number::MUTANT_PARTS]])
    return run


def tidy(stages: Stages) -> None:
    if stages.configure("dev"):
        stages.check("clang-tidy", ["python3", "tests/checks/tidy.py", "build/dev", "--all"])


PARTS = [
    Part("lower-floors", "every spread, route and emulated device of the floors up to array", lower_floors),
    Part("upper-floors", "the same of program, ops, random and io", upper_floors),
    Part("waiting", "tests of processes, hosts and faults, all spreads, five times", waiting),
    Part("checks", "every header alone, package, MPICH, nvcc, documents, examples, benches", checks),
    Part("plain", "a build without precompiled headers", plain),
    Part("asan", "address and undefined behaviour sanitizers, all tests of one process", sanitized("asan", [])),
    Part("tsan", "thread sanitizer, all tests of threads", sanitized("tsan", ["tests_threads"])),
    Part("explore", f"random tests with new seeds for {EXPLORE_MINUTES} minutes", explore),
    Part("fuzz-1", "half of the fuzz targets for 10 minutes each", fuzz(0)),
    Part("fuzz-2", "the other half", fuzz(1)),
    *[Part(f"mutants-{number + 1}", "a quarter of the mutants", mutants(number)) for number in range(MUTANT_PARTS)],
    Part("tidy", "clang-tidy on all sources", tidy),
]


def note(part: Part, seconds: int) -> None:
    """Replaces the part's line in bench/results/full.txt, unless the sources differ from the commit."""
    path = changes.FULL_RESULTS
    dirty = [line for line in changes.git("status", "--porcelain").splitlines() if not line.endswith(path.name)]
    commit = changes.git("rev-parse", "HEAD")
    if dirty or not commit:
        print(f"not noted in {path.name}: the sources differ from the commit")
        return
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else \
        ["# part of tests/full, commit at which it passed last, date, seconds"]
    lines = [line for line in lines if line.split()[:1] != [part.name]]
    lines.append(f"{part.name} {commit} {datetime.date.today()} {seconds}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run_part(part: Part) -> bool:
    print(f"### {part.name}: {part.what}", flush=True)
    stages = Stages(turn="all")
    levels.install(stages)
    part.run(stages)
    is_well = stages.summary()
    if is_well:
        note(part, stages.seconds)
    return is_well


def chosen_parts(text: str) -> list[Part]:
    if not text:
        return PARTS
    number = text.split("/")[0]
    found = [part for place, part in enumerate(PARTS, start=1) if text == part.name or number == str(place)]
    if not found or ("/" in text and text.split("/")[1] != str(len(PARTS))):
        sys.exit(f"tests/full: there are the parts 1/{len(PARTS)} to {len(PARTS)}/{len(PARTS)}: "
                 f"{', '.join(part.name for part in PARTS)}; not '{text}'")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/full", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default="", metavar="PART")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        for part in PARTS:
            print(f"{part.name:14} {part.what}")
        return 0
    failed = [part.name for part in chosen_parts(options.part) if not run_part(part)]
    if failed:
        print(f"parts that failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
