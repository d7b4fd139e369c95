"""Singling out: a description that fits one record and no other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..guarantees.approx import DELTA
from ..guarantees.epsilon import epsilon_at
from ..numerics.lazy_numpy import np
from ..params import Param, shown
from ..results import Bound
from .event_power import RECORDS, REFERENCES, REPLACE, group_power, power, promises_of

if TYPE_CHECKING:
    from ..guarantees.neighbours import Neighbours
    from ..guarantees.privacy import Privacy

__all__ = [
    "classic_singling_out",
    "isolation_baseline",
    "isolation_success",
    "narcissus",
    "predicate_singling_out",
    "singling_out",
]

WEIGHT = Param(
    name="weight", low=0.0, high=1.0, what="the share of the population that the description fits", typical=(1e-9, 0.1)
)
BASELINE = Param(
    name="baseline",
    low=0.0,
    high=1.0,
    what="the probability that the attack succeeds on an independent data set from the same population",
    typical=(1e-6, 0.5),
)
_ROUNDING = 1e-9  # weight * records may exceed 1 by so much
_DELTAS, _ROUNDS = 17, 3  # how many deltas are tried, and how often between the neighbours of the best
_LEAST_WEIGHT = 1e-12
_HALVINGS = 60
_LARGEST_LOSS = 700.0
_OURS = "dpradar derivation"
_OUTSIDE = "the attacker knows every other record and the population"
_EVERY_RECORD = "the promise holds for each of the records, which are drawn independently"


def _notes(promise: Privacy, *more: str) -> tuple[str, ...]:
    return (promise.source, f"neighbours: {promise.relation}", *more)


def singling_out(what: Any, weight: float, *, neighbours: Neighbours | None = None) -> Bound:
    """Return the largest probability that a description of at most this weight, found in the release, fits the target.

    Guarantee
    ---------
    An upper bound, 1 - f(weight), whatever the population, the other records and the attack.

    Assumes
    -------
    The attacker knows the mechanism, the population and every other record, and the description fits none of those.
    Any relation will do, because a success may be compared with any release that does not depend on the target's
    record; the tightest is used unless ``neighbours`` names one.

    Parameters
    ----------
    what
        A mechanism or a guarantee.
    weight
        The largest share of the population that an admissible description fits, which is also the chance of a
        description chosen blindly.
    neighbours
        The relation to use.

    Notes
    -----
    [UNIFY] Theorem 3.1 with q(z; p) = p(z), that is Theorem C.2 for SPSO (Definition 3.2). The weight may be anything
    in [0, 1]; the print has at most one over the number of candidates, which the proof does not use.

    Examples
    --------
    >>> import dpradar as dr
    >>> singling_out(dr.GDP(mu=1.0, neighbours="add-remove"), 1 / 5000).value.__round__(6)
    0.005541
    """
    share = WEIGHT.check("singling_out", weight)
    promises = promises_of("singling_out", what, neighbours, REFERENCES)
    value, best = min(((power(p, share), p) for p in promises), key=lambda pair: pair[0])
    cites = ("[UNIFY] Theorem 3.1", "[UNIFY] Theorem C.2")
    return Bound(value=value, side="upper", rule="singling-out", cites=cites, assumes=_notes(best, _OUTSIDE))


def isolation_baseline(weight: float, records: int) -> float:
    """Return n w (1-w)^(n-1): how likely a blind description of this weight fits exactly one of n records.

    Up to weight 1/n it grows with the weight, so it is then also the best blind chance of a smaller weight.

    Notes
    -----
    [UNIFY] Equation (5), after Cohen and Nissim (2020).

    Examples
    --------
    >>> isolation_baseline(0.5, 2), round(isolation_baseline(1e-6, 1_000_000), 6)
    (0.5, 0.36788)
    """
    share = WEIGHT.check("isolation_baseline", weight)
    n = int(RECORDS.check("isolation_baseline", records))
    if share == 1.0:
        return 1.0 if n == 1 else 0.0
    return min(1.0, n * share * math.exp((n - 1) * math.log1p(-share)))


def _small_weight(owner: str, weight: float, records: int) -> tuple[float, int]:
    n, share = int(RECORDS.check(owner, records)), WEIGHT.check(owner, weight)
    if share * n > 1.0 + _ROUNDING:
        hint = "A description that fits more than one record on average singles nobody out."
        raise ParameterError(f"{owner}.weight", f"at most 1/records = {1 / n:.6g}", shown(weight), hint)
    return share, n


def predicate_singling_out(what: Any, weight: float, records: int, *, neighbours: Neighbours | None = None) -> Bound:
    """Return the published bound on how likely a description found in the release fits exactly one of all the records.

    Guarantee
    ---------
    An upper bound, n (1 - f(w)), at most 1. `isolation_success` is never above it.

    Assumes
    -------
    The n records are drawn independently from a population that the attacker knows; nothing else is known of them.
    The promise holds for every record. Descriptions of weight at most w <= 1/n are admissible. Any relation will do;
    the tightest is used unless ``neighbours`` names one.

    Parameters
    ----------
    what
        A mechanism or a guarantee.
    weight
        The largest share of the population that an admissible description fits.
    records
        How many records the release is about.
    neighbours
        The relation to use.

    Notes
    -----
    [UNIFY] Theorem F.2, stated for replace-one; it holds for add/remove too, the data set without record i being as
    good a reference: docs/derivations/notions.md.

    Examples
    --------
    >>> import dpradar as dr
    >>> round(predicate_singling_out(dr.PureDP(epsilon=1.0, neighbours="replace-one"), 1e-6, 1000).value, 6)
    0.002718
    """
    owner = "predicate_singling_out"
    share, n = _small_weight(owner, weight, records)
    return _published_bound(promises_of(owner, what, neighbours, REFERENCES), share, n)


def _published_bound(promises: list[Privacy], weight: float, n: int) -> Bound:
    value, best = min(((n * power(p, weight), p) for p in promises), key=lambda pair: pair[0])
    cites = ("[UNIFY] Theorem F.2",) if best.relation == "replace-one" else ("[UNIFY] Theorem F.2", _OURS)
    notes = _notes(best, _EVERY_RECORD)
    return Bound(value=min(value, 1.0), side="upper", rule="predicate-singling-out", cites=cites, assumes=notes)


def isolation_success(what: Any, weight: float, records: int, *, neighbours: Neighbours | None = None) -> Bound:
    """Return the tightest bound known on how likely a description found in the release fits exactly one record.

    Guarantee
    ---------
    An upper bound, the smallest of n (1 - f(w)), the s with s = n (1 - f(w (1 - s + s/n))), and
    1 - f^(n)(n w (1-w)^(n-1)); the last two under replace-one.

    Assumes
    -------
    As `predicate_singling_out`.

    Parameters
    ----------
    what
        A mechanism or a guarantee.
    weight
        The largest share of the population that an admissible description fits.
    records
        How many records the release is about.
    neighbours
        The relation to use.

    Notes
    -----
    [UNIFY] Theorems F.2 and F.1, the latter for the event "fits exactly one record". The one in the middle is ours:
    one more record can make a description fit exactly one only if it fits none of the others, and where the attack
    succeeds it does fit one. Proofs: docs/derivations/notions.md.

    Examples
    --------
    >>> import dpradar as dr
    >>> release = dr.PureDP(epsilon=1.0, neighbours="replace-one")
    >>> [round(bound(release, 1e-4, 2000).value, 6) for bound in (predicate_singling_out, isolation_success)]
    [0.543656, 0.352249]
    """
    owner = "isolation_success"
    share, n = _small_weight(owner, weight, records)
    promises = promises_of(owner, what, neighbours, REFERENCES)
    bounds = [_published_bound(promises, share, n)]
    for promise in (p for p in promises if p.relation == "replace-one"):
        notes = _notes(promise, _EVERY_RECORD)
        value = _fixed_point(promise, share, n)
        bounds.append(Bound(value=value, side="upper", rule="isolation-consistent", cites=(_OURS,), assumes=notes))
        value, cites = group_power(promise, isolation_baseline(share, n), n), ("[UNIFY] Theorem F.1", _OURS)
        bounds.append(Bound(value=value, side="upper", rule="isolation-by-groups", cites=cites, assumes=notes))
    return min(bounds, key=lambda bound: bound.value)


def _fixed_point(promise: Privacy, weight: float, n: int) -> float:
    """Return an s in [0, 1] with n (1 - f(w (1 - s + s/n))) <= s, up to the last bit the smallest one."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if n * power(promise, weight * (1.0 - middle + middle / n)) <= middle:
            high = middle
        else:
            low = middle
    return high


