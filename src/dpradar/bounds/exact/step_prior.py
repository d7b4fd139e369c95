"""A continuous prior replaced by one with a density of steps, and by how much that changes the risk of any attack."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Bools, Floats, Ints, np
from .density_shapes import density_shape, steps_of
from .laplace_sums import LaplaceSums
from .likelihoods import LaplaceNoise
from .prior_cells import PriorCells, cut_prior
from .range_maximum import largest

if TYPE_CHECKING:
    from ...mechanisms.capabilities import ContinuousModel
    from ...threats.prior import Continuous
    from .likelihoods import GaussianNoise

__all__ = ["Deviations", "StepPrior", "step_prior"]

_START = 32
_UNKNOWN = 1_024  # coarse cells at least, for densities whose shape is not known
_UNKNOWN_FINE = 8_192
_MOST = 60_000
_MOST_FINE = 200_000
_WIDE = 0.3  # of the noise's unit: wider cells only where the prior has next to no mass
_POINT = 1e-12  # of the noise's unit and of the interval: narrower cells are points
_LITTLE = 1e-9
_TURN = 1e-6  # the probability of a cell in which nothing is known of the density
_LAGS = 24  # units of the noise beyond which a density below e^-24 of its top counts as that


@dataclass(frozen=True, eq=False)
class StepPrior:
    """The prior on fine cells, and the coarse cells over which likelihoods are averaged.

    Hits are counted with the prior times the factor c(x) of a renormalised mechanism, 1 for noise.
    """

    fine: PriorCells
    noise: GaussianNoise | LaplaceNoise
    factor: Floats  # the average of c over each fine cell
    most_factor: Floats
    coarse: Ints  # the fine edges that are edges of coarse cells
    point: float  # narrower cells are points

    @cached_property
    def edges(self) -> Floats:
        """The edges of the coarse cells."""
        return self.fine.edges[self.coarse]

    @cached_property
    def coarse_hits(self) -> Floats:
        """The measure of hits of everything below each edge of a coarse cell."""
        return self.hits[self.coarse]

    @cached_property
    def coarse_factor(self) -> Floats:
        """The average of c over each coarse cell, by the prior; 1 where the prior has nothing."""
        mass = np.diff(self.fine.cdf[self.coarse])
        one = np.ones(mass.size)
        if np.all(self.factor == 1.0):
            return one
        return np.divide(np.diff(self.coarse_hits), mass, out=one, where=mass > 0.0)

    @cached_property
    def sums(self) -> LaplaceSums | None:
        """The running sums of Laplace noise."""
        return (
            LaplaceSums.of(self.noise, self.edges, self.coarse_hits) if isinstance(self.noise, LaplaceNoise) else None
        )

    @cached_property
    def hits(self) -> Floats:
        """The measure of hits of everything below each fine edge."""
        return np.concatenate([[0.0], np.cumsum(self.fine.mass * self.factor)])

    @cached_property
    def least_factor(self) -> Floats:
        """A lower bound on c in each fine cell."""
        return np.maximum(2.0 * self.factor - self.most_factor, 0.0)

    @cached_property
    def lowest(self) -> int:
        """The fine cell with the least c, which falls before it and rises after it."""
        return int(self.least_factor.argmin())

    @cached_property
    def unknown_before(self) -> Ints:
        """The number of fine cells, before each fine edge, in which nothing bounds the density."""
        return np.concatenate([[0], np.cumsum(np.isinf(self.fine.bracket[1]))])

    @cached_property
    def coarse_cell(self) -> Ints:
        """The coarse cell of each fine cell."""
        return np.repeat(np.arange(self.coarse.size - 1), np.diff(self.coarse))

    @cached_property
    def points(self) -> Bools:
        """The fine cells that are too narrow to differ from a point."""
        return np.asarray(self.fine.width < self.point)

    def cell(self, x: Floats) -> Ints:
        """Return the fine cells that hold x."""
        index = np.searchsorted(self.fine.edges, x, side="right") - 1
        return np.clip(index, 0, self.fine.mass.size - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Deviations:
    """By how much the risk of any attack under the steps may differ from that under the prior.

    The parts of the coarse cells (area: whole cells, part: windows that end in a cell) count with the sums over outputs
    of weight * slope of the noise.
    """

    area: Floats
    part: Floats
    ends: float
    false: float

    def success(self, slope_sums: Floats) -> float:
        """Return the bound for success, given the sums for each coarse cell, in units of the noise's peak."""
        return float(((1.0 + 2.0 * slope_sums) * self.area + 4.0 * slope_sums * self.part).sum()) + self.ends

    def rad(self, slope_sums: Floats) -> float:
        """Return the bound for rad: false hits come on top."""
        return self.success(slope_sums) + float(((1.0 + slope_sums) * self.area).sum()) + self.false


