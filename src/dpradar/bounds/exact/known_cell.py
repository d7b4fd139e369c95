"""Histogram cells and equidistant vectors when the record is known: rad from the law of a sum of likelihood ratios."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...mechanisms.noise.kernels import GaussianKernel, LaplaceKernel
from ...numerics.lazy_numpy import Floats, Ints, np
from ...numerics.special import ndtr
from ..question import Inapplicable
from .exact_risk import ExactRisk

if TYPE_CHECKING:
    from ...mechanisms.capabilities import OneHot
    from ...threats import Prior
    from ...threats.hit_classes import Cover

__all__ = ["known_cell_risk"]

_SIZES = (1 << 13, 1 << 15, 1 << 17, 1 << 19)
_MOST_LEVELS = 12
_MOST_WIDTH = 30.0
_TAIL = 3e-7  # probability that a single ratio lies beyond the grid: Phi(-5)
_TOLERANCE = 1e-7
_SMALL = 0.01
_REGULAR = 8.0  # four times finer should bring 16 times less error; this much is required before it is trusted
_IRREGULAR = 2.0  # Laplace ratios have atoms, which fall between grid points: only 4 times less, by fits and starts


@dataclass(frozen=True, slots=True)
class _Ratio:
    """The law of the likelihood ratio L of a cell: under noise alone, and under the cell's own record (L times it)."""

    width: float  # mu for Gaussian noise, height/scale for Laplace noise
    gaussian: bool

    def below(self, log_ratio: Floats, *, of_target: bool) -> Floats:
        """Return Pr[log L < log_ratio]."""
        if self.gaussian:
            shift = -0.5 * self.width if of_target else 0.5 * self.width
            return np.asarray(ndtr(log_ratio / self.width + shift))
        # |x| - |x - h| in units of the scale: half of the noise lies beyond each end, the rest is exponential between.
        c = self.width
        inside = np.clip(log_ratio, -c, c)
        middle = 0.5 * np.exp(0.5 * (inside - c)) if of_target else 1.0 - 0.5 * np.exp(-0.5 * (c + inside))
        return np.where(log_ratio > c, 1.0, np.where(log_ratio <= -c, 0.0, middle))

    @property
    def largest(self) -> float:
        """A ratio beyond which noise alone puts less than _TAIL."""
        log_largest = (
            5.0 * self.width - 0.5 * self.width**2 if self.gaussian else min(self.width, -2.0 * math.log(_TAIL))
        )
        return math.exp(min(log_largest, 60.0))


def known_cell_risk(model: OneHot, prior: Prior, cover: Cover) -> ExactRisk:
    """Return rad when everything is known of the target and the candidates are histogram cells or equidistant.

    Guarantee
    ---------
    The upper end is a bound: ratios are spread onto a grid with their means kept, which raises the mean of a convex
    function; what falls off the grid is moved down, which raises it too. The lower end is estimated from several grids
    where their errors shrink regularly, and 0 elsewhere.

    Notes
    -----
    rad = sum pi_z E[((1 - pi_z) L_z - sum of the other pi_i L_i)_+] with independent ratios L; the law of the sum comes
    from a fast Fourier transform. See docs/derivations/one-hot.md. Grows with the number of different probabilities.
    """
    if cover.blocks:
        message = "needs everything known of the target"
        raise Inapplicable(message)
    ratio = _ratio(model)
    if ratio.width > _MOST_WIDTH:
        message = f"works up to a distance of {_MOST_WIDTH:g} noise units; beyond it likelihood ratios overflow"
        raise Inapplicable(message)
    levels, counts = np.unique(prior.probabilities[prior.probabilities > 0.0], return_counts=True)
    if levels.size > _MOST_LEVELS:
        message = f"transforms the laws of at most {_MOST_LEVELS} different probabilities"
        raise Inapplicable(message)
    if levels.size == 1 and counts[0] == 1:
        return ExactRisk(rad=(0.0, 0.0))  # a single possible record: nothing can be learned
    undecided = cover.single[(cover.single_hits > 0) & (cover.single_hits < cover.guesses)]
    targets = np.array([(prior.probabilities[undecided] == level).sum() for level in levels])
    reach = 1.25 * float(levels.max()) * ratio.largest + 2.0
    bounds: list[float] = []
    low = 0.0
    for size in _SIZES:
        bounds.append(_bound(ratio, levels, counts, targets, reach, size))
        moves = -np.diff(bounds)
        # Under much noise the grid is coarse beside the value itself; regular steps then prove nothing.
        low = 0.0
        regular = _REGULAR if ratio.gaussian else _IRREGULAR
        if moves.size > 1 and moves[-1] <= min(moves[-2] / regular, _SMALL * bounds[-1]):
            tail = float(moves[-1]) / 3.0 if ratio.gaussian else 3.0 * float(moves[-1])
            low = bounds[-1] - tail - _TAIL * float(counts.sum())
            if tail <= _TOLERANCE:
                break
    note = "the upper end is proven, the lower end estimated from several grids"
    return ExactRisk(rad=(max(0.0, low - 1e-10), bounds[-1] + 1e-10), assumes=(note,), certified=False)


def _ratio(model: OneHot) -> _Ratio:
    if isinstance(model.kernel, GaussianKernel):
        return _Ratio(model.height / model.kernel.sigma, gaussian=True)
    if isinstance(model.kernel, LaplaceKernel):
        return _Ratio(model.height / model.kernel.scale, gaussian=False)
    message = "knows Laplace and Gaussian noise"
    raise Inapplicable(message)


def _bound(ratio: _Ratio, levels: Floats, counts: Ints, targets: Ints, reach: float, size: int) -> float:
    """Return the bound on a grid of ``size`` steps up to ``reach``."""
    grid = np.linspace(0.0, reach, size + 1)
    transforms = [np.fft.rfft(_spread(ratio, level, grid), 2 * size) for level in levels]
    total = 0.0
    for index in np.flatnonzero(targets):
        others = np.ones_like(transforms[0])
        for other, transform in enumerate(transforms):
            others *= transform ** int(counts[other] - (other == index))
        # Sums beyond the grid wrap around to smaller ones: again on the safe side.
        law = np.maximum(np.fft.irfft(others, 2 * size), 0.0)
        at = np.arange(2 * size) * grid[1]
        total += float(targets[index] * levels[index] * (law @ _excess(ratio, 1.0 - levels[index], at)))
    return total


def _spread(ratio: _Ratio, level: float, grid: Floats) -> Floats:
    """Return the law of level * L on the grid, each cell's mass split between its ends so that the mean is kept."""
    with np.errstate(divide="ignore"):
        log_edges = np.log(grid / level)
    mass = np.diff(ratio.below(log_edges, of_target=False))
    moment = level * np.diff(ratio.below(log_edges, of_target=True))
    up = np.clip((moment - grid[:-1] * mass) / grid[1], 0.0, mass)
    law = np.zeros(grid.size)
    law[1:] += up
    law[:-1] += mass - up
    law[-1] += 1.0 - float(ratio.below(log_edges[-1:], of_target=False)[0])  # beyond the grid: moved down onto its end
    return law


def _excess(ratio: _Ratio, share: float, at: Floats) -> Floats:
    """Return E[(share L - t)_+] at every t."""
    with np.errstate(divide="ignore"):
        log_level = np.log(at / share)
    return share * (1.0 - ratio.below(log_level, of_target=True)) - at * (1.0 - ratio.below(log_level, of_target=False))