def classic_singling_out(
    what: Any, weight: float, records: int, *, delta: float | None = None, neighbours: Neighbours | None = None
) -> Bound:
    """Return the earlier bound on predicate singling out, n (e^epsilon w + delta), for comparison.

    Guarantee
    ---------
    An upper bound for every delta; without ``delta`` the best of some fifty. Never below `predicate_singling_out` by
    more than rounding, where the curve is known.

    Assumes
    -------
    As `predicate_singling_out`.

    Parameters
    ----------
    what
        A mechanism or a guarantee.
    weight
        The largest share of the population that an admissible description fits.
    records
        How many records the release is about.
    delta
        The delta at which epsilon is taken.
    neighbours
        The relation to use.

    Notes
    -----
    Cohen and Nissim (2020), as [UNIFY] Theorem B.1; stated for replace-one, and as valid for add/remove.

    Examples
    --------
    >>> import dpradar as dr
    >>> old = classic_singling_out(dr.GDP(mu=1.0, neighbours="replace-one"), 1e-6, 1000, delta=1e-5)
    >>> round(old.value, 6)
    0.089613
    """
    owner = "classic_singling_out"
    share, n = _small_weight(owner, weight, records)
    requested_delta = None if delta is None else DELTA.check(owner, delta)
    promises = promises_of(owner, what, neighbours, REFERENCES)
    value, at, best = min(
        ((*_at_delta(p, share, requested_delta, n), p) for p in promises), key=lambda candidate: candidate[0]
    )
    notes = _notes(best, f"epsilon at delta {at:.4g}", _EVERY_RECORD)
    cites = ("Cohen and Nissim 2020", "[UNIFY] Theorem B.1")
    return Bound(value=min(value * n, 1.0), side="upper", rule="classic-singling-out", cites=cites, assumes=notes)


