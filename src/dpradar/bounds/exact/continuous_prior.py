"""Continuous priors on an interval: Theorem 4.3 enclosed from both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Floats, np
from ...threats.ceiling import raw_data
from ..question import Inapplicable
from .density_shapes import cdf_error, density_shape
from .exact_risk import ExactRisk
from .gaussian_curvature import GaussianBends
from .laplace_curvature import LaplaceBends
from .likelihoods import AtEnd, GaussianNoise, noise_of
from .named_records import named_records
from .output_grid import Bends, OutputGrid, output_grid
from .small_noise import small_noise_risk
from .step_prior import StepPrior, step_prior
from .window_search import Columns
from .windows import Windows, windows

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...mechanisms.capabilities import ContinuousModel
    from ...threats import Threat
    from ...threats.prior import Continuous
    from .likelihoods import Likelihood

__all__ = ["continuous_risk"]

Column = tuple[Floats, Floats, Floats, Floats, Floats]  # rad low and high, success low and high, hits of the first
_PRIOR = 6e-6  # what the steps in place of the prior may cost, about
_OUTPUTS = 2.5e-5  # what the grid of outputs may cost
_GUESSES = 1e-5  # what the search for the best window may cost
_MOST_PAIRS = 65_000
_GROUP = 6  # outputs that are looked at together
_ENTRIES = 200_000  # of one work array
_WIDE = 1e-4
_TINY = 1e-5  # of the interval: a grid for such noise takes minutes
_TURNS = "the prior's density rises and falls no more often than its averages over thousands of cells show"
_BEYOND = 4e-7  # what records beyond the reach of the noise may add to the scores, and rounding


def continuous_risk(model: ContinuousModel, threat: Threat) -> ExactRisk:
    """Return intervals for rad and success of the best attackers for a continuous prior.

    Guarantee
    ---------
    The intervals hold the exact values if the prior's distribution function is right to about 1e-14 and its density
    has no more turns than the family allows (for families that are not known: no more than its averages show).

    Notes
    -----
    [RAD] Theorem 4.3 with the *prior* disintegrated. The prior is replaced by steps, the best window is searched by
    branch and bound, and the integral over outputs is bounded by the curvature of the scores: docs/derivations/
    continuous.md has the proofs.
    """
    law, goal = threat.finite.interval, threat.goal
    if law is None:  # pragma: no cover - the rule asks for a continuous prior
        message = "needs a continuous prior"
        raise TypeError(message)
    eta = goal.eta if goal.kind == "within" else 0.0
    record_known = threat.knowledge.kind == "everything"
    if eta >= law.high - law.low:
        return ExactRisk(rad=(0.0, 0.0), success=(1.0, 1.0), hit=1.0)
    if eta == 0.0 and not record_known:
        return ExactRisk(rad=(0.0, 0.0), success=(0.0, 0.0), hit=0.0)
    small = small_noise_risk(model, threat, law)
    tiny = model.kernel.unit < _TINY * (law.high - law.low)
    if small is not None and (tiny or max(high - low for low, high in small[:2]) <= _WIDE):
        return ExactRisk(rad=small[0], success=small[1], hit=small[2])
    risk = _enclose_risk(model, law, eta, record_known=record_known)
    rad, success = risk[:2], (1.0, 1.0) if record_known else risk[2:4]
    if not np.all(np.isfinite(risk)):
        message = "found no finite value"
        raise Inapplicable(message)
    if rad[1] - rad[0] > _WIDE:
        rad = (rad[0], min(rad[1], raw_data(threat).rad[1]))  # noise on the raw record cannot add to its risk
    if small is not None:
        rad, success = _intersection(rad, small[0]), _intersection(success, small[1])
    return ExactRisk(
        rad=(max(0.0, rad[0]), min(1.0, rad[1])),
        success=(max(0.0, success[0]), min(1.0, success[1])),
        hit=min(max(float(risk[4]), 0.0), 1.0),
        assumes=() if density_shape(law.distribution) else (_TURNS,),
    )


def _intersection(one: tuple[float, ...], other: tuple[float, ...]) -> tuple[float, float]:
    """Return what two intervals for the same number have in common."""
    return max(one[0], other[0]), min(one[1], other[1])


def _enclose_risk(model: ContinuousModel, law: Continuous, eta: float, *, record_known: bool) -> tuple[float, ...]:
    """Return rad and success from below and above, and the hits of the attack that attains the lower rad."""
    noise = noise_of(model.kernel)
    marks = np.array([law.high - eta, law.low + eta])
    tolerance = _PRIOR / (2.0 if model.renormalised else 1.0)
    prior, deviations = step_prior(law, model, noise, marks, tolerance, record_known=record_known)
    attacker = _KnownRecord.of(prior, law, eta) if record_known else _UnknownRecord.of(prior, eta)
    ends = (model.low, model.high) if model.clamp or model.renormalised else (-np.inf, np.inf)
    grid = output_grid(prior, ends, attacker.bends, attacker.glance, _OUTPUTS, _MOST_PAIRS)
    total = _integrate_columns(grid, prior, attacker)
    for likelihood in _clamped_ends(model, noise):
        total = total + np.array([x[0] for x in attacker.score(likelihood, np.zeros(1), np.inf)])
    lower, upper = (cost.sum(axis=1) for cost in attacker.bends.errors(grid.start, grid.half))
    sums = attacker.bends.slope_sums(grid.start, grid.half) if grid.start.size else np.ones(prior.edges.size - 1)
    success_off, rad_off = deviations.success(sums), deviations.rad(sums)
    rounding = _BEYOND + 4.0 * cdf_error(law) * (1.0 + noise.top * (law.high - law.low))
    return (
        float(total[0] - lower[1]) - rad_off - rounding,
        float(total[1] + upper[1]) + rad_off + rounding,
        float(total[2] - lower[0]) - success_off - rounding,
        float(total[3] + upper[0]) + success_off + rounding,
        float(total[4]),
    )


def _clamped_ends(model: ContinuousModel, noise: object) -> list[AtEnd]:
    """The ends of a clamped output, which have positive probability."""
    if not model.clamp:
        return []
    return [AtEnd(noise, model.low, -1.0), AtEnd(noise, model.high, 1.0)]  # type: ignore[arg-type]


def _integrate_columns(grid: OutputGrid, prior: StepPrior, attacker: _KnownRecord | _UnknownRecord) -> Floats:
    """Return the integrals of the columns: lower ones by the middle of each pair, upper ones by the ends of cells."""
    noise, n = prior.noise, grid.start.size
    middle, end = attacker.bends.weights(grid.half)
    zero = np.zeros(n)
    weights = np.stack(
        [
            np.concatenate([zero, middle, zero]),
            np.concatenate([end, 2.0 * end, end]),
            np.concatenate([zero, 2.0 * grid.half, zero]),  # hits are not bounded but summed
        ]
    )
    at, tail = np.array(grid.tails).reshape(-1, 2).T
    weights = np.concatenate([weights, np.tile(tail, (3, 1))], axis=1)
    y, where = np.unique(np.concatenate([grid.outputs, at]), return_inverse=True)
    below, above, plain = (np.bincount(where, weights=w, minlength=y.size) for w in weights)
    total = np.zeros(5)
    for some in _batches(y, prior, noise.reach):
        columns = attacker.score(noise, y[some], noise.reach)
        by = (below, above, below, above, plain)
        total += [weight[some] @ column for weight, column in zip(by, columns, strict=True)]
    return total


def _batches(y: Floats, prior: StepPrior, reach: float) -> list[slice]:
    """Return slices of neighbouring outputs whose work arrays stay small."""
    first = np.searchsorted(prior.edges, y - reach)
    last = np.searchsorted(prior.edges, y + reach)
    slices, start = [], 0
    while start < y.size:
        size = max(1, int(_ENTRIES // max(int(last[start] - first[start]), 100)))
        stop = min(start + size, int(np.searchsorted(y, y[start] + 2.0 * reach)) + 1, y.size)
        slices.append(slice(start, max(stop, start + 1)))
        start = slices[-1].stop
    return slices


@dataclass(frozen=True, slots=True, eq=False)
class _KnownRecord:
    """Everything known."""

    score: Callable[[Likelihood, Floats, float], Column]
    prior: StepPrior
    bends: Bends

    @classmethod
    def of(cls, prior: StepPrior, law: Continuous, eta: float) -> _KnownRecord:
        bends = GaussianBends(prior, 1.0) if _is_gaussian(prior) else LaplaceBends(prior, lambda y, _: np.zeros(y.size))
        return cls(named_records(prior, law, eta), prior, bends)

    def glance(self, y: Floats) -> tuple[Floats, Floats, Floats]:
        """Return rad, success (which is certain) and density of some outputs."""
        noise = self.prior.noise
        parts = [self.score(noise, y[some], noise.reach) for some in _batches(y, self.prior, noise.reach)]
        gain, _, p, _, _ = (np.concatenate(x) for x in zip(*parts, strict=True))
        return gain, np.full(y.size, np.inf), p


@dataclass(frozen=True, slots=True, eq=False)
class _UnknownRecord:
    """Nothing known: the best window, output by output."""

    table: Windows
    bends: Bends
    length: float

    @classmethod
    def of(cls, prior: StepPrior, eta: float) -> _UnknownRecord:
        table = windows(prior, eta)
        kappa = float(min(table.range[1].max(), 1.0))
        bends = GaussianBends(prior, kappa) if _is_gaussian(prior) else LaplaceBends(prior, table.least)
        return cls(table, bends, float(np.ptp(prior.edges)) + 20.0 * prior.noise.unit)

    def score(self, likelihood: Likelihood, y: Floats, reach: float) -> Column:
        """Return bounds on the best scores."""
        groups = np.append(np.arange(0, max(y.size - 1, 1), _GROUP), y.size - 1)
        columns = Columns.of(self.table, likelihood, y, reach, groups)
        tolerance = _GUESSES * (columns.hits.total + (0.1 if np.isinf(reach) else 0.1 / self.length))
        success, gain = columns.best(tolerance, self.bends)
        return gain.low, gain.high, success.low, success.high, gain.hits

    def glance(self, y: Floats) -> tuple[Floats, Floats, Floats]:
        """Return about rad, success and density of some outputs."""
        prior, parts = self.table.prior, []
        for some in _batches(y, prior, prior.noise.reach):
            columns = Columns.of(self.table, prior.noise, y[some], prior.noise.reach, np.arange(y[some].size))
            parts.append((columns.glance(rad=True), columns.glance(rad=False), columns.hits.total))
        gain, success, p = (np.concatenate(x) for x in zip(*parts, strict=True))
        return gain, success, p


def _is_gaussian(prior: StepPrior) -> bool:
    return isinstance(prior.noise, GaussianNoise)