@dataclass(frozen=True, slots=True, eq=False)
class _Deviation:
    """How far the prior may be from its steps, cell by cell."""

    hits: Floats  # the largest difference of the distribution functions, of the measure of hits
    of_cdf: Floats  # the same of the prior
    wrong: Floats  # by how much the cell's hits may be off
    factor: Floats
    most_factor: Floats


def _deviation(cells: PriorCells, model: ContinuousModel) -> _Deviation:
    low, high = cells.bracket
    d, s, m = cells.density, cells.width, cells.mass
    of_cdf = np.minimum(_leaving_rate(low, d, high) * s, m)
    if not model.renormalised:
        one = np.ones(d.size)
        return _Deviation(of_cdf, of_cdf, np.zeros(d.size), one, one)
    at = 1.0 / model.kernel.mass(model.low - cells.edges, model.high - cells.edges)
    centre = cells.edges[:-1] + 0.5 * s
    middle = 1.0 / model.kernel.mass(model.low - centre, model.high - centre)
    chord = 0.5 * (at[1:] + at[:-1])
    # c is convex, so its average lies between the value in the middle and the chord, and it falls below the lower one
    # of its values at the ends by at most 2 (chord - middle): span bounds its total variation.
    factor, off = 0.5 * (middle + chord), 0.5 * np.maximum(chord - middle, 0.0)
    span = np.abs(np.diff(at)) + 8.0 * off
    most, least = factor + span, np.maximum(factor - span, 0.0)
    wrong = m * off + of_cdf * span
    hits = np.minimum(_leaving_rate(low * least, d * factor, high * most) * s + wrong, m * most)
    return _Deviation(hits, of_cdf, wrong, factor, most)


