"""Confidence limits for epsilon from event counts, for a fixed sample size and at every interim look."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..guarantees.privacy import HasPrivacy, Privacy, Relation
from ..mechanisms.capabilities import Mechanism
from ..numerics.confidence_intervals import clopper_pearson_high, clopper_pearson_low
from ..numerics.confidence_sequences import always_high, always_low
from ..numerics.lazy_numpy import Floats, np
from ..results.description import Description, describe_release

if TYPE_CHECKING:
    from ..guarantees.curves import TradeoffCurve
    from ..threats import Prior

__all__ = ["AuditedClaim", "Corner", "Tally", "claim_under"]

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Corner:
    """The event has probability at least ``first`` for one input and at most ``other`` for the other."""

    first: float
    other: float

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon that (epsilon, delta)-DP needs, from the event and from its complement.

        Examples
        --------
        >>> round(Corner(0.5, 0.1).epsilon(0.0), 4)
        1.6094
        """
        epsilon = 0.0
        for larger, smaller in ((self.first, self.other), (1.0 - self.other, 1.0 - self.first)):
            if larger - delta > 0.0:
                epsilon = max(epsilon, math.inf if smaller <= 0.0 else math.log((larger - delta) / smaller))
        return epsilon


@dataclass(slots=True)
class Tally:
    """How often an event was seen: of ``drawn_first`` outputs for one input, of ``drawn_other`` for the other.

    ``decided``: both counts are of the same outputs, each of which was evidence for one input, for the other, or for
    neither.

    Examples
    --------
    >>> round(Tally(70, 100, 30, 100).epsilon_estimate(0.0), 6)
    0.847298
    """

    seen_first: int = 0
    drawn_first: int = 0
    seen_other: int = 0
    drawn_other: int = 0
    decided: bool = False

    def corner(self, failure: float, *, always: bool) -> Corner:
        """Return limits that hold together except with probability ``failure``: for this sample, or at every look."""
        low, high = (always_low, always_high) if always else (clopper_pearson_low, clopper_pearson_high)
        first = low(self.seen_first, self.drawn_first, failure / 2.0)
        return Corner(first, high(self.seen_other, self.drawn_other, failure / 2.0))

    def epsilon_lower(self, delta: float, failure: float, *, always: bool) -> float:
        """Return a lower bound on epsilon that holds except with probability ``failure``.

        When each output is evidence for at most one of two inputs and delta is 0, the number of outputs in favour of
        the first input, among all that favour one, is binomial, which needs one limit instead of two.

        Examples
        --------
        >>> round(Tally(600, 1000, 300, 1000).epsilon_lower(0.0, 0.05, always=False), 3)
        0.546
        >>> round(Tally(600, 1000, 300, 1000, decided=True).epsilon_lower(0.0, 0.05, always=False), 3)
        0.575
        """
        if self.decided and delta == 0.0:
            n_decided = self.seen_first + self.seen_other
            share = (always_low if always else clopper_pearson_low)(self.seen_first, n_decided, failure)
            return max(0.0, math.log(share / (1.0 - share))) if share > 0.0 else 0.0
        return self.corner(failure, always=always).epsilon(delta)

    def epsilon_estimate(self, delta: float) -> float | None:
        """Return what the counts themselves suggest: no bound; None when there is nothing to go by."""
        if self.drawn_first == 0 or self.drawn_other == 0 or self.seen_first == 0:
            return None
        return Corner(self.seen_first / self.drawn_first, self.seen_other / self.drawn_other).epsilon(delta)


@dataclass(frozen=True, slots=True)
class AuditedClaim:
    """What is claimed about two inputs: a trade-off curve, and epsilon at delta where the claim names them."""

    description: Description
    relation: Relation
    epsilon: float | None
    delta: float
    curve: TradeoffCurve
    tight: bool = False  # the curve says more than epsilon and delta do, so both are tested

    def refuted_by(self, tally: Tally, failure: float, *, always: bool) -> bool:
        """Return whether the counts contradict the claim, which they do to a true one with prob. <= ``failure``.

        Pure DP: by the lower bound on epsilon. Else: of two events of a trade-off curve f, TPR <= 1 - f(FPR); 1 - f is
        concave and increasing, so the limits of both rates, also averaged over pairs of inputs, may be put in.
        """
        if self.tight:
            failure /= 2.0
        if self.epsilon is not None:
            refuted = tally.epsilon_lower(self.delta, failure, always=always) > self.epsilon * (1.0 + _ROUNDING)
            if refuted or not self.tight:
                return refuted
        corner = tally.corner(failure, always=always)
        return any(
            larger > 1.0 - self.curve.at(min(smaller, 1.0)) + _ROUNDING
            for larger, smaller in ((corner.first, corner.other), (1.0 - corner.other, 1.0 - corner.first))
        )

    def reported_lower(self, lower: float, *, refuted: bool) -> float:
        """Return the lower bound on epsilon to report: not above the claim where that is not refuted.

        A claim that is tested in two ways is refuted at half of the significance, at which the bound on epsilon alone
        may lie below it. A smaller bound holds as well, and does not contradict the verdict.
        """
        return lower if refuted or self.epsilon is None else min(lower, self.epsilon)

    def promise(self, tally: Tally, failure: float) -> float:
        """Return how much such counts would say against the claim: what a search looks for."""
        if self.epsilon is not None:
            return tally.epsilon_lower(self.delta, failure, always=False)
        corner = tally.corner(failure, always=False)
        grid, rates = _sampled_curve(self.curve)
        return corner.first - 1.0 + float(np.interp(min(corner.other, 1.0), grid, rates))


@lru_cache(maxsize=8)
def _sampled_curve(curve: TradeoffCurve) -> tuple[Floats, Floats]:
    """Return a curve at some points: enough to choose by, and some are slow to evaluate. Tests use the curve itself."""
    grid = np.unique(np.concatenate([[0.0], np.geomspace(1e-8, 1.0, 300), np.linspace(0.0, 1.0, 200)]))
    return grid, np.asarray(curve.fnr(grid))


def claim_under(claim: object, relation: Relation | None, prior: Prior | None = None) -> AuditedClaim:
    """Return what is claimed under the relation (that of the guarantee itself, if None).

    A mechanism is bound to the prior: noise on the numbers of a domain promises less the further they are apart.
    """
    built = isinstance(claim, Mechanism)
    source = claim.at(prior) if isinstance(claim, Mechanism) else claim
    if not (built or isinstance(source, HasPrivacy)):
        hint = "Such as PureDP(1.0, neighbours='replace-one') or GDP(1.0, neighbours='add-remove')."
        raise ParameterError("audit.claim", "a guarantee or a mechanism", repr(claim), hint)
    neighbours: Relation = relation or getattr(claim, "neighbours", None) or "replace-one"
    promise: Privacy | None = source.privacy(neighbours)  # type: ignore[attr-defined]
    if promise is None or promise.curve is None:
        hint = "State the claim for the neighbours that are compared."
        raise ParameterError("audit.claim", f"one that says something under {neighbours}", repr(claim), hint)
    text = repr(claim)
    if getattr(claim, "neighbours", neighbours) != neighbours:
        text += f", read under {neighbours}" + ("" if promise.epsilon is None else f" as epsilon {promise.epsilon:g}")
    return AuditedClaim(
        replace(describe_release(claim), text=text),
        neighbours,
        promise.epsilon,
        promise.delta,
        promise.curve,
        tight=built,
    )
