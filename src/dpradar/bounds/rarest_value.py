"""The risk of people who have the rarest value of a skewed prior."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..errors import NumericsError
from ..guarantees.privacy import HasPrivacy
from ..numerics.lazy_numpy import np
from ..results.bound import Bound
from ..results.ceiling import Rarest
from .tradeoff_rates import least_fnr

if TYPE_CHECKING:
    from ..guarantees.privacy import Privacy
    from .question import Case

__all__ = ["SKEWED", "rarest"]

SKEWED = 5.0  # a prior is skewed if its likeliest value is at least this many times as likely as its rarest
_FPR = 0.01
_CITES = "[UNIFY] Section 2"
_LARGEST_EXPONENT = 700.0
_UNKNOWN = "nothing is promised about replacing a record: nothing can be said"


def rarest(case: Case) -> Rarest | None:
    """Return what can be found out about people with the rarest answer; None unless the prior is skewed.

    Guarantee
    ---------
    ``tpr`` is an upper bound on the share of them that any attacker flags who flags 1 % of the others; ``odds`` one on
    the factor by which seeing the release multiplies the odds of having the rarest answer.

    Notes
    -----
    A test that flags one record with probability 1 - b and another with probability a has b >= f(a) for the trade-off
    function f of replacing one record. f is convex, so the same holds for averages over the records with the rarest
    answer and over the others (Dong, Roth and Su 2022, Section 2). Under pure epsilon-DP any ratio of likelihoods is at
    most e^epsilon, and so is that of two mixtures.
    """
    if case.threat.prior is None or case.threat.skew < SKEWED:
        return None
    promise = _promise(case)
    if promise is None:
        return Rarest(tpr=Bound(value=1.0, side="upper", rule="trivial", assumes=(_UNKNOWN,)), fpr=_FPR)
    value = 1.0 - float(least_fnr(promise, np.array([_FPR]))[0])
    notes = (promise.source, f"neighbours: {promise.relation}")
    epsilon = promise.epsilon if promise.epsilon is not None and promise.delta == 0.0 else math.inf
    return Rarest(
        tpr=Bound(
            value=min(value, 1.0),
            side="upper",
            rule="trade-off",
            cites=(_CITES,),
            assumes=notes,
            neighbours=promise.relation,
        ),
        fpr=_FPR,
        odds=math.exp(epsilon) if epsilon <= _LARGEST_EXPONENT else None,
    )


def _promise(case: Case) -> Privacy | None:
    """Return what is promised about replacing a record, also by one that the prior does not list where there may be."""
    fits_domain = isinstance(case.what, HasPrivacy) or getattr(case.what, "inputs", None) == case.prior.size
    if case.prior.is_open and not fits_domain:
        return None
    try:
        promise = case.promise("replace-one")
    except NumericsError:
        return None
    return None if promise is None or (promise.curve or promise.tv) is None else promise
