"""Gaussian groups: how far the unknown records move with the target ([GuerraThesis] Lemma 6.10).

Notation: a target i, known records K, unknown records U. Given K, unknown record u moves by
beta_u = Cov(u, i | K) / Var(i | K) for each unit the target moves, so the leakage per unit of a mechanism that is
epsilon-private in the l1 distance is epsilon (1 + sum_u |beta_u|). The *reach* is the largest value of that factor.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..numerics.lazy_numpy import Bools, Floats, np
from ..params import Param

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["RHO", "Reach", "equal_variances", "h", "h_tight", "largest_correlation", "reach", "rho_where_h_helps"]

RHO = Param(name="rho", low=0.0, high=1.0, what="the largest correlation between two records", typical=(0.0, 1.0))
MOST_LISTED = 15  # all adversaries of a group of this size are listed
_AT_ONCE = 12  # this many of the records are worked on together: 2^12 matrices
_MOST_NODES = 20_000
_MOST_KINDS = 5_000
_EQUAL = 1e-9
_ALIKE = 1e-13
_SINGULAR = 1e-10  # of the smallest eigenvalue of the correlations
_ROUNDING = 8.0 * sys.float_info.epsilon


def _feasible(m: int, rho: float) -> None:
    if rho * (m - 2) >= 1.0:
        hint = "Theorem 6.11 does not apply otherwise; use the covariance itself."
        raise ParameterError("h", f"used with rho (m - 2) < 1 (m = {m})", f"rho {rho:g}", hint)


def h(m: int, rho: float) -> float:
    """Factor between the leakage of m correlated and of independent records.

    Guarantee
    ---------
    An upper bound on the leakage divided by epsilon, for target values within the clip interval.

    Assumes
    -------
    Jointly Gaussian records with equal variances, correlations of at most ``rho`` in absolute value, rho (m-2) < 1, and
    a mechanism that is private in the l1 distance.

    Notes
    -----
    [GuerraThesis] Theorem 6.11 (printed there without epsilon).

    Examples
    --------
    >>> round(h(3, 0.275), 6), round(h(2, 0.4483), 6)
    (1.853448, 1.4483)
    """
    rho = RHO.check("h", rho)
    _feasible(m, rho)
    return 1.0 if rho == 0.0 or m < 2 else 1.0 + m * m / (4.0 * (1.0 / rho - m + 2.0))


def h_tight(m: int, rho: float) -> float:
    """Factor of :func:`h` with the number of known records kept through the proof.

    Notes
    -----
    The proof of [GuerraThesis] Theorem 6.11 bounds numerator and denominator at different numbers of known records;
    taking the largest of the quotients instead is at most h.

    Examples
    --------
    >>> round(h_tight(3, 0.275), 6), round(h_tight(4, 0.2), 6)
    (1.758621, 2.0)
    """
    rho = RHO.check("h_tight", rho)
    _feasible(m, rho)
    if rho == 0.0 or m < 2:
        return 1.0
    return 1.0 + max((m - 1 - k) * (k + 1) / (1.0 / rho - k) for k in range(m - 1))


def rho_where_h_helps(m: int) -> float:
    """Largest correlation at which h is at most m ([GuerraThesis] Equation 6.43).

    Examples
    --------
    >>> round(rho_where_h_helps(3), 6), rho_where_h_helps(2)
    (0.470588, 1.0)
    """
    return (m - 1) / (1.25 * m * m - 3.0 * m + 2.0)


def equal_variances(covariance: Floats) -> bool:
    """Return whether the diagonal is constant, as [GuerraThesis] Definition 6.9 requires.

    Examples
    --------
    >>> equal_variances(np.array([[4.0, 1.0], [1.0, 4.0]]))
    True
    """
    diagonal = np.diag(covariance)
    return bool(np.ptp(diagonal) <= _EQUAL * diagonal.max())


def correlations(covariance: Floats) -> Floats:
    """Return the matrix of correlations."""
    sd = np.sqrt(np.diag(covariance))
    return np.asarray(covariance / np.outer(sd, sd))


def largest_correlation(covariance: Floats) -> float:
    """Return the largest correlation between two records, in absolute value; 0 for a single record.

    Examples
    --------
    >>> largest_correlation(np.array([[4.0, -1.0], [-1.0, 4.0]]))
    0.25
    """
    off = np.abs(correlations(covariance))
    np.fill_diagonal(off, 0.0)
    return float(off.max())


@dataclass(frozen=True, slots=True)
class Reach:
    """The factor, and how it was computed; ``value`` is None where the covariance is singular."""

    value: float | None
    how: str


def reach(covariance: Floats, width: float = 1.0, *, capped: bool = False) -> Reach:
    """Return the largest factor over all adversaries and targets of one group.

    Guarantee
    ---------
    The leakage is at most the value times epsilon, rounding included. ``width`` is how far apart two target values may
    be, in widths of the clip interval. ``capped``: records that are clipped move by at most one width each.

    Notes
    -----
    [GuerraThesis] Lemma 6.10, which needs no equal variances. Up to 15 records all 2^m (m/2) adversaries are listed by
    Schur updates. Above, only the numbers of known records of each kind are listed where many are alike. Where every
    record's covariances with the others sum to at most its variance in absolute value, the attacker who knows no other
    record is worst (docs/derivations/correlated.md); a search that conditions on records until this holds settles many
    other matrices, and eigenvalues bound the rest.

    Examples
    --------
    >>> import numpy as np
    >>> S = np.array([[20.4107**2, 0.448276 * 20.4107 * 15.0], [0.448276 * 20.4107 * 15.0, 225.0]])
    >>> round(reach(S).value, 5)
    1.60998
    """
    if covariance.shape[0] == 1:
        return Reach(min(1.0, width) if capped else width, "one record")
    smallest = float(np.linalg.eigvalsh(correlations(covariance))[0])
    if smallest < _SINGULAR:
        return Reach(None, "some record is a function of the others, up to rounding")
    m = covariance.shape[0]
    slack = 1.0 + _ROUNDING * m * m / smallest
    if m <= MOST_LISTED:
        value = max(
            _largest(batch, known, width, capped=capped) for batch, known in _conditional_covariances(covariance)
        )
        return Reach(float(value * slack), "all adversaries listed")
    factor, how = _largest_by_classes(covariance), "all adversaries listed up to records that are alike"
    if factor is None:
        factor, how = _search_adversaries(covariance), "worst adversary found by dominance"
    if factor is None:
        factor, how = _spectral(covariance), "by eigenvalues: too many adversaries to list"
    value = (min(1.0, width) if capped else width) + factor * width
    return Reach(float((min(value, m) if capped else value) * slack), how)


def _conditional_covariances(covariance: Floats) -> Iterator[tuple[Floats, Bools]]:
    """Yield batches of covariances given every set of known records, with the sets; known rows are 0."""
    m = covariance.shape[0]
    first = max(0, m - _AT_ONCE)

    def split(batch: Floats, known: Bools, j: int) -> tuple[Floats, Bools]:
        column = batch[:, :, j]
        conditional = batch - column[:, :, None] * column[:, None, :] / batch[:, j, j][:, None, None]
        conditional[:, j, :] = conditional[:, :, j] = 0.0
        with_j = known.copy()
        with_j[:, j] = True
        return np.concatenate([batch, conditional]), np.concatenate([known, with_j])

    stack = [(covariance[None].copy(), np.zeros((1, m), dtype=bool), 0)]
    while stack:
        batch, known, j = stack.pop()
        if j < first:  # one at a time, so that memory stays small
            halves, sets = split(batch, known, j)
            stack += [(halves[:1], sets[:1], j + 1), (halves[1:], sets[1:], j + 1)]
            continue
        for k in range(j, m):
            batch, known = split(batch, known, k)
        yield batch, known


def _largest(batch: Floats, known: Bools, width: float, *, capped: bool) -> float:
    """Return the largest factor over the targets of every set of known records."""
    variance = np.where(known, 1.0, np.diagonal(batch, axis1=1, axis2=2))
    moves = np.abs(batch) / variance[:, None, :] * width  # column i: how far the others move with target i
    if capped:
        np.minimum(moves, 1.0, out=moves)
    factors = moves.sum(axis=1)  # the diagonal is the target itself, which moves by the width
    return float(np.where(known, 0.0, factors).max())


def _exchangeable_classes(covariance: Floats) -> list[list[int]]:
    """Return the records in classes: exchanging two of a class leaves the covariance as it is."""
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    classes: list[list[int]] = []
    for i in range(covariance.shape[0]):
        for one in classes:
            order = np.arange(covariance.shape[0])
            order[[i, one[0]]] = one[0], i
            swapped = covariance[np.ix_(order, order)]
            if np.all(np.abs(swapped - covariance) <= _ALIKE * scale):
                one.append(i)
                break
        else:
            classes.append([i])
    return classes


def _largest_by_classes(covariance: Floats) -> float | None:
    """Return the largest sum_u |beta_u|, listing how many records of each class are known; None where too many."""
    classes = _exchangeable_classes(covariance)
    if math.prod(len(one) + 1 for one in classes) > _MOST_KINDS:
        return None
    best = 0.0
    for counts in product(*(range(len(one) + 1) for one in classes)):
        known = [i for one, count in zip(classes, counts, strict=True) for i in one[:count]]
        unknown = [i for one, count in zip(classes, counts, strict=True) for i in one[count:]]
        if len(unknown) < 2:
            continue
        conditional = covariance[np.ix_(unknown, unknown)]
        if known:
            cross = covariance[np.ix_(unknown, known)]
            conditional = conditional - cross @ np.linalg.solve(covariance[np.ix_(known, known)], cross.T)
        best = max(best, _dominance(conditional))
    return best


def _dominance(covariance: Floats) -> float:
    """Return the largest sum of |covariances| with the others over the variance of a record."""
    size = np.abs(covariance)
    return float(((size.sum(axis=0) - np.diag(size)) / np.diag(size)).max())


def _search_adversaries(covariance: Floats) -> float | None:
    """Return the largest sum_u |beta_u| over all adversaries, by conditioning until dominance settles the rest."""
    best, nodes = 0.0, 0
    stack: list[tuple[Floats, int]] = [(covariance, 0)]  # records before the index stay unknown or are targets
    while stack:
        matrix, start = stack.pop()
        nodes += 1
        if nodes > _MOST_NODES:
            return None
        dominance = _dominance(matrix)
        best = max(best, dominance)
        if dominance <= 1.0:
            continue  # an attacker who knows more learns less: see the derivation
        for j in range(start, matrix.shape[0]):
            if matrix.shape[0] > 2:
                column = np.delete(matrix[:, j], j)
                submatrix = np.delete(np.delete(matrix, j, axis=0), j, axis=1)
                stack.append((submatrix - np.outer(column, column) / matrix[j, j], j))
    return best


def _spectral(covariance: Floats) -> float:
    """Return a bound on sum_u |beta_u|: in units of the standard deviations |beta|_2^2 <= (largest/smallest) - 1."""
    values = np.linalg.eigvalsh(correlations(covariance))
    variance = np.diag(covariance)
    others = float(np.sqrt((variance.sum() - variance) / variance).max())
    return others * math.sqrt(max(float(values[-1] / values[0]) - 1.0, 0.0))


def smallest_eigenvalue(covariance: Floats) -> float:
    """Return the smallest eigenvalue of the correlations: 0 where some record is a function of the others."""
    return float(np.linalg.eigvalsh(correlations(covariance))[0])


def target_distance(clip: tuple[float, float], targets: tuple[float, float]) -> float:
    """Return how far apart two target values may be, in widths of the clip interval.

    Examples
    --------
    >>> target_distance((40.0, 160.0), (20.0, 160.0))
    1.1666666666666667
    """
    width = clip[1] - clip[0]
    difference = targets[1] - targets[0]
    return difference / width if math.isfinite(difference) else math.inf
