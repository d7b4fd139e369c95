"""Unary encoding, subset selection and their kin: Theorem 4.3 by counting, never by listing the 2^m outputs."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Floats, Ints, np
from ..question import Inapplicable
from .exact_risk import ExactRisk, with_rounding

if TYPE_CHECKING:
    from ...mechanisms.capabilities import InclusionChannel
    from ...threats import Prior
    from ...threats.fibre_arrays import FibreArrays
    from ...threats.hit_classes import Cover

__all__ = ["inclusion_risk"]

_EPS = sys.float_info.epsilon


def inclusion_risk(channel: InclusionChannel, prior: Prior, cover: Cover) -> ExactRisk:
    """Return rad, success and hit when the output is a set of values and the goal distinguishes the values of a fibre.

    Guarantee
    ---------
    Exact up to rounding, for any prior and knowledge.

    Notes
    -----
    With s the prior mass of the reported set, w(theta, z) is proportional to (1-s) on reported values and to -s on the
    others, so the best guess is the likeliest reported value of the fibre. Sort a fibre by falling probability: value i
    is the first one reported with probability included_i, and then E[1-s] = 1 - pi_i - later_i (1 - pi_1 - ... - pi_i).
    See docs/derivations/inclusion.md; [RAD] Examples 4.5 and 4.6 are special cases. O(m log m).
    """
    members, fibre, share, sure_hit = _sort_members(cover, prior)
    pi = prior.probabilities[members]
    start = np.flatnonzero(np.r_[True, np.diff(fibre) != 0]) if fibre.size else np.empty(0, dtype=np.intp)
    sizes = np.diff(np.r_[start, fibre.size])
    rank = np.arange(fibre.size) - np.repeat(start, sizes)
    deepest = int(sizes.max(initial=1))
    included, later = channel.included(deepest)[rank], channel.later(deepest)[rank]
    running = np.cumsum(pi)
    upto = running - np.repeat(running[start] - pi[start], sizes)
    remaining = np.maximum(1.0 - upto, 0.0)
    factor = -math.expm1(-channel.epsilon)
    rad = factor * float((included * pi * (1.0 - pi - later * remaining)).sum())
    error = factor * _EPS * 4.0 * (pi.size + 4.0)  # of the running sums and what is subtracted from 1

    top = np.repeat(pi[start], sizes)
    floor = math.exp(-channel.epsilon) * top
    success = float((included * np.where(rank == 0, pi, np.maximum(floor, pi))).sum())
    # Few different fibre sizes occur, so the rarely vectorised tail is computed once per size.
    tails = {int(k): channel.none_of(int(k)) for k in np.unique(sizes)}
    success += float((np.array([tails[int(k)] for k in sizes]) * pi[start]).sum()) + sure_hit

    hit = _hit(channel, prior, pi, included, rank, share) + sure_hit
    return ExactRisk(rad=with_rounding(rad, error), success=(min(success, 1.0),) * 2, hit=min(hit, 1.0))


def _sort_members(cover: Cover, prior: Prior) -> tuple[Ints, Ints, Floats, float]:
    """Return members by fibre and falling probability, the share of guesses right for each, and the always hit."""
    always = cover.single_hits == cover.guesses
    undecided = (cover.single_hits > 0) & ~always
    members, shares, fibres = (
        [cover.single[undecided]],
        [cover.single_hits[undecided] / cover.guesses],
        [np.arange(undecided.sum())],
    )
    parts = cover.parts
    if cover.blocks and (parts is None or not _one_value_per_class(parts, prior)):
        _check_one_value_per_class(cover, prior)
    if parts is not None:
        members.append(parts.members)
        shares.append(np.full(parts.members.size, 1.0 / cover.guesses))
        fibres.append(undecided.sum() + parts.fibre_of(np.arange(parts.fibres.size)))
    for number, block in enumerate(cover.blocks if parts is None else ()):
        members.append(block.members)
        shares.append(block.counts / cover.guesses)
        fibres.append(np.full(block.members.size, undecided.sum() + number))
    member, share, fibre = np.concatenate(members), np.concatenate(shares), np.concatenate(fibres)
    order = np.lexsort((-prior.probabilities[member], fibre))
    sure_hit = float(prior.probabilities[cover.single[always]].sum())
    return member[order], fibre[order].astype(np.intp), share[order], sure_hit


def _one_value_per_class(parts: FibreArrays, prior: Prior) -> bool:
    """Return whether every fibre has a value per class, and a guess that misses it unless it is everything."""
    alone = parts.classes.size == parts.members.size
    return bool(alone and np.all((parts.misses > 0) | (parts.sizes == prior.size)))


def _check_one_value_per_class(cover: Cover, prior: Prior) -> None:
    for block in cover.blocks:
        if block.kind != "singletons" or not (block.misses or block.members.size == prior.size):
            message = "needs a goal that distinguishes the values of a fibre; with another goal outputs must be listed"
            raise Inapplicable(message)


def _hit(channel: InclusionChannel, prior: Prior, pi: Floats, included: Floats, rank: Ints, share: Floats) -> float:
    """Return the hit rate of the rad-optimal attack; all guesses tie when all or none of the mass is reported."""
    blind = float((share * pi).sum())
    possible = int((prior.probabilities > 0.0).sum())
    if channel.epsilon == 0.0 or possible == 1:
        return blind
    everything = channel.all_of(possible)
    hits = float((included * pi).sum()) - everything * float(pi[rank == 0].sum())
    return hits + blind * (everything + channel.none_of(possible))
