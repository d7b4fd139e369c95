"""What a promise says of one event: 1 - f(x), for one record and for many, from above and precise where it is small."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..bounds.question import Case
from ..bounds.tradeoff_rates import question_relations
from ..errors import ParameterError, UnsupportedError
from ..guarantees.composition import gaussian_mu
from ..guarantees.neighbours import check_neighbours
from ..guarantees.privacy import HasPrivacy
from ..guarantees.renyi import renyi_success
from ..mechanisms.capabilities import Mechanism
from ..numerics.special import ndtr, ndtri
from ..params import Param, shown
from ..threats import Threat

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..guarantees.neighbours import Neighbours
    from ..guarantees.privacy import Privacy, Relation

__all__ = ["EITHER", "RECORDS", "REFERENCES", "REPLACE", "group_power", "power", "promises_of", "worse_promises"]

# A success is compared with any distribution that does not depend on the record; another record's is one of them.
REFERENCES: tuple[Relation, ...] = ("replace-one", "add-remove", "reference")
EITHER: tuple[Relation, ...] = ("replace-one", "add-remove")
REPLACE: tuple[Relation, ...] = ("replace-one",)

RECORDS = Param(name="records", integer=True, low=1, what="the number of records in the data set", typical=(2, 10**6))

_SLACK = 2.0**-50  # 1 - f(x) of a computed curve can be this much too small by rounding
_TINY = 1e-9  # at smaller rates that slack counts, and a Renyi bound is used directly
_STEPS = 500  # up to this many records are taken one by one
_STRETCH = 1.0 / 256.0  # beyond, steps are taken together while the rate or its complement changes by less than this
_HALF = 0.5
_LARGEST_LOSS = 700.0


def promises_of(
    owner: str, release: Any, neighbours: Neighbours | None, allowed: tuple[Relation, ...]
) -> list[Privacy]:
    """Return what is promised under the requested relation, or under every allowed one; at least one promise."""
    case = _case(owner, release, neighbours)
    if case.neighbours is not None and case.neighbours not in allowed:
        raise ParameterError(
            f"{owner}.neighbours",
            "'replace-one' or left out",
            repr(neighbours),
            "This notion compares two records; a guarantee stated under add-remove is converted where that is sound.",
        )
    return _promises_under(owner, case, allowed if case.neighbours is None else (case.neighbours,))


def worse_promises(owner: str, release: Any, neighbours: Neighbours | None) -> list[Privacy]:
    """Return the promises between which the worse counts: the requested relation, the guarantee's own, or both."""
    case = _case(owner, release, neighbours)
    return _promises_under(owner, case, question_relations(case))


def _case(owner: str, release: Any, neighbours: Neighbours | None) -> Case:
    if not isinstance(release, (Mechanism, HasPrivacy)):
        hint = "Give the release itself, not an assessment of it."
        allowed = "given a mechanism (such as Gaussian) or a guarantee (such as GDP) first"
        raise ParameterError(owner, allowed, shown(release), hint)
    return Case(release, Threat.worst(), None if neighbours is None else check_neighbours(owner, neighbours))


def _promises_under(owner: str, case: Case, relations: tuple[Relation, ...]) -> list[Privacy]:
    promises = [promise for relation in relations if (promise := case.promise(relation)) is not None]
    if not promises:
        message = (
            f"{owner} needs a promise under {' or '.join(relations)}, and {shown(case.what)} makes none. "
            "Another neighbour relation, or a guarantee stated under this one, would do."
        )
        raise UnsupportedError(message)
    return [replace(promise, source="; ".join((promise.source, *case.assumes))) for promise in promises]


def _mu(promise: Privacy) -> float | None:
    return None if promise.pairs is None else gaussian_mu(promise.pairs)


def _gaussian_power(mu: float, x: float) -> float:
    return float(ndtr(ndtri(x) + mu)) if 0.0 < x < 1.0 else x


def _approx_power(epsilon: float, delta: float, x: float) -> float:
    steep = delta + math.exp(min(epsilon, _LARGEST_LOSS)) * x
    flat = 1.0 - math.exp(-epsilon) * max(1.0 - delta - x, 0.0)
    return min(steep, flat)


