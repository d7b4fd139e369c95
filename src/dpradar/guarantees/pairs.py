"""Dominating pairs: two distributions that are at least as easy to distinguish as any two neighbours.

A pair is described by its privacy profile: delta(epsilon) = sup over events of P(E) - e^epsilon Q(E), for every real
epsilon. Pairs compose (Zhu, Dong and Wang 2022, Theorem 10), also when a later mechanism depends on earlier outputs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from ..numerics.lazy_numpy import Floats, np
from ..numerics.special import log_ndtr, ndtr

__all__ = [
    "AtomPair",
    "GaussianPair",
    "LaplacePair",
    "Pair",
    "Pairs",
    "SampledGaussianPair",
    "approx_pair",
    "finite_pair",
]

_TAIL = 10.5  # standard normal deviations; beyond lies less than 1e-25
_LARGEST_LOSS = 700.0


class Pair(Protocol):
    """Two distributions P and Q through the profile of P against Q."""

    def delta(self, epsilon: Floats) -> Floats:
        """Return sup P(E) - e^epsilon Q(E) for ascending epsilons of any sign."""
        ...

    @property
    def span(self) -> tuple[float, float]:
        """The least and the largest finite privacy loss log(P/Q), apart from less than 1e-20 of P."""
        ...

    @property
    def step(self) -> float | None:
        """A number of which every loss is a whole multiple, where there is a useful one."""
        ...

    @property
    def infinite(self) -> float:
        """The probability under P of an infinite loss."""
        ...

    def swapped(self) -> Pair:
        """Return the pair of Q against P."""
        ...


Pairs = tuple[tuple[Pair, int], ...]  # each with the number of times it is used


@dataclass(frozen=True, slots=True)
class GaussianPair:
    """Two unit Gaussians at distance mu.

    Examples
    --------
    >>> GaussianPair(1.0).delta(np.array([0.0])).round(6).tolist()
    [0.382925]
    """

    mu: float

    def delta(self, epsilon: Floats) -> Floats:
        """Return Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)."""
        if self.mu == 0.0:
            return np.maximum(-np.expm1(np.minimum(epsilon, 0.0)), 0.0)
        at = epsilon / self.mu
        subtrahend = np.exp(np.minimum(epsilon + log_ndtr(-0.5 * self.mu - at), 0.0))
        return np.asarray(np.maximum(ndtr(0.5 * self.mu - at) - subtrahend, 0.0))

    @property
    def span(self) -> tuple[float, float]:
        """The middle of the loss and what ten and a half deviations reach."""
        middle, reach = 0.5 * self.mu**2, _TAIL * self.mu
        return middle - reach, middle + reach

    @property
    def step(self) -> float | None:
        """The loss is continuous."""
        return None

    @property
    def infinite(self) -> float:
        """No output is impossible under one of the two only."""
        return 0.0

    def swapped(self) -> GaussianPair:
        """Return the same pair: it is symmetric."""
        return self


@dataclass(frozen=True, slots=True)
class LaplacePair:
    """Two Laplace distributions whose centres are ``epsilon`` scales apart.

    Examples
    --------
    >>> LaplacePair(1.0).delta(np.array([0.0, 1.0])).round(6).tolist()
    [0.393469, 0.0]
    """

    epsilon: float

    def delta(self, epsilon: Floats) -> Floats:
        """Return 1 - e^((eps - epsilon)/2) between -epsilon and epsilon, 0 above, 1 - e^eps below."""
        inside = np.abs(np.expm1(0.5 * (np.clip(epsilon, -self.epsilon, self.epsilon) - self.epsilon)))
        return np.where(epsilon < -self.epsilon, -np.expm1(np.minimum(epsilon, 0.0)), inside)

    @property
    def span(self) -> tuple[float, float]:
        """The loss lies between -epsilon and epsilon."""
        return -self.epsilon, self.epsilon

    @property
    def step(self) -> float | None:
        """The loss is continuous between its two atoms."""
        return None

    @property
    def infinite(self) -> float:
        """No output is impossible under one of the two only."""
        return 0.0

    def swapped(self) -> LaplacePair:
        """Return the same pair: it is symmetric."""
        return self


@dataclass(frozen=True, slots=True)
class AtomPair:
    """Finitely many privacy losses, ascending, with their probabilities under P; the rest of P has infinite loss."""

    losses: tuple[float, ...]
    masses: tuple[float, ...]
    infinite: float = 0.0
    step: float | None = None

    def delta(self, epsilon: Floats) -> Floats:
        """Return infinite + sum of mass (1 - e^(eps - loss)) over the losses above eps."""
        losses, masses = np.array(self.losses), np.array(self.masses)
        upper = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])
        with np.errstate(over="ignore"):
            other = masses * np.exp(np.minimum(-losses, _LARGEST_LOSS))
        lower = np.concatenate([np.cumsum(other[::-1])[::-1], [0.0]])
        first = np.searchsorted(losses, epsilon, side="right")
        with np.errstate(over="ignore", invalid="ignore"):
            subtrahend = np.where(lower[first] > 0.0, np.exp(np.minimum(epsilon, _LARGEST_LOSS)) * lower[first], 0.0)
        return np.asarray(np.clip(self.infinite + upper[first] - subtrahend, 0.0, 1.0))

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last loss."""
        return self.losses[0], self.losses[-1]

    def swapped(self) -> AtomPair:
        """Return the pair of Q against P."""
        losses = np.array(self.losses)
        masses = np.array(self.masses) * np.exp(np.minimum(-losses, _LARGEST_LOSS))
        missing_mass = max(0.0, 1.0 - float(masses.sum()))
        return AtomPair(tuple((-losses[::-1]).tolist()), tuple(masses[::-1].tolist()), missing_mass, self.step)


