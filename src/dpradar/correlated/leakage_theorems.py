"""Which theorems cover a model, whether they may be used, and what each gives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ..numerics.lazy_numpy import np
from . import finite_models, gaussian, markov
from .models import Joint

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..results.bound import Side
    from .models import Chain, GaussianGroups

__all__ = [
    "OURS",
    "Route",
    "SumRelease",
    "chain_routes",
    "error_of",
    "gaussian_routes",
    "group_route",
    "invert_leakage",
    "table_route",
]

OURS = "dpradar derivation"
_THESIS = "[GuerraThesis]"
_LOG_20 = math.log(20.0)
_MOST_LISTED = 1 << 12  # tables of a chain that are gone through one by one
_ROOT_CLOSE = 1e-7
_ROOT_NEAR = 1e-4  # where one evaluation may take seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class SumRelease:
    """What is released: any epsilon-DP mechanism, or Laplace noise on a sum of clipped values or of state values.

    ``span`` is the most that one record can change the sum; None where the mechanism is not known. ``targets`` are the
    values of a record that an attacker distinguishes; infinite ends where they may be anything.
    """

    clip: tuple[float, float] | None = None
    targets: tuple[float, float] | None = None
    values: tuple[float, ...] | None = None

    @property
    def span(self) -> float | None:
        """The sensitivity under replace-one."""
        if self.values is not None:
            return max(self.values) - min(self.values)
        return None if self.clip is None else self.clip[1] - self.clip[0]

    @property
    def width(self) -> float:
        """How far apart two target values may be, in widths of the clip interval."""
        if self.clip is None or self.targets is None:
            return math.inf
        return gaussian.target_distance(self.clip, self.targets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One theorem: ``leak(epsilon)`` bounds the leakage, ``allowed(target)`` is the largest epsilon that keeps it."""

    rule: str
    title: str
    why: str
    usable: bool
    cites: tuple[str, ...]
    assumes: tuple[str, ...] = ()
    side: Side = "upper"
    leak: Callable[[float], float] | None = None
    low: Callable[[float], float] | None = None
    allowed: Callable[[float], float | None] | None = None
    model_free: bool = False


def _proportional_leakage(factor: float) -> tuple[Callable[[float], float], Callable[[float], float | None]]:
    return lambda epsilon: factor * epsilon, lambda target: target / factor


def _offset_leakage(more: float) -> tuple[Callable[[float], float], Callable[[float], float | None]]:
    return lambda epsilon: epsilon + more, lambda target: target - more if target > more else None


def invert_leakage(leak: Callable[[float], float], target: float, least: float, close: float = _ROOT_CLOSE) -> float:
    """Return an epsilon whose leakage is at most the target, within ``close`` of the largest; ``least`` keeps it.

    The leakage grows with epsilon and is at least epsilon.
    """
    from scipy.optimize import brentq

    if leak(target) <= target:
        return target
    if leak(least) > target:
        return 0.0
    epsilon = math.exp(
        brentq(lambda x: math.log(leak(math.exp(x)) / target), math.log(least), math.log(target), xtol=close / 2.0)
    )
    step = close
    while leak(epsilon) > target:  # to the safe side
        epsilon *= 1.0 - step
        step *= 2.0
    return max(epsilon, least)


def group_route(m: int, records: int | None) -> Route:
    """Return Theorem 6.3: m times epsilon, whatever the dependence within a group of m records."""
    leak, allowed = _proportional_leakage(float(m))
    every = "all records may depend on each other" if records == m else f"groups of at most {m} are independent"
    return Route(
        rule="thm-6.3",
        title="any dependence within a group",
        why="needs only that groups are independent of each other" if records != m else "needs nothing",
        usable=True,
        cites=(f"{_THESIS} Theorem 6.3",),
        assumes=(every,) if m > 1 else ("records are independent",),
        leak=leak,
        allowed=allowed,
        model_free=True,
    )


# Gaussian groups.


