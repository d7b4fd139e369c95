"""Unary encoding, subset selection and their kin: Theorem 4.3 by counting, never by listing the 2^m outputs."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Bools, Floats, Ints, np
from ..question import Inapplicable
from .exact_risk import ExactRisk, with_rounding

if TYPE_CHECKING:
    from ...mechanisms.capabilities import InclusionChannel
    from ...threats import Prior
    from ...threats.hit_classes import Cover

__all__ = ["inclusion_risk", "names_values"]

_EPS = sys.float_info.epsilon
_HALF = 0.5


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
    Where no value of the fibre is reported, a guess that is right for none of them scores 0; if every guess is right
    for one, naming the rarest costs least. See docs/derivations/inclusion.md; [RAD] Examples 4.5 and 4.6 are special
    cases. O(m log m).
    """
    if channel.epsilon < 0.0:
        message = "needs reports in which the true value is at least as likely as the others"
        raise Inapplicable(message)
    fibres = _sort_members(cover, prior)
    pi, rank, start, sizes = fibres.pi, fibres.rank, fibres.start, fibres.sizes
    deepest = int(sizes.max(initial=1))
    included_by_rank = channel.included(min(deepest + 1, channel.inputs))
    included, later = included_by_rank[rank], channel.later(deepest)[rank]
    running = np.cumsum(pi)
    upto = running - np.repeat(running[start] - pi[start], sizes)
    rest = 1.0 - pi - later * np.maximum(1.0 - upto, 0.0)  # E[1-s], in which only a value above 1/2 cancels digits
    digits = np.ones(pi.size)
    for top in np.flatnonzero(pi > _HALF):
        rest[top] = (1.0 - later[top]) * _mass_of_others(prior, fibres.members[top])
        digits[top] = rest[top]
    factor = -math.expm1(-channel.epsilon)
    # Nobody of the fibre is reported but someone else is, and every guess names someone of the fibre.
    last = start[fibres.forced] + sizes[fibres.forced] - 1
    outside = np.maximum(1.0 - upto[last], 0.0)
    unreported = included_by_rank[np.minimum(sizes[fibres.forced], included_by_rank.size - 1)] * pi[last]
    rad = factor * (float((included * pi * rest).sum()) - float((unreported * outside).sum()))
    # Of the running sums and what is subtracted from 1.
    error = factor * _EPS * 4.0 * (pi.size + 4.0) * float((included * pi * digits).sum() + unreported.sum())

    top_mass = np.repeat(pi[start], sizes)
    floor = math.exp(-channel.epsilon) * top_mass
    success = float((included * np.where(rank == 0, pi, np.maximum(floor, pi))).sum())
    # Few different fibre sizes occur, so the rarely vectorised tail is computed once per size.
    tails = {int(k): channel.none_of(int(k)) for k in np.unique(sizes)}
    tail = np.array([tails[int(k)] for k in sizes])
    success += float((tail * pi[start]).sum()) + fibres.sure_hit

    hit = _hit(channel, prior, fibres, included, tail) + fibres.sure_hit
    return ExactRisk(rad=with_rounding(max(rad, 0.0), error), success=(min(success, 1.0),) * 2, hit=min(hit, 1.0))


def names_values(cover: Cover) -> bool:
    """Return whether every guess is right for one value of a fibre at most."""
    if cover.parts is not None:
        return bool(cover.parts.classes.size == cover.parts.members.size)
    return all(block.kind == "singletons" for block in cover.blocks)


def _mass_of_others(prior: Prior, member: int) -> float:
    """Return the probability of all values but one, without subtracting it from 1."""
    probabilities = prior.probabilities
    return float(probabilities[:member].sum() + probabilities[member + 1 :].sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Fibres:
    """Fibres one after the other, each by falling probability, in which a guess is right for one value at most."""

    members: Ints
    pi: Floats
    share: Floats  # of the guesses that are right for each member
    start: Ints  # the position of the first member of each fibre
    sizes: Ints
    forced: Bools  # every guess is right for someone of the fibre, which is not everything
    sure_hit: float  # the mass of values that every guess is right for

    @property
    def rank(self) -> Ints:
        return np.asarray(np.arange(self.pi.size) - np.repeat(self.start, self.sizes))


def _sort_members(cover: Cover, prior: Prior) -> _Fibres:
    always = cover.single_hits == cover.guesses
    undecided = (cover.single_hits > 0) & ~always
    members = [cover.single[undecided]]
    shares = [cover.single_hits[undecided] / cover.guesses]
    sizes = [np.ones(members[0].size, dtype=np.intp)]
    missed = [np.ones(members[0].size, dtype=bool)]
    parts = cover.parts
    if not names_values(cover):
        message = "needs a goal that distinguishes the values of a fibre"
        raise Inapplicable(message)
    if parts is not None and parts.members.size:
        members.append(parts.members)
        shares.append(np.full(parts.members.size, 1.0 / cover.guesses))
        sizes.append(parts.sizes)
        missed.append(parts.misses > 0)
    for block in cover.blocks if parts is None else ():
        members.append(block.members)
        shares.append(block.counts / cover.guesses)
        sizes.append(np.array([block.members.size]))
        missed.append(np.array([block.misses > 0]))
    member, share, size = np.concatenate(members), np.concatenate(shares), np.concatenate(sizes)
    order = np.lexsort((-prior.probabilities[member], np.repeat(np.arange(size.size), size)))
    return _Fibres(
        members=member[order],
        pi=prior.probabilities[member[order]],
        share=share[order],
        start=np.cumsum(size) - size,
        sizes=size,
        forced=~np.concatenate(missed) & (size < prior.size),
        sure_hit=float(prior.probabilities[cover.single[always]].sum()),
    )


def _hit(channel: InclusionChannel, prior: Prior, fibres: _Fibres, included: Floats, tail: Floats) -> float:
    """Return the hit rate of the rad-optimal attack; all guesses tie when all or none of the mass is reported."""
    pi, start = fibres.pi, fibres.start
    blind = float((fibres.share * pi).sum())
    possible = int((prior.probabilities > 0.0).sum())
    if channel.epsilon == 0.0 or possible == 1:
        return blind
    everything, nothing = channel.all_of(possible), channel.none_of(possible)
    hits = float((included * pi).sum()) - everything * float(pi[start].sum())
    rarest = pi[start + fibres.sizes - 1] * fibres.forced
    hits += float((rarest * np.maximum(tail - nothing, 0.0)).sum())
    return hits + blind * (everything + nothing)
