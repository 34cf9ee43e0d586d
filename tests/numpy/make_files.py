"""Writes small files by numpy.save for the tests of load_npy and save_npy, into the folder `files` beside this script.

usage: make_files.py          (NumPy 2 or later and ml_dtypes; the tests themselves need neither)

Element k of an array, counted in row-major order, is what `cells` says; tests/io/npy_test.cpp has the same rule.
"""
import pathlib
import sys

import ml_dtypes
import numpy as np

FOLDER = pathlib.Path(__file__).parent / "files"
SHAPE = (3, 5)
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
         "complex64", "complex128"]


def cells(kind: str, count: int):
    k = np.arange(count)
    if kind == "bool":
        return k % 3 == 0
    if kind.startswith("complex"):
        return ((k * 0.3 - 1.5) + 1j * (k % 4 * 0.7)).astype(kind)
    if "float" in kind:
        return (k * 0.3 - 1.5).astype(ml_dtypes.bfloat16 if kind == "bfloat16" else kind)
    return ((k * 37 + 11) % 101 - (0 if kind.startswith("u") else 50)).astype(kind)


def save(name: str, array, version=None) -> None:
    with open(FOLDER / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)


def main() -> int:
    if int(np.__version__.split(".")[0]) < 2:
        print("NumPy 2 or later is needed", file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    for kind in TYPES + ["bfloat16"]:
        save(kind, cells(kind, 15).reshape(SHAPE))
    for kind in ["int16", "float16", "float64", "complex64", "complex128"]:
        array = cells(kind, 15).reshape(SHAPE)
        save(f"{kind}_fortran", np.asfortranarray(array))
        save(f"{kind}_big", array.astype(array.dtype.newbyteorder(">")))
        save(f"{kind}_big_fortran", np.asfortranarray(array.astype(array.dtype.newbyteorder(">"))))
    save("float64_version2", cells("float64", 15).reshape(SHAPE), (2, 0))
    save("float64_version3", cells("float64", 15).reshape(SHAPE), (3, 0))
    save("float64_scalar", cells("float64", 1).reshape(()))
    save("float64_line", cells("float64", 15))
    save("float64_empty", cells("float64", 0).reshape(0, 5))
    save("float64_cube", cells("float64", 60).reshape(3, 4, 5))
    save("float64_cube_fortran", np.asfortranarray(cells("float64", 60).reshape(3, 4, 5)))
    save("structured", np.zeros(3, dtype=[("x", "<f8"), ("n", "<i4")]))
    save("text", np.array(["a", "bcd"]))
    save("dates", np.zeros(2, "datetime64[s]"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
