#!/usr/bin/env python3
"""Prints the coefficients of gamma.hpp, log_gamma.hpp and logarithm_as_pair.hpp."""
import mpmath as mp
from minimax import minimax, parts, polished, show

widest = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mp.mpf('1.0001')


def correction(n, last):
    """Gamma(x) = sqrt(2 pi) x^(x - 1/2) exp(-x) (1 + w P(w)), w = 1/x, for x >= 2."""
    def f(w):
        x = 1 / w
        stirling = mp.sqrt(2 * mp.pi) * mp.exp((x - mp.mpf(1) / 2) * mp.log(x) - x)
        return (mp.gamma(x) / stirling - 1) / w
    return minimax(f, lambda w: w, mp.mpf(1) / last, mp.mpf(1) / 2, n, in_turn=0)


def stirling_rest(n, last):
    """log Gamma(x) = (x - 1/2) log x - x + log sqrt(2 pi) + w P(w), w = 1/x, for x >= 2.5."""
    def f(w):
        x = 1 / w
        return (mp.loggamma(x) - ((x - mp.mpf(1) / 2) * mp.log(x) - x
                                  + mp.log(2 * mp.pi) / 2)) / w
    return minimax(f, lambda w: w, mp.mpf(1) / last, mp.mpf(1) / mp.mpf('2.5'), n, in_turn=0)


def between_zeros(n):
    """log Gamma(x) = (x - 1) (x - 2) (c + P(q)), q = (x - c) / (x + c), for 0.75 <= x <= 2.5."""
    centre = mp.mpf('1.375')

    def f(q):
        x = centre * (1 + q) / (1 - q)
        return mp.loggamma(x) / ((x - 1) * (x - 2))

    def ends(x):
        return (mp.mpf(x) - centre) / (mp.mpf(x) + centre)

    def weight(q):
        return 1 / f(q)
    first = minimax(f, weight, ends('0.75'), ends('2.5'), n, in_turn=0)[0][0]

    def behind(q):
        return f(q) - first
    rest = minimax(behind, weight, ends('0.75'), ends('2.5'), n, in_turn=0)[0]
    rest, error = polished(rest, behind, weight, ends('0.75'), ends('2.5'))
    return [first] + rest, error


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
    show('log Gamma(x) = (x - 1/2) log x - x + log sqrt(2 pi) + w P(w)', *stirling_rest(14, 1000))
    show('the same for float', *stirling_rest(6, 1000))
    show('log Gamma(x) = (x - 1) (x - 2) (c + P(q)): c and P', *between_zeros(22))
    show('the same for float', *between_zeros(12))
    print('2/3:', *(p.hex() for p in parts(mp.mpf(2) / 3, (53, 53))))
    print('log sqrt(2 pi):', *(p.hex() for p in parts(mp.log(mp.sqrt(2 * mp.pi)), (53, 53))))
    print('log 2, 42 and 53 digits:', *(p.hex() for p in parts(mp.log(2), (42, 53))))
    print('log pi:', *(p.hex() for p in parts(mp.log(mp.pi), (53, 53))))
    print('54 log 2:', float(54 * mp.log(2)).hex())
    print('pi:', *(p.hex() for p in parts(mp.pi, (53, 53))))
