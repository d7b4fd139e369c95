"""A continuous prior in quantile coordinates: Theorem 4.3 as written, by sums that are refined once.

The record is Q(u) with u uniform on [0, 1]; a window [g - eta, g + eta] is the stretch of u from F(g - eta) to
F(g + eta). For each of many outputs the likelihoods of n records in the middle of equal stretches of u are added up,
and the best of many guesses is taken. The difference between two resolutions estimates the error, which is of second
order except at kinks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

if TYPE_CHECKING:
    from collections.abc import Callable

Array = NDArray[np.float64]


class Question(NamedTuple):
    """Who asks what: law on [low, high]; kind of noise, its scale, ends of the output and what they mean."""

    law: object
    low: float
    high: float
    kind: str  # laplace or gaussian
    scale: float
    eta: float
    known: bool
    ends: tuple[float, float] | None = None
    clamped: bool = True  # or renormalised on the ends


class Reference(NamedTuple):
    """Values, and how far they moved when the grids were refined."""

    rad: float
    success: float
    moved: float


def density(question: Question, x: Array) -> Array:
    s = question.scale
    if question.kind == "laplace":
        return np.exp(-np.abs(x) / s) / (2 * s)
    return np.exp(-0.5 * (x / s) ** 2) / (s * math.sqrt(2 * math.pi))


def cumulative(question: Question, x: Array) -> Array:
    u = x / question.scale
    if question.kind == "gaussian":
        return ndtr(u)
    return np.where(u < 0, 0.5 * np.exp(np.minimum(u, 0)), 1 - 0.5 * np.exp(-np.maximum(u, 0)))


def _range(question: Question, records: Array) -> tuple[float, float]:
    far = question.scale * (24 if question.kind == "laplace" else 8)
    low, high = records[0] - far, records[-1] + far
    if question.ends is None:
        return low, high
    return max(low, question.ends[0]), min(high, question.ends[1])


def _rows(question: Question, records: Array, outputs: int) -> tuple[Array, Array]:
    """Return outputs and their weights: a uniform grid and one that follows the records, merged."""
    low, high = _range(question, records)
    if not low < high:
        return np.empty(0), np.empty(0)
    near = records[:: max(1, records.size // outputs)]
    edges = np.unique(np.clip(np.concatenate([np.linspace(low, high, outputs + 1), near]), low, high))
    return (edges[1:] + edges[:-1]) / 2, np.diff(edges)


def at_resolution(question: Question, n: int, outputs: int, guesses: int) -> tuple[float, float]:
    """Return rad and success on one grid."""
    law, low, high, eta = question.law, question.low, question.high, question.eta
    start, stop = float(law.cdf(low)), float(law.cdf(high))
    records = np.clip(law.ppf(start + (np.arange(n) + 0.5) / n * (stop - start)), low, high)
    share: Callable[[Array], Array] = lambda x: (law.cdf(np.clip(x, low, high)) - start) / (stop - start)  # noqa: E731
    centre = np.unique(np.concatenate([records[:: max(1, n // guesses)], np.linspace(low, high, guesses // 4)]))
    g = np.unique(np.clip(np.concatenate([centre, centre - eta, centre + eta, [low, high]]), low, high))
    left, right = share(g - eta), share(g + eta)
    # The part of each stretch of u whose records some guess misses: not within eta of both ends.
    first, last = (float(share(np.array(x))) for x in (high - eta, low + eta))
    edges = np.arange(n + 1) / n
    free = 1 - n * np.clip(np.minimum(edges[1:], last) - np.maximum(edges[:-1], first), 0, None)
    y, weight = _rows(question, records, outputs)
    scale = np.ones(n)
    if question.ends is not None and not question.clamped:
        scale = 1 / (
            cumulative(question, question.ends[1] - records) - cumulative(question, question.ends[0] - records)
        )
    rad = success = 0.0

    def add(table: Array, w: Array) -> None:
        nonlocal rad, success
        p = table.mean(axis=1)
        if question.known:
            rad += float(w @ (np.maximum(table - p[:, None], 0) * free).mean(axis=1))
            success += float(w @ p)
            return
        running = np.concatenate([np.zeros((table.shape[0], 1)), np.cumsum(table, axis=1)], axis=1) / n
        hits = _interpolated(running, right) - _interpolated(running, left)
        rad += float(w @ (hits - p[:, None] * (right - left)).max(axis=1))
        success += float(w @ hits.max(axis=1))

    for k in range(0, y.size, step := 200):
        part = y[k : k + step]
        add(density(question, part[:, None] - records) * scale, weight[k : k + step])
    if question.ends is not None and question.clamped:
        below = cumulative(question, question.ends[0] - records)
        add(np.stack([below, cumulative(question, records - question.ends[1])]), np.ones(2))
    return rad, success


def _interpolated(running: Array, u: Array) -> Array:
    place = u * (running.shape[1] - 1)
    index = np.minimum(place.astype(int), running.shape[1] - 2)
    t = place - index
    return running[:, index] * (1 - t) + running[:, index + 1] * t


def reference(question: Question, n: int = 2000, outputs: int = 1000, guesses: int = 400) -> Reference:
    """Return both values, extrapolated from two resolutions, and the larger one of the two changes."""
    coarse = at_resolution(question, n // 2, outputs // 2, guesses // 2)
    fine = at_resolution(question, n, outputs, guesses)
    moved = max(abs(f - c) for f, c in zip(fine, coarse, strict=True))
    return Reference(fine[0], fine[1], moved)
