"""Which of two values a report of a known protocol is evidence for: likelihood ratios over random pairs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..attacks.posterior_attack import number_of_reports, slice_reports
from ..errors import ParameterError, UnsupportedError
from ..numerics.lazy_numpy import Floats, Ints, np
from .epsilon_limits import Tally

if TYPE_CHECKING:
    from ..mechanisms.capabilities import Release

__all__ = ["as_reports", "count_evidence", "evidence_level", "random_pairs"]

_PILOT = 20_000
_ENTRIES = 4_000_000
_TIE = 1e-12


def random_pairs(m: int, count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return uniformly random pairs of different values."""
    first = rng.integers(0, m, size=count)
    other = rng.integers(0, m - 1, size=count)
    return first, other + (other >= first)


def as_reports(release: Release | None, outputs: Any) -> Any:
    """Return outputs as reports of the protocol, if one is known; raise where they are words or numbers of another.

    Read as reports those would be evidence for no value, and an audit of them would find nothing whatever they leak.
    """
    reports = outputs if isinstance(outputs, tuple) else np.asarray(outputs)
    if release is None or release.sample is None or release.finite is None:
        return reports
    sample = release.sample(np.zeros(1, dtype=np.intp), np.random.default_rng(0))
    if np.ndim(sample) != 1:  # sets, bits or hashes, which are read more carefully
        return reports
    array, most = np.asarray(reports), release.finite.outputs - 1
    whole = array.ndim == 1 and (
        array.dtype.kind in "iu" or (array.dtype.kind == "f" and bool(np.all(array == np.rint(array))))
    )
    if not whole or (array.size and not 0 <= array.min() <= array.max() <= most):
        allowed = f"one whose outputs are reports of {release.name}, whole numbers from 0 to {most}"
        raise ParameterError("sampler", allowed, "others", "Leave the protocol out to audit without knowing it.")
    return array.astype(np.intp)


def evidence_for_first(release: Release, reports: Any, first: Ints, other: Ints) -> Floats:
    """Return for each report the logarithm of how much likelier it is for the first value than for the other."""
    n = first.size
    rows = np.arange(n)
    try:
        if release.diagonal is not None:
            array = np.asarray(reports)
            return np.asarray((array == first).astype(float) - (array == other))
        if release.sets is not None:
            contained = [release.sets.holds(reports, rows, values).astype(float) for values in (first, other)]
            return np.asarray(contained[0] - contained[1])
        return _by_likelihood(release, reports, first, other)
    except (IndexError, TypeError, ValueError) as error:
        hint = f"({type(error).__name__} while reading them.) Leave the protocol out to audit without knowing it."
        raise ParameterError("sampler", f"one whose outputs are reports of {release.name}", "others", hint) from error


def _by_likelihood(release: Release, reports: Any, first: Ints, other: Ints) -> Floats:
    if release.likelihoods is None or release.inputs is None:
        message = f"{release.name} does not say how likely a report is; audit it without naming a protocol"
        raise UnsupportedError(message)
    n = number_of_reports(reports)
    gain = np.empty(n)
    for start in range(0, n, step := max(1, _ENTRIES // release.inputs)):
        some = slice(start, min(start + step, n))
        logs = release.likelihoods(slice_reports(reports, some))
        rows = np.arange(logs.shape[0])
        with np.errstate(invalid="ignore"):
            gain[some] = np.nan_to_num(logs[rows, first[some]] - logs[rows, other[some]])
    return gain


def evidence_level(release: Release, trials: int, failure: float, delta: float, rng: np.random.Generator) -> float:
    """Return the log-likelihood ratio from which on a report counts as evidence for a value.

    Chosen on reports drawn from the protocol's own description, not on the audited ones, so it is fixed beforehand:
    the level at which the test may expect the largest lower bound.
    """
    if release.diagonal is not None or release.sets is not None or release.sample is None or release.inputs is None:
        return 0.5  # a report is evidence for a value or is not; there are no degrees
    count = max(100, min(_PILOT, _ENTRIES // release.inputs))
    first, other = random_pairs(release.inputs, count, rng)
    gain = evidence_for_first(release, release.sample(first, rng), first, other)
    top = float(np.abs(gain).max())
    if top <= _TIE:
        return 0.5
    levels = np.unique(np.clip(np.quantile(np.abs(gain), np.linspace(0.0, 1.0, 60)), 1e-9 * top, top * (1.0 - 1e-9)))
    best, best_level = -1.0, float(levels[0])
    for level in levels.tolist():
        for_first, for_other = (int(np.count_nonzero(side >= level)) for side in (gain, -gain))
        # What the audit may expect of this many reports, moved by a standard deviation to the cautious side.
        scale = trials / count
        cautious = max(0.0, for_first - math.sqrt(for_first)), for_other + math.sqrt(for_other) + 1.0
        tally = Tally(round(scale * cautious[0]), trials, round(scale * cautious[1]), trials, decided=True)
        value = tally.epsilon_lower(delta, failure, always=False)
        if value > best:
            best, best_level = value, level
    return best_level


def count_evidence(release: Release, reports: Any, first: Ints, other: Ints, level: float) -> Tally:
    """Return how many reports are evidence for the first value, and how many for the other.

    Notes
    -----
    If reports are made for ``first`` and pairs are drawn in a symmetric way, epsilon-DP means that the first count is
    on average at most e^epsilon times the second: the pairs exchanged, it is the same event seen from the other value.
    Every report counts at most once, so the first of both counts is binomial given their sum.
    """
    gain = evidence_for_first(release, reports, first, other)
    for_first, for_other = (int(np.count_nonzero(side >= level)) for side in (gain, -gain))
    return Tally(for_first, first.size, for_other, first.size, decided=True)
