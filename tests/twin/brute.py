"""Brute force for finite channels: the formula of Thm 4.3 and the maximum over all attacks it must equal.

Inputs of every function, with m inputs z, outputs theta and guesses g:

- P: matrix, P[z][theta] = Pr[theta | z];  pi: prior over z;
- a: list of m hashables, a[z] is what the attacker knows about z (all equal: nothing; all different: everything);
- S: list over guesses, S[g] is the set of inputs z for which the guess g counts as right.

All arithmetic is that of the numbers passed in: exact for `Fraction`; `mpf` and floats work too.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

Number = Any  # Fraction, mpf or float
Channel = Sequence[Sequence[Number]]
Law = Sequence[Number]
Known = Sequence[Hashable]
Success = list[frozenset[int]]
Attack = dict[tuple[int, Hashable], int]  # (theta, known value) -> guess


class Kappas(NamedTuple):
    """Collision probability, worst and best blind guess."""

    kappa: Number
    minus: Number
    plus: Number


# Knowledge.


def nothing(m: int) -> list[Hashable]:
    """The attacker knows nothing about the target."""
    return [0] * m


def everything(m: int) -> list[Hashable]:
    """The attacker knows the target's record."""
    return list(range(m))


# Success sets.


def exact(m: int) -> Success:
    """Guess g is right for z = g only."""
    return [frozenset([g]) for g in range(m)]


def within(values: Sequence[Number], eta: Number) -> Success:
    """Guess g stands for values[g] and is right for every z with |values[z] - values[g]| <= eta."""
    return [frozenset(z for z, v in enumerate(values) if abs(v - g) <= eta) for g in values]


def labels(names: Sequence[Hashable]) -> Success:
    """One guess per distinct label, in order of appearance; right for all z that carry it."""
    return [frozenset(z for z, n in enumerate(names) if n == label) for label in dict.fromkeys(names)]


def labels_by_input(names: Sequence[Hashable]) -> Success:
    """As `labels`, but one guess per input (so a label counts as often as it occurs when ties are broken)."""
    return [frozenset(z for z, n in enumerate(names) if n == label) for label in names]


def from_loss(loss: Channel, eta: Number) -> Success:
    """loss[z][g]; guess g is right for z iff loss[z][g] <= eta."""
    return [frozenset(z for z in range(len(loss)) if loss[z][g] <= eta) for g in range(len(loss[0]))]


# Thm 4.3.


def output_law(P: Channel, pi: Law) -> list[Number]:
    """p(theta) = sum_z pi_z P[z][theta]."""
    return [sum(pi[z] * P[z][t] for z in range(len(pi))) for t in range(len(P[0]))]


def fibres(a: Known) -> list[list[int]]:
    """The inputs that share a known value, one list per value."""
    return [[z for z, x in enumerate(a) if x == value] for value in dict.fromkeys(a)]


def _sum_of_maxima(weights: Channel, a: Known, S: Success) -> Number:
    """sum over theta and known values of max_g sum_{z known so, z in S[g]} weights[z][theta]."""
    total: Number = 0
    for theta in range(len(weights[0])):
        for fibre in fibres(a):
            total += max(sum(weights[z][theta] for z in fibre if z in right) for right in S)
    return total


def rad(P: Channel, pi: Law, a: Known, S: Success) -> Number:
    """Reconstruction advantage, Thm 4.3."""
    law = output_law(P, pi)
    weights = [[pi[z] * (P[z][t] - law[t]) for t in range(len(law))] for z in range(len(pi))]
    return _sum_of_maxima(weights, a, S)


def success(P: Channel, pi: Law, a: Known, S: Success) -> Number:
    """Largest probability of a right guess when the target's record was used."""
    return _sum_of_maxima([[pi[z] * p for p in P[z]] for z in range(len(pi))], a, S)


def baseline(pi: Law, a: Known, S: Success) -> Number:
    """Largest probability of a right guess without the release."""
    return _sum_of_maxima([[p] for p in pi], a, S)


# Hypothesis tests.


