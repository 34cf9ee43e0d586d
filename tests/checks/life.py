"""Counts what takes part in the life of one statement, over recorded calls.

Valgrind records the calls of tests/checks/life/driver.cpp, which runs statements on two devices of
one process, in two phases:

    steady      the same statement many times: its plan is found
    first       as many different statements: each is planned

What is called at least once per statement belongs to its life, if every recording has it: what is
called to wait for another thread depends on the machine. Three figures of each phase:

    functions   functions of the library; all overloads and instances of a template are one, and
                lambdas belong to the function that they are written in
    files       the files of include/tessera and src that these are defined in
    climbs      calls of a function that lies above its caller, as floors.py orders rooms and floors

A call by way of other libraries, as std::invoke, is one of the function that it ends at. Not
climbs, but listed apart, are calls of something above that the caller knows by an interface below:

    by address  a virtual function, a std::function or a pointer to a function
    handed      a member or an operator of a type that the caller, a template, has been given

usage: life.py DRIVER [--root ROOT] [--statements N] [--recordings N] [--limit PHASE.FIGURE=N]...
               [--list PHASE] [--apart]

Fails if a figure is above its limit. --list lists functions by file, --apart the calls that are not
climbs. Functions that are inlined are not counted, so a build without optimisation counts most.
Needs valgrind and a program with line tables on x86-64; ends with 77 without.
"""
from __future__ import annotations

import argparse
import collections
import dataclasses
import functools
import os
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from floors import HOUSE, Place

PHASES = ("steady", "first")  # in the order of the driver, after its warm-up
NAMESPACE = re.compile(r"^\s*(?:inline )?namespace ([\w:]+)", re.MULTILINE)
FIGURES = ("functions", "files", "climbs")
LIBRARY = re.compile(r"(?:^|/)((?:include/tessera|src)/.+)$")
MOST = 4  # times as many recordings as usual, as long as a figure is above its limit
ENOUGH = 0.9  # calls per statement: a phase ends with some of its work not yet counted


@dataclasses.dataclass(frozen=True)
class Function:
    """One function of the program, as callgrind names it."""

    file: str  # from the root if it is one of the library, else empty
    name: str

    @property
    def short(self) -> tuple[str, str]:
        return self.file, short_name(self.name)


@dataclasses.dataclass(frozen=True)
class Call:
    """A call in a line of `file`, which is not that of `caller` where something is inlined."""

    caller: Function
    callee: Function
    file: str
    by_address: bool


# Names


BRACKETS = {"<": ">", "(": ")", "{": "}"}
# Those that look like brackets, and words in their place.
OPERATORS = {"()": "call", "<=>": "order", "<<=": "shl_eq", ">>=": "shr_eq", "<<": "shl",
             ">>": "shr", "<=": "le", ">=": "ge", "->*": "arrow_star", "->": "arrow", "<": "lt",
             ">": "gt"}
SYMBOLS = {word: symbol for symbol, word in OPERATORS.items()}
OPERATOR = re.compile(r"\boperator(" + "|".join(map(re.escape, OPERATORS)) + r")")


@functools.cache
def plain(name: str) -> str:
    """A demangled name whose brackets match, and whose spaces separate what is not of the name."""
    name = name.replace("(anonymous namespace)", "{}")
    name = OPERATOR.sub(lambda found: "operator@" + OPERATORS[found[1]], name)
    name = re.sub(r"(\boperator\S+) <", r"\1<", name)
    name = re.sub(r"\[(abi:\w+|clone [^]]*)\]", "", name)
    name = re.sub(r"\)(?: const)?(?: &&?)?::", ")::", name)
    return re.sub(r"\boperator (?=\w)", "operator@", name)


def levels(text: str) -> list[int]:
    """How many brackets are open around each letter; brackets belong to what is around them."""
    found, opened = [], []
    for letter in text:
        if opened and BRACKETS.get(opened[-1]) == letter:
            opened.pop()
        found.append(len(opened))
        if letter in BRACKETS:
            opened.append(letter)
    return found


def pieces(text: str, separator: str) -> list[str]:
    """Splits where no bracket is open."""
    level, found, begin = levels(text), [], 0
    for at in range(len(text)):
        if at >= begin and level[at] == 0 and text.startswith(separator, at):
            found.append(text[begin:at])
            begin = at + len(separator)
    return found + [text[begin:]]


