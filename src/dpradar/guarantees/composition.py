"""Several dominating pairs together: total variation, trade-off curve and epsilon at a delta, from the safe side."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from ..errors import MissingExtra, NumericsError
from ..numerics.lazy_numpy import Floats, Ints, np
from .accuracy import Accuracy, accuracy, note_grid
from .approx import tv_of_approx
from .curves import TradeoffCurve, approx_curve, gaussian_curve, larger_curve
from .gdp import gaussian_privacy
from .information import information_of
from .losses import SAME_LOSS, Losses, compose, grid_of, list_losses, pair_of_curve
from .pairs import GaussianPair
from .privacy import Privacy, Relation
from .renyi import renyi_curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .pairs import Pair, Pairs
    from .renyi import RenyiBound

__all__ = [
    "Composition",
    "compose_promises",
    "composed_tv",
    "composition",
    "concatenate_pairs",
    "forget_compositions",
    "gaussian_mu",
    "promise_of_pairs",
]

_ATTEMPTS = 14
_CLOSE, _WORSE = 1e-9, 1.005
_COARSEST = 1e6
_USUAL_TOLERANCE, _USUAL_CELLS = 0.01, 300_000
_FEW_CELLS, _FINEST = 25_000, 0.25
_FFT_NOISE = 1e-12
# A single loss beyond this matters to no event more likely than e^-60, hence to no rate anyone asks for; only to an
# epsilon as large, for which the cap is lifted.
_USUAL_CAP, _LARGEST_CAP = 60.0, 700.0


def gaussian_mu(pairs: Pairs) -> float | None:
    """Return the mu of Gaussian pairs together, sqrt(sum of times mu^2), or None when another pair is among them.

    Examples
    --------
    >>> gaussian_mu(((GaussianPair(1.0), 9), (GaussianPair(4.0), 1)))
    5.0
    """
    total = 0.0
    for pair, times in pairs:
        if not isinstance(pair, GaussianPair):
            return None
        total = math.hypot(total, math.sqrt(times) * pair.mu)  # without squares, which leave the range of numbers
    return total


@dataclass(frozen=True, eq=False)
class Composition:
    """The pairs on a grid of privacy losses of the given step; ``low`` bounds the total variation from below.

    Step 0: finite pairs whose losses are added up one by one, without a grid.
    """

    pairs: Pairs
    step: float
    low: float | None = None
    exact: bool = False
    cap: float = _USUAL_CAP

    @cached_property
    def symmetric(self) -> bool:
        """Whether both orders of every pair are the same."""
        return all(pair.swapped() == pair for pair, _ in self.pairs)

    @cached_property
    def _forward(self) -> Losses:
        return self._losses(self.pairs)

    @cached_property
    def _backward(self) -> Losses:
        return self._forward if self.symmetric else self._losses(swapped(self.pairs))

    def _losses(self, pairs: Pairs) -> Losses:
        one_by_one = list_losses(pairs) if self.step == 0.0 else None
        return self._on_a_grid(pairs, self.step) if one_by_one is None else one_by_one

    def _on_a_grid(self, pairs: Pairs, step: float) -> Losses:
        # One order may reach further than the other: a coarser grid is as valid, and lines of both mix freely.
        try:
            return compose(pairs, step, self.cap)
        except NumericsError:
            if step > _COARSEST * self.step:
                raise
            return self._on_a_grid(pairs, 2.0 * step)

    @property
    def size(self) -> int:
        """The number of privacy losses."""
        return self._backward.at.size

    @property
    def tv(self) -> float:
        """The total variation, from above."""
        return self._backward.delta(0.0)

    @cached_property
    def note(self) -> str:
        """How the numbers were computed, and how far off they can be."""
        if self.step == 0.0:
            return "privacy losses added up one by one: no discretisation error"
        if self.exact:
            return f"privacy losses lie on a grid of {self.step:.3g}: no discretisation error"
        interval = "" if self.low is None else f": the total variation lies in [{self.low:.6g}, {self.tv:.6g}]"
        return f"privacy losses rounded up on a grid of {self.step:.3g}{interval}"

    @property
    def smallest_delta(self) -> float:
        """The probability that counts as infinite loss: no epsilon is found at a smaller delta."""
        return max(self._forward.infinite, self._backward.infinite)

    def delta(self, epsilon: float) -> float:
        """Return the delta at an epsilon, in the worse of both orders."""
        forward = self._forward.delta(epsilon)
        return forward if self.symmetric else max(forward, self._backward.delta(epsilon))

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon >= 0 with this delta, in both orders; infinite when there is none."""
        epsilon = max(self._ahead.epsilon(delta), 0.0 if self.symmetric else self._back.epsilon(delta))
        if epsilon < 0.5 * self.cap or self.cap >= _LARGEST_CAP:
            return epsilon
        return min(epsilon, Composition(self.pairs, self.step, cap=_LARGEST_CAP).epsilon(delta))

    @cached_property
    def _ahead(self) -> _Lines:
        return _Lines.of(self._forward)

    @cached_property
    def _back(self) -> _Lines:
        return self._ahead if self.symmetric else _Lines.of(self._backward)

    @cached_property
    def _both(self) -> _Lines:
        return self._ahead if self.symmetric else _Lines.worse(self._forward, self._backward)

    def curve(self) -> TradeoffCurve:
        """Return the trade-off curve that holds in both orders: it is piecewise linear, and no point of it is lost."""
        return TradeoffCurve(lambda x: self._both.curve(x, self._both), lambda: self._both.peak)

    def directed_curve(self) -> TradeoffCurve:
        """Return the curve of P against Q, with false positives under Q."""
        return TradeoffCurve(lambda x: self._ahead.curve(x, self._back), lambda: self._ahead.peak)