def flagged(those: Law, others: Law, most: Number) -> tuple[Number, Number]:
    """The most of `those` that a test flags which flags the share `most` of `others`, and the largest odds ratio.

    By Neyman and Pearson the outputs are flagged in the order of their likelihood ratio, the last one in part.
    """
    ratios = [(math.inf if q == 0 else p / q, p, q) for p, q in zip(those, others, strict=True) if p > 0]
    hits: Number = 0
    for _, p, q in sorted(ratios, reverse=True):
        part = 1 if q <= most else most / q
        hits, most = hits + part * p, most - part * q
        if part != 1:
            break
    return hits, max(ratio for ratio, _, _ in ratios)


# Straight from Def 4.1.


def all_attacks(n_outputs: int, a: Known, n_guesses: int) -> Iterator[Attack]:
    """Every deterministic attack: n_guesses ** (n_outputs * number of known values) of them."""
    keys = [(theta, x) for theta in range(n_outputs) for x in dict.fromkeys(a)]
    for guesses in product(range(n_guesses), repeat=len(keys)):
        yield dict(zip(keys, guesses, strict=True))


def hit_of(P: Channel, pi: Law, a: Known, S: Success, attack: Attack) -> Number:
    """Pr[the attack is right for the target whose record was used]."""
    total: Number = 0
    for z, theta in product(range(len(pi)), range(len(P[0]))):
        if z in S[attack[theta, a[z]]]:
            total += pi[z] * P[z][theta]
    return total


def false_hit_of(P: Channel, pi: Law, a: Known, S: Success, attack: Attack) -> Number:
    """Pr[the attack is right for an independent target z1 while the record of z0 was used]."""
    total: Number = 0
    for z0, z1, theta in product(range(len(pi)), range(len(pi)), range(len(P[0]))):
        if z1 in S[attack[theta, a[z1]]]:
            total += pi[z0] * pi[z1] * P[z0][theta]
    return total


def rad_by_attacks(P: Channel, pi: Law, a: Known, S: Success) -> Number:
    """Largest hit - false hit over all deterministic attacks (tiny sizes only)."""
    attacks = all_attacks(len(P[0]), a, len(S))
    return max(hit_of(P, pi, a, S, attack) - false_hit_of(P, pi, a, S, attack) for attack in attacks)


def success_by_attacks(P: Channel, pi: Law, a: Known, S: Success) -> Number:
    """Largest hit over all deterministic attacks (tiny sizes only)."""
    return max(hit_of(P, pi, a, S, attack) for attack in all_attacks(len(P[0]), a, len(S)))


def hit_and_false_hit(P: Channel, pi: Law, a: Known, S: Success) -> tuple[Number, Number]:
    """Both terms of RAD for the RAD-optimal attack that picks uniformly among all maximising guesses."""
    law, hit, false_hit = output_law(P, pi), 0, 0
    for theta in range(len(law)):
        for fibre in fibres(a):
            score = [sum(pi[z] * (P[z][theta] - law[theta]) for z in fibre if z in right) for right in S]
            best = [right for right, value in zip(S, score, strict=True) if value == max(score)]
            hits = [z for right in best for z in fibre if z in right]
            hit += sum(pi[z] * P[z][theta] / len(best) for z in hits)
            false_hit += sum(pi[z] * law[theta] / len(best) for z in hits)
    return hit, false_hit


# What the channel and the prior say by themselves.


def total_variation(P: Channel) -> Number:
    """Largest total variation distance between two rows."""
    return max(sum(abs(x - y) for x, y in zip(row, other, strict=True)) / 2 for row in P for other in P)


def max_ratio(P: Channel) -> Number:
    """e^epsilon: the largest ratio of two entries of a column; infinite when only one of them is 0."""
    ratio: Number = 1
    for column in zip(*P, strict=True):
        if min(column) == 0 < max(column):
            return math.inf
        if min(column) > 0:
            ratio = max(ratio, max(column) / min(column))
    return ratio


def epsilon(P: Channel) -> float:
    """The smallest epsilon for which the channel is epsilon-DP."""
    return math.log(max_ratio(P))


def hockey_stick(P: Channel, expeps: Number) -> Number:
    """The smallest delta for which the channel is (epsilon, delta)-DP."""
    pairs = product(P, P)
    return max(sum(max(x - expeps * y, 0) for x, y in zip(row, other, strict=True)) for row, other in pairs)


def kappas(pi: Law, S: Success) -> Kappas:
    """kappa_pi = sum pi^2 and the smallest and largest prior mass of a success set."""
    masses = [sum(pi[z] for z in right) for right in S]
    return Kappas(sum(p * p for p in pi), min(masses), max(masses))
