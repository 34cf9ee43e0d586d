"""Writes what NumPy answers to a few hundred small questions, one a line: slices, broadcasting, types, reductions.

usage: make_cases.py > cases.txt          (NumPy 2 or later; the tests themselves need no NumPy)

Every array is row-major; element k of a slice's array is k. Lists are separated by commas, fields by blanks:

    slice SHAPE SELECTORS -> SHAPE VALUES             selectors as in Python; '-' is an empty list
    broadcast SHAPE SHAPE -> SHAPE VALUES             1000 a + b, of a = 0, 1, ... and b = 0, 1, ...; 'error' where they do not fit
    promote TYPE TYPE -> TYPE                         of a + b
    weak TYPE KIND -> TYPE                            of an array and a Python number: bool, int or float
    divide TYPE TYPE -> TYPE                          of a / b
    value TYPE OPERATOR A B -> VALUES                 cell by cell, with wrap-around and floored % of negative numbers
    reduce NAME TYPE SHAPE AXIS VALUES -> TYPE VALUES   of two dimensions; axis 'all' for the whole
"""
import random
import sys
import warnings

import numpy as np

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


def listed(values) -> str:
    return ",".join(str(v) for v in values) or "-"


def number(value) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return float(value).hex() if np.isfinite(value) else str(float(value))
    return str(int(value))


def cells(array) -> str:
    return listed(number(v) for v in np.asarray(array).ravel())


def array_of(shape):
    return np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)


def random_bound(rng, extent):
    return rng.choice(["", "", rng.randint(-extent - 3, extent + 3)])


def selector(rng, extent):
    if extent > 0 and rng.random() < 0.25:
        return str(rng.randint(-extent, extent - 1))
    text = f"{random_bound(rng, extent)}:{random_bound(rng, extent)}"
    if rng.random() < 0.6:
        text += ":" + str(rng.choice([1, 2, 3, 5, -1, -1, -2, -3]))
    return text


def slices(rng, count):
    for _ in range(count):
        shape = tuple(rng.choice([0, 1, 2, 3, 4, 5, 7]) if rng.random() < 0.95 else 9 for _ in range(rng.randint(1, 3)))
        selectors = [selector(rng, extent) for extent in shape]
        result = eval(f"array_of(shape)[{', '.join(selectors)}]")
        print("slice", listed(shape), ",".join(selectors), "->", listed(np.shape(result)), cells(result))


def broadcasts(rng, count):
    for _ in range(count):
        common = [rng.choice([1, 2, 3, 0]) if rng.random() < 0.9 else 4 for _ in range(3)]
        shapes = []
        for _ in range(2):
            rank = rng.randint(1, 3)
            shape = [1 if rng.random() < 0.35 else extent for extent in common[3 - rank:]]
            if rng.random() < 0.08:
                shape[rng.randrange(rank)] = 5
            shapes.append(tuple(shape))
        try:
            result = array_of(shapes[0]) * 1000 + array_of(shapes[1])
        except ValueError:
            print("broadcast", listed(shapes[0]), listed(shapes[1]), "-> error")
            continue
        print("broadcast", listed(shapes[0]), listed(shapes[1]), "->", listed(result.shape), cells(result))


def types():
    for a in TYPES:
        for b in TYPES:
            print("promote", a, b, "->", (np.ones(1, a) + np.ones(1, b)).dtype)
            print("divide", a, b, "->", (np.ones(1, a) / np.ones(1, b)).dtype)
        for kind, value in (("bool", True), ("int", 1), ("float", 0.5)):
            print("weak", a, kind, "->", (np.ones(1, a) + value).dtype)


def values():
    samples = {
        "int8": ([100, -128, -7, 7, 1], [100, -1, 3, -3, -2]),
        "uint8": ([200, 0, 7, 255, 3], [100, 1, 3, 254, 4]),
        "int32": ([2**31 - 1, -7, 7, -8, 0], [1, 2, -2, 3, 5]),
        "int64": ([2**63 - 1, -7, 7, -9, 4], [2, 3, -3, 4, -4]),
        "float64": ([0.3, -7.5, 7.5, -0.0, 1e308], [0.1, 2.0, -2.0, 3.0, 10.0]),
    }
    operators = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "%": np.mod, "<": np.less, "==": np.equal}
    for name, (a, b) in samples.items():
        for operator, function in operators.items():
            x, y = np.array(a, name), np.array(b, name)
            print("value", name, operator, cells(x), cells(y), "->", cells(function(x, y)))


def reductions(rng, count):
    names = ["sum", "prod", "min", "max", "mean", "var", "any", "all", "argmin", "argmax", "count"]
    for k in range(count):
        name = names[k % len(names)]
        kind = ["int8", "float64"][k // len(names) % 2]
        shape = (rng.randint(1, 5), rng.randint(1, 5))
        # Quarters and small numbers: sums and products are exact, whatever their order.
        data = np.array([rng.randint(-3, 3) for _ in range(shape[0] * shape[1])]).reshape(shape)
        data = (data / 4 if kind == "float64" else data).astype(kind)
        axis = rng.choice([None, 0, 1, -1])
        function = np.count_nonzero if name == "count" else getattr(np, name)
        result = np.asarray(function(data, axis=axis))
        where = "all" if axis is None else str(axis)
        print("reduce", name, kind, listed(shape), where, cells(data), "->", result.dtype, cells(result))


def main() -> int:
    if int(np.__version__.split(".")[0]) < 2:
        print("NumPy 2 or later is needed", file=sys.stderr)
        return 1
    warnings.simplefilter("ignore")
    rng = random.Random(20240611)
    slices(rng, 150)
    broadcasts(rng, 80)
    types()
    values()
    reductions(rng, 176)
    return 0


if __name__ == "__main__":
    sys.exit(main())
