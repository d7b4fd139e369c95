"""Two possible values: rad is the total variation between them times 1 - kappa."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import MissingExtra
from ...guarantees.composition import composed_tv, composition, gaussian_mu
from ...numerics.lazy_numpy import np
from ..question import Inapplicable
from .exact_risk import ExactRisk

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...guarantees.pairs import Pairs
    from ...threats import Prior
    from ...threats.hit_classes import Cover

__all__ = ["two_value_risk"]


def two_value_risk(pair: Callable[[int, int], Pairs], prior: Prior, cover: Cover) -> ExactRisk:
    """Return rad when the prior allows two values and the goal distinguishes them, whatever is known.

    Guarantee
    ---------
    The interval holds the exact value: privacy losses are composed from above and from below.

    Notes
    -----
    With two values w(theta, z) is pi_0 pi_1 times the difference of the likelihoods, so Theorem 4.3 is 2 pi_0 pi_1 TV:
    Theorem 4.2 is attained. See docs/derivations/pairwise-tv.md.
    """
    values = np.flatnonzero(prior.probabilities > 0.0)
    if values.size != 2:
        message = "needs a prior with two possible values"
        raise Inapplicable(message)
    undecided = (cover.single_hits > 0) & (cover.single_hits < cover.guesses)
    alone = set(cover.single[undecided].tolist())
    singletons = [set(block.members.tolist()) for block in cover.blocks if block.kind == "singletons"]
    both = set(values.tolist())
    if not (both <= alone or any(both <= block for block in singletons)):
        message = "needs a goal that distinguishes the two values"
        raise Inapplicable(message)
    low, high = _total_variation(pair(int(values[0]), int(values[1])))
    share = 2.0 * float(np.prod(prior.probabilities[values]))
    return ExactRisk(rad=(share * low, share * high))


def _total_variation(pairs: Pairs) -> tuple[float, float]:
    if gaussian_mu(pairs) is not None:
        return (composed_tv(pairs),) * 2
    try:
        composed = composition(pairs)
    except MissingExtra as missing:
        raise Inapplicable(str(missing)) from None
    return (composed.tv, composed.tv) if composed.exact else (composed.low or 0.0, composed.tv)
