"""Fails if a file includes a floor above its own, or a sibling room of the top floor.

usage: includes.py [ROOT]
"""
import pathlib
import re
import sys

FLOORS = ["base", "index", "mesh", "layout", "plan", "device", "transport", "exchange",
          "array", "expr", "program", "ops"]
ROOMS = {"strategy": {"nn"}, "nn": set(), "grad": set(), "io": set()}  # room -> who may use it
OPTIONAL = {"kokkos_view.hpp", "mpi_communicator.hpp"}  # programs include them that know what they bring
ABOVE_ALL = "tessera.hpp"  # the header that brings everything

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]tessera/(\w+)([/.])', re.MULTILINE)
THIRD_PARTY = re.compile(r'^\s*#\s*include\s+[<"]((?:mpi|Kokkos_|ucp|CLI/|doctest/)[\w/]*\.h)',
                         re.MULTILINE)
RELATIVE = re.compile(r'^\s*#\s*include\s+"(\.\./[^"]+)"', re.MULTILINE)


def height(part: str) -> int:
    return len(FLOORS) if part in ROOMS else FLOORS.index(part)


def is_allowed(user: str, used: str) -> bool:
    if user == used:
        return True
    if used in ROOMS:
        return user in ROOMS[used]
    return height(used) < height(user)


def complaints(path: pathlib.Path, top: pathlib.Path) -> list[str]:
    """What is wrong with the includes of one file below `top`."""
    inside = path.relative_to(top)
    text = path.read_text()
    wrong = []
    if top.name == "tessera" and path.name not in OPTIONAL:
        wrong += [f"a public header must not include {name}" for name in THIRD_PARTY.findall(text)]
    user = inside.parts[0]
    if len(inside.parts) == 1:
        return wrong if user == ABOVE_ALL else wrong + ["lies on no floor"]
    if user not in FLOORS and user not in ROOMS:
        return wrong + [f"there is no floor {user}"]
    for name in RELATIVE.findall(text):
        if (path.parent / name).resolve().relative_to(top.resolve()).parts[0] != user:
            wrong.append(f"{name} leaves the floor; write tessera/<floor>/<file>.hpp")
    for used, mark in INCLUDE.findall(text):
        if mark == ".":
            wrong.append(f"{user} must not include tessera/{used}.hpp, which brings every floor")
        elif used not in FLOORS and used not in ROOMS:
            wrong.append(f"there is no floor {used}")
        elif not is_allowed(user, used):
            wrong.append(f"{user} must not include {used}")
    return wrong


def main(root: pathlib.Path) -> int:
    wrong = []
    files = 0
    for top in (root / "include/tessera", root / "src"):
        for path in sorted(top.rglob("*.[hc]*")):
            files += 1
            wrong += [f"{path.relative_to(root)}: {text}" for text in complaints(path, top)]
    if files == 0:
        wrong = [f"{root} has no sources"]
    print("\n".join(wrong) or f"the includes of {files} files point down")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