def approx_pair(epsilon: float, delta: float) -> AtomPair:
    """Return the pair that dominates every (epsilon, delta)-DP pair (Kairouz, Oh and Viswanath 2015).

    Examples
    --------
    >>> approx_pair(1.0, 0.1).delta(np.array([0.0, 1.0])).round(6).tolist()
    [0.515905, 0.1]
    """
    if epsilon == 0.0:
        return AtomPair((0.0,), (1.0 - delta,), delta, 1.0)
    large, small = (
        (1.0 - delta) / (1.0 + math.exp(-epsilon)),
        (1.0 - delta) * math.exp(-epsilon) / (1.0 + math.exp(-epsilon)),
    )
    return AtomPair((-epsilon, epsilon), (small, large), delta, epsilon)


def finite_pair(alternative: Floats, null: Floats, step: float | None = None) -> AtomPair:
    """Return the pair of two finite distributions; equal ratios need not be merged.

    Examples
    --------
    >>> finite_pair(np.array([0.75, 0.25]), np.array([0.25, 0.75])).delta(np.array([0.0])).tolist()
    [0.5]
    """
    p, q = np.asarray(alternative, dtype=float), np.asarray(null, dtype=float)
    infinite = float(p[(p > 0.0) & (q == 0.0)].sum())
    both = (p > 0.0) & (q > 0.0)
    losses = np.log(p[both]) - np.log(q[both])
    if step is not None:
        losses = np.round(losses / step) * step
    if losses.size == 0:  # nothing in common
        return AtomPair((0.0,), (0.0,), infinite, step)
    order = np.argsort(losses, kind="stable")
    return AtomPair(tuple(losses[order].tolist()), tuple(p[both][order].tolist()), infinite, step)


