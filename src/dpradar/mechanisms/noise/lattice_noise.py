"""Noise on whole numbers: what it offers to the rules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ...errors import ParameterError, UnsupportedError
from ...guarantees.approx import tv_of_approx
from ...guarantees.curves import approx_curve, likelihood_curve
from ...guarantees.pairs import approx_pair, finite_pair
from ...guarantees.privacy import Privacy, Relation
from ...numerics.lazy_numpy import Floats, Int64s, Ints, np
from ..capabilities import Release
from ..query import contributions
from .noise_options import Range, release_of_sensitivity
from .whole_number_laws import DiscreteGaussianLaw, GeometricLaw, Law, SummedLaw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...guarantees.pairs import Pairs
    from ...threats import Prior
    from .discrete_gaussian import DiscreteGaussian
    from .geometric import Geometric

__all__ = ["MOST_NOISE", "lattice_release"]

MOST_NOISE = 1e6  # outputs are listed, some twenty or eighty for each unit of noise
_MOST_PAIR_ATOMS = 100_000  # outputs of a pair that is composed
_MOST_ATOMS = 2_000_000  # outputs of a pair that are compared one by one
_LARGEST_WHOLE = 2.0**53  # above it not every whole number is a float


@dataclass(frozen=True, slots=True, eq=False)
class LatticeChannel:
    """Discrete noise around one whole number per input; outputs are listed from ``first`` to ``last``, tails lumped.

    Points and listed outputs are counted from ``origin``, near which floats have digits; the ends of a clamp are not.
    """

    points: Floats
    law: Law
    first: int
    last: int
    truncate: Range
    origin: int = 0

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return self.points.size

    @property
    def outputs(self) -> int:
        """The number of listed outputs."""
        return self.last - self.first + 1

    def chunks(self, columns: int) -> Iterator[Floats]:
        """Yield p(output | input)."""
        if self.first == self.last:  # all contributions are equal: nothing can be distinguished
            yield np.ones((self.inputs, 1))
            return
        for start in range(self.first, self.last + 1, columns):
            stop = min(start + columns, self.last + 1)
            offset = np.arange(start, stop, dtype=float)[None, :] - self.points[:, None]
            block = self.law.pmf(offset)
            if start == self.first:
                block[:, 0] = self.law.below(offset[:, 0])
            if stop == self.last + 1:
                block[:, -1] = self.law.below(-offset[:, -1])  # the noise is symmetric
            yield block

    def privacy(self, relation: Relation) -> Privacy:
        """Return the promise; a record that is absent contributes 0."""
        low, high = float(self.points.min()), float(self.points.max())
        distance = {
            "replace-one": high - low,
            "add-remove": max(abs(low + self.origin), abs(high + self.origin)),
            "reference": math.ceil((high - low) / 2),
        }[relation]
        source = f"discrete noise, distance {distance:g}, {relation}"
        epsilon = self.law.epsilon(distance)
        if distance + 2 * self.law.margin > _MOST_ATOMS:
            if epsilon is None:
                return Privacy(relation=relation, source=source, tv=1.0, information=self.law.information(distance))
            curve, tv = approx_curve(epsilon, 0.0), tv_of_approx(epsilon, 0.0)
            pairs = ((approx_pair(epsilon, 0.0), 1),)
            return Privacy(relation=relation, source=source, epsilon=epsilon, curve=curve, tv=tv, pairs=pairs)
        k = np.arange(-self.law.margin, distance + self.law.margin + 1)
        if isinstance(self.law, GeometricLaw):
            k = np.arange(0, distance + 1)  # tails in one column each
        here, there = self.law.pmf(k), self.law.pmf(k - distance)
        here[0], there[0] = self.law.below(k[:1])[0], self.law.below(k[:1] - distance)[0]
        if k.size > 1:
            here[-1], there[-1] = self.law.below(-k[-1:])[0], self.law.below(distance - k[-1:])[0]
        curve = likelihood_curve(here, there) if distance else approx_curve(0.0, 0.0)
        tv = min(curve.gap(), 1.0 if epsilon is None else tv_of_approx(epsilon, 0.0))
        return Privacy(
            relation=relation,
            source=source,
            epsilon=epsilon,
            curve=curve,
            tv=tv,
            pairs=self._pairs(here, there),
            information=self.law.information(distance),
        )

    def _pairs(self, here: Floats, there: Floats) -> Pairs | None:
        if here.size > _MOST_PAIR_ATOMS:
            return None
        # The losses of geometric noise are whole multiples of 1/scale.
        step = 1.0 / self.law.scale if isinstance(self.law, GeometricLaw) else None
        return ((finite_pair(there, here, step), 1),)

    def sample(self, inputs: Ints, rng: np.random.Generator) -> Int64s:
        """Return one noisy whole number per given input; for simulation only."""
        clean = self.points[np.asarray(inputs, dtype=np.intp)].astype(np.int64) + self.origin
        noisy = clean + self.law.sample(len(inputs), rng)
        return noisy if self.truncate is None else np.clip(noisy, *self.truncate).astype(np.int64)

    def likelihoods(self, reports: Any) -> Floats:
        """Return the log-likelihood of every input, one row per output; a clamped end stands for all beyond it."""
        noisy = np.asarray(reports)[:, None] - self.origin
        chances = self.law.pmf(noisy - self.points[None, :])
        if self.truncate is not None:
            low, high = (end - self.origin for end in self.truncate)
            chances = np.where(noisy <= low, self.law.below(low - self.points)[None, :], chances)
            chances = np.where(noisy >= high, self.law.below(self.points - high)[None, :], chances)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(chances))

    def release(self) -> Release:
        """Return what the noise offers."""
        return Release(
            name="discrete noise",
            privacy=self.privacy,
            inputs=self.inputs,
            finite=self,
            sample=self.sample,
            likelihoods=self.likelihoods,
            repeat=self._summed if self.truncate is None and isinstance(self.law, DiscreteGaussianLaw) else None,
        )

    def _summed(self, times: int) -> Release:
        """Return the sum of several releases: discrete Gaussian noise is an exponential family, so it says it all."""
        law = SummedLaw(self.law, times)  # type: ignore[arg-type]
        points = times * self.points
        first, last = int(points.min()) - law.margin, int(points.max()) + law.margin
        return LatticeChannel(points, law, first, last, None, times * self.origin).release()


def _clamped(first: int, last: int, low: int, high: int) -> tuple[int, int]:
    """Return the listed outputs after clamping to [low, high]: the ends hold all that lies beyond them."""
    if low >= last:  # all contributions lie below: 'low or less' and 'more' is all that can be distinguished
        return low, min(high, low + 1)
    if high <= first:
        return max(low, high - 1), high
    return max(first, low), min(last, high)


def _lattice_privacy(law: GeometricLaw | DiscreteGaussianLaw, distance: float, relation: Relation) -> Privacy:
    points = np.array([0.0, float(math.ceil(distance))])
    return LatticeChannel(points, law, -law.margin, int(points[1]) + law.margin, None).privacy(relation)


def lattice_release(
    mechanism: Geometric | DiscreteGaussian, law: GeometricLaw | DiscreteGaussianLaw, prior: Prior | None
) -> Release:
    """Return the release of a mechanism with this law about the records of the prior."""
    owner, query, truncate = type(mechanism).__name__, mechanism.query, mechanism.truncate
    if mechanism.sensitivity is not None:
        return release_of_sensitivity(mechanism, partial(_lattice_privacy, law))
    if prior is not None and prior.is_continuous:
        raise UnsupportedError(f"{owner} takes whole numbers, not a continuous prior. Use Laplace or Gaussian.")
    matrix = contributions(owner, query, prior)
    if matrix.shape[1] != 1:
        raise ParameterError(
            f"{owner}.query",
            "one whole number per value",
            f"vectors of {matrix.shape[1]} coordinates",
            "Use Composed([...]) with one mechanism per coordinate.",
        )
    points = matrix[:, 0]
    if np.any(np.abs(points) > _LARGEST_WHOLE):
        allowed = f"whole numbers of at most {_LARGEST_WHOLE:.0f} in size"
        raise ParameterError(f"{owner}.query", allowed, f"{float(np.abs(points).max()):g}", "Use Laplace or Gaussian.")
    if np.any(points != np.round(points)):
        raise ParameterError(
            f"{owner}.query", "whole numbers: the noise is on whole numbers", "a fraction", "Use Laplace or Gaussian."
        )
    origin = int(points.min())
    points = points - origin
    first, last = -law.margin, int(points.max()) + law.margin
    if truncate is not None:
        if any(math.isfinite(end) and not float(end).is_integer() for end in truncate):
            raise ParameterError(f"{owner}.truncate", "whole numbers", f"{truncate}", "The noise is on whole numbers.")
        # An open end clamps nothing; an end far beyond every output does the same.
        beyond = {-math.inf: first - 2, math.inf: last + 2}
        low, high = (beyond[end] if math.isinf(end) else int(end) - origin for end in truncate)
        first, last = _clamped(first, last, low, high)
    return LatticeChannel(points, law, first, last, truncate, origin).release()