def _at_delta(promise: Privacy, weight: float, delta: float | None, records: int) -> tuple[float, float]:
    """Return e^epsilon w + delta and the delta: the one given, or the best one found."""

    def value(some: float) -> tuple[float, float]:
        epsilon = epsilon_at(promise, some)
        return (math.exp(epsilon) * weight + some if epsilon <= _LARGEST_LOSS else math.inf), some

    if delta is not None:
        return value(delta)
    candidates = [value(0.0), value(promise.delta)]
    low, high = 1e-6 * max(weight, _LEAST_WEIGHT), 1.0 / records
    # Convex in delta, so the best one lies between the neighbours of the best on a grid. Any delta is sound.
    for _ in range(_ROUNDS):
        grid = np.geomspace(low, high, _DELTAS)
        on_grid = [value(float(some)) for some in grid]
        candidates += on_grid
        best = int(np.argmin([row[0] for row in on_grid]))
        low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, _DELTAS - 1)])
    return min(candidates)


def narcissus(what: Any, baseline: float, records: int, *, neighbours: Neighbours | None = None) -> Bound:
    """Return how often an attack on the data set itself can succeed, given how often it does on an independent one.

    Guarantee
    ---------
    An upper bound, 1 - f^(n)(baseline), for every relation between a data set and the attacker's output.

    Assumes
    -------
    The n records are drawn independently; the attacker knows the population. Replace-one: the two data sets can differ
    in all n records, so the promise is used n times (group privacy), for every record.

    Parameters
    ----------
    what
        A mechanism or a guarantee.
    baseline
        How likely the same output succeeds on an independent data set from the same population.
    records
        How many records the release is about.
    neighbours
        Nothing but "replace-one".

    Notes
    -----
    Narcissus resiliency (Cohen et al. 2025), [UNIFY] Definition F.4 and Theorem F.1; f^(n) is 1 minus n times 1 - f.

    Examples
    --------
    >>> import dpradar as dr
    >>> round(narcissus(dr.GDP(mu=1e-4, neighbours="replace-one"), 0.1, 10_000).value, 6)
    0.389144
    """
    base, n = BASELINE.check("narcissus", baseline), int(RECORDS.check("narcissus", records))
    (promise,) = promises_of("narcissus", what, neighbours, REPLACE)
    value = group_power(promise, base, n)
    cites = ("[UNIFY] Theorem F.1",)
    return Bound(value=value, side="upper", rule="narcissus", cites=cites, assumes=_notes(promise, _EVERY_RECORD))
