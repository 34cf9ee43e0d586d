#!/usr/bin/env python3
"""Takes turns: of the ways in which a scenario can run, each run of the tests tries one.

TESSERA_TURN is a number; whoever starts the tests sets it to the number of commits, so that one
commit always makes the same choices and the next one makes others. Without it, or with `all`,
everything runs. The line of a scenario says what it has taken and at which turn: TESSERA_TURN=n
before the same command repeats it.

    turns.py NAME CHOICE...     prints the choices of this turn, one a line
"""
import os
import sys
import threading
import zlib

_thread = threading.local()


def turn():
    """The number of this run's turn; None if everything is to run."""
    text = os.environ.get("TESSERA_TURN", "all")
    if text in ("", "all"):
        return None
    if not text.isdecimal():
        raise ValueError(f"TESSERA_TURN={text} is neither a whole number nor `all`")
    return int(text)


def one_by_turn(choices, name):
    """A list of one of the choices, or of all of them if everything is to run.

    Scenarios of different names take different choices in one run, and n turns in a row take each of
    n choices once."""
    choices = list(choices)
    now = turn()
    if now is None or len(choices) < 2:
        return choices
    chosen = choices[(now + zlib.crc32(name.encode())) % len(choices)]
    _notes().append(f"{name} {chosen}")
    return [chosen]


def taken():
    """What the calling thread has chosen since the last call, for the line of a scenario; may be empty."""
    notes = _notes()
    words = f", turn {turn()}: {'; '.join(notes)}" if notes else ""
    notes.clear()
    return words


def _notes():
    if not hasattr(_thread, "notes"):
        _thread.notes = []
    return _thread.notes


if __name__ == "__main__":
    print("\n".join(one_by_turn(sys.argv[2:], sys.argv[1])))
