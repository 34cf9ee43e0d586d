"""Fails on text that should not be in the repository: paths of one machine, and notes of unfinished
work that name no issue. TODO(#12) is fine.

usage: words.py [ROOT]
"""
import pathlib
import re
import subprocess
import sys

RULES = {
    "a path that exists on one machine only": re.compile(
        r"(?<![\w./$}-])/(?:home/(?!me/|user/)|root/|work/|Users/)\w"),
    "a TODO needs the number of an issue, as TODO(#12)": re.compile(r"\bTODO\b(?!\(#\d+\))"),
    "unfinished work is marked as TODO(#12)": re.compile(r"\b(?:FIXME|XXX)\b"),
}


def project_files(root: pathlib.Path) -> list[pathlib.Path]:
    """What git tracks or would track; without git, everything but build folders."""
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        paths = [root / name for name in listing.stdout.split("\0") if name]
    else:
        paths = [p for p in root.rglob("*") if not {".git", "build"} & set(p.relative_to(root).parts)]
    corpora = root / "tests" / "fuzz_targets" / "corpus"  # made by a program
    return sorted(p for p in paths if p.is_file() and p.resolve() != pathlib.Path(__file__).resolve()
                  and corpora not in p.parents)


def complaints(path: pathlib.Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return []  # a picture or the like
    return [f"{number}: {why}: {line.strip()[:100]}"
            for number, line in enumerate(lines, 1)
            for why, pattern in RULES.items() if pattern.search(line)]


def main(root: pathlib.Path) -> int:
    files = project_files(root)
    wrong = [f"{path.relative_to(root)}:{text}" for path in files for text in complaints(path)]
    print("\n".join(wrong) or f"nothing to complain about in {len(files)} files")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
