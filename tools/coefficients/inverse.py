#!/usr/bin/env python3
"""Prints the coefficients of include/tessera/detail/kernels/formulas/{arctangent,arcsine,roots}.hpp."""
import mpmath as mp
from minimax import minimax, parts, show

tangent_end = (mp.tan(mp.pi / 8) * (1 + mp.mpf(2) ** -20)) ** 2


def cubic_rest(function, end, n):
    """function(t) = t + t z P(z), z = t^2."""
    def f(z):
        t = mp.sqrt(z)
        return (function(t) - t) / t ** 3
    return minimax(f, lambda z: mp.sqrt(z) ** 3 / function(mp.sqrt(z)), 0, end, n)


def inverse_cube_root(n):
    return minimax(lambda m: 1 / mp.cbrt(m), mp.cbrt, 1, 2, n, in_turn=0)


if __name__ == '__main__':
    show('atan t = t + t z P(z)', *cubic_rest(mp.atan, tangent_end, 11))
    show('the same for float', *cubic_rest(mp.atan, tangent_end, 6))
    show('asin t = t + t z P(z)', *cubic_rest(mp.asin, mp.mpf(1) / 4, 13))
    show('the same for float', *cubic_rest(mp.asin, mp.mpf(1) / 4, 7))
    show('1 / cbrt(m) = P(m)', *inverse_cube_root(6))
    print('cbrt(2), 1/cbrt(2):', float(mp.cbrt(2)).hex(), float(1 / mp.cbrt(2)).hex())
    print('tan(pi/8):', float(mp.tan(mp.pi / 8)).hex())
    print('pi/4 and pi/2:', *(p.hex() for p in parts(mp.pi / 4, (53, 53))),
          *(p.hex() for p in parts(mp.pi / 2, (53, 53))))
