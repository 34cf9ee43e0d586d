"""Goes through the stages of a check, and prints at the end what each took and what failed.

A stage is a command: a build, a suite of tests by ctest, or any other check. Results are counted; a check
ends with the line "N passed, N failed".
"""
import collections
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import xml.etree.ElementTree

import changes
import choose

ROOT = changes.ROOT
CORES = len(os.sched_getaffinity(0))
WAITING = 6  # tests that mostly wait run beside as many others as there are cores
SKIPPED = 77
KEPT_LINES = 8
TRIED_TWICE = ("waits", "network")  # labels of tests of processes, faults and time


@dataclasses.dataclass
class Stage:
    """A line of the table: a command, how long it took, and how its compilations were served."""
    name: str
    seconds: float
    hits: int
    misses: int


@dataclasses.dataclass
class Result:
    """A test that ran."""
    test: choose.Test
    suite: str
    outcome: str  # passed, failed or skipped
    seconds: float
    output: str


class Stages:
    """The stages so far. `turn` is what tests see as TESSERA_TURN: a number, or `all`."""

    def __init__(self, turn: str = ""):
        self.turn = turn or str(changes.turn())
        self.stages: list[Stage] = []
        self.results: list[Result] = []
        self.second_tries: list[str] = []
        self.failures: list[str] = []
        self.passed = self.skipped = 0
        self.built: list[str] = []
        self.began = time.monotonic()
        self._scratch = tempfile.TemporaryDirectory()

    @property
    def seconds(self) -> int:
        return int(time.monotonic() - self.began)

    def stage(self, name: str, command: list) -> tuple[int, str]:
        """Runs a command, prints what it prints, and returns its code and its output."""
        print(f"=== {name}", flush=True)
        log = pathlib.Path(self._scratch.name) / f"{len(self.stages)}.ccache"
        settings = {**os.environ, "CCACHE_STATSLOG": str(log), "TESSERA_TURN": self.turn}
        began = time.monotonic()
        job = subprocess.Popen([str(word) for word in command], cwd=ROOT, env=settings, text=True,
                               errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
        lines = []
        for line in job.stdout:
            print(line, end="", flush=True)
            lines.append(line)
        code = job.wait()
        took = time.monotonic() - began
        self.stages.append(Stage(name, took, *_cache_use(log)))
        print(f"=== {name}: {took:.0f} s" + (f", code {code}" if code else ""), flush=True)
        return code, "".join(lines)

    def check(self, name: str, command: list) -> None:
        """A stage that counts as one test; code 77 says that it was skipped."""
        code, output = self.stage(name, command)
        if code == 0:
            self.passed += 1
        elif code == SKIPPED:
            self.skipped += 1
        else:
            last = [line[:300] for line in output.splitlines()[-KEPT_LINES:]]
            self.failures.append("\n".join([name, *last]))

    def configure(self, preset: str, *options: str) -> bool:
        code, _ = self.stage(f"configure {preset}", ["cmake", "--preset", preset, *options])
        if code != 0:
            self.failures.append(f"configure {preset}")
        return code == 0

    def build(self, preset: str, targets: list[str] = ()) -> bool:
        """Builds what is configured; what cannot be built counts as one failed test.

        A precompiled header that the cache made in another folder was once not recognised by the sources
        that include it. So a build that fails is tried again without: a mistake fails there, too."""
        self.built.append(preset)
        command = ["cmake", "--build", "--preset", preset, *(["--target", *targets] if targets else [])]
        code, output = self.stage(f"build {preset}", command)
        if code != 0 and _is_precompiled(preset):
            why = "a header was included twice" if "redefinition of" in output else "for another reason"
            print(f"the build of {preset} failed ({why}); it is tried without precompiled headers")
            code, _ = self.stage(f"configure {preset} again",
                                 ["cmake", "--preset", preset, "-DTESSERA_PRECOMPILE=OFF"])
            if code == 0:
                code, _ = self.stage(f"build {preset} again", command)
        if code != 0:
            self.failures.append(f"build {preset}")
        return code == 0

    def suite(self, name: str, preset: str, tests: list[choose.Test], options: list[str] = ()) -> None:
        """Runs tests by ctest, or those of them that options of ctest name. Of those that fail, tests of
        processes and time are tried once more, alone."""
        if not tests:
            return
        parallel = ["--parallel", str(CORES + WAITING), "--resource-spec-file", str(self._cores())]
        results = self._run(name, preset, tests, [*parallel, *(options or ["-R", choose.as_regex(tests)])])
        for number, result in enumerate(results):
            if result.outcome == "failed" and result.test.has(*TRIED_TWICE):
                results[number] = self._second_try(result, preset)
        for result in results:
            self.passed += result.outcome == "passed"
            self.skipped += result.outcome == "skipped"
            if result.outcome == "failed":
                self.failures.append(f"{result.test.name} ({name})")
        self.results += results

    def _run(self, name: str, preset: str, tests: list[choose.Test], options: list[str]) -> list[Result]:
        report = pathlib.Path(self._scratch.name) / f"{len(self.stages)}.xml"
        code, _ = self.stage(name, ["ctest", "--preset", preset, "--output-on-failure", "--no-label-summary",
                                    "--output-junit", report, *options])
        if not report.exists():
            self.failures.append(f"{name}: ctest ends with code {code}")
            return []
        known = {test.name: test for test in tests}
        cases = xml.etree.ElementTree.parse(report).getroot().iter("testcase")
        return [_result(case, known[case.get("name")], name) for case in cases if case.get("name") in known]

    def _second_try(self, first: Result, preset: str) -> Result:
        kept = ROOT / "build" / preset / "second_tries"
        kept.mkdir(parents=True, exist_ok=True)
        again = self._run(f"{first.suite}: {first.test.name} again, alone", preset, [first.test],
                          ["-R", choose.as_regex([first.test])])
        second = again[0] if again else first
        for number, result in enumerate((first, second), start=1):
            (kept / f"{first.test.name}.{number}.log").write_text(result.output, encoding="utf-8")
        if second.outcome == "passed":
            self.second_tries.append(f"{first.test.name} ({first.suite}); both logs are in {kept}")
        return second

    def _cores(self) -> pathlib.Path:
        """Tells ctest how many cores there are, for cmake/testing.cmake's tessera_needs_core."""
        path = pathlib.Path(self._scratch.name) / "cores.json"
        path.write_text(json.dumps({"version": {"major": 1, "minor": 0},
                                    "local": [{"cores": [{"id": "0", "slots": CORES}]}]}), encoding="utf-8")
        return path

    def summary(self) -> bool:
        """Prints what took how long and, last, the result; whether all is well."""
        self._print_stages()
        self._print_labels()
        self._print_slowest()
        for line in self.second_tries:
            print(f"passed at the second try: {line}")
        if self.skipped:
            print(f"{self.skipped} skipped; the lines above say why")
        for failure in self.failures:
            print(f"failed: {failure}")
        print(f"{self.passed} passed, {len(self.failures)} failed", flush=True)
        return not self.failures and self.passed > 0

    def _print_stages(self) -> None:
        print(f"{'stage':56} {'seconds':>8} {'cached':>7} {'compiled':>8}")
        for stage in self.stages:
            counts = f" {stage.hits:>7} {stage.misses:>8}" if stage.hits + stage.misses else ""
            print(f"{stage.name[:56]:56} {stage.seconds:>8.0f}{counts}")
        print(f"{'all':56} {self.seconds:>8}")

    def _print_labels(self) -> None:
        """Seconds of the tests by their first label; tests run beside each other, so they add up to more
        than the stage took."""
        seconds, counts = collections.Counter(), collections.Counter()
        for result in self.results:
            label = _main_label(result.test)
            seconds[label, result.suite] += result.seconds
            counts[label, result.suite] += 1
        for (label, suite), took in seconds.most_common():
            print(f"{label + ': ' + str(counts[label, suite]) + ' of ' + suite:56} {took:>8.0f}")

    def _print_slowest(self) -> None:
        for preset in dict.fromkeys(self.built):
            print(f"slowest builds of {preset}, in seconds:")
            _print_top_ten(_build_times(preset))
        if self.results:
            print("slowest tests, in seconds:")
            _print_top_ten([(result.seconds, f"{result.test.name} ({result.suite})") for result in self.results])


def _main_label(test: choose.Test) -> str:
    if test.has("waits"):
        return "waits"
    if test.name.startswith("emulated."):
        return "emulated"
    floor = re.match(r"(\w+)_test\b", test.name)
    return floor.group(1) if floor else next(
        (label for label in ("check", "example", "bench") if test.has(label)), "others")


def _result(case, test: choose.Test, suite: str) -> Result:
    outcome = {"run": "passed", "fail": "failed"}.get(case.get("status"), "skipped")
    # A test that could not start is no skipped one.
    if outcome == "skipped" and "SKIP" not in (getattr(case.find("skipped"), "attrib", {}).get("message", "")):
        outcome = "failed"
    return Result(test, suite, outcome, float(case.get("time", 0)), case.findtext("system-out") or "")


def _cache_use(log: pathlib.Path) -> tuple[int, int]:
    """Compilations that the compiler's cache served, and others, by the log that ccache wrote."""
    if not log.exists():
        return 0, 0
    counts = collections.Counter(log.read_text(encoding="utf-8", errors="replace").split())
    return counts["direct_cache_hit"] + counts["preprocessed_cache_hit"], counts["cache_miss"]


def _is_precompiled(preset: str) -> bool:
    cache = ROOT / "build" / preset / "CMakeCache.txt"
    return cache.exists() and "\nTESSERA_PRECOMPILE:BOOL=ON" in cache.read_text(encoding="utf-8")


def _build_times(preset: str) -> list[tuple[float, str]]:
    """Seconds of each output. Lines are "BEGIN END MTIME OUTPUT HASH"; the last one of an output counts."""
    path = ROOT / "build" / preset / ".ninja_log"
    if not path.exists():
        return []
    took = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            begin, end, _, output, _ = line.split("\t")
            took[output] = (int(end) - int(begin)) / 1000
    return [(seconds, output) for output, seconds in took.items()]


def _print_top_ten(rows: list[tuple[float, str]]) -> None:
    for seconds, name in sorted(rows, reverse=True)[:10]:
        print(f"{seconds:8.1f} {name}")