def swapped(pairs: Pairs) -> Pairs:
    """Return every pair with P and Q exchanged."""
    return tuple((pair.swapped(), times) for pair, times in pairs)


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """delta at every grid point >= 0: the lines 1 - delta - e^t x below the curve, and where neighbours meet."""

    t: Floats
    deltas: Floats
    meets: Floats  # of line i with line i + 1, falling

    @classmethod
    def of(cls, losses: Losses) -> _Lines:
        t = losses.positive()
        return cls._joined(t, losses.deltas(t))

    @classmethod
    def worse(cls, one: Losses, other: Losses) -> _Lines:
        """Return the lines of the larger delta at every point: they hold in both orders."""
        t = np.union1d(one.positive(), other.positive())
        # The same loss computed in two orders differs by rounding; two lines that close have no meeting point.
        t = t[np.concatenate([[True], np.diff(t) > SAME_LOSS * (1.0 + t[1:])])]
        return cls._joined(t, np.maximum(one.deltas(t), other.deltas(t)))

    @classmethod
    def _joined(cls, t: Floats, deltas: Floats) -> _Lines:
        rise = np.diff(np.exp(np.minimum(t, 700.0)))
        with np.errstate(divide="ignore", invalid="ignore"):
            meets = np.nan_to_num(-np.diff(deltas) / rise)
        return cls(t, deltas, np.minimum.accumulate(np.clip(meets, 0.0, 1.0)))

    @property
    def peak(self) -> float:
        """Where 1 - f(x) - x is largest: the end of the line of slope -1."""
        return float(self.meets[0]) if self.meets.size else 0.0

    def curve(self, x: Floats, other: _Lines) -> Floats:
        """Return the largest of the steep lines of this order and the flat lines of the other, and 0."""
        return np.maximum(np.maximum(self._steep(x), other._flat(x)), 0.0)

    def _best(self, value: Floats, falling: Floats) -> Ints:
        return np.asarray(np.clip(np.searchsorted(-falling, -value, side="left"), 0, self.t.size - 1))

    def _steep(self, x: Floats) -> Floats:
        # Any line is a valid bound, so a neighbour chosen because of rounding costs nothing but tightness.
        line = self._best(x, self.meets)
        with np.errstate(over="ignore", invalid="ignore"):
            lost = np.where(x > 0.0, np.exp(np.minimum(self.t[line] + np.log(np.maximum(x, 1e-320)), 700.0)), 0.0)
        return np.asarray(1.0 - self.deltas[line] - lost)

    def _flat(self, x: Floats) -> Floats:
        # The mirror image: lines e^-t (1 - delta - x), meeting where the steep ones do with both axes exchanged.
        heights = 1.0 - self.deltas[1:] - np.exp(np.minimum(self.t[1:], 700.0)) * self.meets
        rising = np.maximum.accumulate(np.clip(np.nan_to_num(heights), 0.0, 1.0))
        line = np.clip(np.searchsorted(rising, x, side="left"), 0, self.t.size - 1)
        return np.asarray(np.exp(-self.t[line]) * (1.0 - self.deltas[line] - x))

    def epsilon(self, delta: float) -> float:
        """Return where delta(t) falls to ``delta``: between grid points it is a straight line in e^t."""
        low = np.flatnonzero(self.deltas <= delta)
        if low.size == 0:
            return math.inf
        i = int(low[0])
        if i == 0:
            return 0.0
        high_delta, low_delta = float(self.deltas[i - 1]), float(self.deltas[i])
        share = (high_delta - delta) / (high_delta - low_delta)
        step = float(self.t[i] - self.t[i - 1])
        return float(self.t[i - 1] + math.log1p(share * math.expm1(step)))


