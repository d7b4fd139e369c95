"""Laplace and Gaussian noise on numbers and vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from annotated_types import Gt

from ...errors import ParameterError
from ...guarantees.approx import tv_of_approx
from ...guarantees.curves import approx_curve, laplace_curve
from ...guarantees.gdp import gaussian_privacy
from ...guarantees.pairs import GaussianPair, LaplacePair, approx_pair
from ...guarantees.privacy import Privacy, Relation
from ...numerics.lazy_numpy import Array, Floats, Ints, np
from ...numerics.shift_to_zero import from_lowest
from ...numerics.special import erf
from ...options import About, described
from ..capabilities import ContinuousModel, LineModel, OneHot, Release
from ..cost import LOG_20, NORMAL_95
from ..query import (
    Contribution,
    Sensitivity,
    SensitivityRelation,
    Truncate,
    check_sensitivity,
    contributions,
    exact_repr,
    further_options_repr,
    largest_distance,
    pairs_affordable,
    smallest_radius,
)
from .kernels import GaussianKernel, LaplaceKernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...guarantees.neighbours import Neighbours
    from ...guarantees.pairs import Pairs
    from ...threats import Prior

__all__ = ["Gaussian", "Laplace", "NoisyVectors", "release_of_sensitivity"]

Range = tuple[float, float] | None
Norm = Literal["L1 norm", "L2 norm"]

_ABOVE_SQRT_2 = math.nextafter(math.sqrt(2.0), 2.0)  # a product with it is not rounded below the true one
_MOST_UNITS = 2.0**38  # reports further from 0 are rounded by more than 1e-4 units of the noise
_NEAR = 1e4  # units of the noise; a product of larger numbers leaves few digits for its differences
_LEAST, _MOST = 1e-100, 1e100  # beyond them squares and cubes leave the range of floats


def check_amount(name: str, amount: float, most: float = _MOST) -> None:
    """Refuse noise so small or large that numbers overflow."""
    if not _LEAST <= amount <= most:
        hint = "Release the numbers in another unit, so that noise and numbers are of like size."
        raise ParameterError(name, f"between {_LEAST:g} and {most:g}", f"{amount:g}", hint)


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
    return Privacy(relation=relation, source=source, epsilon=epsilon, curve=curve, tv=tv, pairs=apart)


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


def release_of_sensitivity(
    privacy: Callable[[float, Relation], Privacy],
    sensitivity: float,
    neighbours: Neighbours,
    norm: Norm,
    *,
    nonnegative: bool = False,
) -> Release:
    """Return noise on numbers of which only the largest change between neighbours under one relation is known.

    ``nonnegative``, for the L2 norm only: no contribution has a negative entry.

    Notes
    -----
    Two contributions a and b of norm at most s are at most 2 s apart. Without negative entries |a - b|_2^2 =
    |a|_2^2 + |b|_2^2 - 2 a.b <= 2 s^2; in the L1 norm the factor stays 2, as two cells of a histogram show. How far a
    contribution is from none at all does not follow from how far two of them are apart.

    One number stands for any vector of the same norm. Gaussian noise looks alike in every direction. Under Laplace and
    geometric noise, what a coordinate reveals is how far between its two centres the output lies, and the likelihood
    ratio depends on the sum of these alone. Compared with a single coordinate, the sum has less mass at both ends and
    more at every point between, so its law is smaller in convex order (Karlin and Novikoff 1963).
    """
    factor = _ABOVE_SQRT_2 if nonnegative else 2.0

    def promise(relation: Relation) -> Privacy | None:
        if relation == neighbours:
            return privacy(sensitivity, relation)
        if neighbours == "replace-one":
            return None
        if relation == "replace-one":
            return privacy(factor * sensitivity, relation)
        absent = privacy(sensitivity, "add-remove")  # every contribution is compared with none at all
        return replace(absent, relation="reference", source=f"{absent.source}, the record absent")

    if neighbours == "replace-one":
        when = "when one person's data are replaced; nothing is known of adding or removing a person"
    else:
        entries = " (no contribution has a negative entry)" if nonnegative else ""
        times = "sqrt(2)" if nonnegative else "2"
        when = f"when one person is added or removed; {times} times that when one person's data are replaced{entries}"
    note = f"stated sensitivity {sensitivity:g} ({norm}, {neighbours}): the most that the output moves {when}"
    return Release(name="noise", privacy=promise, assumes=(note,))


def _bind_to_prior(
    mechanism: Laplace | Gaussian, kernel: LaplaceKernel | GaussianKernel, prior: Prior | None
) -> Release:
    owner, query, truncate = type(mechanism).__name__, mechanism.query, mechanism.truncate
    if mechanism.sensitivity is not None and mechanism.neighbours is not None:
        nonnegative = getattr(mechanism, "nonnegative", False)
        promise = partial(noise_privacy, kernel, on_line=True)
        return release_of_sensitivity(
            promise, mechanism.sensitivity, mechanism.neighbours, mechanism.NORM, nonnegative=nonnegative
        )
    if prior is not None and prior.interval is not None:
        if query is not None:
            raise ParameterError(
                f"{owner}.query", "left out with a continuous prior", "a query", "The record itself is released."
            )
        return NoisyInterval(kernel, prior.interval.low, prior.interval.high, truncate).release()
    return NoisyVectors(contributions(owner, query, prior), kernel, truncate).release()


@described("laplace", "Laplace noise.", "noise", first={"values": "0:100", "goal": "within:5"}, eq=False)
class Laplace:
    """Laplace noise of the given scale, independent per coordinate, on the target's contribution.

    ``query`` is one number or vector per value of the prior, or a function of the record (default: the prior's numeric
    values); ``truncate=(low, high)`` clamps the output.

    ``sensitivity`` instead of a query: all that is known is how far the released numbers move, in the L1 norm, and
    ``neighbours`` says when: "add-remove", when one person is added or removed, or "replace-one", when one person's
    data are replaced. It has no default. Questions about two records (``rad``) take twice an add-remove sensitivity;
    a replace-one sensitivity does not cover taking part. A count, or a sum of numbers from 0 to s, moves by at most
    s under either relation: state that under replace-one for the tighter answer about two records.

    Notes
    -----
    Dwork, McSherry, Nissim and Smith (2006). epsilon = (largest L1 distance of two contributions) / scale, replace-one.

    Examples
    --------
    >>> Laplace(scale=5.0)
    Laplace(scale=5)
    >>> noise = Laplace(scale=5.0, sensitivity=1.0, neighbours="add-remove").at(None)
    >>> noise.privacy("add-remove").epsilon, round(noise.privacy("replace-one").epsilon, 6)
    (0.2, 0.4)
    """

    ORDERED: ClassVar[tuple[str, ...]] = ("scale",)
    NORM: ClassVar[Norm] = "L1 norm"  # of a sensitivity

    scale: Annotated[
        float,
        Gt(0),
        About(
            "the scale of the Laplace noise, sensitivity / epsilon",
            example="10",
            typical=(0.05, 50.0),
            more_private="up",
        ),
    ]
    query: Contribution = None
    truncate: Truncate | None = None
    sensitivity: Sensitivity | None = None
    neighbours: SensitivityRelation | None = None

    def check_together(self) -> None:
        """Refuse noise beyond the range of floats, and a sensitivity without its relation."""
        check_amount("Laplace.scale", self.scale)
        check_sensitivity("Laplace", self.sensitivity, self.neighbours, self.query)

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        return _bind_to_prior(self, LaplaceKernel(self.scale), prior)

    def cost(self) -> dict[str, float]:
        """Return the error that 5 of 100 released numbers exceed, scale ln 20, and the variance 2 scale^2."""
        return {"error": LOG_20 * self.scale, "variance": 2.0 * self.scale * self.scale}

    def __repr__(self) -> str:
        return f"Laplace(scale={exact_repr(self.scale)}{further_options_repr(self)})"


@described("gaussian", "Gaussian noise.", "noise", first={"values": "0:100", "goal": "within:5"}, eq=False)
class Gaussian:
    """Gaussian noise of standard deviation sigma, independent per coordinate, on the target's contribution.

    ``query``, ``truncate``, ``sensitivity`` (in the L2 norm) and ``neighbours`` as for :class:`Laplace`.
    ``nonnegative=True`` states that no person's contribution has a negative entry, as in a histogram or a count: two
    records are then at most sqrt(2) times an add-remove sensitivity apart, else twice.

    Notes
    -----
    mu-GDP with mu = (largest L2 distance of two contributions) / sigma, replace-one (Dong, Roth and Su 2022).

    Examples
    --------
    >>> Gaussian(sigma=1.0, query=[0.0, 1.0]).at(None).privacy("replace-one").tv.__round__(6)
    0.382925
    """

    ORDERED: ClassVar[tuple[str, ...]] = ("sigma",)
    NORM: ClassVar[Norm] = "L2 norm"  # of a sensitivity

    sigma: Annotated[
        float,
        Gt(0),
        About("the standard deviation of the noise", example="15", typical=(0.05, 50.0), more_private="up"),
    ]
    query: Contribution = None
    truncate: Truncate | None = None
    sensitivity: Sensitivity | None = None
    neighbours: SensitivityRelation | None = None
    nonnegative: Annotated[
        bool,
        About(
            "whether no contribution has a negative entry, as in a histogram",
            example="true",
            label="A person's contributions are never negative",
            folded=True,
            beside="sensitivity",
        ),
    ] = False

    def check_together(self) -> None:
        """Refuse noise beyond the range of floats, and a sensitivity without its relation."""
        check_amount("Gaussian.sigma", self.sigma)
        check_sensitivity("Gaussian", self.sensitivity, self.neighbours, self.query)
        if self.nonnegative and self.neighbours != "add-remove":
            hint = "It says that no contribution has a negative entry, so that two of them are less far apart."
            allowed = "True or False, and True only with a sensitivity under 'add-remove'"
            raise ParameterError("Gaussian.nonnegative", allowed, "True", hint)

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior."""
        return _bind_to_prior(self, GaussianKernel(self.sigma), prior)

    def cost(self) -> dict[str, float]:
        """Return the error that 5 of 100 released numbers exceed, and the variance."""
        return {"error": NORMAL_95 * self.sigma, "variance": self.sigma * self.sigma}

    def __repr__(self) -> str:
        return f"Gaussian(sigma={exact_repr(self.sigma)}{further_options_repr(self)})"
