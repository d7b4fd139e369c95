"""Channels of the local protocols from their definitions, at any epsilon; nothing is shared with dpradar.

e^epsilon is a fraction that agrees with it to 40 digits, so that risks far below 1e-16 keep their digits. Sources:
Wang, Blocki, Li and Jha 2017 (unary encoding, THE, local hashing), Ye and Barg 2018 (subset selection), Acharya, Sun
and Zhang 2019 (Hadamard response).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath

from tests.twin import channels

DIGITS = 40


def exact(number: Any) -> Fraction:
    """A multiprecision number as a fraction, to 40 digits."""
    return Fraction(mpmath.nstr(number, DIGITS, min_fixed=-mpmath.inf, max_fixed=mpmath.inf))


def exponential(x: float | Fraction) -> Fraction:
    """e^x to 40 digits."""
    with mpmath.workdps(DIGITS + 10):
        value = Fraction(x)
        return exact(mpmath.exp(mpmath.mpf(value.numerator) / value.denominator))


def the_bits(epsilon: float, threshold: float) -> tuple[Fraction, Fraction]:
    """(p, q): how often Laplace noise of scale 2/eps on 1, or on 0, exceeds the threshold in [1/2, 1]."""
    half = Fraction(epsilon) / 2
    return 1 - exponential(half * (Fraction(threshold) - 1)) / 2, exponential(-half * Fraction(threshold)) / 2


def the_threshold(epsilon: float) -> float:
    """The threshold in [1/2, 1] of least variance q (1 - q) / (p - q)^2, by a golden section in 30 digits."""
    with mpmath.workdps(30):
        e, ratio = mpmath.mpf(epsilon) / 2, (mpmath.sqrt(5) - 1) / 2

        def variance(t: Any) -> Any:
            p, q = 1 - mpmath.exp(e * (t - 1)) / 2, mpmath.exp(-e * t) / 2
            return q * (1 - q) / (p - q) ** 2

        low, high = mpmath.mpf(0.5), mpmath.mpf(1)
        for _ in range(120):
            a, b = high - ratio * (high - low), low + ratio * (high - low)
            low, high = (low, b) if variance(a) < variance(b) else (a, high)
        return float((low + high) / 2)


def the(m: int, epsilon: float, threshold: float | None = None) -> channels.Matrix:
    """Thresholded histogram encoding: every coordinate of a noisy one-hot vector is compared with the threshold."""
    return channels.unary(m, *the_bits(epsilon, the_threshold(epsilon) if threshold is None else threshold))


def hadamard(m: int, expeps: Fraction) -> channels.Matrix:
    """Hadamard response: K outputs, the smallest power of 2 above m; where row z + 1 is positive they weigh e^eps."""
    size = 1 << m.bit_length()

    def weight(z: int, y: int) -> Fraction:
        return expeps if ((z + 1) & y).bit_count() % 2 == 0 else Fraction(1)

    return [[2 * weight(z, y) / (size * (expeps + 1)) for y in range(size)] for z in range(m)]


def protocol(name: str, m: int, epsilon: float, threshold: float | None = None) -> channels.Matrix:
    """The channel of a local protocol by the name of its class."""
    e = exponential(epsilon)
    matrices = {
        "GRR": lambda: channels.grr(m, e),
        "SUE": lambda: channels.sue(m, exponential(Fraction(epsilon) / 2)),
        "OUE": lambda: channels.oue(m, e),
        "SubsetSelection": lambda: channels.subset_selection(m, e),
        "BLH": lambda: channels.local_hashing(m, 2, e),
        "OLH": lambda: channels.local_hashing(m, int(e) + 1, e),
        "THE": lambda: the(m, epsilon, threshold),
        "HadamardResponse": lambda: hadamard(m, e),
    }
    return matrices[name]()
