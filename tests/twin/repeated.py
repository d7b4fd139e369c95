"""Reports repeated about the same value, by listing every sequence of reports; nothing is shared with dpradar.

Probabilities are fractions, turned into whole numbers once, so that sums over thousands of sequences stay exact and
quick. `largest_count` and what follows it do not list sequences: they count them with whole numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import comb, factorial, lcm, prod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable

Matrix = Sequence[Sequence[Fraction]]


class Sequences(NamedTuple):
    """All sequences of reports: how many have which likelihoods, as whole numbers over one denominator."""

    likelihoods: Counter[tuple[int, ...]]
    denominator: int


def sequences(P: Matrix, times: int) -> Sequences:
    """List every sequence of `times` reports of the channel P; those with the same likelihoods are counted together."""
    scale = lcm(*(x.denominator for row in P for x in row))
    columns = [[int(row[report] * scale) for row in P] for report in range(len(P[0]))]
    seen: Counter[tuple[int, ...]] = Counter()
    for sequence in product(columns, repeat=times):
        seen[tuple(prod(entries) for entries in zip(*sequence, strict=True))] += 1
    return Sequences(seen, scale**times)


def sequence_risk(reports: Sequences, pi: Sequence[Fraction], a: Sequence[Hashable]) -> dict[str, Fraction]:
    """Thm 4.3 for the exact goal when a[z] is known of z.

    The guesses are all values; of several best ones each is taken equally often.
    """
    values = range(len(pi))
    weight = lcm(*(x.denominator for x in pi))
    prior = [int(x * weight) for x in pi]
    fibres = [[z for z in values if a[z] == known] for known in dict.fromkeys(a)]
    rad = success = hit = Fraction(0)
    for likelihood, number in reports.likelihoods.items():
        joint = [p * x for p, x in zip(prior, likelihood, strict=True)]
        score = [weight * joint[z] - prior[z] * sum(joint) for z in values]
        for fibre in fibres:
            gains = [score[g] if g in fibre else 0 for g in values]
            winners = [g for g in values if gains[g] == max(gains)]
            rad += number * max(gains)
            success += number * max(joint[z] for z in fibre)
            hit += Fraction(number * sum(joint[g] for g in winners if g in fibre), len(winners))
    total = weight * reports.denominator
    return {"rad": rad / (total * weight), "success": success / total, "hit": hit / total}


def pair_distance(reports: Sequences) -> Fraction:
    """Total variation between the sequences of reports about the first two values."""
    apart = sum(number * abs(x[0] - x[1]) for x, number in reports.likelihoods.items())
    return Fraction(apart, 2 * reports.denominator)


def _power(polynomial: list[int], exponent: int, degree: int) -> list[int]:
    result = [1] + [0] * degree
    for _ in range(exponent):
        result = [
            sum(polynomial[i] * result[n - i] for i in range(min(n, len(polynomial) - 1) + 1))
            for n in range(degree + 1)
        ]
    return result


def largest_count(m: int, times: int) -> list[Fraction]:
    """The law of the largest count when `times` reports each name one of m values uniformly.

    times! times the coefficient of x^times in (1 + x + ... + x^j/j!)^m sequences have no count above j; with the
    factor j!^m the coefficients are whole numbers.
    """
    below = []
    for j in range(times + 1):
        polynomial = [factorial(j) // factorial(i) for i in range(j + 1)]
        sequences = Fraction(factorial(times) * _power(polynomial, m, times)[times], factorial(j) ** m)
        below.append(sequences / m**times)
    return [below[0]] + [high - low for low, high in pairwise(below)]


def grr_success(m: int, times: int, expeps: Fraction) -> Fraction:
    """Success of the best guess after repeated randomised response, uniform prior: the largest count wins."""
    keep, other = expeps / (expeps + m - 1), 1 / (expeps + m - 1)
    likelihood = [keep**j * other ** (times - j) * m**times for j in range(times + 1)]
    return sum((p * x for p, x in zip(largest_count(m, times), likelihood, strict=True)), Fraction(0)) / m


def unary_success(m: int, times: int, p: Fraction, q: Fraction) -> Fraction:
    """Success of the best guess after repeated unary encoding, uniform prior: the largest of m independent counts."""
    blank = [comb(times, j) * q**j * (1 - q) ** (times - j) for j in range(times + 1)]
    below = [sum(blank[: j + 1], Fraction(0)) ** m for j in range(times + 1)]
    law = [below[0]] + [high - low for low, high in pairwise(below)]
    ratio = [(p / q) ** j * ((1 - p) / (1 - q)) ** (times - j) for j in range(times + 1)]
    return sum((x * y for x, y in zip(law, ratio, strict=True)), Fraction(0)) / m


def counted_channel(P: Matrix, times: int) -> list[list[Fraction]]:
    """The channel whose output is how often each report occurred in `times` reports: as good as their sequence.

    The likelihood of a sequence depends on these counts only, and a count vector c stands for times! / prod(c!)
    sequences. There are C(times + n - 1, n - 1) of them for n reports, so that `times` need not be small.
    """
    counts = list(_compositions(times, len(P[0])))
    ways = [factorial(times) // prod(map(factorial, c)) for c in counts]
    return [
        [
            w * prod((p**k for p, k in zip(row, c, strict=True)), start=Fraction(1))
            for c, w in zip(counts, ways, strict=True)
        ]
        for row in P
    ]


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


def unary_counts(m: int, p: Fraction, q: Fraction, times: int) -> list[list[Fraction]]:
    """The channel whose output is, for every bit of unary encoding, how often it was 1 in `times` reports."""
    laws = {b: [comb(times, k) * b**k * (1 - b) ** (times - k) for k in range(times + 1)] for b in (p, q)}
    outputs = list(product(range(times + 1), repeat=m))
    return [
        [prod((laws[p if i == z else q][k] for i, k in enumerate(c)), start=Fraction(1)) for c in outputs]
        for z in range(m)
    ]
