"""Renyi and zero-concentrated differential privacy, and the risk that their divergences imply."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, overload

from annotated_types import Ge

from ..errors import ParameterError
from ..numerics.bernoulli_divergence import UNIT, Frontier
from ..numerics.lazy_numpy import ArrayLike, Floats, np
from ..options import About, Numbers, described, number_of
from ..params import as_floats
from .curves import TradeoffCurve
from .neighbours import FIRST_QUESTION, Neighbours, Stated
from .privacy import Privacy, Relation

__all__ = [
    "RDP",
    "ZCDP",
    "RenyiBound",
    "doubled_renyi",
    "renyi_curve",
    "renyi_epsilon",
    "renyi_success",
    "zcdp_success",
]


Rho = Annotated[
    float,
    Ge(0),
    About(
        "the bound on the Renyi divergence of order t between neighbours, divided by t",
        example="0.1",
        typical=(0.01, 3.0),
        more_private="down",
    ),
]
RHO = number_of("rho", Rho)
_NEAR_ONE = 1e-6  # orders this near to 1 are read as 1, which is sound: the divergence grows with the order
_LARGEST_LOGIT = 690.0  # beyond, the peak of the gap underflows; the curve 0 is then right to 1e-290
_CHUNK = 2048  # rates that are worked on together
_MOST_NODES = 100  # listed orders that the conversion to replace-one looks at
_LISTING = "orders of at least 1 and, for each, an epsilon of at least 0, all finite"


@dataclass(frozen=True, slots=True)
class RenyiBound:
    """The Renyi divergence of order t between neighbours, in both orders of the pair, is at most listed(t) + rho t.

    ``listed`` joins the listed points so that (t - 1) listed(t) is linear in between, which is sound because
    (t - 1) D_t is convex in t; it is infinite beyond the largest listed order and 0 when nothing is listed (zCDP).

    Examples
    --------
    >>> RenyiBound((2.0, 4.0), (0.1, 0.3)).at([1, 2, 3, 5]).round(6).tolist()
    [0.1, 0.1, 0.25, inf]
    >>> RenyiBound(rho=0.5).plus(RenyiBound((8.0,), (1.0,))).at([2.0]).tolist()
    [2.0]
    """

    orders: tuple[float, ...] = ()
    epsilons: tuple[float, ...] = ()
    rho: float = 0.0

    def __post_init__(self) -> None:
        orders, epsilons = _listing("RenyiBound", self.orders, self.epsilons)
        rank = np.argsort(orders, kind="stable")
        # The divergence is non-decreasing in the order, so a larger order's epsilon holds for the smaller ones too.
        least = np.minimum.accumulate(epsilons[rank][::-1])[::-1]
        object.__setattr__(self, "orders", tuple(orders[rank].tolist()))
        object.__setattr__(self, "epsilons", tuple(least.tolist()))
        # Infinite: nothing is known. So it is for a Gaussian whose mu squared overflows.
        object.__setattr__(self, "rho", math.inf if self.rho == math.inf else RHO.check("RenyiBound", self.rho))

    def at(self, orders: ArrayLike) -> Floats:
        """Return the bound at some orders; below order 1 it is the one at 1."""
        t = np.maximum(np.asarray(orders, dtype=float), 1.0)
        return np.asarray(self._listed(t) + self.rho * t)

    def _listed(self, t: Floats) -> Floats:
        if not self.orders:
            return np.zeros_like(t)
        nodes, epsilons = np.array(self.orders), np.array(self.epsilons)
        next_ = np.searchsorted(nodes, t)
        high = np.minimum(next_, nodes.size - 1)
        low = np.maximum(high - 1, 0)
        below, above = nodes[low], nodes[high]
        between = (t > below) & (t < above)
        share = np.zeros_like(t)
        np.divide((above - t) * (below - 1.0), (t - 1.0) * (above - below), out=share, where=between)
        inside = share * epsilons[low] + (1.0 - share) * epsilons[high]
        return np.where(next_ < nodes.size, inside, np.inf)

    def plus(self, other: RenyiBound) -> RenyiBound:
        """Return the bound on the composition, adaptive or not: divergences add (Mironov 2017, Proposition 1)."""
        last = min(bound.orders[-1] if bound.orders else math.inf for bound in (self, other))
        orders = np.unique([t for t in (*self.orders, *other.orders) if t <= last])
        epsilons = self._listed(orders) + other._listed(orders)
        return RenyiBound(tuple(orders.tolist()), tuple(epsilons.tolist()), self.rho + other.rho)


def _listing(owner: str, orders: object, epsilons: object) -> tuple[Floats, Floats]:
    hint = "Leave out orders whose epsilon is not known."
    t, e = (as_floats(owner, _LISTING, values, hint) for values in (orders, epsilons))
    if t.ndim != 1 or t.shape != e.shape:
        raise ParameterError(owner, _LISTING, f"{t.size} orders and {e.size} epsilons", hint)
    if not np.all((t >= 1.0) & (e >= 0.0) & np.isfinite(t) & np.isfinite(e)):
        raise ParameterError(owner, _LISTING, "an order or an epsilon outside", hint)
    return t, e


def _frontier(bound: RenyiBound) -> Frontier:
    """Return the frontier of yes/no answers for a finite set of orders, which is on the safe side."""
    listed = np.array(bound.orders)
    if bound.rho > 0.0:
        reach = 20.0 + 40.0 / math.sqrt(max(bound.rho, 1e-12))
        steps = 40  # the frontier of pure zCDP goes on from the best of these
        if bound.orders:
            reach, steps = min(reach, listed[-1] - 1.0), 160
        between = 1.0 + np.geomspace(min(0.02, reach / 2.0), reach, steps) if reach > _NEAR_ONE else np.ones(1)
        listed = np.unique(np.concatenate([[1.0], listed, between[between <= 1.0 + reach]]))
    epsilon = bound.at(listed)
    slope = 0.0 if bound.orders else bound.rho
    return Frontier(np.where(listed < 1.0 + _NEAR_ONE, 1.0, listed), epsilon, slope)


def renyi_curve(bound: RenyiBound) -> TradeoffCurve:
    """Return the best trade-off curve that a Renyi bound implies: its two rates are those of a yes/no answer.

    Guarantee
    ---------
    f(x) is the smallest y with D_t(1-y||x) <= epsilon(t) and D_t(x||1-y) <= epsilon(t) for the orders used, and never
    above it: each value was found to break an order by more than the rounding error. No bound on f is better.

    Notes
    -----
    Data processing (Zhu, Dong and Wang 2022, Appendix F); optimal by Riess et al. (2026). The orders used are those
    listed, with rho also a grid, and for pure zCDP the best order of all. Derivation: docs/derivations/renyi.md.

    Examples
    --------
    >>> curve = renyi_curve(RenyiBound(rho=0.5))
    >>> round(curve.at(0.01), 6), round(curve.gap(), 6)
    (0.875411, 0.479098)
    """
    first = float(bound.at(1.0))
    if first == 0.0:
        return TradeoffCurve(lambda x: 1.0 - x, 0.5)
    frontier = _frontier(bound)
    logit = frontier.meeting() if first <= _LARGEST_LOGIT else first  # the logit is never below the epsilon
    if logit > _LARGEST_LOGIT:
        return TradeoffCurve(np.zeros_like, 0.0)
    peak = math.exp(-logit) / (1.0 + math.exp(-logit))  # f is symmetric: its gap is largest where f(x) = x

    def part(x: Floats) -> Floats:
        y, low = np.empty_like(x), x < peak
        left, right = x[low], x[~low]
        y[low] = np.maximum(1.0 - 2.0 * UNIT - frontier.power(np.log(left), np.log1p(-left), 1.0 - peak), peak)
        # By symmetry f(x) is the smallest y with D_t(1-x||y) <= epsilon(t); at the peak no more than the peak itself.
        least = np.exp(frontier.reference(np.log1p(-right), np.log(right))) * (1.0 - 2.0 * UNIT)
        y[~low] = np.minimum(least, peak)
        return y

    def fnr(x: Floats) -> Floats:
        y = np.where(x <= 0.0, 1.0, 0.0)
        inside = np.flatnonzero((x > 0.0) & (x < 1.0))
        for k in range(0, inside.size, _CHUNK):
            some = inside[k : k + _CHUNK]
            y.flat[some] = part(x.flat[some])
        return y

    return TradeoffCurve(fnr, peak)


def _doubled_curve(curve: TradeoffCurve) -> TradeoffCurve:
    """Return x -> f(1 - f(x)) for a symmetric f: its gap is largest where f(x) = 1/2, that is at x = f(1/2)."""
    peak = curve.at(0.5)

    def fnr(x: Floats) -> Floats:
        y = curve.fnr(1.0 - curve.fnr(x))
        return np.where(x >= peak, np.minimum(y, peak), y)

    return TradeoffCurve(fnr, peak)


def doubled_renyi(bound: RenyiBound) -> RenyiBound | None:
    """Return what a Renyi bound under add/remove implies under replace-one; nothing when only order 1 is listed.

    Notes
    -----
    D_t(P||Q) <= r/(r-1) D_s(P||R) + D_r(R||Q) whenever (1 - 1/t) = (1 - 1/r)(1 - 1/s), the weak triangle inequality
    (Mironov 2017, Proposition 11) in symmetric form: at best 4 rho for zCDP (Bun and Steinke 2016, Proposition 27).

    Examples
    --------
    >>> doubled_renyi(RenyiBound(rho=0.5)).rho
    2.0
    >>> round(float(doubled_renyi(RenyiBound((4.0,), (1.0,))).at(2.0)), 6)
    2.333333
    """
    if not bound.orders:
        return RenyiBound(rho=4.0 * bound.rho)
    last = bound.orders[-1]
    if last < 1.0 + _NEAR_ONE:
        return None
    top = last * last / (2.0 * last - 1.0) - 1.0  # both steps at the last order
    orders = 1.0 + np.append(np.geomspace(1e-3 * top, top * (1.0 - 1e-9), 48), _within(bound.orders, top))
    nodes = 1.0 + np.append(np.geomspace(1e-3 * top, last - 1.0, 60), _within(bound.orders, math.inf))
    target, share = 1.0 - 1.0 / orders[:, None], 1.0 - 1.0 / np.minimum(nodes, last)
    # The other order of the pair, a little too large; beyond the last one nothing is known.
    other = np.full((orders.size, nodes.size), 2.0 * last)
    np.divide(1.0 + 1e-12, 1.0 - target / share, out=other, where=share > target * (1.0 + 1e-12))
    near, far = bound.at(np.minimum(nodes, last)), bound.at(other)
    either = np.minimum(share / target * near + far, near + far / share)
    # Order 1: D_1(P||Q) <= r/(r-1) D_1(P||R) + D_r(R||Q).
    first = float(np.min(bound.at(1.0) / share + near))
    epsilons = np.append(np.min(either, axis=1), first)
    finite = np.isfinite(epsilons)
    if not finite.any():  # an empty list would say that nothing leaks
        return None
    return RenyiBound(tuple(np.append(orders, 1.0)[finite].tolist()), tuple(epsilons[finite].tolist()))


def _within(orders: Sequence[float], top: float) -> Floats:
    """Return the listed orders, less 1, that are above 0 and below a limit, thinned when there are many."""
    some = np.array(orders[:: -(-len(orders) // _MOST_NODES)]) - 1.0
    return some[(some > _NEAR_ONE) & (some < top * (1.0 - 1e-9))]


@overload
def zcdp_success(rho: float, base: float) -> float: ...
@overload
def zcdp_success(rho: float, base: Floats) -> Floats: ...
def zcdp_success(rho: float, base: float | Floats) -> float | Floats:
    """Return exp(-(sqrt(ln 1/base) - sqrt(rho))^2) while that grows, else 1: success under zCDP.

    Notes
    -----
    The minimum over t of (base e^(rho t))^((t-1)/t), at t = sqrt(ln(1/base)/rho) (Balle, Cherubin and Hayes 2022).

    Examples
    --------
    >>> round(zcdp_success(1.0, 0.01), 6)
    0.268948
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        short = np.fmax(np.sqrt(-np.log(np.minimum(base, 1.0))) - math.sqrt(rho), 0.0)  # 0 for infinite rho
    success = np.exp(-(short**2))
    return float(success) if np.ndim(base) == 0 else np.asarray(success)


