"""The checks of one change, by level; tests/quick, tests/run, tests/gpu and .ci/run call this.

    levels.py quick|run [CTEST_ARGUMENT]...
    levels.py ci
    levels.py gpu ARCHITECTURE TARGET,... [CTEST_ARGUMENT]...
"""
import subprocess
import sys

import changes
import choose
from stages import ROOT, SKIPPED, Stages

MOST_FAILURES = 5  # many failures have one cause and may take minutes each
USUAL_SECONDS = 25 * 60
COLD_SECONDS = 45 * 60


def install(stages: Stages) -> None:
    code, _ = stages.stage("packages", ["cmake/packages.sh", "test"])
    if code != 0:
        sys.exit(code)


def run_tests(stages: Stages, name: str, level: str, options: list[str]) -> bool:
    """Builds dev and runs the tests of a level, or those that options of ctest name; whether they ran."""
    if not stages.configure("dev") or not stages.build("dev"):
        return False
    tests = choose.registered(ROOT / "build" / "dev")
    chosen = tests if options else choose.LEVELS[level](tests)
    print(f"{len(chosen)} of {len(tests)} tests; {changes.described()}", flush=True)
    stages.suite(name, "dev", chosen, options)
    return True


def run_sanitized(stages: Stages, name: str, preset: str) -> None:
    """Builds and runs what is chosen for a build with a sanitizer."""
    if not stages.configure(preset):
        return
    tests = choose.registered(ROOT / "build" / preset)
    chosen = choose.LEVELS[preset](tests)
    programs = sorted({test.program for test in chosen})
    print(f"{name}: {len(chosen)} tests of {', '.join(programs)}", flush=True)
    if programs and stages.build(preset, programs):
        stages.suite(name, preset, chosen)


def quick(options: list[str]) -> int:
    stages = Stages()
    run_tests(stages, "quick tests", "quick", options)
    return 0 if stages.summary() else 1


def run(options: list[str]) -> int:
    stages = Stages()
    install(stages)
    run_tests(stages, "tests", "run", options)
    return 0 if stages.summary() else 1


def ci() -> int:
    stages = Stages()
    install(stages)
    if run_tests(stages, "tests", "run", []) and len(stages.failures) > MOST_FAILURES:
        stages.summary()
        return 1
    run_sanitized(stages, "address and undefined behaviour sanitizers", "asan")
    run_sanitized(stages, "thread sanitizer", "tsan")
    stages.check("fuzzing", ["tests/fuzz"])
    stages.check("mutants", ["tests/mutate", "--sample", changes.git("rev-parse", "HEAD") or "none"])
    stages.check("clang-tidy of changed files", ["python3", "tests/checks/tidy.py", "build/dev"])
    print_full_results()
    is_well = stages.summary()
    if is_well and changes.note_passed(stages.seconds):
        print(f"noted in {changes.checks_file()}")
    if stages.seconds > USUAL_SECONDS:
        print(f"WARNING: {stages.seconds} s; at most {USUAL_SECONDS} s with a warm compiler cache and "
              f"{COLD_SECONDS} s with an empty one are wanted")
    # The line that counts comes last.
    print(f"{stages.passed} passed, {len(stages.failures)} failed", flush=True)
    return 0 if is_well else 1


def print_full_results() -> None:
    """How long ago each part of tests/full passed."""
    parts = subprocess.run(["tests/full", "--list"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    passed = changes.full_results()
    for line in parts.splitlines():
        name = line.split()[0]
        commit = passed.get(name, "")
        ago = changes.git("rev-list", "--count", f"{commit}..HEAD") if commit else ""
        print(f"tests/full, {name}: " + (f"passed {ago} commits ago" if ago else "has not passed yet"))


def gpu(architecture: str, targets: str, options: list[str]) -> int:
    stages = Stages()
    if not stages.configure("gpu", f"-DCMAKE_CUDA_ARCHITECTURES={architecture}"):
        return 1
    stages.build("gpu", targets.split(","))
    tests = [test for test in choose.registered(ROOT / "build" / "gpu") if test.has("gpu")]
    stages.suite("tests on a GPU", "gpu", tests, options)
    has_gpu = ROOT / "build" / "gpu" / "tests" / "cuda" / "has_gpu"
    if not has_gpu.exists() or subprocess.run([has_gpu], check=False).returncode != 0:
        print(f"no GPU on this machine: the tests are built, {stages.skipped} skipped, "
              f"{len(stages.failures)} failed")
        return 1 if stages.failures else SKIPPED
    return 0 if stages.summary() else 1


def main(arguments: list[str]) -> int:
    level, options = arguments[0], arguments[1:]
    if level == "gpu":
        return gpu(options[0], options[1], options[2:])
    if level == "ci":
        return ci()
    return {"quick": quick, "run": run}[level](options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