def _leaving_rate(low: Floats, mean: Floats, high: Floats) -> Floats:
    """Return (mean - low)(high - mean)/(high - low): how fast a density in [low, high] leaves its mean, at most."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(np.isinf(high), 1.0, np.maximum(high - mean, 0.0) / (high - low))
    return np.where(high > low, np.maximum(mean - low, 0.0) * share, 0.0)


def step_prior(
    law: Continuous,
    model: ContinuousModel,
    noise: GaussianNoise | LaplaceNoise,
    marks: Floats,
    tolerance: float,
    *,
    record_known: bool,
) -> tuple[StepPrior, Deviations]:
    """Return the steps, and by how much success and rad of any attack may differ from those under the prior itself.

    ``marks`` are made edges. The cells are halved until the differences are about the tolerance.
    """
    shape = density_shape(law.distribution)
    length = law.high - law.low
    point = _POINT * min(noise.unit, length)
    widest, widest_fine = (length / _UNKNOWN, length / _UNKNOWN_FINE) if shape is None else (length, length)

    def coarse(cells: PriorCells) -> Floats:
        off = _deviation(cells, model)
        change = np.minimum(noise.top * cells.width, 2.0) * off.hits + off.wrong
        over = np.maximum(change * (cells.mass.size / tolerance), cells.width / min(_WIDE * noise.unit, widest))
        return np.where((cells.mass > _LITTLE) & (cells.width > point), over, 0.0)

    def fine(cells: PriorCells) -> Floats:
        off = _deviation(cells, model)
        unknown = np.isinf(cells.bracket[1])
        over = np.where(unknown, cells.mass * off.most_factor / _TURN, off.hits / (0.04 * tolerance))
        over = np.maximum(over, off.wrong * (4.0 * cells.mass.size / tolerance))
        over = np.maximum(over, cells.width / widest_fine)
        return np.where((cells.mass > _LITTLE) & (cells.width > point), over, 0.0)

    edges = np.concatenate([np.linspace(law.low, law.high, _START + 1), marks, steps_of(law.distribution)])
    rough = cut_prior(law, edges, coarse, _MOST, shape)
    cells = cut_prior(law, rough.edges, fine, _MOST_FINE, shape)
    off = _deviation(cells, model)
    prior = StepPrior(cells, noise, off.factor, off.most_factor, np.searchsorted(cells.edges, rough.edges), point)
    inside = ~prior.points
    area, most = _distance_from_chord(prior, prior.hits, off.hits)
    # A window that ends in a cell in which the density may turn: its part may deviate where the whole does not.
    turning = np.logical_or.reduceat(np.isinf(cells.bracket[1]) & inside, prior.coarse[:-1])
    part = np.where(turning, area + most * np.diff(prior.edges), 0.0)
    ends = 2.0 * _window_end_bound(cells.edges, noise, np.where(inside, off.hits, 0.0))
    if record_known and model.renormalised:
        ends += 2.0 * _window_end_bound(prior.edges, noise, _named_end_costs(prior, off, most))
    wrong_mass = float(off.wrong.sum())
    false = wrong_mass + 2.0 * float(off.of_cdf[inside].max(initial=0.0))
    return prior, Deviations(noise.top * area, noise.top * part, ends + wrong_mass, false)


def _named_end_costs(prior: StepPrior, off: _Deviation, hits: Floats) -> Floats:
    """Return what an end of the named records in a coarse cell may cost: deviation of hits less c times the cdf's.

    The likelihood there is p/c, so that of hits counts as c times that of the prior with the other sign. What is left
    is at most both, and at most twice the cell's probability times the variation of c in it.
    """
    start = prior.coarse[:-1]
    most, least = np.maximum.reduceat(prior.most_factor, start), np.minimum.reduceat(prior.least_factor, start)
    of_cdf = _distance_from_chord(prior, prior.fine.cdf, off.of_cdf)[1]
    mass = np.diff(prior.fine.cdf[prior.coarse])
    return np.minimum(hits + most * of_cdf, 2.0 * (most - least) * mass)


def _distance_from_chord(prior: StepPrior, hits: Floats, off: Floats) -> tuple[Floats, Floats]:
    """Return how far a distribution function is from a straight line over each coarse cell: the area, the largest."""
    x, start = prior.fine.edges, prior.coarse
    width, mass = np.diff(x[start]), np.diff(hits[start])
    cell = np.repeat(np.arange(width.size), np.diff(start))
    chord = hits[start[:-1]][cell] + (mass / width)[cell] * (x[:-1] - x[start[:-1]][cell])
    distance = np.abs(np.append(hits[:-1] - chord, 0.0))
    # Between fine edges the difference is at most that of the steps more than what a straight line says.
    area = 0.5 * (distance[1:] + distance[:-1]) * prior.fine.width + off * prior.fine.width
    most = np.maximum.reduceat(distance[:-1], start[:-1]) + np.maximum.reduceat(off, start[:-1])
    return np.add.reduceat(area, start[:-1]), most


def _window_end_bound(edges: Floats, noise: GaussianNoise | LaplaceNoise, cdf: Floats) -> float:
    """Return a bound on the integral over y of the largest (deviation at x) * p(y | x): the end of a window near y."""
    unit = max(noise.unit, float(edges[-1] - edges[0]) / _MOST)
    count = int(np.ceil((edges[-1] - edges[0]) / unit)) + 1
    blocks = edges[0] + unit * np.arange(count + 1)
    first = np.clip(np.searchsorted(edges, blocks[:-1], side="right") - 1, 0, cdf.size - 1)
    last = np.clip(np.searchsorted(edges, blocks[1:], side="left"), first + 1, cdf.size)
    padded = np.concatenate([np.zeros(_LAGS), largest(cdf, first, last), np.zeros(_LAGS)])
    reach = np.zeros(padded.size)
    for lag in range(_LAGS + 1):
        height = float(noise.at(np.zeros(1), np.array([max(lag - 1, 0) * unit]))[0])
        reach[: padded.size - lag] = np.maximum(reach[: padded.size - lag], height * padded[lag:])
        reach[lag:] = np.maximum(reach[lag:], height * padded[: padded.size - lag])
    beyond = float(cdf.max(initial=0.0)) * math.exp(1.0 - _LAGS)
    return float(reach.sum()) * unit + beyond * (25.0 + count)
