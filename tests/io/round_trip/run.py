#!/usr/bin/env python3
"""NumPy writes files of all types, orders and shapes; a program loads and saves them; NumPy reads what it wrote.

    run.py <spread> <driver> [PxD | solo:D]...

Code 77: there is no NumPy 2 for this Python; TESSERA_PYTHON names another one.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

if "TESSERA_PYTHON" in os.environ:
    python = os.environ.pop("TESSERA_PYTHON")
    os.execv(python, [python, *sys.argv])
try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no NumPy (TESSERA_PYTHON names another one)")
    sys.exit(77)

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
         "complex64", "complex128"]
SHAPES = [(), (1,), (7,), (1000,), (0,), (3, 5), (1, 1), (40, 33), (0, 4), (2, 3, 4), (5, 1, 7), (3, 0, 2)]


def random_array(rng, kind, shape):
    raw = rng.integers(0, 256, size=(*shape, np.dtype(kind).itemsize), dtype=np.uint8)
    if kind == "bool":
        return raw[..., 0] % 2 == 1
    return raw.view(kind)[..., 0]


def forms(array):
    """The same array in the ways a file can have it."""
    for order in "CF":
        for endian in "<>":
            yield np.array(array, dtype=array.dtype.newbyteorder(endian), order=order)


def main(spread, driver, *spreads):
    rng = np.random.default_rng(20240611)
    for how in spreads:
        with tempfile.TemporaryDirectory() as folder:
            cases = []
            for kind in TYPES:
                for shape in SHAPES:
                    array = random_array(rng, kind, shape)
                    for form in forms(array):
                        files = [str(pathlib.Path(folder, f"{name}{len(cases)}.npy")) for name in ("in", "out")]
                        np.save(files[0], form)
                        cases.append((array, [kind, str(len(shape)), *files]))
            for first in range(0, len(cases), 100):
                words = [word for _, question in cases[first:first + 100] for word in question]
                subprocess.run([spread, how, driver, *words], check=True)
            for array, (kind, _, _, path) in cases:
                result = np.load(path, allow_pickle=False)
                assert result.dtype == array.dtype and result.shape == array.shape, (kind, array.shape, result.dtype)
                assert result.tobytes() == array.tobytes(), (how, kind, array.shape)
                assert result.flags.c_contiguous
        print(f"{how}: {len(cases)} files came back as they were")


if __name__ == "__main__":
    main(*sys.argv[1:])