def composition(pairs: Pairs) -> Composition:
    """Return the pairs together, on a grid refined until the total variation is known to the requested accuracy.

    Guarantee
    ---------
    Everything is bounded from the safe side: each privacy loss distribution is replaced by one that dominates it
    (Doroshenko et al. 2022), what is cut off counts as infinite loss, and rounding is charged. ``low`` comes from
    distributions that the true ones dominate (docs/derivations/losses.md).
    """
    note_grid()
    return _composition(pairs, accuracy())


def forget_compositions() -> None:
    """Forget the compositions that are kept for the next question; to measure how long one takes."""
    _composition.cache_clear()


@lru_cache(maxsize=16)  # one may hold some 10 MB; a calibration asks for a few again and again
def _composition(pairs: Pairs, accuracy_goal: Accuracy) -> Composition:
    step, exact = grid_of(pairs, _USUAL_CAP)
    if list_losses(pairs) is not None and list_losses(swapped(pairs)) is not None:
        return Composition(pairs, 0.0, exact=True)
    if exact:
        return Composition(pairs, step, exact=True)
    coarse = accuracy_goal.coarseness or 1.0
    result = Composition(pairs, step * coarse)
    _ = result.tv
    if coarse <= 1.0 and result.size < _FEW_CELLS:  # then a finer grid costs next to nothing
        result = Composition(pairs, step * max(result.size / _FEW_CELLS, _FINEST))
        _ = result.tv
    if accuracy_goal.coarseness is not None:
        return result
    best, low = result, 0.0
    for _ in range(_ATTEMPTS):
        try:
            low = max(low, _from_below(result))
        except NumericsError:
            break
        # On too fine a grid rounding outweighs what is gained: the smaller value counts, both are valid.
        best = min(best, result, key=lambda one: one.tv)
        gap = (best.tv - low) / max(min(best.tv, 1.0 - low), 1e-12)
        if gap <= accuracy_goal.tolerance or best.tv - low < _CLOSE or result.tv > _WORSE * best.tv:
            break
        if accuracy_goal.tolerance >= _USUAL_TOLERANCE and best.size > _USUAL_CELLS:
            break  # good enough unless a higher accuracy was requested
        # The error falls with the square of the step.
        try:
            result = Composition(pairs, result.step * min(0.7, 0.9 * math.sqrt(accuracy_goal.tolerance / gap)))
            _ = result.tv
        except NumericsError:
            break  # no finer grid fits: the answer is valid, and its note says how far off it can be
    return replace(best, low=min(low, best.tv))


def _from_below(composed: Composition) -> float:
    """Return a lower bound of the total variation; both orders give one, and they differ in how close it is."""
    below = compose(swapped(composed.pairs), composed.step, composed.cap, below=True).delta(0.0)
    if not composed.symmetric and below < 0.9 * composed.tv:
        below = max(below, compose(composed.pairs, composed.step, composed.cap, below=True).delta(0.0))
    return max(0.0, min(below - _FFT_NOISE, composed.tv))


def composed_tv(pairs: Pairs) -> float:
    """Return the total variation of pairs together, from above.

    Examples
    --------
    >>> round(composed_tv(((GaussianPair(0.5), 4),)), 6)
    0.382925
    """
    mu = gaussian_mu(pairs)
    if mu is not None:
        return gaussian_curve(mu).gap()
    return composition(pairs).tv


