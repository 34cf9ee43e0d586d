"""What changed since the sources were last known to pass, and which turn it is.

A state of the sources is known to pass if `.ci/run` noted its tree in
${XDG_CACHE_HOME:-~/.cache}/tessera/checks on this machine, or if every part of tests/full has passed
there or later (bench/results/full.txt). Changes are those since the newest such ancestor, with those
that are not committed. Where there is none, or no git, everything counts as changed.
"""
import functools
import os
import pathlib
import re
import subprocess

import turns

ROOT = pathlib.Path(__file__).resolve().parents[2]
FULL_RESULTS = ROOT / "bench" / "results" / "full.txt"


def git(*arguments: str) -> str:
    """What git says; nothing where it fails."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def checks_file() -> pathlib.Path:
    """Lines "TREE SECONDS": the trees for which `.ci/run` passed on this machine, and how long it took."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(cache) / "tessera" / "checks"


def note_passed(seconds: int) -> bool:
    """Notes that `.ci/run` passed for this tree, unless something is not committed."""
    tree = git("rev-parse", "HEAD^{tree}")
    if not tree or git("status", "--porcelain"):
        return False
    path = checks_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as out:
        out.write(f"{tree} {seconds}\n")
    return True


def full_results() -> dict[str, str]:
    """For each part of tests/full the commit at which it passed last."""
    if not FULL_RESULTS.exists():
        return {}
    lines = (line.split() for line in FULL_RESULTS.read_text(encoding="utf-8").splitlines())
    return {words[0]: words[1] for words in lines if len(words) >= 2 and not words[0].startswith("#")}


@functools.cache
def base() -> str:
    """The newest ancestor that is known to pass; the empty text if none is."""
    path = checks_file()
    passed = {line.split()[0] for line in path.read_text(encoding="utf-8").splitlines() if line.strip()} \
        if path.exists() else set()
    in_full = set(full_results().values())
    is_whole = in_full and not parts_that_never_passed()
    for number, line in enumerate(git("log", "--format=%H %T", "HEAD").splitlines()):
        commit, tree = line.split()
        in_full.discard(commit)
        if number > 0 and (tree in passed or (is_whole and not in_full)):
            return commit
    return ""


def parts_that_never_passed() -> set[str]:
    """Names of parts of tests/full. One that passed says nothing of what the others test."""
    import full  # pylint: disable=import-outside-toplevel,cyclic-import
    return {part.name for part in full.PARTS} - set(full_results())


@functools.cache
def changed_files() -> frozenset[str] | None:
    """Paths from the root that differ from `base`; None if everything counts as changed."""
    if not base():
        return None
    names = git("diff", "--name-only", base()).splitlines()
    names += git("ls-files", "--others", "--exclude-standard").splitlines()
    return frozenset(name for name in names if name != str(FULL_RESULTS.relative_to(ROOT)))


def has_changed(pattern: str) -> bool:
    """Whether a file changed whose path the regular expression finds."""
    files = changed_files()
    return files is None or any(re.search(pattern, name) for name in files)


@functools.cache
def turn() -> int:
    """TESSERA_TURN, else the number of commits: the same commit takes the same turn."""
    given = turns.turn()
    return given if given is not None else int(git("rev-list", "--count", "HEAD") or 0)


def described() -> str:
    """In words, for the log."""
    files = changed_files()
    if files is None:
        return f"turn {turn()}; no earlier state is known to pass: everything counts as changed"
    return f"turn {turn()}; {len(files)} files changed since {base()[:12]}, which passed"
