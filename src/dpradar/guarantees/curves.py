"""Trade-off curves: the least false-negative rate of any test between neighbours, given its false-positive rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import NumericsError, ParameterError
from ..numerics.lazy_numpy import ArrayLike, Floats, np
from ..numerics.special import ndtr, ndtri
from ..params import as_floats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "TradeoffCurve",
    "approx_curve",
    "gaussian_curve",
    "laplace_curve",
    "larger_curve",
    "likelihood_curve",
    "piecewise_curve",
]


@dataclass(frozen=True, slots=True, eq=False)
class TradeoffCurve:
    """A convex trade-off curve f that holds in both orders of the neighbours.

    ``peak`` is a point where the gap 1 - f(x) - x is largest; the gap is concave, so its maximum over an interval is
    at the point of the interval nearest to the peak. No grid is involved.
    """

    fnr: Callable[[Floats], Floats]
    top: float | Callable[[], float]

    @property
    def peak(self) -> float:
        """The peak, computed when first asked for where that takes work."""
        return self.top() if callable(self.top) else self.top

    def at(self, fpr: float) -> float:
        """Return the false-negative rate at one false-positive rate."""
        rate = float(self.fnr(np.asarray([fpr], dtype=float))[0])
        if math.isnan(rate):
            message = f"a trade-off curve has no value at {fpr!r}. Please report this."
            raise NumericsError(message)
        return min(max(rate, 0.0), 1.0)

    def gap(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return the maximum of 1 - f(x) - x over [low, high].

        Examples
        --------
        >>> round(gaussian_curve(1.0).gap(), 6)
        0.382925
        """
        x = min(max(self.peak, low), high)
        return max(0.0, 1.0 - self.at(x) - x)


# Beyond these the peak of the gap underflows; the curve 0 is then right to 1e-150 and on the safe side.
_LARGEST_EPSILON, _LARGEST_MU = 700.0, 50.0


def _no_privacy() -> TradeoffCurve:
    return TradeoffCurve(np.zeros_like, 0.0)


def gaussian_curve(mu: float) -> TradeoffCurve:
    """Return G_mu, the curve of two unit Gaussians at distance mu (Dong, Roth and Su 2022, Definition 4)."""
    if mu > _LARGEST_MU:
        return _no_privacy()

    def fnr(x: Floats) -> Floats:
        return np.asarray(ndtr(-(ndtri(x) + mu))) if mu > 0.0 else 1.0 - x

    return TradeoffCurve(fnr, float(ndtr(-mu / 2.0)))


def approx_curve(epsilon: float, delta: float) -> TradeoffCurve:
    """Return the curve of (epsilon, delta)-DP: max{0, 1-delta-e^eps x, e^-eps (1-delta-x)}.

    The smallest false-negative rate that (epsilon, delta)-DP allows at a false-positive rate x: Dong, Roth and Su
    (2022), Proposition 2.5.

    Examples
    --------
    >>> round(approx_curve(1.0, 0.01).at(0.05), 6)
    0.854086
    """
    if epsilon > _LARGEST_EPSILON:
        return _no_privacy()

    def fnr(x: Floats) -> Floats:
        # e^eps x is formed in log space: epsilon = 800 must not overflow into a warning.
        with np.errstate(divide="ignore", over="ignore"):
            steep = 1.0 - delta - np.exp(np.minimum(epsilon + np.log(x), 50.0))
        flat = math.exp(-epsilon) * (1.0 - delta - x)
        return np.maximum(0.0, np.maximum(steep, flat))

    # Symmetric: the gap is largest where f(x) = x.
    return TradeoffCurve(fnr, (1.0 - delta) * math.exp(-epsilon) / (1.0 + math.exp(-epsilon)))


def laplace_curve(epsilon: float) -> TradeoffCurve:
    """Return the curve of two Laplace distributions whose centres are epsilon scales apart.

    Notes
    -----
    Dong, Roth and Su (2022), Lemma A.6 of the arXiv version: 1 - e^eps x, then e^-eps/(4x), then e^-eps (1-x).
    """
    if epsilon > _LARGEST_EPSILON:
        return _no_privacy()

    def fnr(x: Floats) -> Floats:
        small, half = math.exp(-epsilon), 0.5
        with np.errstate(divide="ignore", over="ignore"):
            middle = small / (4.0 * x)
            steep = 1.0 - np.exp(np.minimum(epsilon + np.log(x), 50.0))
        return np.where(x < small / 2.0, steep, np.where(x <= half, middle, small * (1.0 - x)))

    return TradeoffCurve(fnr, math.exp(-epsilon / 2.0) / 2.0)


