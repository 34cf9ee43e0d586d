"""Polynomials with the least greatest error, rounded to doubles.

Source: Remez, Sur le calcul effectif des polynomes d'approximation de Tchebichef (1934).
"""
import math

import mpmath as mp

mp.mp.dps = 50


def grid(a, b, count):
    """Points between a and b, denser towards both ends, without the ends' own values."""
    return [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * count))
            for i in range(count)]


def value(coefficients, z):
    result = mp.mpf(0)
    for c in reversed(coefficients):
        result = result * z + c
    return result


def levelled(z, f, w, nodes):
    """The polynomial whose weighted error at the nodes has one size and alternating signs."""
    n = len(nodes) - 1
    matrix = mp.matrix(n + 1, n + 1)
    right = mp.matrix(n + 1, 1)
    for row, k in enumerate(nodes):
        for i in range(n):
            matrix[row, i] = z[k] ** i
        matrix[row, n] = (-1) ** row / w[k]
        right[row] = f[k]
    return list(mp.lu_solve(matrix, right))[:n]


def extremes(error, count):
    """The largest errors of alternating sign: `count` of them."""
    runs = []
    for k, e in enumerate(error):
        if runs and (error[runs[-1]] > 0) == (e > 0):
            if abs(e) > abs(error[runs[-1]]):
                runs[-1] = k
        else:
            runs.append(k)
    while len(runs) > count:
        runs.pop(0 if abs(error[runs[0]]) < abs(error[runs[-1]]) else -1)
    return runs


def remez(z, f, w, n):
    nodes = [(2 * i + 1) * len(z) // (2 * (n + 1)) for i in range(n + 1)]
    best = None
    for _ in range(8):
        c = levelled(z, f, w, nodes)
        error = [(value(c, zk) - fk) * wk for zk, fk, wk in zip(z, f, w)]
        largest = max(abs(e) for e in error)
        if best is None or largest < best[0]:
            best = (largest, c)
        nodes = extremes(error, n + 1)
        if len(nodes) < n + 1 or largest < abs(error[nodes[0]]) * mp.mpf('1.001'):
            break
    return best[1]


def minimax(f, weight, a, b, n, in_turn=3, fixed=()):
    """n coefficients c of f(z) ~ c0 + c1 z + ... on [a, b], as doubles, and max |error * weight|.

    The lowest ones are rounded in turn, so that those behind them take up the error of rounding.
    Those in `fixed` come first and stay as they are.
    """
    z = grid(mp.mpf(a), mp.mpf(b), 40 * n)
    fz = [f(x) for x in z]
    wz = [weight(x) for x in z]
    done = [mp.mpf(c) for c in fixed]
    while len(done) < n:
        k = len(done)
        rest = [(y - value(done, x)) / x ** k for x, y in zip(z, fz)]
        c = remez(z, rest, [w * abs(x) ** k for x, w in zip(z, wz)], n - k)
        take = 1 if k < in_turn else n - k
        done += [mp.mpf(float(ci)) for ci in c[:take]]
    largest = max(abs((value(done, x) - y) * w) for x, y, w in zip(z, fz, wz))
    return [float(c) for c in done], largest


def polished(c, f, weight, a, b, rounds=6):
    """The coefficients, moved by units in the last place while that makes the error smaller."""
    z = grid(mp.mpf(a), mp.mpf(b), 400)
    w = [weight(x) for x in z]
    error = [float((value(c, x) - f(x)) * wx) for x, wx in zip(z, w)]
    c = list(c)
    for _ in range(rounds):
        for i in range(len(c)):
            step = math.ulp(c[i])
            moved = [step * float(x ** i * wx) for x, wx in zip(z, w)]
            for sign in (1, -1):
                tried = [e + sign * m for e, m in zip(error, moved)]
                if max(map(abs, tried)) < max(map(abs, error)):
                    error = tried
                    c[i] += sign * step
    return c, mp.mpf(max(map(abs, error)))


def show(name, coefficients, error):
    print(f'// {name}: error at most 2^{float(mp.log(error, 2)):.1f}')
    for c in coefficients:
        print(f'  {c.hex()},')


def parts(value_of, bits):
    """The value as a sum of doubles: part i has bits[i] digits, the last one is rounded."""
    rest = value_of
    result = []
    for i, b in enumerate(bits):
        digits = b - 1 - int(mp.floor(mp.log(abs(rest), 2)))
        scaled = rest * mp.mpf(2) ** digits
        part = mp.nint(scaled) / mp.mpf(2) ** digits
        result.append(float(part))
        rest -= part
    return result
