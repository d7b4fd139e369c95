"""A guarantee given as a privacy profile: (epsilon, delta) points that hold together."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ..errors import NumericsError, ParameterError
from ..numerics.lazy_numpy import Floats, np
from ..params import as_floats
from .curves import TradeoffCurve
from .neighbours import Neighbours, check_neighbours
from .pairs import Pair, approx_pair
from .privacy import Privacy, Relation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Profile", "ProfilePair"]

_LARGEST = 700.0  # e^-700 is the smallest rate that matters; steeper lines are left out, which is safe
_ALLOWED = "epsilons of at least 0, finite, and for each a delta from 0 to 1"
_HINT = "Each point is an (epsilon, delta) guarantee that holds in both orders of the neighbours."
_FEW = 4  # points that are worth showing


@dataclass(frozen=True, slots=True)
class ProfilePair:
    """The pair whose profile joins the points by straight lines in e^epsilon; both of its orders are the same.

    ``epsilons`` ascend from 0 or more, and no point lies on or above the line that joins its neighbours. Beyond the
    last epsilon the profile is constant.

    Examples
    --------
    >>> pair = ProfilePair((0.0, 1.0), (0.4, 0.1))
    >>> pair.delta(np.array([-1.0, 0.0, 0.5, 1.0, 2.0])).round(6).tolist()
    [0.668909, 0.4, 0.286738, 0.1, 0.1]
    """

    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]

    def delta(self, epsilon: Floats) -> Floats:
        """Return the profile; below 0 it is 1 - e^eps (1 - delta(-eps)), because both orders are the same."""
        size, first = np.abs(epsilon), self.epsilons[0]
        t = np.append(self.epsilons, self.epsilons[-1] + 1.0)
        d = np.append(self.deltas, self.deltas[-1])
        i = np.clip(np.searchsorted(t, size, side="right") - 1, 0, t.size - 2)
        share = np.expm1(np.clip(size, t[0], t[-1]) - t[i]) / np.expm1(t[i + 1] - t[i])
        ahead = d[i] + (d[i + 1] - d[i]) * share
        beyond = np.where(epsilon < 0.0, 1.0 - np.exp(np.minimum(epsilon, 0.0)) * (1.0 - ahead), ahead)
        if first == 0.0:
            return np.asarray(beyond)
        # Between -first and first there is no loss, so the profile is one straight line in e^epsilon.
        far = 1.0 - math.exp(-first) * (1.0 - self.deltas[0])
        middle = np.expm1(np.clip(epsilon, -first, first) + first) / math.expm1(2.0 * first)
        return np.where(size < first, far + (self.deltas[0] - far) * middle, beyond)

    @property
    def span(self) -> tuple[float, float]:
        """From minus the last epsilon to the last."""
        return -self.epsilons[-1], self.epsilons[-1]

    @property
    def step(self) -> float | None:
        """The losses are the epsilons, which need not be multiples of anything."""
        return None

    @property
    def infinite(self) -> float:
        """What is left beyond the last epsilon."""
        return self.deltas[-1]

    def swapped(self) -> ProfilePair:
        """Return the same pair: it is symmetric."""
        return self


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """The lines 1 - delta - e^t x that touch the curve left of its peak; ``meets`` falls, of line i with line i + 1."""

    t: Floats
    deltas: Floats
    meets: Floats
    peak: float

    @classmethod
    def of(cls, epsilons: Floats, deltas: Floats) -> _Lines | None:
        """Return the lines that matter; None when nothing is promised."""
        hull = _hull(epsilons, deltas)
        if not hull:
            return None
        t, d = (np.array(column) for column in zip(*hull, strict=True))
        crossing = (1.0 - d) * np.exp(-t) / (1.0 + np.exp(-t))  # where each line meets its mirror image
        start = int(np.argmax(crossing))
        meets = np.exp([_log_meet(a, b) for a, b in pairwise(hull[start:])])
        return cls(t[start:], d[start:], meets, float(crossing[start]))

    def curve(self) -> TradeoffCurve:
        """Return the largest of all lines and their mirror images, and 0."""
        heights = np.maximum(1.0 - self.deltas[:-1] - np.exp(self.t[:-1]) * self.meets, 0.0)

        def fnr(x: Floats) -> Floats:
            # Any line is a valid bound, so a neighbour chosen because of rounding costs nothing but tightness.
            line = np.searchsorted(-self.meets, -x, side="left")
            with np.errstate(divide="ignore"):
                steep = 1.0 - self.deltas[line] - np.exp(np.minimum(self.t[line] + np.log(x), 50.0))
            line = np.searchsorted(heights, x, side="left")
            flat = np.exp(-self.t[line]) * (1.0 - self.deltas[line] - x)
            return np.maximum(np.maximum(steep, flat), 0.0)

        return TradeoffCurve(fnr, self.peak)

    def pair(self) -> Pair:
        """Return two distributions whose trade-off is the curve."""
        if self.t.size == 1:
            return approx_pair(float(self.t[0]), float(self.deltas[0]))
        return ProfilePair(tuple(self.t.tolist()), tuple(self.deltas.tolist()))

    def doubled(self) -> tuple[Floats, Floats]:
        """Return the points of f(1 - f(x)): P <= e^a R + d_a and R <= e^b Q + d_b give (a + b, d_a + e^a d_b)."""
        s = np.concatenate([self.t[::-1], -self.t])
        d = np.concatenate([self.deltas[::-1], 1.0 - np.exp(-self.t) * (1.0 - self.deltas)])

        def rise(x: Floats) -> Floats:
            return np.asarray(d + np.exp(np.minimum(s + np.log(np.maximum(x, 1e-320))[:, None], _LARGEST)))

        # 1 - f bends where two lines meet; so does f(1 - f), and where 1 - f is such a place.
        with np.errstate(divide="ignore", invalid="ignore"):
            bends = np.clip(np.nan_to_num(np.diff(d) / -np.diff(np.exp(s))), 0.0, 1.0)
        before = np.max(np.exp(-s) * (bends[:, None] - d), axis=1)
        x = np.unique(np.clip(np.concatenate([[0.0, 1.0], bends, before]), 0.0, 1.0))
        x = 0.5 * (x[:-1] + x[1:])
        # Which two lines matter there; rounding may choose others, which hold as well.
        first = np.argmin(rise(x), axis=1)
        second = np.argmin(rise(np.minimum(np.min(rise(x), axis=1), 1.0)), axis=1)
        total, delta_sum = s[first] + s[second], d[second] + np.exp(s[second]) * d[first]
        nonnegative = total >= 0.0
        return total[nonnegative], np.minimum(delta_sum[nonnegative], 1.0)


def _log_meet(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Return the logarithm of the rate where two lines meet; the second is steeper and starts higher."""
    return math.log(a[1] - b[1]) - b[0] - math.log(-math.expm1(a[0] - b[0]))


