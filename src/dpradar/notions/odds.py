"""Odds after one yes-or-no question, and two ways to write success beside a baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..params import Param
from ..results import Bound
from ..results.tradeoff import FPR
from .event_power import power, worse_promises

if TYPE_CHECKING:
    from ..guarantees.neighbours import Neighbours
    from ..guarantees.privacy import Privacy

__all__ = ["PosteriorOdds", "normalised_gain", "posterior_odds", "remaining_error"]

PRIOR = Param(name="prior", low=0.0, high=1.0, what="the probability, before the release, that the true answer is yes")
SUCCESS = Param(name="success", low=0.0, high=1.0, what="the probability that the attack succeeds")
BASELINE = Param(
    name="baseline", low=0.0, high=1.0, high_open=True, what="the probability of success without the release"
)
_LARGEST_EXPONENT = 709.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PosteriorOdds:
    """What one "yes" can mean: ``ratio`` = posterior odds / prior odds, and with a prior the posterior probability.

    Examples
    --------
    >>> import dpradar as dr
    >>> posterior_odds(dr.PureDP(epsilon=1.0, neighbours="replace-one"), 0.01, prior=0.5)
    PosteriorOdds(ratio=Bound(2.71828 upper, posterior-odds), posterior=Bound(0.731059 upper, posterior-odds))
    """

    ratio: Bound
    posterior: Bound | None = None


def posterior_odds(
    what: Any, fpr: float, *, prior: float | None = None, neighbours: Neighbours | None = None
) -> PosteriorOdds:
    """Return by how much a "yes" can raise the odds, if the question is wrongly answered yes with probability ``fpr``.

    Guarantee
    ---------
    Upper bounds: the ratio is at most (1 - f(fpr))/fpr, for every yes-or-no question that is put to the release. The
    ratio can be infinite. It falls with ``fpr``, so it holds for larger false-positive rates too. At 0 it is the limit
    over all rates: e^epsilon where epsilon-DP is promised, and infinite otherwise.

    Assumes
    -------
    The attacker knows everything but the answer. Replace-one: the question is about the target's record, such as "is
    it one of these values?". Add/remove: whether the record was used. The requested relation, the guarantee's own, or
    else the worse of both.

    Parameters
    ----------
    what
        A mechanism or a guarantee.
    fpr
        The probability of "yes" when the truth is no.
    prior
        The probability that the truth is yes, before the release.
    neighbours
        The relation to use.

    Notes
    -----
    Bayes' rule: the ratio is the true-positive over the false-positive rate; docs/derivations/notions.md.

    Examples
    --------
    >>> import dpradar as dr
    >>> odds = posterior_odds(dr.GDP(mu=1.0, neighbours="add-remove"), 0.01, prior=0.1)
    >>> round(odds.ratio.value, 4), round(odds.posterior.value, 4)
    (9.2362, 0.5065)
    """
    rate = FPR.check("posterior_odds", fpr)
    before = None if prior is None else PRIOR.check("posterior_odds", prior)
    promises = worse_promises("posterior_odds", what, neighbours)
    value, worst = max(((_ratio(p, rate), p) for p in promises), key=lambda pair: pair[0])
    notes = (worst.source, f"neighbours: {worst.relation}")
    cites = ("Dong, Roth and Su 2022, Definition 2", "dpradar derivation")
    ratio = Bound(value=value, side="upper", rule="posterior-odds", cites=cites, assumes=notes)
    if before is None:
        return PosteriorOdds(ratio=ratio)
    after = Bound(value=_posterior(value, before), side="upper", rule="posterior-odds", cites=cites, assumes=notes)
    return PosteriorOdds(ratio=ratio, posterior=after)


def _ratio(promise: Privacy, fpr: float) -> float:
    pure = math.inf
    if promise.epsilon is not None and promise.delta == 0.0:
        pure = math.exp(promise.epsilon) if promise.epsilon <= _LARGEST_EXPONENT else math.inf
    if promise.tv == 0.0:
        return 1.0
    # 1 - f is concave and at least 0 at 0, so the ratio is largest near 0: pure is its limit there.
    return pure if fpr == 0.0 else min(pure, power(promise, fpr) / fpr)


def _posterior(ratio: float, prior: float) -> float:
    if prior in (0.0, 1.0):
        return prior
    if math.isinf(ratio):
        return 1.0
    return prior / (prior + (1.0 - prior) / ratio)


def normalised_gain(success: float, baseline: float) -> float:
    """Return (success - baseline)/(1 - baseline): the gain as a share of what there was to gain.

    Notes
    -----
    Guo et al. (2023), as [UNIFY] after Theorem 3.3.

    Examples
    --------
    >>> normalised_gain(0.75, 0.5)
    0.5
    """
    after, before = SUCCESS.check("normalised_gain", success), BASELINE.check("normalised_gain", baseline)
    return (after - before) / (1.0 - before)


def remaining_error(success: float, baseline: float) -> float:
    """Return (1 - success)/(1 - baseline): the share of the attacker's error that the release leaves.

    Notes
    -----
    Chatzikokolakis et al. (2023), as [UNIFY] after Theorem 3.3.

    Examples
    --------
    >>> remaining_error(0.75, 0.5)
    0.5
    """
    after, before = SUCCESS.check("remaining_error", success), BASELINE.check("remaining_error", baseline)
    return (1.0 - after) / (1.0 - before)