def piecewise_curve(fpr: ArrayLike, fnr: ArrayLike) -> TradeoffCurve:
    """Return the largest convex curve below the given points, joined to (0, 1) and (1, 0).

    Points given must lie on or below the true curve's chords for the result to be a guarantee: joining points of a
    true trade-off curve by chords runs *above* it, so pass the break points of a piecewise-linear curve.
    """
    hint = "Give the break points of the curve: false-positive rates and the false-negative rates at them."
    allowed = "as many rates in [0, 1] for fpr as for fnr"
    rate_arrays = [as_floats("Tradeoff", allowed, rates, hint) for rates in (fpr, fnr)]
    if rate_arrays[0].shape != rate_arrays[1].shape or rate_arrays[0].ndim != 1:
        raise ParameterError("Tradeoff", allowed, f"{rate_arrays[0].size} and {rate_arrays[1].size}", hint)
    if not all(np.all((rates >= 0.0) & (rates <= 1.0)) for rates in rate_arrays):
        raise ParameterError("Tradeoff", allowed, "a rate outside [0, 1]", hint)
    x, y = np.concatenate([[0.0], rate_arrays[0], [1.0]]), np.concatenate([[1.0], rate_arrays[1], [0.0]])
    order = np.lexsort((y, x))
    hull: list[tuple[float, float]] = []
    for px, py in zip(x[order].tolist(), y[order].tolist(), strict=True):
        if hull and px == hull[-1][0]:
            continue  # the lower of two points at the same place came first
        while len(hull) > 1 and _not_convex(hull[-2], hull[-1], (px, py)):
            hull.pop()
        hull.append((px, py))
    hx, hy = (np.array(c) for c in zip(*hull, strict=True))
    # Between two points rounding may leave [0, 1].
    return TradeoffCurve(lambda t: np.clip(np.interp(t, hx, hy), 0.0, 1.0), float(hx[np.argmax(1.0 - hy - hx)]))


def _not_convex(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) <= 0.0


def larger_curve(curves: Sequence[TradeoffCurve]) -> TradeoffCurve:
    """Return the pointwise largest of several curves that all hold, each with the largest gap where it has one.

    Examples
    --------
    >>> both = larger_curve([gaussian_curve(1.0), approx_curve(0.5, 0.0)])
    >>> both.at(0.01) == max(gaussian_curve(1.0).at(0.01), approx_curve(0.5, 0.0).at(0.01))
    True
    """
    if len(curves) == 1:
        return curves[0]

    def fnr(x: Floats) -> Floats:
        return np.asarray(np.max([curve.fnr(x) for curve in curves], axis=0))

    return TradeoffCurve(fnr, _peak(fnr, [curve.peak for curve in curves]))


def _peak(fnr: Callable[[Floats], Floats], bends: Sequence[float]) -> float:
    """Return where 1 - f(x) - x is largest, by a shrinking grid: the gap is concave."""
    low, high = 0.0, 1.0
    best = 0.0
    for _ in range(14):
        x = np.unique(np.concatenate([np.linspace(low, high, 33), [p for p in bends if low <= p <= high]]))
        i = int(np.argmax(1.0 - fnr(x) - x))
        best = float(x[i])
        low, high = float(x[max(i - 1, 0)]), float(x[min(i + 1, x.size - 1)])
    return best


def likelihood_curve(null: ArrayLike, alternative: ArrayLike) -> TradeoffCurve:
    """Return the exact curve between two finite distributions (Neyman and Pearson): reject the largest ratios first.

    Examples
    --------
    >>> likelihood_curve([0.25, 0.75], [0.75, 0.25]).at(0.25)
    0.25
    """
    p0, p1 = np.asarray(null, dtype=float), np.asarray(alternative, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(p0 > 0.0, p1 / p0, np.inf)
    order = np.argsort(-ratio, kind="stable")
    fpr = np.minimum(np.cumsum(p0[order]), 1.0)
    fnr = np.maximum(1.0 - np.cumsum(p1[order]), 0.0)
    return piecewise_curve(fpr, fnr)
