"""Small finite models: the leakage by going through every attacker, target, known value and output."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from ..errors import ParameterError, UnsupportedError
from ..numerics.lazy_numpy import Floats, np
from ..params import as_floats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .models import Joint

__all__ = ["channel_leakage", "checked_channel", "laplace_leakage", "sensitivity"]

MOST_WORK = 2e9  # additions: a few seconds
_ROUNDING = 1e-12
_FAR = -600.0  # logarithms of densities that floats still hold
_SUM_TOLERANCE = 1e-9


def sensitivity(query: Floats) -> float:
    """Return how much the query changes at most when one record is replaced.

    Examples
    --------
    >>> sensitivity(np.array([[0.0, 1.0], [1.0, 3.0]]))
    2.0
    """
    return float(max(np.ptp(query, axis=axis).max() for axis in range(query.ndim)))


def laplace_leakage(model: Joint, query: Floats, scale: float) -> float:
    """Leakage of Laplace noise on a query of all records, over all attackers.

    Guarantee
    ---------
    The exact value (rounding errors below 1e-12 relatively), for this model, query and noise.

    Notes
    -----
    [GuerraThesis] Definitions 2.26 and 2.27; 0/0 counts as a ratio of 1, and values of records that cannot occur
    together with what is known are not compared. Only outputs at values of the query are looked at: between two of them
    every mixture of noise is a e^(t/scale) + b e^(-t/scale), and the ratio of two mixtures is monotone; beyond them it
    is constant.

    Examples
    --------
    >>> from dpradar.correlated import Joint
    >>> family = Joint([[0.45, 0.05], [0.05, 0.45]])
    >>> round(laplace_leakage(family, family.total(), 1.0), 6)
    1.776137
    """
    places = np.unique(query)
    index = np.searchsorted(places, query.ravel())
    outputs = np.zeros((query.size, places.size))
    outputs[np.arange(query.size), index] = 1.0
    exponents = -np.abs(places[:, None] - places[None, :]) / scale
    return _leakage(model, outputs, lambda law: _log_mixture(law, exponents))


def _log_mixture(law: Floats, exponents: Floats) -> Floats:
    """Return the logarithms of mixtures of noise at all places; far places are added up as logarithms."""
    with np.errstate(divide="ignore"):
        if exponents.min() > _FAR:
            return np.asarray(np.log(law @ np.exp(exponents)))
        log = np.log(law)
        return np.stack([np.logaddexp.reduce(log + column, axis=-1) for column in exponents.T], axis=-1)


def channel_leakage(model: Joint, matrix: Floats) -> float:
    """Leakage of a mechanism with finitely many outputs, one row for each table of records (last record fastest).

    Guarantee
    ---------
    The exact value up to rounding, over all attackers, for this model and mechanism.

    Notes
    -----
    [GuerraThesis] Definitions 2.26 and 2.27, as for :func:`laplace_leakage`.

    Examples
    --------
    The first of two records, published with randomised response.

    >>> from dpradar.correlated import Joint
    >>> family = Joint([[0.45, 0.05], [0.05, 0.45]])
    >>> round(channel_leakage(family, np.array([[0.75, 0.25], [0.75, 0.25], [0.25, 0.75], [0.25, 0.75]])), 6)
    1.098612
    """
    with np.errstate(divide="ignore"):
        return _leakage(model, checked_channel(model, matrix), np.log)


def checked_channel(model: Joint, matrix: object) -> Floats:
    """Return the matrix of a mechanism on all tables of records, or raise."""
    hint = "Row k is the distribution of the output for the k-th table of records, the last record varying fastest."
    array = as_floats("channel", "a matrix", matrix, hint)
    size = model.probabilities.size
    if array.ndim != 2 or array.shape[0] != size or not np.all(np.isfinite(array)) or np.any(array < 0.0):
        raise ParameterError("channel", f"a matrix of {size} rows of probabilities", f"shape {array.shape}", hint)
    if np.any(np.abs(array.sum(axis=1) - 1.0) > _SUM_TOLERANCE):
        raise ParameterError("channel", "rows that sum to 1 (within 1e-9)", "others", hint)
    return np.asarray(array)


def _adversaries(records: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    for target in range(records):
        others = [j for j in range(records) if j != target]
        for count in range(records):
            for known in combinations(others, count):
                yield target, known


def _leakage(model: Joint, outputs: Floats, logs: Callable[[Floats], Floats]) -> float:
    """Return the largest log-ratio; ``outputs`` has a row for each table, ``logs`` of mixtures of rows what is seen."""
    joint = np.asarray(model.probabilities)
    n = joint.ndim
    if n * 2.0 ** (n - 1) * outputs.size > MOST_WORK:
        raise UnsupportedError(
            f"{n} records with {joint.size} tables have too many attackers to list. Use fewer records or values."
        )
    weighted = (joint.ravel()[:, None] * outputs).reshape(*joint.shape, outputs.shape[1])
    largest = 0.0
    for target, known in _adversaries(n):
        unknown = tuple(j for j in range(n) if j != target and j not in known)
        joint_outputs = np.moveaxis(weighted.sum(axis=unknown, keepdims=True), target, 0)
        joint_outputs = joint_outputs.reshape(
            joint.shape[target], -1, outputs.shape[1]
        )  # target value, known values, output
        mass = joint_outputs.sum(axis=2, keepdims=True)
        law = logs(np.divide(joint_outputs, mass, out=np.zeros_like(joint_outputs), where=mass > 0.0))
        possible = np.broadcast_to(mass > 0.0, law.shape)
        high = np.where(possible, law, -np.inf).max(axis=0)
        low = np.where(possible, law, np.inf).min(axis=0)
        comparable = (high > -np.inf) & (low < np.inf)  # some value is possible, and the output with it
        if comparable.any():
            largest = max(largest, float((high[comparable] - low[comparable]).max()))
    return largest * (1.0 + _ROUNDING)