def power(promise: Privacy, x: float) -> float:
    """Return an upper bound of 1 - f(x): of the probability of an event that has probability x at the neighbour.

    Examples
    --------
    >>> from dpradar.guarantees import PureDP
    >>> power(PureDP(epsilon=0.0, neighbours="replace-one").privacy("replace-one"), 1e-300)
    1e-300
    """
    bounds = [1.0]
    mu = _mu(promise)
    if mu is not None:
        bounds.append(_gaussian_power(mu, x))
    elif promise.curve is not None:
        bounds.append(1.0 - promise.curve.at(x) + _SLACK)
    if promise.epsilon is not None:
        bounds.append(_approx_power(promise.epsilon, promise.delta, x))
    if promise.tv is not None:
        bounds.append(x + promise.tv)
    if promise.renyi is not None and mu is None and x < _TINY:
        bounds.append(renyi_success(promise.renyi, x))
    return max(x, min(bounds))


def group_power(promise: Privacy, x: float, records: int) -> float:
    """Return an upper bound of 1 - f^(n)(x), where the neighbour differs in n records: 1 - f, n times.

    Guarantee
    ---------
    From above: 1 - f is non-decreasing, so n upper bounds in a row are one. Exact (up to rounding) for Gaussian
    promises, where n times mu is mu of the group, and up to 500 records; beyond, at most 1 % too many records count.

    Notes
    -----
    Group privacy of Dong, Roth and Su (2022), as [UNIFY] Proposition E.1.

    Examples
    --------
    >>> from dpradar.guarantees import PureDP
    >>> small = PureDP(epsilon=1e-6, neighbours="replace-one").privacy("replace-one")
    >>> round(group_power(small, 0.1, 10**6), 6)
    0.271828
    """
    mu = _mu(promise)
    if mu is not None:
        return min(1.0, max(x, _gaussian_power(records * mu, x)))
    if promise.tv == 0.0:
        return x

    def step(rate: float) -> float:
        return power(promise, rate)

    return _iterate(step, x, records) if records <= _STEPS else _iterate_in_stretches(step, x, records)


def _iterate(step: Callable[[float], float], x: float, times: int) -> float:
    for _ in range(times):
        after = step(x)
        if after in (x, 1.0):
            return after
        x = after
    return x


def _iterate_in_stretches(step: Callable[[float], float], x: float, times: int) -> float:
    """Return the same without taking every step: 1 - f is concave, 0 or more at 0, and 1 at 1.

    Hence step(x)/x does not grow with x, so x grows by at most the factor at the start of a stretch; and
    (1 - step(x))/(1 - x) does not grow either, so 1 - x shrinks by at most the factor at its end.
    """
    remaining = times
    while remaining > 0:
        if x > 1.0 - _SLACK:
            return 1.0  # rounding would keep it there for ever
        after = step(x)
        if after == 0.0:
            return 0.0
        n_steps, far = _steps_near_0(x, after, remaining) if x <= _HALF else _steps_near_1(step, x, remaining)
        x, remaining = (after, remaining - 1) if n_steps <= 1 else (min(far + _SLACK * far, 1.0), remaining - n_steps)
    return x


def _steps_near_0(x: float, after: float, remaining: int) -> tuple[int, float]:
    if x == 0.0:
        return 1, after
    rate = math.log(after / x) + _SLACK
    n_steps = min(remaining, int(math.log1p(_STRETCH) / rate))
    return n_steps, x * math.exp(n_steps * rate)


def _steps_near_1(step: Callable[[float], float], x: float, most: int) -> tuple[int, float]:
    end = x + _STRETCH * (1.0 - x)
    remaining = 1.0 - end
    next_remaining = 1.0 - step(end) - _SLACK
    if next_remaining <= 0.0:
        return 1, 1.0
    rate = min(math.log(next_remaining / remaining), -_SLACK)
    n_steps = min(most, int(math.log1p(-_STRETCH) / rate))
    return n_steps, -math.expm1(math.log1p(-x) + n_steps * rate)
