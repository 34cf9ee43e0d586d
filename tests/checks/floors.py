"""Checks that every include and every call points down, and draws the floors.

A folder is a floor, a subfolder a room. A file may include its own room, rooms that FLOORS lists
before it on the same floor, and all floors below.

    include/tessera/UMBRELLA               brings public headers: tessera.hpp those of every program
    include/tessera/FLOOR[/ROOM]/x.hpp     public: includes public headers and tessera/detail/
    include/tessera/detail/FLOOR[/ROOM]/x.hpp   what templates need; belongs to that floor
    src/FLOOR[/ROOM]/x.hpp                 private: included as "src/FLOOR/x.hpp" by src/, tests/,
                                           tools/ and bench/, never by include/ and examples/

A file must not call a function that only headers above it declare: argument-dependent lookup would
find it in a program that includes them. This part needs universal-ctags, and does not see functions
that macros declare, nor overloads of a name that is also declared below.

usage: floors.py [ROOT]
       floors.py --draw [ROOT]                     the floors with lines and includes, as Markdown
       floors.py --check-drawing FILE [ROOT]       fails if the drawing in FILE is out of date
       floors.py --write-drawing FILE [ROOT]       renews the drawing in FILE
"""
from __future__ import annotations

import collections
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

# Floors, lowest first, each with its rooms, lowest first. "." are the files that lie in the floor's
# own folder. Rooms in a tuple lie side by side: they do not include each other.
FLOORS = {
    "base": ["."],
    "kernels": ["formulas", ("products", "random"), ".", "x86"],
    "index": ["."],
    "mesh": ["."],
    "layout": [".", "strategies"],
    "plan": [".", ("exchange", "schedules")],
    "statement": [".", "lowering", "operations", "loop"],
    "device": [".", ("host", "nccl"), ("cuda", "emulated"), "drivers"],
    "job": ["ipc", ".", ("single", "mpi")],
    "transport": ["protocol", "channel", ("local", "shm", "mpi", "ucx"), "host_memory", "rpc", "."],
    "liveness": ["."],
    "network": ["."],
    "execution": ["storage", "pairs", ".", "gpu_channels", ("connection", "one_sided")],
    "runtime": ["statements", "profiler", "start", "devices", "."],
    "array": ["erased", "expr", "gpu", "evaluate", "."],
    "program": ["."],
    "ops": [".", ("products", "collectives")],
    "random": ["."],
}
# Rooms of the top floor, each with the others of them that it may include. Only io exists; the others
# are planned.
TOP = {
    "grad": [],
    "hints": [],
    "io": [],
    "nn": [],
    "onnx": ["hints", "nn", "io"],
}
# Headers below include/tessera/ whose folder does not say where they belong: users name them, so their
# paths are short.
PLACES = {
    "layout/strategies.hpp": "layout/strategies",
    "runtime/budget.hpp": "runtime/profiler",
    "array/element.hpp": "array/expr",
    "array/scalar.hpp": "array/expr",
    "array/slice.hpp": "array/expr",
    "array/axes.hpp": "array/expr",
    "ops/products.hpp": "ops/products",
    "ops/einsum.hpp": "ops/products",
    "ops/collectives.hpp": "ops/collectives",
    "ops/member_collectives.hpp": "ops/collectives",
    "ops/per_device.hpp": "ops/collectives",
    "ops/shard.hpp": "ops/collectives",
}
# Headers of other libraries in include/: programs that include these know what they bring.
THIRD_PARTY = {
    "kokkos_view.hpp": {"Kokkos_Core.hpp"},
    "mpi_communicator.hpp": {"mpi.h"},
    "gpu_launch.hpp": {"cuda_runtime_api.h"},  # where nvcc compiles
}
UMBRELLAS = ("all.hpp", "collectives.hpp", "products.hpp", "random.hpp", "strategies.hpp",
             "tessera.hpp")

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
# What is not code, and calls without a qualifier: `name(` or `name<T>(`.
NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])'|"
                      r'"(?:\\.|[^"\\\n])*"|^\s*#\s*include[^\n]*', re.DOTALL | re.MULTILINE)