def without_brackets(text: str) -> str:
    return "".join(letter for letter, level in zip(text, levels(text))
                   if level == 0 and letter not in "<>(){}")


def arguments_of(text: str) -> str:
    """What is in the first round brackets that no other is around."""
    level = levels(text)
    begin = next((i for i, letter in enumerate(text) if letter == "(" and level[i] == 0), None)
    if begin is None:
        return ""
    return text[begin + 1:next(i for i in range(begin + 1, len(text)) if level[i] == 0)]


def has_arguments(word: str) -> bool:
    return any(letter == "(" and level == 0 for letter, level in zip(word, levels(word)))


@functools.cache
def scopes(name: str) -> list[str]:
    """Namespaces, classes and functions of a demangled name, without its type."""
    words = [w for w in pieces(plain(name), " ") if not w.startswith("decltype")]
    whole = next((w for w in words if has_arguments(w)), words[-1])
    if whole.startswith(("(*", "(&")):  # it returns a pointer or a reference: T (*name())()
        return scopes(re.sub(r"^(?:[*&]| *const\b ?)*", "", arguments_of(whole)))
    return pieces(whole, "::")


def is_lambda(scope: str) -> bool:
    return scope.startswith("{lambda")


@functools.cache
def short_name(name: str) -> str:
    """Without arguments; of a lambda, the function that it is written in."""
    words = []
    for scope in scopes(name):
        if is_lambda(scope):
            break
        if scope != "{}":
            words.append(without_brackets(scope))
    return re.sub(r"operator@(\w+)", lambda found: "operator" +
                  SYMBOLS.get(found[1], " " + found[1]), "::".join(words))


def types_of(name: str, namespaces: set[str]) -> list[str]:
    """The type of a lambda, the class of a member, or what an operator is applied to."""
    found = scopes(name)
    lambdas = [i for i, scope in enumerate(found) if is_lambda(scope)]
    if lambdas:
        return ["::".join(found[:lambdas[-1] + 1])]
    if len(found) > 1 and found[-2] not in namespaces:
        return ["::".join(found[:-1])]
    if not found[-1].startswith("operator"):
        return []
    types = (re.sub(r"( const)?[&*]*$", "", t) for t in pieces(arguments_of(found[-1]), ", "))
    return [t for t in types if t.startswith("tessera::")]


# Recording


class Code:
    """The instructions of a program."""

    def __init__(self, path: pathlib.Path):
        self.bytes = path.read_bytes()
        offset, size, count = (*struct.unpack_from("<Q", self.bytes, 0x20),
                               *struct.unpack_from("<HH", self.bytes, 0x36))
        self.segments = []
        for i in range(count):
            kind, _, at, begin, _, length = struct.unpack_from("<IIQQQQ", self.bytes,
                                                               offset + i * size)
            if kind == 1:  # loaded
                self.segments.append((begin, begin + length, at - begin))

    def calls_by_address(self, address: int) -> bool:
        """Is there no call or jump to a fixed place?"""
        for begin, end, shift in self.segments:
            if begin <= address < end:
                return self.bytes[address + shift] not in (0xE8, 0xE9, 0xEB)
        return True


def record(driver: pathlib.Path, statements: int, folder: pathlib.Path) -> list[pathlib.Path]:
    """Runs the driver; one profile for each phase."""
    out = folder / "calls"
    environment = dict(os.environ, TESSERA_DEVICE="host", OMP_NUM_THREADS="1", LD_BIND_NOW="1")
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no",
         "--separate-threads=no", "--dump-before=end_of_phase", f"--callgrind-out-file={out}",
         driver, str(statements)], env=environment, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(f"{driver} ends with {run.returncode}\n{run.stdout}{run.stderr}")
    return [folder / f"calls.{2 + i}" for i in range(len(PHASES))]


