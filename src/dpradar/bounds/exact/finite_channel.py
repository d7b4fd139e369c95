"""Finite channels: Theorem 4.3 as a sum over outputs, in chunks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ...errors import NumericsError
from ...numerics.lazy_numpy import Floats, Ints, np
from .exact_risk import ExactRisk, with_rounding

if TYPE_CHECKING:
    from ...mechanisms.capabilities import FiniteChannel
    from ...threats import Prior
    from ...threats.hit_classes import Block, Cover

__all__ = ["column_risk", "finite_risk"]

_ENTRIES = 2_000_000  # of one work array: 16 MB
_EPS = sys.float_info.epsilon
_MASS = 1e-9  # how far a row of a channel may be from summing to 1
_TIE = 1e-12  # scores this close, relative to the largest joint probability of the output, are a tie


def finite_risk(channel: FiniteChannel, prior: Prior, cover: Cover) -> ExactRisk:
    """Return rad, success and hit of the best attackers on a finite channel.

    Guarantee
    ---------
    Exact up to floating-point rounding, which is part of the interval of rad where it is not negligible beside it.

    Notes
    -----
    [RAD] Theorem 4.3, discrete form. Work grows with inputs x outputs (times log for windows; for a loss matrix with
    inputs^2 x outputs); memory is bounded by chunks of outputs.

    Examples
    --------
    >>> from dpradar import GRR, Prior, Threat
    >>> threat = Threat(Prior.uniform(3))
    >>> risk = finite_risk(GRR(m=3, epsilon=1.0), threat.finite, threat.cover)
    >>> [round(end, 6) for end in risk.success]
    [0.576117, 0.576117]
    """
    total, mass, equal = np.zeros(3), np.zeros(channel.inputs), True
    possible = np.flatnonzero(prior.probabilities > 0.0)
    for block in channel.chunks(max(1, _ENTRIES // channel.inputs)):
        total += column_risk(block, prior.probabilities, cover)
        mass += block.sum(axis=1)
        equal = equal and _same_rows(block, possible)
    # A channel that forgets outputs would make the risk too small without anyone noticing.
    if float(np.abs(mass - 1.0).max()) > _MASS:
        message = f"a listed channel has rows that sum to {mass.min():.12g} .. {mass.max():.12g}, not 1"
        raise NumericsError(message)
    rad, success, hit = (float(x) for x in total)
    # Scores are differences of sums over the inputs: of all outputs together rounding adds no more than this.
    error = _EPS * 4.0 * (channel.inputs + 4.0)
    interval = (0.0, 0.0) if equal else with_rounding(rad, error)
    return ExactRisk(rad=interval, success=(success, success), hit=hit)


def _same_rows(block: Floats, rows: Ints) -> bool:
    """Whether these rows of the block are all the same; two are compared first, which mostly decides it."""
    first = block[rows[0]]
    return np.array_equal(first, block[rows[-1]]) and bool(np.all(block[rows] == first))


def column_risk(block: Floats, pi: Floats, cover: Cover) -> Floats:
    """Return (rad, success, hit) summed over the outputs (columns) of a block p(output | input)."""
    joint = pi[:, None] * block
    marginal = joint.sum(axis=0)
    tie = _TIE * joint.max(axis=0)
    total = _single_risk(joint, pi, marginal, tie, cover)
    for part in cover.blocks:
        total = total + _block_risk(part, joint, pi, marginal, tie)
    return total


def _single_risk(joint: Floats, pi: Floats, marginal: Floats, tie: Floats, cover: Cover) -> Floats:
    hits = joint[cover.single]
    gains = hits - pi[cover.single, None] * marginal
    share = (cover.single_hits / cover.guesses)[:, None]
    never, always = share == 0.0, share == 1.0
    rad = np.where(never, 0.0, np.where(always, gains, np.maximum(gains, 0.0)))
    chance = np.where(np.abs(gains) <= tie, share, gains > 0.0)
    chance = np.where(never, 0.0, np.where(always, 1.0, chance))
    return np.array([rad.sum(), hits[~never[:, 0]].sum(), (chance * hits).sum()])


def _block_risk(block: Block, joint: Floats, pi: Floats, marginal: Floats, tie: Floats) -> Floats:
    if block.counts.size == 0:
        return np.zeros(3)
    hits = block.sums(joint[block.members])
    scores = hits - block.sums(pi[block.members, None]) * marginal
    best = scores.max(axis=0)
    if block.misses:
        best = np.maximum(best, 0.0)
    winners = (scores >= best - tie) * block.counts[:, None]
    missing = np.where(best <= tie, block.misses, 0)
    hit = (winners * hits).sum(axis=0) / (winners.sum(axis=0) + missing)
    return np.array([best.sum(), hits.max(axis=0).sum(), hit.sum()])
