"""Compiles statements to assembly at -O2 and -O3 for x86-64-v3, and fails if the loop over a row of one
of them is scalar.

A statement is vector code if a loop stores whole vectors, and neither stores single cells nor computes
with them: no scalar instruction, no call. It also fails if products of complex numbers are fused into
their sums, as g++ does it in vectors against -ffp-contract=off, where the statement does not say so.

usage: check.py STATEMENTS -- COMPILER [FLAG]...
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

LEVELS = ("-O2", "-O3")
ADDRESS = r"[-\w.+]*\((?!%rsp|%rbp)[^)]*\)"  # of cells, not of what the function itself keeps
VECTOR_STORE = re.compile(rf"v\w+\s+(?:\$\w+,\s*)?%[xyz]mm\d+,\s*{ADDRESS}$")
SCALAR_STORE = re.compile(rf"(?:mov[bwlq]?|set\w+)\s+(?:\$?%?\w+,\s*)?{ADDRESS}$|vmovs[sd]\s+%xmm\d+,\s*{ADDRESS}$")
SCALAR_WORK = re.compile(
    r"v(?:add|sub|mul|div|fn?m\w+|sqrt|min|max|round|u?comi|cmp\w*)s[sd]\b|v?cvtt?s[sdi]\w*|call|i?div[bwlq]?\s")
FUSED_PARTS = re.compile(r"vfm(?:addsub|subadd)")


def functions_of(assembly: str) -> tuple[dict[str, list[str]], dict[int, str]]:
    """The lines of each function, and the row function of each statement by its line in the source."""
    functions: dict[str, list[str]] = {}
    rows: dict[int, str] = {}
    lines: list[str] = []
    statement = None
    for text in assembly.splitlines():
        if label := re.match(r"([A-Za-z_][\w.$]*):", text):
            lines = functions.setdefault(label[1], [])
            statement = re.fullmatch(r"statement_(\d+)", label[1])
        elif statement and (target := re.match(r"\s+\.quad\s+(\w+)", text)):
            rows[int(statement[1])] = target[1]
            statement = None
        else:
            lines.append(text.strip())
    return functions, rows


def reached_from(name: str, functions: dict[str, list[str]]) -> list[str]:
    todo, found = [name], []
    while todo:
        function = todo.pop()
        if function in functions and function not in found:
            found.append(function)
            for line in functions[function]:
                todo += re.findall(r"^(?:call|jmp)\s+(_Z[\w.$]+)", line)
    return found


def innermost_loops(lines: list[str]) -> list[list[str]]:
    labels = {line[:-1]: at for at, line in enumerate(lines) if re.fullmatch(r"\.L\w+:", line)}
    jumps = [(labels.get(target[1], at), at) for at, line in enumerate(lines)
             if (target := re.match(r"j\w+\s+(\.L\w+)", line))]
    loops = [(begin, end) for begin, end in jumps if begin < end]
    return [lines[begin:end + 1] for begin, end in loops
            if not any((b, e) != (begin, end) and begin <= b and e <= end for b, e in loops)]


def is_vector_code(loop: list[str]) -> bool:
    stores = sum(1 for line in loop if VECTOR_STORE.match(line) and not SCALAR_STORE.match(line))
    scalar = any(SCALAR_STORE.match(line) or SCALAR_WORK.match(line) for line in loop)
    return stores > 0 and not scalar


def wrong_statements(source: pathlib.Path, compiler: list[str], level: str) -> list[str]:
    run = subprocess.run([*compiler, "-march=x86-64-v3", level, "-S", "-o", "-", str(source)],
                         capture_output=True, text=True, timeout=240, check=False,
                         env={**os.environ, "LC_ALL": "C"})
    if run.returncode != 0:
        sys.exit(run.stderr[:4000])
    functions, rows = functions_of(run.stdout)
    written = source.read_text().splitlines()
    expected = {at for at, line in enumerate(written, 1) if line.startswith("STATEMENT(")}
    if set(rows) != expected:
        sys.exit(f"{level}: found {len(rows)} of {len(expected)} statements in the assembly")
    wrong = []
    for at in sorted(rows):
        reached = [functions[name] for name in reached_from(rows[at], functions)]
        if not any(is_vector_code(loop) for lines in reached for loop in innermost_loops(lines)):
            wrong.append(f"{source.name}:{at}: {level}: {written[at - 1]} is scalar")
        is_fused = any(FUSED_PARTS.match(line) for lines in reached for line in lines)
        if is_fused and "contract(" not in written[at - 1]:
            wrong.append(f"{source.name}:{at}: {level}: {written[at - 1]} is fused")
    return wrong


def main(arguments: list[str]) -> int:
    if "--" not in arguments:
        sys.exit(__doc__)
    split = arguments.index("--")
    source, compiler = pathlib.Path(arguments[0]), arguments[split + 1:]
    with concurrent.futures.ThreadPoolExecutor(len(LEVELS)) as pool:
        found = list(pool.map(lambda level: wrong_statements(source, compiler, level), LEVELS))
    wrong = [line for lines in found for line in lines]
    print("\n".join(wrong) or f"every statement is vector code at {' and '.join(LEVELS)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