CALL = re.compile(r"(?<![\w.>:~])([a-z_]\w*)\s*(?:<[^;(){}]*>)?\(")
MARKS = ("<!-- floors: begin -->", "<!-- floors: end -->")


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a file lies."""

    kind: str  # public, detail, private, umbrella or outside (tests, tools, bench, examples)
    floor: str = ""
    room: str = "."

    @property
    def name(self) -> str:
        return self.floor if self.room == "." else f"{self.floor}/{self.room}"


class House:
    """The order of floors and rooms."""

    def __init__(self, floors: dict, top: dict, places: dict, third_party: dict):
        self.floors, self.top, self.places, self.third_party = floors, top, places, third_party
        self.order = list(floors)
        self.levels = {}  # (floor, room) -> height on its floor
        for floor, rooms in floors.items():
            for level, entry in enumerate(rooms):
                for room in entry if isinstance(entry, tuple) else (entry,):
                    self.levels[floor, room] = level

    def height(self, floor: str) -> int:
        return len(self.order) if floor in self.top else self.order.index(floor)

    def names(self, floor: str) -> bool:
        return floor in self.floors or floor in self.top

    def has_room(self, place: Place) -> bool:
        return place.floor in self.top or (place.floor, place.room) in self.levels

    def place_of(self, path: pathlib.PurePath) -> Place | str:
        """Where a file lies, given from the root, or why it lies nowhere."""
        parts = path.parts
        if parts[0] in ("tests", "tools", "bench", "examples"):
            return Place("outside", parts[0])
        if parts[0] == "src":
            kind, inside = "private", parts[1:]
        elif parts[:3] == ("include", "tessera", "detail"):
            kind, inside = "detail", parts[3:]
        elif parts[:2] == ("include", "tessera"):
            kind, inside = "public", parts[2:]
        else:
            return "lies neither in include/tessera/ nor in src/"
        if kind == "public" and len(inside) == 1 and inside[0] in UMBRELLAS:
            return Place("umbrella")
        named = self.places.get("/".join(parts[2:])) if kind != "private" else None
        if named:
            floor, _, room = named.partition("/")
            return Place(kind, floor, room or ".")
        if len(inside) == 1:
            return "lies on no floor"
        if not self.names(inside[0]):
            return f"there is no floor {inside[0]}"
        room = inside[1] if len(inside) > 2 else "."
        place = Place(kind, inside[0], room)
        if not self.has_room(place):
            return f"floor {inside[0]} has no room {room}"
        return place

    def points_down(self, user: Place, used: Place) -> bool:
        if user.floor == used.floor:
            if user.room == used.room or user.floor in self.top:
                return True
            return (self.levels[used.floor, used.room] < self.levels[user.floor, user.room])
        if used.floor in self.top:
            return used.floor in self.top.get(user.floor, [])
        return self.height(used.floor) < self.height(user.floor)


HOUSE = House(FLOORS, TOP, PLACES, THIRD_PARTY)


class Tree:
    """The files of a project and what they include."""

    def __init__(self, root: pathlib.Path, house: House = HOUSE):
        self.root, self.house = root, house
        self.places: dict[str, Place] = {}
        self.lines: dict[str, int] = {}
        self.includes: dict[str, list[tuple[str, str]]] = {}  # file -> (mark, name)
        self.text: dict[str, str] = {}
        self.complaints: list[str] = []
        for top in ("include/tessera", "src", "tests", "tools", "bench", "examples"):
            for path in sorted((root / top).rglob("*")):
                if path.suffix in (".hpp", ".cpp", ".cu", ".h"):
                    self.add(path)

    def add(self, path: pathlib.Path) -> None:
        inside = path.relative_to(self.root)
        place = self.house.place_of(inside)
        name = inside.as_posix()
        if isinstance(place, str):
            self.complaints.append(f"{name}: {place}")
            return
        text = path.read_text()
        self.places[name] = place
        self.lines[name] = text.count("\n")
        self.text[name] = text
        self.includes[name] = INCLUDE.findall(text)

    def file_of(self, user: str, mark: str, name: str) -> str:
        """The file of this project that an include names, or nothing."""
        if name.startswith("tessera/"):
            return "include/" + name
        if name.startswith("src/"):
            return name
        beside = (self.root / user).parent / name
        if mark == '"' and beside.exists():
            return beside.resolve().relative_to(self.root.resolve()).as_posix()
        return ""

    def check(self) -> list[str]:
        """What is wrong with this tree, one line each."""
        wrong = list(self.complaints)
        for user in self.places:
            for mark, name in self.includes[user]:
                wrong += [f"{user}: {text}" for text in self.check_include(user, mark, name)]
        wrong += [f"rooms include each other: {' -> '.join(cycle)}" for cycle in self.cycles()]
        if has_ctags():
            wrong += self.calls_upwards()
        if not self.places and not self.complaints:
            wrong.append(f"{self.root} has no sources")
        return wrong

    def check_include(self, user: str, mark: str, name: str) -> list[str]:
        place = self.places[user]
        used = self.file_of(user, mark, name)
        if not used:
            return self.check_foreign(place, user, name)
        if place.kind == "outside":
            return self.check_from_outside(place, used)
        if used not in self.places:
            return [] if any(c.startswith(f"{used}: ") for c in self.complaints) else [
                f"there is no file {used}"]
        there = self.places[used]
        if not name.startswith(("tessera/", "src/")):
            return [f'{name} is named by its place; write "{used.removeprefix("include/")}"']
        if there.kind == "umbrella":
            return [] if place.kind == "umbrella" else [f"must not include {name}, which brings "
                                                        "other floors"]
        if there.kind == "outside":
            return [f"must not include {used}"]
        if place.kind in ("public", "umbrella", "detail") and there.kind == "private":
            return [f"a header of include/ must not include {name}"]
        if place.kind != "umbrella" and not self.house.points_down(place, there):
            return [f"{place.name} must not include {name} ({there.name} is not below it)"]
        return []

    def check_from_outside(self, place: Place, used: str) -> list[str]:
        if place.floor == "examples" and used.startswith(("src/", "include/tessera/detail/")):
            return [f"examples include what users may: not {used}"]
        if used.startswith(("src/", "include/")) and used not in self.places:
            return [f"there is no file {used}"]
        return []

    def check_foreign(self, place: Place, user: str, name: str) -> list[str]:
        if place.kind in ("private", "outside") or re.fullmatch(r"[a-z_0-9]+", name):
            return []
        if name in self.house.third_party.get(pathlib.PurePath(user).name, ()):
            return []
        return [f"a header of include/ must not include {name}"]

    def calls_upwards(self) -> list[str]:
        """Calls of functions that only headers above the caller declare."""
        files = [f for f, place in self.places.items() if place.kind in ("public", "detail", "private")]
        names = collections.defaultdict(set)  # file -> everything that it declares
        functions = collections.defaultdict(set)  # function of a namespace -> headers
        rooms = collections.defaultdict(set)  # room -> what its headers declare
        for tag in self.tags(files):
            file, name = tag["path"], tag["name"]
            names[file].add(name)
            if not file.endswith(".hpp"):
                continue
            rooms[self.places[file]].add(name)
            if tag["kind"] in ("function", "prototype") and tag.get("scopeKind") == "namespace":
                functions[name].add(file)
        wrong = []
        for user in files:
            place = self.places[user]
            known = names[user].union(*(declared for room, declared in rooms.items()
                                        if self.house.points_down(place, room)))
            code = NOT_CODE.sub(lambda found: re.sub(r"[^\n]+", " ", found[0]), self.text[user])
            for call in CALL.finditer(code):
                name = call[1]
                if name in functions and name not in known:
                    line = code.count("\n", 0, call.start()) + 1
                    wrong.append(f"{user}:{line}: {place.name} must not call {name}, which only "
                                 f"{', '.join(sorted(functions[name]))} declares")
        return wrong

    def tags(self, files: list[str]) -> list[dict]:
        """Everything that these files declare, as ctags lists it."""
        run = subprocess.run(
            ["ctags", "--output-format=json", "--quiet=yes", "--languages=C++", "--langmap=C++:+.h.cu",
             "--kinds-C++=+pxlzZN", "--fields=+neKZ", "-f", "-", "-L", "-"], input="\n".join(files),
            cwd=self.root, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]

    def arrows(self) -> dict[str, set[str]]:
        """room -> the rooms that its files include."""
        found = collections.defaultdict(set)
        for user, place in self.places.items():
            for mark, name in self.includes[user]:
                there = self.places.get(self.file_of(user, mark, name))
                if there is None or "outside" in (place.kind, there.kind):
                    continue
                if "umbrella" not in (place.kind, there.kind) and place.name != there.name:
                    found[place.name].add(there.name)
        return found

    def cycles(self) -> list[list[str]]:
        """Rooms that include each other, directly or by way of others; each cycle once."""
        arrows, done, path, found = self.arrows(), set(), [], []

        def visit(room: str) -> None:
            if room in path:
                found.append(path[path.index(room):] + [room])
                return
            if room in done:
                return
            path.append(room)
            for used in sorted(arrows.get(room, ())):
                visit(used)
            path.pop()
            done.add(room)

        for room in sorted(arrows):
            visit(room)
        return found

    def draw(self) -> str:
        """The floors, highest first: lines, and what each includes."""
        size = collections.Counter()
        for name, place in self.places.items():
            if place.floor and place.kind != "outside":
                size[place.floor, place.room] += self.lines[name]
        arrows = self.arrows()
        lines = ["```text", "floor, room      lines  includes"]
        for floor in [*reversed(self.house.top), *reversed(self.house.order)]:
            rooms = [room for f, room in size if f == floor]
            if not rooms:
                continue
            places = {floor if room == "." else f"{floor}/{room}" for room in rooms}
            below = {used.split("/")[0] for place in places for used in arrows.get(place, ())}
            below.discard(floor)
            lines += row(floor, sum(size[floor, room] for room in rooms), self.sorted(below))
            if rooms == ["."]:
                continue
            rooms.sort(key=lambda room: -self.house.levels.get((floor, room), 0))
            for room in rooms:
                place = floor if room == "." else f"{floor}/{room}"
                beside = [used.partition("/")[2] or "." for used in arrows.get(place, ())
                          if used.split("/")[0] == floor]
                lines += row(f"  {room}", size[floor, room], sorted(beside))
        return "\n".join(lines + ["```"])

    def sorted(self, floors: set[str]) -> list[str]:
        return sorted(floors, key=lambda floor: (-self.house.height(floor), floor))


def has_ctags() -> bool:
    return shutil.which("ctags") is not None


def row(name: str, lines: int, includes: list[str]) -> list[str]:
    """One entry of the drawing; its lines are rounded, or each change would be one of the drawing."""
    text = f"{name:15} {round(lines, -2):6}  " + " ".join(includes)
    return textwrap.wrap(text.rstrip(), 100, subsequent_indent=" " * 24, drop_whitespace=True,
                         break_long_words=False)


def drawing_in(text: str) -> str:
    begin, end = (text.find(mark) for mark in MARKS)
    if begin < 0 or end < begin:
        raise SystemExit(f"there is no drawing between {MARKS[0]} and {MARKS[1]}")
    return text[begin + len(MARKS[0]):end].strip()


def differences(old: str, new: str) -> list[str]:
    """Where two drawings differ, but for lines that grew or shrank by less than a quarter."""
    number = re.compile(r"(?<=\s)\d+(?=\s|$)")

    def parse(text: str) -> list[tuple[str, int]]:
        entries = []
        for line in text.splitlines():
            found = number.search(line)
            shape = " ".join(number.sub("", line, count=1).split())
            entries.append((shape, int(found[0]) if found else 0))
        return entries

    before, after = parse(old), parse(new)
    shapes_before, shapes_after = [s for s, _ in before], [s for s, _ in after]
    if shapes_before != shapes_after:
        return ([f"- {s}" for s in shapes_before if s not in shapes_after] +
                [f"+ {s}" for s in shapes_after if s not in shapes_before] or ["another order"])
    return [f"{shape}: {a} lines in the drawing, {b} now"
            for (shape, a), (_, b) in zip(before, after) if abs(a - b) > 200 + max(a, b) / 4]


def main(arguments: list[str]) -> int:
    options = [a for a in arguments if a.startswith("--")]
    rest = [a for a in arguments if not a.startswith("--")]
    document = pathlib.Path(rest.pop(0)) if options and options[0] != "--draw" else None
    tree = Tree(pathlib.Path(rest[0] if rest else "."))
    if options == ["--draw"]:
        print(tree.draw())
        return 0
    if options == ["--write-drawing"]:
        text = document.read_text()
        document.write_text(text.replace(f"{MARKS[0]}\n{drawing_in(text)}\n{MARKS[1]}",
                                         f"{MARKS[0]}\n{tree.draw()}\n{MARKS[1]}"))
        return 0
    if options == ["--check-drawing"]:
        wrong = differences(drawing_in(document.read_text()), tree.draw())
        if wrong:
            wrong.append(f"renew it: tests/checks/floors.py --write-drawing {document}")
        print("\n".join(wrong) or f"the drawing in {document} is up to date")
        return 1 if wrong else 0
    if options:
        raise SystemExit(__doc__)
    wrong = tree.check()
    what = "includes and calls" if has_ctags() else "includes (calls: universal-ctags is missing)"
    print("\n".join(wrong) or f"the {what} of {len(tree.places)} files point down")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