def _hull(epsilons: Floats, deltas: Floats) -> list[tuple[float, float]]:
    """Return the points below every line that joins two others, in e^epsilon, from the left."""
    hull: list[tuple[float, float]] = []
    least = 1.0
    for i in np.lexsort((deltas, epsilons)):
        point = (float(epsilons[i]), float(deltas[i]))
        if point[1] >= least or point[0] > _LARGEST:
            continue
        least = point[1]
        while hull and hull[-1][0] == point[0]:
            hull.pop()
        while len(hull) > 1 and _log_meet(hull[-2], hull[-1]) <= _log_meet(hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _promise(epsilons: Floats, deltas: Floats, relation: Relation, source: str) -> Privacy:
    lines = _Lines.of(epsilons, deltas)
    if lines is None:
        nothing = TradeoffCurve(np.zeros_like, 0.0)
        return Privacy(relation=relation, source=source, curve=nothing, tv=1.0, pairs=((approx_pair(0.0, 1.0), 1),))
    # One (epsilon, delta) says less than all of them, except where it is the only one or has no delta.
    has_epsilon = lines.t.size == 1 or lines.deltas[-1] == 0.0
    return Privacy(
        relation=relation,
        source=source,
        epsilon=float(lines.t[-1]) if has_epsilon else None,
        delta=float(lines.deltas[-1]) if has_epsilon else 0.0,
        curve=lines.curve(),
        tv=min(1.0, 1.0 - 2.0 * lines.peak),
        pairs=((lines.pair(), 1),),
    )


@dataclass(frozen=True, slots=True, repr=False)
class Profile:
    """(epsilon, delta)-DP for every listed pair, in both orders of the neighbours.

    Guarantee
    ---------
    The trade-off curve is the largest that the points imply: the lines 1 - delta - e^epsilon x and their mirror images.
    It holds however few points are given; more points make it tighter. ``Profile.of`` chooses them.

    Assumes
    -------
    Every delta is an upper bound. A point computed by a sampler or by an approximation without a sign is not.

    Notes
    -----
    Dong, Roth and Su (2022), Proposition 6: f-DP is a collection of (epsilon, delta) guarantees. The points compose as
    the pair whose profile joins them (Doroshenko et al. 2022); under replace-one an add/remove f is f(1 - f).

    Examples
    --------
    >>> table = Profile(epsilons=(0.0, 1.0, 3.0), deltas=(0.35, 0.1, 1e-6), neighbours="add-remove")
    >>> promise = table.privacy("add-remove")
    >>> round(promise.tv, 6), round(promise.curve.at(0.01), 6)
    (0.35, 0.872817)
    """

    epsilons: Sequence[float]
    deltas: Sequence[float]
    neighbours: Neighbours

    def __post_init__(self) -> None:
        epsilons, deltas = (as_floats("Profile", _ALLOWED, v, _HINT) for v in (self.epsilons, self.deltas))
        if epsilons.ndim != 1 or epsilons.shape != deltas.shape or not epsilons.size:
            raise ParameterError("Profile", _ALLOWED, f"{epsilons.size} epsilons and {deltas.size} deltas", _HINT)
        if not np.all((epsilons >= 0.0) & np.isfinite(epsilons) & (deltas >= 0.0) & (deltas <= 1.0)):
            raise ParameterError("Profile", _ALLOWED, "an epsilon or a delta outside", _HINT)
        object.__setattr__(self, "epsilons", tuple(epsilons.tolist()))
        object.__setattr__(self, "deltas", tuple(deltas.tolist()))
        check_neighbours("Profile", self.neighbours)

    @classmethod
    def of(cls, delta: Callable[[float], float], neighbours: Neighbours) -> Profile:
        """Return the profile of a function delta(epsilon), which is evaluated where it bends most.

        Guarantee
        ---------
        Every value of the function is used as it is, so the answer is as safe as the function. Between two of them the
        profile lies above the function, by about 1e-5 or 1 % of it at most, unless that takes more than 320 values.

        Examples
        --------
        >>> Profile.of(lambda epsilon: max(0.0, 1.0 - math.exp((epsilon - 2.0) / 2.0)), "add-remove")
        Profile(..., neighbours='add-remove')
        """
        check_neighbours("Profile", neighbours)
        epsilons, deltas = _tabulate(delta)
        return cls(epsilons, deltas, neighbours)

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under a relation; add/remove f is f(1 - f) under replace-one."""
        epsilons, deltas = np.array(self.epsilons), np.array(self.deltas)
        if relation == self.neighbours:
            return _promise(epsilons, deltas, relation, f"privacy profile, {relation}")
        if relation == "replace-one":
            lines = _Lines.of(epsilons, deltas)
            eps2, deltas2 = (epsilons, deltas) if lines is None else lines.doubled()
            return _promise(eps2, deltas2, relation, "privacy profile, add-remove, doubled for replace-one")
        return None

    def __repr__(self) -> str:
        if len(self.epsilons) <= _FEW:
            points = f"epsilons={self.epsilons}, deltas={self.deltas}"
        else:
            reach = f"epsilon up to {max(self.epsilons):.4g}, delta down to {min(self.deltas):.2g}"
            points = f"{len(self.epsilons)} points, {reach}"
        return f"Profile({points}, neighbours={self.neighbours!r})"


_MOST = 320  # values of the function
_LEAST = 1e-13  # smaller values are treated as 0
_CLOSE, _CLOSE_SHARE = 8e-5, 0.08  # a cell that is this good is halved once more, which makes it four times better
_NOISE = 1e-16


def _tabulate(delta: Callable[[float], float]) -> tuple[list[float], list[float]]:
    """Return epsilons and the deltas there: cells are halved, the worst first, until all are good enough."""
    table: dict[float, float] = {}

    def evaluate(epsilon: float) -> float:
        table[epsilon] = _checked(delta(epsilon), epsilon)
        return table[epsilon]

    heap: list[tuple[float, float, float, float]] = []

    def add(low: float, high: float) -> None:
        """Ask for the middle of a cell; keep the cell when the line between its ends lies too far above."""
        middle = 0.5 * (low + high)
        there = evaluate(middle)
        half = math.exp(min(0.5 * (high - low), _LARGEST))
        above = table[low] - (table[low] - table[high]) / (1.0 + half) - there
        # The distance is concave in e^epsilon, so that of the middle bounds it everywhere, up to this factor.
        error = min(table[low] - table[high], (max(above, 0.0) + _NOISE) * (1.0 + half))
        excess = error / max(_LEAST, min(_CLOSE, _CLOSE_SHARE * there))
        if excess > 1.0:
            heapq.heappush(heap, (-excess, low, middle, high))

    ends = [0.0, 1.0]
    evaluate(0.0)
    while evaluate(ends[-1]) > _LEAST and ends[-1] < _LARGEST:
        ends.append(min(2.0 * ends[-1], _LARGEST))
    for low, high in pairwise(ends):
        add(low, high)
    while heap and len(table) < _MOST:
        _, low, middle, high = heapq.heappop(heap)
        add(low, middle)
        add(middle, high)
    epsilons: list[float] = []
    for epsilon in sorted(table):
        if not epsilons or table[epsilon] < table[epsilons[-1]]:  # else it adds nothing
            epsilons.append(epsilon)
    return epsilons, [table[epsilon] for epsilon in epsilons]


def _checked(value: object, epsilon: float) -> float:
    """Return a delta within [0, 1]; sums of rounded probabilities may lie a little outside."""
    number = float(value)  # type: ignore[arg-type]
    if math.isnan(number):
        message = f"the privacy profile has no value at epsilon = {epsilon:g}"
        raise NumericsError(message)
    return min(max(number, 0.0), 1.0)
