#!/usr/bin/env python3
"""Prints the coefficients of include/tessera/detail/kernels/formulas/{reduction,sine}.hpp."""
import mpmath as mp
from minimax import minimax, parts, show

mp.mp.dps = 50
end = (mp.pi / 4) ** 2 * (1 + mp.mpf(2) ** -20)


def sine():
    def f(z):
        r = mp.sqrt(z)
        return (mp.sin(r) - r) / r ** 3
    return minimax(f, lambda z: z / mp.sinc(mp.sqrt(z)), 0, end, 6)


def cosine():
    return minimax(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z ** 2,
                   lambda z: z ** 2 / mp.cos(mp.sqrt(z)), 0, end, 6)


def short_sine():
    return minimax(lambda z: mp.sinc(mp.sqrt(z)), lambda z: 1 / mp.sinc(mp.sqrt(z)), 0, end, 5,
                   fixed=[1])


def short_cosine():
    return minimax(lambda z: mp.cos(mp.sqrt(z)), lambda z: 1 / mp.cos(mp.sqrt(z)), 0, end, 5,
                   fixed=[1])


def two_over_pi_words(count):
    """2/pi after a word of zeros, in words of 64 bits."""
    with mp.workdps(450):
        digits = int(mp.floor(2 / mp.pi * mp.mpf(2) ** (64 * count)))
    return [0] + [digits >> 64 * (count - 1 - i) & (1 << 64) - 1 for i in range(count)]


if __name__ == '__main__':
    show('sin r = r + r z S(z), z = r^2', *sine())
    show('cos r = 1 - z/2 + z^2 C(z)', *cosine())
    show('sin r = r S(z), for float', *short_sine())
    show('cos r = C(z), for float', *short_cosine())
    print('2/pi:', float(2 / mp.pi).hex())
    print('pi/2 of 53, 33 and 53 bits:', *(p.hex() for p in parts(mp.pi / 2, (53, 33, 53))))
    print('pi/2 of 53 and 53 bits:', *(p.hex() for p in parts(mp.pi / 2, (53, 53))))
    print('2/pi in words:', *(f'0x{w:016x}' for w in two_over_pi_words(19)))
