"""Writes what NumPy answers to a few hundred small questions, one a line: slices, broadcasting, types, reductions.

usage: make_cases.py > cases.txt          (NumPy 2 or later and ml_dtypes; the tests themselves need neither)

Every array is row-major; element k of a slice's array is k. Lists are separated by commas, fields by blanks:

    slice SHAPE SELECTORS -> SHAPE VALUES             selectors as in Python; '-' is an empty list
    broadcast SHAPE SHAPE -> SHAPE VALUES             1000 a + b, of a = 0, 1, ... and b = 0, 1, ...; 'error' where they do not fit
    promote TYPE TYPE -> TYPE                         of a + b
    weak TYPE KIND -> TYPE                            of an array and a Python number: bool, int, float or complex
    divide TYPE TYPE -> TYPE                          of a / b
    value TYPE OPERATOR A B -> VALUES                 cell by cell, with wrap-around and floored % of negative numbers; conj abs angle ~ take A
    reduce NAME TYPE SHAPE AXIS VALUES -> TYPE VALUES   of two dimensions; axis 'all' for the whole
    rounded TYPE DIRECTION -> HASH                    of conversions: 'to' a 16-bit type of 65536 float32 (or, 'double', float64) with bits
                                                      65537 k (281479271743489 k), 'from' it of all of its values but NaN

A complex number is two numbers: its real and its imaginary part.
"""
import random
import sys
import warnings

import ml_dtypes
import numpy as np

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
         "float16", "complex64", "complex128"]


def listed(values) -> str:
    return ",".join(str(v) for v in values) or "-"


def number(value) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (complex, np.complexfloating)):
        return number(value.real) + "," + number(value.imag)
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
        for kind, value in (("bool", True), ("int", 1), ("float", 0.5), ("complex", 1j)):
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


def bits():
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"):
        signed, width = name[0] == "i", 8 * np.dtype(name).itemsize
        counts = [0, 1, 3, width - 1, width, width + 1, 100] + ([-1, -width, -128] if signed else [127, 255])
        numbers = [0, 1, 5, 100, 127] + ([-1, -2, -100, -128] if signed else [128, 255])
        pairs = [(a, b) for a in numbers for b in counts]
        x, y = np.array([a for a, _ in pairs], name), np.array([b for _, b in pairs], name)
        for operator, function in {"<<": np.left_shift, ">>": np.right_shift, "~": lambda x, y: ~x}.items():
            print("value", name, operator, cells(x), cells(y), "->", cells(function(x, y)))


def values_of_other_types():
    samples = {
        "float16": ([0.3, -7.5, 7.5, -0.0, 65504, 2**-24, 1000], [0.1, 2.0, -2.0, 3.0, 17.0, 0.5, 0.0999]),
        "complex64": ([1 + 2j, -0.5j, 3 - 4j, 0, 2.5], [2 - 1j, 4 + 0.25j, 1j, 1 + 1j, -3]),
        "complex128": ([1 + 2j, -0.5j, 3 - 4j, 0, 2.5], [2 - 1j, 4 + 0.25j, 1j, 1 + 1j, -3]),
    }
    both = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "==": np.equal}
    halves = {"%": np.mod, "<": np.less, "sqrt": lambda x, y: np.sqrt(np.abs(x))}
    complexes = {"conj": lambda x, y: np.conj(x), "abs": lambda x, y: np.abs(x), "angle": lambda x, y: np.angle(x)}
    for name, (a, b) in samples.items():
        for operator, function in {**both, **(halves if name == "float16" else complexes)}.items():
            x, y = np.array(a, name), np.array(b, name)
            print("value", name, operator, cells(x), cells(y), "->", cells(function(x, y)))


def hash_of(numbers) -> int:
    result = 0
    for number in numbers.tolist():
        result = (result ^ number) * 0x100000001b3 % 2**64
    return result


def rounded():
    singles = np.arange(65536, dtype=np.uint32) * np.uint32(65537)
    doubles = np.arange(65536, dtype=np.uint64) * np.uint64(281479271743489)
    for name, kind in (("float16", np.float16), ("bfloat16", ml_dtypes.bfloat16)):
        x = singles.view(np.float32)
        print("rounded", name, "to ->", hash_of(x[~np.isnan(x)].astype(kind).view(np.uint16)))
        halves = np.arange(65536, dtype=np.uint16).view(kind)
        print("rounded", name, "from ->", hash_of(halves.astype(np.float32)[~np.isnan(halves)].view(np.uint32)))
    x = doubles.view(np.float64)
    print("rounded float16 double ->", hash_of(x[~np.isnan(x)].astype(np.float16).view(np.uint16)))


ORDERED = ["sum", "prod", "min", "max", "mean", "var", "any", "all", "argmin", "argmax", "count"]
UNORDERED = ["sum", "prod", "mean", "var", "any", "all", "count"]


def reductions(rng, count, kinds, names):
    for k in range(count):
        name = names[k % len(names)]
        kind = kinds[k // len(names) % len(kinds)]
        shape = (rng.randint(1, 5), rng.randint(1, 5))
        # Quarters and small numbers: sums and products are exact, whatever their order.
        data = np.array([rng.randint(-3, 3) for _ in range(shape[0] * shape[1])]).reshape(shape)
        if kind.startswith("complex"):
            data = data / 4 + 1j * np.array([rng.randint(-3, 3) for _ in range(data.size)]).reshape(shape)
        data = (data / 4 if kind.startswith("float") else data).astype(kind)
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
    bits()
    reductions(rng, 176, ["int8", "float64"], ORDERED)
    values_of_other_types()
    rounded()
    reductions(rng, 44, ["float16"], ORDERED)
    reductions(rng, 56, ["complex64", "complex128"], UNORDERED)
    return 0


if __name__ == "__main__":
    sys.exit(main())
