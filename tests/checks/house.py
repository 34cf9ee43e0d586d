"""Measures what makes the sources easy or hard to find one's way in.

    headers     headers that tessera.hpp brings, without those for compilers of GPU kernels alone
    lines       their lines
    names       names that it puts into namespace tessera, or into one inside that is not detail
    bare        of all.hpp's names, those that no comment describes
    room        lines of the largest room: the files of one folder, include/ and src/ together, and
                headers that belong to it by floors.py
    file        lines of the longest file
    function    lines of the longest function
    symbols     symbols that the objects of the examples need from the library, and that are neither
                names that users may call nor declared in include/tessera/detail/: those in
                namespace detail that a public header declares for templates alone, and private
                members

usage: house.py [ROOT] [--build FOLDER] [--limit FIGURE=N]... [--list FIGURE]

Prints all figures, those of `symbols` only with the folder of a build that has the examples. Fails if
one is above its limit, and lists then what exceeds it. --list lists what a figure counts. Needs
universal-ctags; ends with 77 without.
"""
from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys

from floors import PLACES

SOURCES = (".hpp", ".cpp", ".cu", ".h")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<](tessera/[^">]+)', re.MULTILINE)
DETAIL = "include/tessera/detail/"
# What only a compiler of kernels for GPUs sees.
FOR_GPUS = re.compile(r"^#if(def)?\b.*TESSERA_COMPILES_FOR_GPUS.*?^#(else|endif)",
                      re.MULTILINE | re.DOTALL)
# Lines between a declaration and the comment above it.
INTRODUCTION = re.compile(r"\s*(template|requires|\[\[|#|TESSERA_|friend|inline|constexpr|explicit|"
                          r"//|typename|class|std::|&&|\|\|)")


@dataclasses.dataclass
class Figure:
    value: int
    entries: list[tuple[int, str]]  # what is counted: size, description


class House:
    def __init__(self, root: pathlib.Path, build: pathlib.Path | None):
        self.root, self.build = root, build
        self.files = [p.relative_to(root).as_posix() for top in ("include", "src")
                      for p in sorted((root / top).rglob("*")) if p.suffix in SOURCES]
        self.text = {f: (root / f).read_text(errors="replace") for f in self.files}
        self.shown = "\n".join(p.read_text(errors="replace") for p in self.pages())
        self.brought = self.brought_by("tessera/tessera.hpp")
        self.public = self.brought_by("tessera/all.hpp")

    def pages(self) -> list[pathlib.Path]:
        examples = [p for p in (self.root / "examples").rglob("*") if p.suffix in SOURCES]
        return [*(self.root / "docs/guide").glob("*.md"), self.root / "README.md", *examples]

    def brought_by(self, header: str) -> list[str]:
        found, todo = [], [header]
        while todo:
            name = "include/" + todo.pop()
            if name in self.text and name not in found:
                found.append(name)
                todo += INCLUDE.findall(FOR_GPUS.sub("", self.text[name]))
        return sorted(found)

    def tags(self, files: list[str], *options: str) -> list[dict]:
        run = subprocess.run(
            ["ctags", "--output-format=json", "--languages=C++", "--langmap=C++:+.h.cu",
             "--fields=+neKZ", *options, "-f", "-", "-L", "-"], input="\n".join(files), cwd=self.root,
            capture_output=True, text=True, check=True)
        return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]

    def is_shown(self, name: str) -> bool:
        return re.search(rf"\b{re.escape(name)}\b", self.shown) is not None

    def has_comment(self, tag: dict) -> bool:
        lines = self.text[tag["path"]].splitlines()
        at = tag["line"] - 1
        if "///<" in lines[at]:
            return True
        above = at - 1
        while above >= 0 and INTRODUCTION.match(lines[above]):
            if lines[above].lstrip().startswith("///"):
                return True
            if lines[above].rstrip().endswith((";", "}")):  # another declaration
                return False
            above -= 1
        return False

    def headers(self) -> Figure:
        return Figure(len(self.brought), [(self.length(f), f) for f in self.brought])

    def lines(self) -> Figure:
        return Figure(sum(self.length(f) for f in self.brought),
                      [(self.length(f), f) for f in self.brought])

    def length(self, file: str) -> int:
        return self.text[file].count("\n")

    def public_names(self, headers: list[str]) -> dict[str, list[dict]]:
        found = collections.defaultdict(list)
        for tag in self.tags(headers, "--kinds-C++=csgfptuv"):
            scope = tag.get("scope", "")
            outside = tag.get("scopeKind") == "namespace" and not re.search(r"\bdetail\b|anon", scope)
            if re.match(r"tessera\b", scope) and outside and not tag["name"].startswith("operator"):
                found[f"{scope}::{tag['name']}"].append(tag)
        return found

    def functions(self, detail: bool) -> set[str]:
        """The functions that headers of include/ declare: those in detail/, or what the public ones
        let users call, which private members are not."""
        headers = [f for f in self.files
                   if f.startswith("include/") and f.startswith(DETAIL) == detail]
        found = set()
        for tag in self.tags(headers, "--kinds-C++=fp", "--fields=+a"):
            words = words_of(f"{tag.get('scope', '')}::{tag['name']}")
            if words[-1].startswith("operator") and tag.get("scopeKind") in ("class", "struct"):
                found.add("::".join([*words[:-2], words[-1]]))  # a friend is no member
            if detail or tag.get("access", "public") == "public":
                found.add("::".join(words))
        return found

    def names(self) -> Figure:
        names = self.public_names(self.brought)
        return Figure(len(names), [
            (0 if self.is_shown(tags[0]["name"]) else 1,
             f"{tags[0]['path']}: {name}" + ("" if self.is_shown(tags[0]["name"]) else "  (unused)"))
            for name, tags in names.items()])

    def bare(self) -> Figure:
        bare = [(1, f"{tags[0]['path']}:{tags[0]['line']}: {name}")
                for name, tags in self.public_names(self.public).items()
                if not any(self.has_comment(tag) for tag in tags)]
        return Figure(len(bare), bare)

    def room(self) -> Figure:
        size = collections.Counter()
        for file in self.files:
            inside = re.sub(r"^(src|include/tessera/detail|include/tessera)/", "", file)
            folder = PLACES.get(inside) or pathlib.PurePath(inside).parent.as_posix()
            size["(umbrellas)" if folder == "." else folder] += self.length(file)
        return largest([(lines, name) for name, lines in size.items()])

    def file(self) -> Figure:
        return largest([(self.length(f), f) for f in self.files])

    def function(self) -> Figure:
        return largest([(t["end"] - t["line"] + 1, f"{t['path']}:{t['line']}: {t['name']}")
                        for t in self.tags(self.files, "--kinds-C++=f")
                        if "end" in t and not t["name"].startswith("TESSERA_")])  # no macros

    def symbols(self) -> Figure | None:
        objects = sorted((self.build / "examples").rglob("*.o")) if self.build else []
        if not objects:
            return None
        run = subprocess.run(["nm", "--undefined-only", "--demangle", *objects],
                             capture_output=True, text=True, check=True)
        needed = set(re.findall(r"^\s+U (tessera::.*)$", run.stdout, re.MULTILINE))
        declared = self.functions(detail=True) | {name for name in self.functions(detail=False)
                                                  if not name.startswith("detail::")}
        entries = [(1, symbol) for symbol in sorted(needed)
                   if "::".join(qualified_name(symbol)) not in declared]
        return Figure(len(entries), entries)


def qualified_name(symbol: str) -> list[str]:
    """The function of a demangled symbol and where it belongs, without arguments."""
    name = re.sub(r"\[abi:\w+\]", "", symbol)
    found = re.search(r"operator\s*(\(\)|[^\w\s(]+)", name)
    operator = found[0] if found else ""
    name = (name[:found.start()] if found else name).split("(")[0]
    while re.search(r"<[^<>]*>", name):
        name = re.sub(r"<[^<>]*>", "", name)
    return words_of(name.split()[-1] + operator)


def words_of(name: str) -> list[str]:
    """tessera::Mesh::axis: Mesh, axis."""
    return [w for w in re.sub(r"\s", "", name).split("::") if w and w != "tessera"]


def largest(entries: list[tuple[int, str]]) -> Figure:
    return Figure(max((size for size, _ in entries), default=0), entries)


FIGURES = ("headers", "lines", "names", "bare", "room", "file", "function", "symbols")
SUMS = ("headers", "lines", "names", "bare", "symbols")  # the others are the largest of their kind


def show(name: str, figure: Figure, above: int | None) -> None:
    for size, text in sorted(figure.entries, key=lambda entry: (-entry[0], entry[1])):
        if above is None or name in SUMS or size > above:
            print(f"    {size:6} {text}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path, nargs="?", default=pathlib.Path("."))
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--limit", action="append", default=[], metavar="FIGURE=N")
    parser.add_argument("--list", action="append", default=[], choices=FIGURES)
    arguments = parser.parse_args()
    if shutil.which("ctags") is None:
        print("skipped: universal-ctags is not installed")
        return 77
    limits = {name: int(most) for name, _, most in (x.partition("=") for x in arguments.limit)}
    unknown = set(limits) - set(FIGURES)
    if unknown:
        parser.error(f"there is no figure {', '.join(unknown)}")
    house = House(arguments.root, arguments.build)
    failed = False
    for name in FIGURES:
        figure = getattr(house, name)()
        if figure is None:
            print(f"{name:10} unknown: no objects of examples")
            failed = failed or name in limits
            continue
        too_much = name in limits and figure.value > limits[name]
        failed = failed or too_much
        print(f"{name:10} {figure.value:6}" + (f"  at most {limits[name]}" if name in limits else "")
              + ("  TOO MUCH" if too_much else ""))
        if too_much or name in arguments.list:
            show(name, figure, limits.get(name) if too_much else None)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