def _targets_text(release: SumRelease) -> str:
    low, high = release.targets or (-math.inf, math.inf)
    return f"an attacker compares two values of a record between {low:g} and {high:g}"


def gaussian_routes(model: GaussianGroups, release: SumRelease) -> list[Route]:
    """Return the theorems about Gaussian groups."""
    reason = None
    if release.clip is None:
        reason = "needs a clip interval, so that the noise is private in the l1 distance"
    elif not math.isfinite(release.width):
        reason = "holds only for target values within a stated interval (Theorem 6.14 as printed fails for others)"
    width = release.width if math.isfinite(release.width) else 1.0
    return [
        _lemma(model, release, width, reason, capped=False),
        _lemma(model, release, width, reason, capped=True),
        _correlation_bound(model, release, width, reason, tight=False),
        _correlation_bound(model, release, width, reason, tight=True),
    ]


def _lemma(model: GaussianGroups, release: SumRelease, width: float, reason: str | None, *, capped: bool) -> Route:
    reaches = [gaussian.reach(one, width, capped=capped) for one in model.covariances]
    singular = next((one.how for one in reaches if one.value is None), None)
    factor = max((one.value for one in reaches if one.value is not None), default=1.0)
    how = max(reaches, key=lambda one: one.value or 0.0).how
    bad = reason or (f"needs an invertible covariance: {singular}" if singular else None)
    leak, allowed = _proportional_leakage(factor)
    return Route(
        rule="lemma-6.10-clipped" if capped else "lemma-6.10",
        title="Gaussian, own covariance" + (", no record moves further than the clip interval" if capped else ""),
        why=bad or f"any covariance will do; {how}",
        usable=bad is None,
        cites=(f"{_THESIS} Lemma 6.10", OURS) if capped else (f"{_THESIS} Lemma 6.10",),
        assumes=("groups are jointly Gaussian with this covariance and independent", _targets_text(release)),
        leak=None if singular else leak,
        allowed=allowed,
    )


def _correlation_bound(
    model: GaussianGroups, release: SumRelease, width: float, reason: str | None, *, tight: bool
) -> Route:
    unequal = next((one for one in model.covariances if not gaussian.equal_variances(one)), None)
    pairs = [(int(one.shape[0]), gaussian.largest_correlation(one)) for one in model.covariances]
    strong = next(((m, rho) for m, rho in pairs if rho * (m - 2) >= 1.0), None)
    wrong = [] if reason is None else [reason]
    if unequal is not None:
        sd = np.sqrt(np.diag(unequal))
        wrong.append(
            f"needs equal variances (Definition 6.9); standard deviations go from {sd.min():.4g} to {sd.max():.4g}"
        )
    if strong is not None:
        wrong.append(f"needs rho (m - 2) < 1; here rho {strong[1]:.4g} and m {strong[0]}")
    bad = "; ".join(wrong) or None
    formula = gaussian.h_tight if tight else gaussian.h
    factor = None if strong is not None else width * max(formula(m, rho) for m, rho in pairs)
    leak, allowed = _proportional_leakage(1.0 if factor is None else factor)
    rho = max(rho for _, rho in pairs)
    return Route(
        rule="thm-6.14-tight" if tight else "thm-6.14",
        title=f"Gaussian, equal variances, correlations up to {rho:.4g}" + (", tighter" if tight else ""),
        why=bad or "equal variances, rho (m - 2) < 1, target values confined",
        usable=bad is None,
        cites=(f"{_THESIS} Theorems 6.11 and 6.14", *((OURS,) if tight else ())),
        assumes=("groups are jointly Gaussian with equal variances and independent", _targets_text(release)),
        leak=None if factor is None else leak,
        allowed=allowed,
    )


# Chains.


