"""Check the hypotheses of the theorems against data. A check can fail; it can never prove a model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..numerics.lazy_numpy import Floats, Ints, np
from ..results.correlation import Check
from . import gaussian, markov

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["chain_checks", "group_checks", "normal_check", "tail"]

Counts = Floats
SIGNIFICANCE = 0.01
_FEWEST_VALUES = 20  # values, below which a test of normality is not informative
_FEW_STEPS = 50
_Z = 2.5758  # two-sided, at the significance above
_PHASES = 8
_SMALLEST_P = 0.0001  # the smallest p that is shown


def tail(statistic: float, degrees: float) -> float:
    """Return Pr[chi-squared with this many degrees of freedom >= statistic]."""
    from scipy import special

    return float(special.gammaincc(degrees / 2.0, statistic / 2.0)) if degrees > 0 else 1.0


def _p_text(value: float) -> str:
    return f"p < {_SMALLEST_P:g}" if value < _SMALLEST_P else f"p = {value:.2g}"


def normal_check(samples: Mapping[str, Floats]) -> Check:
    """Return whether skewness and kurtosis are those of a normal law, for every kind of record.

    The test of D'Agostino and Pearson, whose normal scores hold for small samples too.
    """
    usable = {name: one for name, one in samples.items() if one.size >= _FEWEST_VALUES and float(one.std()) > 0.0}
    if not usable:
        return Check(name="normal", holds=None, text=f"too few values to tell (fewer than {_FEWEST_VALUES})")
    worst, sample_name, shape = 1.0, "", (0.0, 0.0)
    for name, one in usable.items():
        z = (one - one.mean()) / one.std()
        skew, excess = float((z**3).mean()), float((z**4).mean()) - 3.0
        p = math.exp(-(_skew_score(skew, one.size) ** 2 + _kurtosis_score(excess, one.size) ** 2) / 2.0)
        if p <= worst:
            worst, sample_name, shape = p, name, (skew, excess)
    worst = min(1.0, worst * len(usable))  # the smallest of several
    of_sample = f" of {sample_name}" if sample_name else ""
    detail = f"skewness {shape[0]:.2f}, excess kurtosis {shape[1]:.2f}{of_sample}, {_p_text(worst)}"
    if worst < SIGNIFICANCE:
        return Check(name="normal", holds=False, text=f"values are not normal: {detail}")
    return Check(name="normal", holds=None, text=f"nothing contradicts normal values ({detail})")


def _skew_score(skew: float, n: int) -> float:
    """Return the skewness of n values as a standard normal score (D'Agostino 1970)."""
    y = skew * math.sqrt((n + 1.0) * (n + 3.0) / (6.0 * (n - 2.0)))
    spread = 3.0 * (n * n + 27.0 * n - 70.0) * (n + 1.0) * (n + 3.0)
    w = math.sqrt(2.0 * (spread / ((n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0)) - 1.0)) - 1.0  # w squared
    return math.asinh(y / math.sqrt(2.0 / (w - 1.0))) / math.sqrt(0.5 * math.log(w))


def _kurtosis_score(excess: float, n: int) -> float:
    """Return the kurtosis of n values as a standard normal score (Anscombe and Glynn 1983)."""
    mean = 3.0 * (n - 1.0) / (n + 1.0)
    variance = 24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0) ** 2 * (n + 3.0) * (n + 5.0))
    x = (excess + 3.0 - mean) / math.sqrt(variance)
    tilt = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0))
    tilt *= math.sqrt(6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0)))
    a = 6.0 + 8.0 / tilt * (2.0 / tilt + math.sqrt(1.0 + 4.0 / tilt**2))
    base = (1.0 - 2.0 / a) / (1.0 + x * math.sqrt(2.0 / (a - 4.0)))
    return (1.0 - 2.0 / (9.0 * a) - math.copysign(abs(base) ** (1.0 / 3.0), base)) / math.sqrt(2.0 / (9.0 * a))


def group_checks(covariances: Sequence[Floats], counts: Sequence[int], *, kinds: bool) -> list[Check]:
    """Return the hypotheses about covariances: positive definite, equal variances, rho (m - 2) < 1."""
    smallest = min(gaussian.smallest_eigenvalue(one) for one in covariances)
    checks = [
        Check(
            name="positive-definite",
            holds=smallest > 0.0,
            text=f"smallest eigenvalue of the correlations {smallest:.4g}",
        ),
        _variance_check(covariances, counts, kinds=kinds),
    ]
    pairs = [(int(one.shape[0]), gaussian.largest_correlation(one)) for one in covariances]
    m, rho = max(pairs, key=lambda pair: pair[1] * (pair[0] - 2))
    checks.append(
        Check(
            name="rho(m-2)<1",
            holds=rho * (m - 2) < 1.0,
            text=f"largest correlation {max(r for _, r in pairs):.4g}, groups of at most {max(k for k, _ in pairs)}",
        )
    )
    return checks


