"""Noise with a density around numbers, vectors and the numbers of an interval: what it offers to the rules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from ...errors import ParameterError
from ...guarantees.approx import tv_of_approx
from ...guarantees.curves import approx_curve, laplace_curve
from ...guarantees.gdp import gaussian_privacy
from ...guarantees.information import laplace_information
from ...guarantees.pairs import GaussianPair, LaplacePair, approx_pair
from ...guarantees.privacy import Privacy, Relation
from ...numerics.lazy_numpy import Array, Floats, Ints, np
from ...numerics.shift_to_zero import from_lowest
from ...numerics.special import erf
from ..capabilities import ContinuousModel, LineModel, OneHot, Release
from ..query import contributions, largest_distance, pairs_affordable, smallest_radius
from .kernels import GaussianKernel, LaplaceKernel
from .noise_options import Range, release_of_sensitivity

if TYPE_CHECKING:
    from ...guarantees.pairs import Pairs
    from ...threats import Prior
    from .gaussian import Gaussian
    from .laplace import Laplace

__all__ = ["noisy_release"]

_MOST_UNITS = 2.0**38  # reports further from 0 are rounded by more than 1e-4 units of the noise
_NEAR = 1e4  # units of the noise; a product of larger numbers leaves few digits for its differences


@dataclass(frozen=True, slots=True, eq=False)
class NoisyVectors:
    """Independent noise on every coordinate of one vector per input."""

    points: Floats
    kernel: LaplaceKernel | GaussianKernel
    truncate: Range = None

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return int(self.points.shape[0])

    @property
    def is_laplace(self) -> bool:
        """Whether the noise is Laplace."""
        return isinstance(self.kernel, LaplaceKernel)

    def privacy(self, relation: Relation) -> Privacy:
        """Return the promise; a record that is absent contributes 0, and clamping the output only helps."""
        norm: Literal[1, 2] = 1 if self.is_laplace else 2
        if relation == "replace-one":
            distance = largest_distance(self.points, norm)
        elif relation == "add-remove":
            size = np.abs(self.points).sum(axis=1) if norm == 1 else np.sqrt(np.square(self.points).sum(axis=1))
            distance = float(size.max())
        else:
            distance = smallest_radius(self.points - self.points.min(axis=0), norm)
        return noise_privacy(self.kernel, distance, relation, on_line=self.points.shape[1] == 1)

    def sample(self, inputs: Ints, rng: np.random.Generator) -> Floats:
        """Return one noisy vector per given input (a number when vectors have one coordinate); for simulation only."""
        clean = self.points[np.asarray(inputs, dtype=np.intp)]
        noisy = clean + self.kernel.sample(clean.shape, rng)
        if self.truncate is not None:
            noisy = np.clip(noisy, *self.truncate)
        return noisy[:, 0] if noisy.shape[1] == 1 else noisy

    def likelihoods(self, reports: Any) -> Floats:
        """Return the log-likelihood of every input, one row per output, up to a constant."""
        noisy = np.asarray(reports, dtype=float).reshape(-1, self.points.shape[1])
        if self.truncate is not None:
            return self._line().likelihoods(noisy[:, 0])
        points = self.points - self.points[0]  # what all have in common would leave few digits for the differences
        if not self.is_laplace and float(np.abs(points).max()) <= _NEAR * self.kernel.unit:
            inner = (noisy - self.points[0]) @ points.T - 0.5 * np.square(points).sum(axis=1)
            return np.asarray(inner / self.kernel.unit / self.kernel.unit)
        result = np.empty((noisy.shape[0], self.inputs))
        for value in range(self.inputs):
            apart = np.abs(noisy - self.points[value]) / self.kernel.unit
            result[:, value] = -apart.sum(axis=1) if self.is_laplace else -0.5 * np.square(apart).sum(axis=1)
        return result

    def pair_tv(self, i: int) -> Floats:
        """Return the total variation between input i and every input, from above."""
        difference = self.points - self.points[i]
        if self.is_laplace:
            return np.asarray(-np.expm1(-np.abs(difference).sum(axis=1) / (2.0 * self.kernel.unit)))
        return np.asarray(erf(np.sqrt(np.square(difference).sum(axis=1)) / (2.0 * math.sqrt(2.0) * self.kernel.unit)))

    def pair(self, i: int, j: int) -> Pairs:
        """Return what two inputs look like: one number under Laplace noise, any vectors under Gaussian noise."""
        apart = float(np.sqrt(np.square(self.points[i] - self.points[j]).sum())) / self.kernel.unit
        return ((LaplacePair(apart) if self.is_laplace else GaussianPair(apart), 1),)

    def _line(self) -> LineModel:
        low, high = self.truncate or (-np.inf, np.inf)
        clamp = self.truncate is not None
        return LineModel(self.points[:, 0], np.ones(self.inputs), self.kernel, low, high, clamp=clamp)

    def release(self) -> Release:
        """Return what the noise offers."""
        rows, columns = self.points.shape
        free = self.truncate is None
        line = self._line() if columns == 1 else None
        gaussian = free and isinstance(self.kernel, GaussianKernel)
        moved, is_exact = from_lowest(self.points, self.kernel.unit, self.kernel.reach)
        height = float(moved.max())
        one_hot = free and rows == columns and height > 0.0 and np.array_equal(moved, height * np.eye(rows))
        # Reports are numbers around the contributions: where these are too large, rounding would hide the noise.
        read = (free or columns == 1) and float(np.abs(self.points).max()) <= _MOST_UNITS * self.kernel.unit
        return Release(
            name=f"{'Laplace' if self.is_laplace else 'Gaussian'} noise",
            privacy=self.privacy,
            inputs=rows,
            line=line,
            vectors=moved / self.kernel.unit if gaussian else None,
            absent=-self.points.min(axis=0) / self.kernel.unit if gaussian and is_exact else None,
            one_hot=OneHot(height, self.kernel) if one_hot else None,
            pair=self.pair if free and (columns == 1 or gaussian) else None,
            pair_tv=self.pair_tv if pairs_affordable(self.points) else None,
            sample=self.sample,
            likelihoods=self.likelihoods if read else None,
            repeat=self._averaged if gaussian else None,
        )

    def _averaged(self, times: int) -> Release:
        """Return the average of several releases, which holds all their information: the same with less noise."""
        return NoisyVectors(self.points, GaussianKernel(self.kernel.unit / math.sqrt(times))).release()


def noise_privacy(
    kernel: LaplaceKernel | GaussianKernel, distance: float, relation: Relation, *, on_line: bool
) -> Privacy:
    """Return what noise promises about two contributions at the given distance."""
    if isinstance(kernel, GaussianKernel):
        source = f"Gaussian noise, distance {distance:g}, {relation}"
        return gaussian_privacy(distance / kernel.sigma, relation, source)
    epsilon = distance / kernel.scale
    source = f"Laplace noise, distance {distance:g}, {relation}"
    if on_line:
        curve = laplace_curve(epsilon)
        pairs = ((LaplacePair(epsilon), 1),)
        tv = -math.expm1(-epsilon / 2)
        return Privacy(relation=relation, source=source, epsilon=epsilon, curve=curve, tv=tv, pairs=pairs)
    # Independent coordinates: TV <= 1 - prod(1 - TV_i) = 1 - e^(-epsilon/2), below the bound of epsilon-DP.
    tv = min(-math.expm1(-epsilon / 2), tv_of_approx(epsilon, 0.0))
    curve, apart = approx_curve(epsilon, 0.0), ((approx_pair(epsilon, 0.0), 1),)
    return Privacy(
        relation=relation,
        source=source,
        epsilon=epsilon,
        curve=curve,
        tv=tv,
        pairs=apart,
        information=laplace_information(epsilon),
    )


@dataclass(frozen=True, slots=True, eq=False)
class NoisyInterval:
    """Noise on a record that can be any number of an interval (continuous priors)."""

    kernel: LaplaceKernel | GaussianKernel
    low: float
    high: float
    truncate: Range = None

    def release(self) -> Release:
        """Return what the noise offers."""
        low, high = self.truncate or (-np.inf, np.inf)
        model = ContinuousModel(self.kernel, low, high, clamp=self.truncate is not None)
        exact = isinstance(self.kernel, GaussianKernel) and self.truncate is None
        repeat = self._averaged if exact else None
        return Release(
            name="noise on an interval", privacy=self.privacy, continuous=model, sample=self.draw, repeat=repeat
        )

    def draw(self, records: Array, rng: np.random.Generator) -> Floats:
        """Return one noisy number per given record."""
        noisy = np.asarray(records, dtype=float) + self.kernel.sample(np.shape(records), rng)
        return noisy if self.truncate is None else np.clip(noisy, *self.truncate)

    def _averaged(self, times: int) -> Release:
        return NoisyInterval(GaussianKernel(self.kernel.unit / math.sqrt(times)), self.low, self.high).release()

    def privacy(self, relation: Relation) -> Privacy:
        """Return the promise over the whole interval; a record that is absent contributes 0."""
        length = self.high - self.low
        distance = {"replace-one": length, "add-remove": max(abs(self.low), abs(self.high)), "reference": length / 2}[
            relation
        ]
        return noise_privacy(self.kernel, distance, relation, on_line=True)


def noisy_release(
    mechanism: Laplace | Gaussian, kernel: LaplaceKernel | GaussianKernel, prior: Prior | None
) -> Release:
    """Return the release of a mechanism with this density about the records of the prior."""
    owner, query, truncate = type(mechanism).__name__, mechanism.query, mechanism.truncate
    if mechanism.sensitivity is not None:
        return release_of_sensitivity(mechanism, partial(noise_privacy, kernel, on_line=True))
    if prior is not None and prior.interval is not None:
        if query is not None:
            raise ParameterError(
                f"{owner}.query", "left out with a continuous prior", "a query", "The record itself is released."
            )
        return NoisyInterval(kernel, prior.interval.low, prior.interval.high, truncate).release()
    return NoisyVectors(contributions(owner, query, prior), kernel, truncate).release()
