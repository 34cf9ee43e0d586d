"""Fails unless the table of variables in docs/guide/running.md has exactly those that the sources read.

usage: variables.py ROOT
"""
import pathlib
import re
import sys


def read_by_sources(root: pathlib.Path) -> set[str]:
    """Names in string literals, but for the options of CMake that errors speak of."""
    texts = (path.read_text() for top in ("include", "src", "tools") for path in (root / top).rglob("*.[hc]pp"))
    literals = (literal for text in texts for literal in re.findall(r'"(?:[^"\\\n]|\\.)*"', text))
    return {name for literal in literals for name in re.findall(r"\bTESSERA_[A-Z_]+\b", literal)
            if not name.startswith("TESSERA_WITH_")}


def told_in_guide(root: pathlib.Path) -> set[str]:
    guide = (root / "docs" / "guide" / "running.md").read_text()
    return set(re.findall(r"^\| `(TESSERA_[A-Z_]+)` \|", guide, re.MULTILINE))


def main(root: pathlib.Path) -> int:
    read, told = read_by_sources(root), told_in_guide(root)
    wrong = [f"{name} is read by the sources, but docs/guide/running.md does not tell" for name in sorted(read - told)]
    wrong += [f"docs/guide/running.md tells of {name}, which no source reads" for name in sorted(told - read)]
    if not read:
        wrong.append(f"{root} has no sources that read a variable")
    print("\n".join(wrong) or f"the guide tells of all {len(read)} variables")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