def _variance_check(covariances: Sequence[Floats], counts: Sequence[int], *, kinds: bool) -> Check:
    if not kinds:
        text = "records of a group are taken to be of one kind; name their kinds if they are not"
        return Check(name="equal-variances", holds=None, text=text)
    sd = np.sqrt(np.concatenate([np.diag(one) for one in covariances]))
    low, high = float(sd.min()), float(sd.max())
    error = math.sqrt(1.0 / max(min(counts), 1))  # of the difference of two logarithms, nearly
    differ = math.log(high / low) > _Z * error
    detail = f"standard deviations from {low:.4g} to {high:.4g}"
    return Check(
        name="equal-variances",
        holds=False if differ else None,
        text=f"{detail}, further apart than chance explains" if differ else f"{detail}, not far enough apart to tell",
    )


def independence_check(means: Floats) -> Check:
    """Return what neighbouring groups of the file have in common; independence itself cannot be seen in one table."""
    name = "independent-groups"
    if means.size < _FEWEST_VALUES or float(means.std()) == 0.0:
        return Check(name=name, holds=None, text="groups are taken to be independent of each other")
    r = float(np.corrcoef(means[:-1], means[1:])[0, 1])
    detail = f"means of neighbouring groups have correlation {r:.2f}"
    if abs(r) > _Z / math.sqrt(means.size):
        text = f"{detail}: the file is sorted, or groups depend on each other, which no bound here covers"
        return Check(name=name, holds=None, text=text)
    return Check(name=name, holds=None, text=f"taken to be independent; {detail}, no sign of the contrary")


def _likelihood_ratio(counts: Counts, expected: Counts) -> float:
    positive = counts > 0.0
    return float(2.0 * (counts[positive] * np.log(counts[positive] / expected[positive])).sum())


def _homogeneous(name: str, compared: str, counts: Counts) -> Check:
    """Return whether parts of a series (first axis) have the same transitions."""
    whole = counts.sum(axis=0)
    departures = whole.sum(axis=1, keepdims=True)
    rates = np.divide(whole, departures, out=np.zeros_like(whole), where=departures > 0.0)
    statistic = _likelihood_ratio(counts, counts.sum(axis=2, keepdims=True) * rates[None])
    parts = (counts.sum(axis=2) > 0.0).sum(axis=0)
    degrees = float(((parts - 1).clip(0) * ((whole > 0.0).sum(axis=1) - 1).clip(0)).sum())
    if counts.sum() < _FEW_STEPS or degrees == 0.0:
        return Check(name=name, holds=None, text=f"too few transitions to compare {compared}")
    p = tail(statistic, degrees)
    if p < SIGNIFICANCE:
        return Check(name=name, holds=False, text=f"transitions differ between {compared} ({_p_text(p)})")
    return Check(name=name, holds=None, text=f"no difference seen between {compared} ({_p_text(p)})")


def _order_check(triples: Counts) -> Check:
    """Return whether the state before the last one still matters."""
    before, after = triples.sum(axis=2), triples.sum(axis=0)
    middle = triples.sum(axis=(0, 2))
    rates = np.divide(after, middle[:, None], out=np.zeros_like(after), where=middle[:, None] > 0.0)
    statistic = _likelihood_ratio(triples, before[:, :, None] * rates[None])
    branches = ((after > 0.0).sum(axis=1) - 1).clip(0)
    degrees = float((((before > 0.0).sum(axis=0) - 1).clip(0) * branches).sum())
    name = "one-step-memory"
    if triples.sum() < _FEW_STEPS or degrees == 0.0:
        return Check(name=name, holds=None, text="too few transitions to see a longer memory")
    p = tail(statistic, degrees)
    if p < SIGNIFICANCE:
        return Check(name=name, holds=False, text=f"a state depends on more than the one before it ({_p_text(p)})")
    return Check(name=name, holds=None, text=f"no sign of a longer memory ({_p_text(p)})")


def _table(pairs: Ints, size: int) -> Counts:
    shape = (size,) * pairs.shape[1]
    flat = np.ravel_multi_index(tuple(pairs.T), shape)
    return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(float)


def chain_checks(states: Ints, P: Floats, *, period: int | None) -> list[Check]:
    """Return the hypotheses about a series of states (-1 = missing): H1, H2, one step of memory, homogeneity."""
    size = P.shape[0]
    consecutive = (states[:-1] >= 0) & (states[1:] >= 0)
    place = np.flatnonzero(consecutive)
    pairs = np.column_stack([states[place], states[place + 1]])
    counts = _table(pairs, size)
    rare = int(counts.min())
    low = float(P.min())
    text = f"smallest transition probability {low:.4g}, seen {rare} times" if rare else "a transition was never seen"
    checks = [Check(name="positive", holds=rare > 0, text=text)]
    halves = np.stack([_table(pairs[half], size) for half in np.array_split(np.arange(len(pairs)), 2)])
    checks.append(_homogeneous("stationary", "the first and the second half", halves))
    if period is not None:
        phase = (place % period) * _PHASES // period
        parts = np.stack([_table(pairs[phase == k], size) for k in range(_PHASES)])
        checks.append(_homogeneous("same-all-day", f"parts of a period of {period}", parts))
    triple = np.flatnonzero(consecutive[:-1] & consecutive[1:])
    checks.append(_order_check(_table(np.column_stack([states[triple], states[triple + 1], states[triple + 2]]), size)))
    time = markov.mixing_time(P, SIGNIFICANCE)
    if time is not None:
        text = f"after {time} steps the start is forgotten (within {SIGNIFICANCE:g} in total variation)"
        checks.append(Check(name="mixing", holds=True, text=text))
    return checks