@overload
def renyi_success(bound: RenyiBound, base: float) -> float: ...
@overload
def renyi_success(bound: RenyiBound, base: Floats) -> Floats: ...
def renyi_success(bound: RenyiBound, base: float | Floats) -> float | Floats:
    """Return the minimum over orders t of (base e^epsilon(t))^((t-1)/t), at most 1: success under Renyi DP.

    Notes
    -----
    Balle, Cherubin and Hayes (2022); any finite set of orders is sound. Never below 1 - f(base) of `renyi_curve`.

    Examples
    --------
    >>> round(renyi_success(RenyiBound((2.0, 8.0), (1.0, 4.0)), 0.01), 6)
    0.164872
    """
    if not bound.orders:
        return zcdp_success(bound.rho, base)
    frontier = _frontier(bound)
    useful = (frontier.order > 1.0) & np.isfinite(frontier.epsilon)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(useful, np.log(np.minimum(base, 1.0))[..., None] + frontier.epsilon, 0.0)
    success = np.exp(np.minimum(np.min((1.0 - 1.0 / frontier.order) * logs, axis=-1), 0.0))
    return float(success) if np.ndim(base) == 0 else np.asarray(success)


def renyi_epsilon(bound: RenyiBound, delta: float) -> float:
    """Return an epsilon of (epsilon, delta)-DP that a Renyi bound implies, the best one up to 1e-6 and rounded up.

    Notes
    -----
    Lines above the region of `renyi_curve` are (epsilon, delta) guarantees, p <= e^epsilon x + delta, and so are their
    averages. Optimal for each order (Asoodeh et al. 2021) and for all together; never above Canonne, Kamath and Steinke
    (2020), Proposition 12, which alone is used beyond epsilon(1) = 690.

    Examples
    --------
    >>> round(renyi_epsilon(RenyiBound(rho=0.5), 1e-5), 4)
    4.7284
    """
    first = float(bound.at(1.0))
    if first == 0.0 or delta >= 1.0:
        return 0.0
    if delta <= 0.0 or math.isinf(first):
        return math.inf
    frontier = _frontier(bound)
    simple = _simple_epsilon(bound, frontier.order, delta)
    if first > _LARGEST_LOGIT:
        return simple
    logit = frontier.meeting()
    tv, high = math.tanh(logit / 2.0), -math.log1p(math.exp(-logit)) - logit
    if delta >= tv:
        return 0.0
    # At this rate and below p <= delta, so the intercept of a line there is below delta, too.
    low = float(frontier.floor(np.array([math.log(delta)]), np.array([math.log1p(-delta)]))[0]) - 1.0
    for _ in range(4):
        grid = np.linspace(low, high, 65)
        steepness, intercept = (np.append(v, end) for v, end in zip(frontier.lines(grid, 1.0), (0.0, tv), strict=True))
        k = max(int(np.argmax(intercept > delta)), 1)
        low, high = grid[k - 1], grid[min(k, grid.size - 1)]
    share = min(max((delta - intercept[k - 1]) / (intercept[k] - intercept[k - 1]), 0.0), 1.0)
    with np.errstate(divide="ignore"):
        mean = np.logaddexp(np.log1p(-share) + steepness[k - 1], np.log(share) + steepness[k])
    return max(0.0, min(simple, float(mean)))


