"""Compiles files that must not compile, and fails if one does, or fails for another reason.

Each file says what it expects, in as many comments as it likes; all must appear in the compiler's
output:

    // expect-error: <regular expression>

and what it must not print. A file may be compiled with more flags than the others:

    // refuse-output: <regular expression>
    // flags: <flag>...

usage: must_not_compile.py FILE... -- COMPILER [FLAG]...
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

EXPECTATION = re.compile(r"//\s*expect-error:\s*(.+?)\s*$", re.MULTILINE)
REFUSAL = re.compile(r"//\s*refuse-output:\s*(.+?)\s*$", re.MULTILINE)
FLAGS = re.compile(r"//\s*flags:\s*(.+?)\s*$", re.MULTILINE)


def complaint(path: pathlib.Path, compiler: list[str]) -> str | None:
    source = path.read_text()
    expected = EXPECTATION.findall(source)
    flags = " ".join(FLAGS.findall(source)).split()
    if not expected:
        return "has no comment `// expect-error: <regular expression>`"
    run = subprocess.run([*compiler, *flags, "-fsyntax-only", "-fdiagnostics-color=never", str(path)],
                         capture_output=True, text=True, timeout=120, check=False,
                         env={**os.environ, "LC_ALL": "C"})
    if run.returncode == 0:
        return "compiles, but must not"
    missing = [pattern for pattern in expected if not re.search(pattern, run.stderr)]
    if missing:
        return f"fails, but not with {missing}:\n{run.stderr[:4000]}"
    refused = [pattern for pattern in REFUSAL.findall(source) if re.search(pattern, run.stderr)]
    if refused:
        return f"prints {refused}:\n{run.stderr[:4000]}"
    return None


def main(arguments: list[str]) -> int:
    if "--" not in arguments:
        sys.exit(__doc__)
    split = arguments.index("--")
    files = [pathlib.Path(name) for name in arguments[:split]]
    compiler = arguments[split + 1:]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: complaint(path, compiler), files))
    wrong = [f"{path.name}: {text}" for path, text in zip(files, results) if text]
    print("\n".join(wrong) or f"{len(files)} files do not compile, as they should")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
