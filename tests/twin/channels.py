"""Channel matrices in exact fractions: rows are inputs, columns are outputs.

Nothing here is fast. Unary encoding lists all 2^m bit vectors, subset selection all C(m, omega) subsets, local hashing
all g^m hash functions. e^epsilon is passed as a `Fraction`: every entry, and every risk computed from it, is exact.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod

Matrix = list[list[Fraction]]


def rational(x: float, limit: int = 10**12) -> Fraction:
    """Nearest fraction with a bounded denominator: turns math.exp(1) into an exact e^epsilon near it."""
    return Fraction(x).limit_denominator(limit)


def seeded(seed: int) -> random.Random:
    """The random number generator of every random case."""
    return random.Random(seed)  # noqa: S311 - random test cases, nothing secret


def identity(m: int) -> Matrix:
    """The channel that releases the input."""
    return [[Fraction(int(z == t)) for t in range(m)] for z in range(m)]


def constant(m: int) -> Matrix:
    """The channel that releases nothing."""
    return [[Fraction(1)] for _ in range(m)]


def grr(m: int, expeps: Fraction) -> Matrix:
    """Generalised randomised response: keep with weight e^eps, any other value with weight 1."""
    total = expeps + m - 1
    return [[(expeps if z == t else Fraction(1)) / total for t in range(m)] for z in range(m)]


def unary(m: int, p: Fraction, q: Fraction) -> Matrix:
    """Unary encoding: bit z is 1 with probability p, every other bit with probability q; columns in `product` order."""

    def entry(z: int, bits: tuple[int, ...]) -> Fraction:
        ones = [p if i == z else q for i in range(m)]
        return prod((one if bit else 1 - one for one, bit in zip(ones, bits, strict=True)), start=Fraction(1))

    return [[entry(z, bits) for bits in product((0, 1), repeat=m)] for z in range(m)]


def sue(m: int, half: Fraction) -> Matrix:
    """Symmetric unary encoding; half = e^(eps/2)."""
    return unary(m, half / (half + 1), 1 / (half + 1))


def oue(m: int, expeps: Fraction) -> Matrix:
    """Optimal unary encoding: p = 1/2, q = 1/(e^eps + 1)."""
    return unary(m, Fraction(1, 2), 1 / (expeps + 1))


def default_omega(m: int, expeps: Fraction) -> int:
    """Subset size max(1, floor(m / (e^eps + 1)))."""
    return max(1, int(Fraction(m) / (expeps + 1)))


def subset_selection(m: int, expeps: Fraction, omega: int | None = None) -> Matrix:
    """Subset selection: a subset with z has weight e^eps, one without z weight 1; columns in `combinations` order."""
    omega = default_omega(m, expeps) if omega is None else omega
    total = expeps * comb(m - 1, omega - 1) + comb(m - 1, omega)
    return [[(expeps if z in y else Fraction(1)) / total for y in combinations(range(m), omega)] for z in range(m)]


def local_hashing(m: int, g: int, expeps: Fraction) -> Matrix:
    """Local hashing with an ideal hash: all g^m functions equally likely, then GRR on the g hash values."""
    keep, other = expeps / (expeps + g - 1), 1 / (expeps + g - 1)
    hashes = list(product(range(g), repeat=m))
    return [[(keep if h[z] == y else other) / len(hashes) for h in hashes for y in range(g)] for z in range(m)]


def exponential(weights: Matrix) -> Matrix:
    """Exponential mechanism from its weights exp(eps u / (2 Delta)): each row divided by its sum."""
    return [[w / sum(row) for w in row] for row in weights]


def path_weights(m: int, base: Fraction) -> Matrix:
    """Weights base^-|i-j| of the exponential mechanism on a path with m nodes."""
    return [[base ** -abs(i - j) for j in range(m)] for i in range(m)]


def random_row(rng: random.Random, size: int, top: int = 12, zeros: float = 0.0) -> list[Fraction]:
    """A random distribution with small integer weights; `zeros` is the chance of a weight 0."""
    weights = [0 if rng.random() < zeros else rng.randint(1, top) for _ in range(size)]
    if not any(weights):
        weights[rng.randrange(size)] = 1
    return [Fraction(w, sum(weights)) for w in weights]


def random_channel(rng: random.Random, rows: int, columns: int, zeros: float = 0.0) -> Matrix:
    """A random channel."""
    return [random_row(rng, columns, zeros=zeros) for _ in range(rows)]


def composed(*channels: Matrix) -> Matrix:
    """All channels on the same input, independently: outputs are tuples, in `product` order."""
    rows = range(len(channels[0]))
    return [[prod(entries, start=Fraction(1)) for entries in product(*(c[z] for c in channels))] for z in rows]


def repeated(channel: Matrix, times: int) -> Matrix:
    """The same channel `times` times on the same input."""
    return composed(*[channel] * times)


def post_processed(channel: Matrix, kernel: Matrix) -> Matrix:
    """The channel followed by another one that sees only its output."""
    width = range(len(kernel[0]))
    return [[sum((p * k[j] for p, k in zip(row, kernel, strict=True)), Fraction(0)) for j in width] for row in channel]