def _simple_epsilon(bound: RenyiBound, orders: Floats, delta: float) -> float:
    """Return the conversion of Canonne, Kamath and Steinke (2020), Proposition 12, at the best of some orders."""
    if bound.rho > 0.0:
        orders = np.append(orders, 1.0 + math.sqrt(-math.log(delta) / bound.rho))
    t = orders[orders > 1.0]
    epsilons = bound.at(t) + np.log1p(-1.0 / t) - (math.log(delta) + np.log(t)) / (t - 1.0)
    return max(0.0, float(np.min(epsilons, initial=math.inf)))


def _promise(bound: RenyiBound, neighbours: Neighbours, relation: Relation, name: str) -> Privacy | None:
    curve = renyi_curve(bound)
    if relation == neighbours:
        return Privacy(relation=relation, source=f"{name}, {relation}", curve=curve, tv=curve.gap(), renyi=bound)
    if relation == "replace-one":
        source = f"{name}, add-remove, read as replace-one by group privacy"
        twice = _doubled_curve(curve)
        return Privacy(relation=relation, source=source, curve=twice, tv=twice.gap(), renyi=doubled_renyi(bound))
    return None


@described("zcdp", "A rho-zCDP guarantee.", "guarantee", samples=False, first=FIRST_QUESTION)
class ZCDP:
    """rho-zero-concentrated differential privacy under the stated neighbour relation (Bun and Steinke 2016).

    Examples
    --------
    >>> promise = ZCDP(rho=0.5, neighbours="add-remove").privacy("replace-one")
    >>> round(promise.tv, 6), promise.renyi.rho
    (0.785969, 2.0)
    """

    ORDERED: ClassVar[tuple[str, ...]] = ("rho",)

    rho: Rho
    neighbours: Stated

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under a relation; add/remove f is f(1 - f) and 4 rho under replace-one."""
        return _promise(RenyiBound(rho=self.rho), self.neighbours, relation, "zCDP")


@described("rdp", "Renyi divergences at some orders.", "guarantee", samples=False, first=FIRST_QUESTION)
class RDP:
    """Renyi differential privacy of some orders under the stated neighbour relation (Mironov 2017).

    Examples
    --------
    >>> promise = RDP(orders=(2, 8), epsilons=(0.5, 2.0), neighbours="replace-one").privacy("replace-one")
    >>> round(promise.tv, 6)
    0.373562
    """

    orders: Annotated[Sequence[float], Numbers(), About("the orders of the Renyi divergences", example="2, 4, 8, 16")]
    epsilons: Annotated[
        Sequence[float],
        Numbers(),
        About("the bound at each order", example="0.2, 0.4, 0.8, 1.6", label="epsilon at each order"),
    ]
    neighbours: Stated

    def check_together(self) -> None:
        """Refuse lists that are no orders with their bounds."""
        orders, epsilons = _listing("RDP", self.orders, self.epsilons)
        if not orders.size:
            raise ParameterError("RDP", _LISTING, "no orders", "Give at least one order; ZCDP needs none.")
        object.__setattr__(self, "orders", tuple(orders.tolist()))
        object.__setattr__(self, "epsilons", tuple(epsilons.tolist()))

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return the promise under a relation; add/remove f is f(1 - f) under replace-one, see `doubled_renyi`."""
        return _promise(RenyiBound(tuple(self.orders), tuple(self.epsilons)), self.neighbours, relation, "Renyi DP")
