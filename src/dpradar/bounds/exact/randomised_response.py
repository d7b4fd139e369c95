"""Generalised randomised response: Theorem 4.3 for every prior, knowledge and goal without an m x m matrix."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Floats, Ints, np
from .exact_risk import ExactRisk, with_rounding

if TYPE_CHECKING:
    from ...mechanisms.capabilities import DiagonalChannel
    from ...threats import Prior
    from ...threats.fibre_arrays import FibreArrays
    from ...threats.hit_classes import Block, Cover

__all__ = ["diagonal_risk"]

_EPS = sys.float_info.epsilon
_POINT_MASS, _NO_MASS = 1.0 - 1e-12, 1e-12
_HALF = 0.5


def diagonal_risk(channel: DiagonalChannel, prior: Prior, cover: Cover) -> ExactRisk:
    """Return rad, success and hit for a channel that keeps the value or reports each other one equally often.

    Guarantee
    ---------
    Exact up to rounding.

    Notes
    -----
    w(theta, z) = (p-q)(1[z = theta] - pi_theta). With A(x, g) the prior mass of fibre x that guess g is right for,
    the best score at theta is pi_theta (1 - min A over the guesses right for theta) in theta's own fibre and
    -pi_theta min A in every other one; see docs/derivations/grr.md. Example 4.4 of [RAD] is the case without knowledge.
    O(m log m), and O(m^2) for a loss matrix.
    """
    pi = prior.probabilities
    gain, success, hit, blind = _singles(channel, pi, cover)
    parts = (0.0, 0.0, 0.0, 0.0) if cover.parts is None or not cover.blocks else _partition(channel, pi, cover.parts)
    gain, success, hit, blind = gain + parts[0], success + parts[1], hit + parts[2], blind + parts[3]
    for block in cover.blocks if cover.parts is None else ():
        parts = _block(channel, pi, block, cover.guesses)
        gain, success, hit, blind = gain + parts[0], success + parts[1], hit + parts[2], blind + parts[3]
    rad = max(0.0, channel.difference * gain)
    # When outputs carry no information (no noise difference, or a point-mass prior) every attack ties: guess at random.
    if channel.difference == 0.0 or float(pi.max()) >= _POINT_MASS:
        hit = blind
    error = channel.difference * _EPS * 4.0 * (pi.size + 4.0) if cover.blocks else 0.0  # of what is subtracted
    return ExactRisk(rad=with_rounding(rad, error), success=(min(success, 1.0),) * 2, hit=hit)


def _singles(channel: DiagonalChannel, pi: Floats, cover: Cover) -> tuple[float, float, float, float]:
    prior = pi[cover.single]
    share = cover.single_hits / cover.guesses
    normal, always = (share > 0.0) & (share < 1.0), share == 1.0
    others = 1.0 - prior
    for top in np.flatnonzero(prior > _HALF):  # to all digits where one value is almost certain
        member = cover.single[top]
        others[top] = pi[:member].sum() + pi[member + 1 :].sum()
    gain = float((prior * others)[normal].sum())
    success = float(prior[share > 0.0].sum())
    # theta = z: guess z. Another theta with mass: say 'not a member'. Another theta without mass: all guesses tie.
    empty = int((pi == 0.0).sum())
    tied = np.where(prior > 0.0, share * empty * channel.other, 0.0)
    hit = float((prior * (channel.keep + tied))[normal].sum() + prior[always].sum())
    return gain, success, hit, float((prior * share).sum())


def _partition(channel: DiagonalChannel, pi: Floats, parts: FibreArrays) -> tuple[float, float, float, float]:
    """Return what ``_block`` says of every fibre, added up, for guesses that name one cell of a partition."""
    prior = pi[parts.members]
    masses = parts.sums(prior)
    least = np.where(parts.misses > 0, 0.0, parts.over_classes(np.minimum, masses))
    most = parts.over_classes(np.maximum, masses)
    mean = parts.over_classes(np.add, masses) / parts.guesses
    mass = parts.class_of(masses)
    gain = float((prior * (1.0 - mass)).sum()) - float((least * np.maximum(0.0, 1.0 - parts.totals(prior))).sum())
    outside = pi.size - parts.sizes
    lightest_hit = channel.other * mass + channel.difference * prior
    top = channel.other * most
    success = float((top * outside).sum()) + float(np.maximum(parts.fibre_of(top), lightest_hit).sum())
    # Where a cell holds the whole prior, guesses right for nothing of it tie with the one right for it.
    full = parts.over_classes(np.add, (masses >= _POINT_MASS).astype(float))
    none = parts.misses + parts.over_classes(np.add, (masses <= _NO_MASS).astype(float))
    tied = parts.fibre_of(full / np.maximum(full + none, 1.0)) * (channel.other + channel.difference * prior)
    lightest_hit = np.where(mass >= _POINT_MASS, tied, lightest_hit)
    hit = float(np.where(prior > 0.0, lightest_hit, channel.other * parts.fibre_of(mean)).sum())
    empty = int((pi == 0.0).sum()) - parts.totals((prior == 0.0).astype(np.intp))
    hit += channel.other * float((least * (outside - empty) + mean * empty).sum())
    return gain, success, hit, float(mean.sum())


def _block(channel: DiagonalChannel, pi: Floats, block: Block, guesses: int) -> tuple[float, float, float, float]:
    prior = pi[block.members]
    if block.counts.size == 0:
        return 0.0, 0.0, 0.0, 0.0
    masses = block.sums(prior)
    least = 0.0 if block.misses else float(masses.min())
    most = float(masses.max())
    mean = float((block.counts * masses).sum()) / guesses
    fewest, largest = _around_members(block, masses)
    covered = np.isfinite(fewest)
    inside = np.where(covered, 1.0 - np.where(covered, fewest, 0.0), -least)
    outside_mass = max(0.0, 1.0 - float(prior.sum()))
    gain = float((prior * inside).sum()) - least * outside_mass
    outside = pi.size - prior.size
    reported = np.where(covered, channel.other * np.where(covered, largest, 0.0) + channel.difference * prior, 0.0)
    success = channel.other * most * outside + float(np.maximum(channel.other * most, reported).sum())
    lightest_hit = np.where(
        covered, channel.other * np.where(covered, fewest, 0.0) + channel.difference * prior, channel.other * least
    )
    # Where every guess right for theta is right for the whole prior, those right for nothing of it tie with them.
    full, none = block.counts[masses >= _POINT_MASS].sum(), block.misses + block.counts[masses <= _NO_MASS].sum()
    tied = full / max(full + none, 1) * (channel.other + channel.difference * prior)
    lightest_hit = np.where(fewest >= _POINT_MASS, tied, lightest_hit)
    hit = float(np.where(prior > 0.0, lightest_hit, channel.other * mean).sum())
    empty = int((pi == 0.0).sum()) - int((prior == 0.0).sum())
    hit += channel.other * (least * (outside - empty) + mean * empty)
    return gain, success, hit, mean


def _around_members(block: Block, masses: Floats) -> tuple[Floats, Floats]:
    """Return for each member the smallest and largest mass of a class that is right for it (inf, -inf if none)."""
    size = block.members.size
    if block.kind == "singletons":
        return masses, masses
    if block.kind == "cells":
        cell = np.repeat(np.arange(masses.size), np.diff(np.r_[block.low, size]))
        return masses[cell], masses[cell]
    if block.kind == "matrix":
        hits = np.asarray(block.hits)
        fewest = np.where(hits, masses[:, None], np.inf).min(axis=0)
        return fewest, np.where(hits, masses[:, None], -np.inf).max(axis=0)
    # Windows are sorted by both ends, so those that hold a member are consecutive.
    position = np.arange(size)
    first = np.searchsorted(np.asarray(block.high), position, side="right")
    last = np.searchsorted(np.asarray(block.low), position, side="right")
    return range_minimum(masses, first, last), -range_minimum(-masses, first, last)


def range_minimum(values: Floats, first: Ints, last: Ints) -> Floats:
    """Return min(values[first:last]) for many ranges (inf where empty), from a table of power-of-two ranges.

    Examples
    --------
    >>> range_minimum(np.array([3.0, 1.0, 2.0]), np.array([0, 2, 1]), np.array([3, 3, 1])).tolist()
    [1.0, 2.0, inf]
    """
    table = [values]
    while (step := 1 << (len(table) - 1)) * 2 <= values.size:
        table.append(np.minimum(table[-1][:-step], table[-1][step:]))
    length = last - first
    result = np.full(length.size, np.inf)
    level = np.frexp(np.maximum(length, 1))[1] - 1  # floor(log2(length))
    for power, row in enumerate(table):
        at_level = (level == power) & (length > 0)
        result[at_level] = np.minimum(row[first[at_level]], row[last[at_level] - (1 << power)])
    return result
