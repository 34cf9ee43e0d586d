#!/usr/bin/env python3
"""Prints the coefficients of include/tessera/detail/formulas/gamma.hpp."""
import mpmath as mp
from minimax import minimax, parts, show

widest = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mp.mpf('1.0001')


def correction(n, last):
    """Gamma(x) = sqrt(2 pi) x^(x - 1/2) exp(-x) (1 + w P(w)), w = 1/x, for x >= 2."""
    def f(w):
        x = 1 / w
        stirling = mp.sqrt(2 * mp.pi) * mp.exp((x - mp.mpf(1) / 2) * mp.log(x) - x)
        return (mp.gamma(x) / stirling - 1) / w
    return minimax(f, lambda w: w, mp.mpf(1) / last, mp.mpf(1) / 2, n, in_turn=0)


def logarithm(n):
    """log((1 + s) / (1 - s)) = 2 s + 2/3 s z + s z^2 P(z), z = s^2."""
    def f(z):
        s = mp.sqrt(z)
        return (2 * mp.atanh(s) - 2 * s - 2 * s ** 3 / 3) / s ** 5
    return minimax(f, lambda z: z ** 2, 0, widest ** 2, n)


if __name__ == '__main__':
    show('Gamma(x) = sqrt(2 pi) x^(x - 1/2) exp(-x) (1 + w P(w)), w = 1/x', *correction(15, 173))
    show('the same for float', *correction(7, 40))
    show('log((1 + s) / (1 - s)) = 2 s + 2/3 s z + s z^2 P(z), z = s^2', *logarithm(8))
    show('the same for float', *logarithm(4))
    print('2/3:', *(p.hex() for p in parts(mp.mpf(2) / 3, (53, 53))))
    print('log sqrt(2 pi):', *(p.hex() for p in parts(mp.log(mp.sqrt(2 * mp.pi)), (53, 53))))
    print('log 2, 42 and 53 digits:', *(p.hex() for p in parts(mp.log(2), (42, 53))))
    print('pi:', *(p.hex() for p in parts(mp.pi, (53, 53))))