class Profile:
    """The calls of one phase: call -> how often."""

    def __init__(self, path: pathlib.Path, code: Code, driver: pathlib.Path, root: pathlib.Path):
        self.root, self.code, self.driver = root, code, driver.resolve().as_posix()
        self.texts = {f.relative_to(root).as_posix(): f.read_text(errors="replace")
                      for top in ("include", "src") for f in (root / top).rglob("*") if f.is_file()}
        self.namespaces = {"{}"} | {
            word for file, text in self.texts.items() if file.endswith(".hpp")
            for name in NAMESPACE.findall(text) for word in name.split("::")}
        self.names = {"file": {}, "function": {}, "object": {}}
        self.calls: collections.Counter[Call] = collections.Counter()
        self.read(path)

    def named(self, kind: str, text: str) -> str:
        """The name that (ID) NAME gives to an id, or that (ID) had before."""
        number, _, name = text.partition(" ")
        if name:
            self.names[kind][number] = name
        return self.names[kind][number]

    @functools.cache
    def own_file(self, name: str) -> str:
        found = LIBRARY.search(name)
        return found[1] if found and (self.root / found[1]).exists() else ""

    @functools.cache
    def function(self, file: str, name: str) -> Function:
        """A function of a file. Valgrind puts some very short ones into the file of the one before;
        a file that does not name a function is corrected where only one other calls or defines it."""
        own, word = self.own_file(file), short_name(name).split("::")[-1]
        if own and re.fullmatch(r"\w+", word) and not re.search(rf"\b{word}\b", self.texts[own]):
            others = [f for f, text in self.texts.items() if re.search(rf"\b{word}\(", text)]
            own = others[0] if len(others) == 1 else own
        return Function(own, name)

    def read(self, path: pathlib.Path) -> None:
        file = here = program = to_file = to_name = ""
        count = 0
        with path.open(errors="replace") as lines:
            for line in lines:
                key, _, value = line.rstrip("\n").partition("=")
                if count:  # the line after calls=: the place of the call
                    address = int(line.split(" ", 1)[0], 16)
                    self.calls[Call(here, self.function(to_file or file, to_name),
                                    self.own_file(file) or here.file,
                                    self.by_address(program, address))] += count
                    count, to_file = 0, ""
                elif key in ("fl", "fi", "fe"):
                    file = self.named("file", value)
                elif key == "fn":
                    here = self.function(file, self.named("function", value))
                elif key == "ob":
                    program = self.named("object", value)
                elif key in ("cfi", "cfl"):
                    to_file = self.named("file", value)
                elif key == "cfn":
                    to_name = self.named("function", value)
                elif key == "cob":
                    self.named("object", value)
                elif key == "calls":
                    count = int(value.split(" ", 1)[0])

    def often_called(self, enough: float) -> set[tuple]:
        """The pairs of caller and callee, by their short names, with so many calls in all."""
        called = collections.Counter()
        for call, count in self.calls.items():
            called[call.caller.short, call.callee.short] += count
        return {pair for pair, count in called.items() if count >= enough}

    def by_address(self, program: str, address: int) -> bool:
        return program != self.driver or self.code.calls_by_address(address)


# Counting


class Life:
    """What takes part in one statement."""

    def __init__(self, recordings: list[Profile], statements: int):
        enough = ENOUGH * statements
        profile = recordings[0]
        common = set.intersection(*(p.often_called(enough) for p in recordings))
        self.calls = {call for call in profile.calls
                      if (call.caller.short, call.callee.short) in common}
        own = {f.short for call in self.calls for f in (call.caller, call.callee) if f.file}
        self.functions = sorted(own)
        self.files = sorted({file for file, _ in own})
        self.direct = self.collapse()
        self.climbs: dict[tuple, str] = {}  # (caller, callee) -> between which rooms
        self.apart: dict[tuple, str] = {}  # (caller, callee) -> how the caller knows it
        self.unknown = ""
        self.look_for_climbs(profile.namespaces)

    def collapse(self) -> set[Call]:
        """The calls between functions of the library, some by way of others."""
        beyond = collections.defaultdict(list)  # a function of another library -> its calls
        for call in self.calls:
            if not call.caller.file:
                beyond[call.caller].append(call)
        found = set()
        for first in self.calls:
            if not first.caller.file:
                continue
            todo, seen = [first], {first}
            while todo:
                call = todo.pop()
                if call.callee.file:
                    found.add(call)
                    continue
                for more in beyond[call.callee]:
                    through = Call(first.caller, more.callee, first.file,
                                   call.by_address or more.by_address)
                    if through not in seen:
                        seen.add(through)
                        todo.append(through)
        return found

    def look_for_climbs(self, namespaces: set[str]) -> None:
        for call in self.direct:
            users = [HOUSE.place_of(pathlib.PurePath(f)) for f in (call.caller.file, call.file)]
            used = HOUSE.place_of(pathlib.PurePath(call.callee.file))
            self.unknown = next((p for p in (*users, used) if isinstance(p, str)), "")
            if self.unknown:
                return
            if any(HOUSE.points_down(user, used) for user in users):
                continue
            edge = (call.caller.short, call.callee.short)
            caller = plain(call.caller.name)
            if call.by_address:
                self.apart.setdefault(edge, "by address")
            elif any(t in caller for t in types_of(call.callee.name, namespaces)):
                self.apart.setdefault(edge, "handed")
            else:
                self.climbs[edge] = f"{users[0].name} -> {used.name}"

    def figures(self) -> dict[str, int]:
        found = {"functions": len(self.functions), "files": len(self.files)}
        return found if self.unknown else {**found, "climbs": len(self.climbs)}