def chain_routes(model: Chain, release: SumRelease) -> list[Route]:
    """Return the theorems about Markov chains; few enough series are also gone through one by one."""
    P = np.asarray(model.transitions)
    zero = "needs all transition probabilities above 0 (H1)" if model.smallest < markov.TINY else None
    bad = zero
    if not model.is_stationary:
        bad = zero or "as stated, needs a chain that starts as it goes on (H2, stationary)"
    ratio, (row, column) = markov.gamma(P), markov.row_and_column_ratios(P)
    assumed = "Markov chain with these transition probabilities"
    printed = _offset_leakage(4.0 * math.log(ratio)) if math.isfinite(ratio) else None
    ratio_bound = _offset_leakage(2.0 * math.log(row) + 2.0 * math.log(column)) if math.isfinite(row) else None
    routes = [
        Route(
            rule="thm-6.20",
            title=f"Markov chain, gamma {ratio:.6g}",
            why=bad or "all transitions possible, stationary",
            usable=bad is None,
            cites=(f"{_THESIS} Theorem 6.20",),
            assumes=(f"a stationary {assumed}",),
            leak=None if printed is None else printed[0],
            allowed=None if printed is None else printed[1],
        ),
        Route(
            rule="thm-6.20-tight",
            title=f"Markov chain, ratios within rows {row:.6g} and columns {column:.6g}",
            why=zero or "all transitions possible; any start will do",
            usable=zero is None,
            cites=(f"{_THESIS} Theorem 6.20", OURS),
            assumes=(f"a {assumed}, any start",),
            leak=None if ratio_bound is None else ratio_bound[0],
            allowed=None if ratio_bound is None else ratio_bound[1],
        ),
        _steps(model, release),
    ]
    few = model.length * math.log(model.states) <= math.log(_MOST_LISTED)
    if release.values is not None and few and model.listable:
        routes.append(table_route(Joint(model.joint().probabilities, list(release.values))))
    return routes


def _steps(model: Chain, release: SumRelease) -> Route:
    P = np.asarray(model.transitions)
    is_count = release.values is not None and model.states == 2
    exact = is_count and float(np.linalg.det(P)) >= 0.0 and model.is_stationary and min(model.initial) > 0.0
    start = "stationary" if model.is_stationary else "with this start"

    @lru_cache(maxsize=64)
    def upper_and_computed(epsilon: float) -> tuple[float, float]:
        return markov.steps(model, epsilon)

    return Route(
        rule="chain-steps",
        title="Markov chain, followed step by step",
        why="any chain will do" if not exact else "any chain will do; with two states that persist it is exact",
        usable=True,
        cites=(OURS,),
        assumes=(f"a Markov chain with these transition probabilities, {start}",),
        side="exact" if exact else "upper",
        leak=lambda epsilon: upper_and_computed(epsilon)[0],
        low=(lambda epsilon: 2.0 * upper_and_computed(epsilon)[1] - upper_and_computed(epsilon)[0]) if exact else None,
        allowed=lambda target: invert_leakage(
            lambda e: upper_and_computed(e)[0],
            target,
            target / (2.0 * model.length),
            _ROOT_CLOSE if model.states == 2 else _ROOT_NEAR,
        ),
    )


# Small finite models.


def table_route(model: Joint) -> Route:
    """Return the definition itself, gone through for every attacker, target and output."""
    query = model.total()
    span = finite_models.sensitivity(query)

    def leak(epsilon: float) -> float:
        return 0.0 if epsilon <= 0.0 or span == 0.0 else finite_models.laplace_leakage(model, query, span / epsilon)

    return Route(
        rule="all-attackers",
        title="every attacker, target and output gone through",
        why="few enough records and values",
        usable=True,
        cites=(f"{_THESIS} Definition 2.27",),
        assumes=("the joint distribution of all records", "Laplace noise on the sum of their values"),
        side="exact",
        leak=leak,
        low=lambda epsilon: leak(epsilon) * (1.0 - 1e-11),
        allowed=lambda target: invert_leakage(leak, target, target / (2.0 * model.records)),
    )


def error_of(span: float | None, epsilon: float | None) -> float | None:
    """Return the error that 5 of 100 releases exceed: ln(20) times the scale of the noise."""
    return None if span is None or epsilon is None or epsilon <= 0.0 else _LOG_20 * span / epsilon