@dataclass(frozen=True, slots=True)
class SampledGaussianPair:
    """One step of DP-SGD: a record is used with probability ``rate``, then Gaussian noise ``noise`` times its size.

    "with": the record against its absence; "without": the absence against the record; "replace": the record against
    another one in the opposite direction. That these dominate is in docs/derivations/dpsgd.md.
    """

    noise: float
    rate: float
    kind: Literal["with", "without", "replace"]

    def delta(self, epsilon: Floats) -> Floats:
        """Return the profile: the best event is a half-line, whose end solves P = e^epsilon Q."""
        return {"with": self._with, "without": self._without, "replace": self._replace}[self.kind](epsilon)

    def _with(self, epsilon: Floats) -> Floats:
        # Amplification by sampling, exactly: q times the profile without sampling, at log(1 + (e^epsilon - 1)/q).
        above = np.expm1(np.minimum(epsilon, _LARGEST_LOSS)) + self.rate
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = np.log(np.maximum(above, 0.0)) - math.log(self.rate)
        inside = self.rate * GaussianPair(1.0 / self.noise).delta(np.where(above > 0.0, inner, 0.0))
        return np.where(above > 0.0, inside, -np.expm1(np.minimum(epsilon, 0.0)))

    def _without(self, epsilon: Floats) -> Floats:
        above = np.expm1(np.minimum(-epsilon, _LARGEST_LOSS)) + self.rate
        with np.errstate(divide="ignore", invalid="ignore"):
            end = self.noise**2 * (np.log(np.maximum(above, 0.0)) - math.log(self.rate)) + 0.5
        growth = np.exp(np.minimum(epsilon, _LARGEST_LOSS))
        near, far = ndtr(end / self.noise), ndtr((end - 1.0) / self.noise)
        inside = near * (1.0 - growth * (1.0 - self.rate)) - growth * self.rate * far
        return np.where(above > 0.0, np.maximum(inside, 0.0), 0.0)

    def _replace(self, epsilon: Floats) -> Floats:
        half = 0.5 * np.clip(epsilon, -_LARGEST_LOSS, _LARGEST_LOSS)
        with np.errstate(divide="ignore"):
            # log of sinh|epsilon/2| e^(1/(2 noise^2)) (1-q)/q; its inverse sinh without overflow
            size = np.abs(half) + np.log(-np.expm1(-2.0 * np.abs(half))) - math.log(2.0)
            size += 0.5 / self.noise**2 + (math.log1p(-self.rate) - math.log(self.rate) if self.rate < 1.0 else -np.inf)
        arc = np.where(size > 0.0, size + np.log1p(np.sqrt(1.0 + np.exp(-2.0 * np.maximum(size, 0.0)))), 0.0)
        arc = np.where(size > 0.0, arc, np.arcsinh(np.exp(np.minimum(size, 0.0))))
        end = self.noise**2 * (np.copysign(arc, half) + half)
        growth = np.exp(2.0 * half)
        absent = ndtr(-end / self.noise)
        there, opposite = ndtr((1.0 - end) / self.noise), log_ndtr(-(1.0 + end) / self.noise)
        subtrahend = np.exp(np.minimum(2.0 * half + opposite, 0.0))
        return np.asarray(
            np.clip((1.0 - self.rate) * (1.0 - growth) * absent + self.rate * (there - subtrahend), 0.0, 1.0)
        )

    @property
    def span(self) -> tuple[float, float]:
        """What ten and a half deviations reach; losses beyond 700 count as infinite."""
        most = min((0.5 + _TAIL * self.noise) / self.noise**2, _LARGEST_LOSS)
        joined = float(np.logaddexp(math.log1p(-self.rate) if self.rate < 1.0 else -np.inf, math.log(self.rate) + most))
        if self.kind == "replace":
            return self._replaced_span()
        least = math.log1p(-self.rate) if self.rate < 1.0 else -most
        return (least, joined) if self.kind == "with" else (-joined, -least)

    def _replaced_span(self) -> tuple[float, float]:
        # The loss is odd in the output: at x it is log of ((1-q) + q e^(up)) / ((1-q) + q e^(down)).
        x = 1.0 + _TAIL * self.noise
        up, down = (x - 0.5) / self.noise**2, (-x - 0.5) / self.noise**2
        base = math.log1p(-self.rate) if self.rate < 1.0 else -np.inf
        q = math.log(self.rate)
        high = float(np.logaddexp(base, q + min(up, 1e300)) - np.logaddexp(base, q + max(down, -1e300)))
        high = min(high, _LARGEST_LOSS)
        return -high, high

    @property
    def step(self) -> float | None:
        """The loss is continuous."""
        return None

    @property
    def infinite(self) -> float:
        """No output is impossible under one of the two only."""
        return 0.0

    def swapped(self) -> SampledGaussianPair:
        """Return the pair of Q against P; replacing is symmetric."""
        other: Literal["with", "without", "replace"] = {"with": "without", "without": "with", "replace": "replace"}[
            self.kind
        ]  # type: ignore[assignment]
        return SampledGaussianPair(self.noise, self.rate, other)