def show_edge(edge: tuple, why: str) -> None:
    (caller_file, caller), (callee_file, callee) = edge
    print(f"    {why}: {caller} ({caller_file}) calls {callee} ({callee_file})")


def report(phase: str, life: Life, limits: dict[str, int], arguments: argparse.Namespace) -> bool:
    """Prints the figures of a phase. Is one of them too large?"""
    failed = False
    figures = life.figures()
    for name in FIGURES:
        full = f"{phase}.{name}"
        if name not in figures:
            print(f"{full:17} unknown: {life.unknown}")
            failed = failed or full in limits
            continue
        too_much = full in limits and figures[name] > limits[full]
        failed = failed or too_much
        limit = f"  at most {limits[full]}" if full in limits else ""
        print(f"{full:17} {figures[name]:4}{limit}" + ("  TOO MUCH" if too_much else ""))
    for edge, why in sorted(life.climbs.items()):
        show_edge(edge, why)
    for edge, why in sorted(life.apart.items()) if arguments.apart else ():
        show_edge(edge, why)
    if phase in arguments.list:
        for file in life.files:
            print(f"    {file}: " + ", ".join(name for at, name in life.functions if at == file))
    return failed


def exceeds(lives: list[Life], limits: dict[str, int]) -> bool:
    return any(figures.get(figure, 0) > limits.get(f"{phase}.{figure}", figures.get(figure, 0))
               for phase, figures in zip(PHASES, (life.figures() for life in lives))
               for figure in FIGURES)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("driver", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--statements", type=int, default=20)
    parser.add_argument("--recordings", type=int, default=3)
    parser.add_argument("--limit", action="append", default=[], metavar="PHASE.FIGURE=N")
    parser.add_argument("--list", action="append", default=[], choices=PHASES)
    parser.add_argument("--apart", action="store_true")
    arguments = parser.parse_args()
    limits = {name: int(most) for name, _, most in (x.partition("=") for x in arguments.limit)}
    unknown = set(limits) - {f"{phase}.{figure}" for phase in PHASES for figure in FIGURES}
    if unknown:
        parser.error(f"there is no figure {', '.join(unknown)}")
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed")
        return 77
    if platform.machine() != "x86_64":
        print("skipped: only calls of x86-64 are known")
        return 77
    code = Code(arguments.driver)
    recordings = []
    lives = []
    # Beside other programs, threads may wait in every statement of several recordings.
    while len(recordings) < arguments.recordings or (
            len(recordings) < MOST * arguments.recordings and exceeds(lives, limits)):
        with tempfile.TemporaryDirectory() as folder:
            recordings.append([Profile(path, code, arguments.driver, arguments.root) for path in
                               record(arguments.driver, arguments.statements, pathlib.Path(folder))])
        lives = [Life(phase, arguments.statements) for phase in zip(*recordings)]
    if not all(life.functions for life in lives):
        print("skipped: the driver has no line tables")
        return 77
    failed = False
    for phase, life in zip(PHASES, lives):
        failed = report(phase, life, limits, arguments) or failed
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