def promise_of_pairs(pairs: Pairs, relation: Relation, source: str) -> Privacy:
    """Return the promise of dominating pairs; under "reference" P is the record's release and Q the reference."""
    mu = gaussian_mu(pairs)
    if mu is not None:
        return gaussian_privacy(mu, relation, source)
    composed = composition(pairs)
    curve = composed.directed_curve() if relation == "reference" else composed.curve()
    return Privacy(
        relation=relation,
        source=f"{source}; {composed.note}",
        origin=source,
        curve=curve,
        tv=composed.tv,
        pairs=pairs,
    )


def compose_promises(promises: Sequence[tuple[Privacy, int]], relation: Relation) -> Privacy:
    """Return the promise of several releases about the same person, each made a number of times.

    Notes
    -----
    Epsilons and deltas add up; of two outputs that agree with probability 1 - tv each, all agree with the product;
    Renyi divergences add up, and so does information (chain rule); dominating pairs compose. Of the curves that follow,
    the largest holds.
    """
    names = [(p.origin or p.source, times) for p, times in promises]
    origin = source = " + ".join(f"{times} x {text}" if times > 1 else text for text, times in names)
    epsilon = sum(math.inf if p.epsilon is None else times * p.epsilon for p, times in promises)
    delta = sum(times * p.delta for p, times in promises)
    has_epsilon = math.isfinite(epsilon) and delta < 1.0
    overlap = math.prod((1.0 - (1.0 if p.tv is None else p.tv)) ** times for p, times in promises)
    tv = min(1.0 - overlap, tv_of_approx(epsilon, delta) if has_epsilon else 1.0)
    renyi = _added([(p.renyi, times) for p, times in promises])
    information = sum(times * information_of(p) for p, times in promises)
    pairs = concatenate_pairs([(p.pairs, times) for p, times in promises])
    if pairs is None and renyi is None and relation != "reference":
        # Some part is known by its curve alone, such as zCDP beside Laplace noise: every curve is that of some pair.
        pairs = concatenate_pairs([(p.pairs or _of_curve(p.curve), times) for p, times in promises])
    tight, advice = _tight(pairs, relation, source)
    if tight is None:
        curves = [approx_curve(epsilon, delta)] if has_epsilon else []
        if renyi is not None:
            curves.append(renyi_curve(renyi))
            tv = min(tv, curves[-1].gap())
        curve, source = larger_curve([approx_curve(0.0, tv), *curves]), source + advice
    else:
        curve, source = tight.curve or approx_curve(0.0, tv), tight.source
        tv = min(tv, 1.0 if tight.tv is None else tight.tv)
    return Privacy(
        relation=relation,
        source=source,
        origin=origin,
        epsilon=epsilon if has_epsilon else None,
        delta=delta if has_epsilon else 0.0,
        curve=curve,
        tv=tv,
        pairs=pairs,
        renyi=renyi,
        information=information if math.isfinite(information) else None,
    )


def _of_curve(curve: TradeoffCurve | None) -> Pairs | None:
    return None if curve is None else ((pair_of_curve(curve), 1),)


def _tight(pairs: Pairs | None, relation: Relation, source: str) -> tuple[Privacy | None, str]:
    """Return the promise of the pairs where there are any and they can be composed; else why not."""
    if pairs is None:
        return None, ""
    try:
        return promise_of_pairs(pairs, relation, source), ""
    except MissingExtra as missing:
        return None, f" (for a tighter bound {missing})"
    except NumericsError as failure:
        return None, f" (without composed privacy losses: {failure})"


def concatenate_pairs(parts: Sequence[tuple[Pairs | None, int]]) -> Pairs | None:
    """Return all pairs with how often each is used, or None when a part has none."""
    counts: dict[Pair, int] = {}
    for pairs, times in parts:
        if pairs is None:
            return None
        for pair, uses in pairs:
            counts[pair] = counts.get(pair, 0) + uses * times
    return tuple(counts.items())


def _added(parts: Sequence[tuple[RenyiBound | None, int]]) -> RenyiBound | None:
    total: RenyiBound | None = None
    for bound, times in parts:
        if bound is None:
            return None
        repeated = replace(bound, epsilons=tuple(times * e for e in bound.epsilons), rho=times * bound.rho)
        total = repeated if total is None else total.plus(repeated)
    return total
