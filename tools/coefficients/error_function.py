#!/usr/bin/env python3
"""Prints the coefficients of error_function.hpp and exponential_of_pair.hpp."""
import mpmath as mp
from minimax import minimax, parts, polished, show


def near_zero(n):
    """erf x = 2/sqrt(pi) x + x z P(z), z = x^2."""
    def f(z):
        x = mp.sqrt(z)
        return (mp.erf(x) / x - 2 / mp.sqrt(mp.pi)) / z
    return minimax(f, lambda z: mp.sqrt(z) ** 3 / mp.erf(mp.sqrt(z)), 0, 0.5, n)


def scaled(q, centre):
    """(1 + 1.5 x) exp(x^2) erfc x at x = centre (1 + q) / (1 - q)."""
    x = centre * (1 + q) / (1 - q)
    return (1 + mp.mpf(1.5) * x) * mp.exp(x * x) * mp.erfc(x)


def all_x(n, centre, end):
    """scaled(q) = 1 + (1 + q) P(q)."""
    def f(q):
        return (scaled(q, centre) - 1) / (1 + q)

    def weight(q):
        return (1 + q) / scaled(q, centre)
    last = mp.mpf(end - centre) / (end + centre)
    return polished(minimax(f, weight, -1, last, n, in_turn=0)[0], f, weight, -1, last)


def exponential(n):
    """exp r = 1 + r + r^2 P(r)."""
    end = mp.log(2) / 2 * mp.mpf('1.0001')
    return minimax(lambda r: (mp.expm1(r) - r) / r ** 2, lambda r: r ** 2 / mp.exp(r), -end, end,
                   n)


if __name__ == '__main__':
    show('erf x = 2/sqrt(pi) x + x z P(z), z = x^2 <= 1/2', *near_zero(10))
    show('the same for float', *near_zero(6))
    show('(1 + 1.5 x) exp(x^2) erfc x = 1 + (1 + q) P(q)', *all_x(24, 5, 28))
    show('the same for float', *all_x(14, 4, 11))
    show('exp r = 1 + r + r^2 P(r)', *exponential(11))
    show('the same for float', *exponential(6))
    print('2/sqrt(pi):', *(p.hex() for p in parts(2 / mp.sqrt(mp.pi), (53, 53))))
    print('log 2 and 1/log 2:', *(p.hex() for p in parts(mp.log(2), (53, 53))),
          float(1 / mp.log(2)).hex())
