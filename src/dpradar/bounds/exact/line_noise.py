"""Noise on the line over finitely many numbers: Theorem 4.3 by integrating the maximum between its break points."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ...numerics.lazy_numpy import Floats, Ints, np
from ...numerics.maximum_integrals import base_edges, integrate_envelope
from ...numerics.shift_to_zero import close_gaps
from ...results.bound import side_of
from ...threats.hit_classes import Block, Cover
from .exact_risk import ExactRisk
from .finite_channel import column_risk

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...mechanisms.capabilities import LineModel
    from ...threats import Prior

__all__ = ["line_risk"]

_TOLERANCE = 1e-10
_ENTRIES = 2_000_000  # of one work array: 16 MB
_SHARE = 1e-7  # of a small rad that is integrated again
_ROUNDING = 1e-13  # what floating-point sums over few cells may add up to; part of every interval
_SAME = 1e-13  # units of the noise: values closer together are taken for equal, at a cost of as much
_OF_CELL = sys.float_info.epsilon  # the rounding of one integral, a difference of numbers below 1/2


@dataclass(frozen=True, slots=True, eq=False)
class _Noise:
    """p(output | z) for all z on points and cells, and its average over the prior."""

    model: LineModel
    pi: Floats

    @property
    def batch(self) -> int:
        """The number of points at which all densities fit into one work array."""
        return max(64, _ENTRIES // self.pi.size)

    def density(self, x: Floats) -> Floats:
        return self.model.weights[:, None] * self.model.kernel.density(x[None, :] - self.model.points[:, None])

    def mass(self, low: Floats, high: Floats) -> Floats:
        at = self.model.points[:, None]
        return self.model.weights[:, None] * self.model.kernel.mass(low[None, :] - at, high[None, :] - at)

    def curvature(self, low: Floats, high: Floats) -> Floats:
        at = self.model.points[:, None]
        return self.model.weights[:, None] * self.model.kernel.curvature(low[None, :] - at, high[None, :] - at)


@dataclass(frozen=True, slots=True, eq=False)
class _BlockScores:
    """The scores of the classes of guesses of one fibre, for rad or for success; a last row 0 for 'not a member'."""

    noise: _Noise
    block: Block
    aim: Literal["rad", "success"]

    @property
    def bends(self) -> bool:
        return self.noise.model.kernel.bends

    @property
    def _own(self) -> Floats:
        return self.noise.pi[self.block.members]

    def _hits(self, table: Floats) -> Floats:
        return self._padded(self.block.sums(self._own[:, None] * table[self.block.members]))

    def _scores(self, hits: Floats, table: Floats) -> Floats:
        if self.aim == "success":
            return hits
        masses = self._padded(self.block.sums(self._own[:, None]))
        return hits - masses * (self.noise.pi @ table)

    def _padded(self, scores: Floats) -> Floats:
        return np.vstack([scores, np.zeros(scores.shape[1])]) if self.block.misses else scores

    def values(self, x: Floats, tag: Ints) -> Floats:
        table = self.noise.density(x)
        return self._scores(self._hits(table), table)

    def integrals(self, low: Floats, high: Floats, tag: Ints) -> tuple[Floats, Floats]:
        table = self.noise.mass(low, high)
        hits = self._hits(table)
        return self._scores(hits, table), hits

    def _differing(self, table: Floats) -> Floats:
        """Return per member and column what a guess changes in the table when it starts or stops to be right there."""
        average = self.noise.pi @ table if self.aim == "rad" else 0.0
        return np.asarray(self._own[:, None] * (table[self.block.members] + average))

    def spread(self, low: Floats, high: Floats, tag: Ints) -> Floats:
        return np.asarray(self._differing(self.noise.curvature(low, high)).sum(axis=0))

    def bend(self, low: Floats, high: Floats, tag: Ints, pairs: tuple[Ints, Ints, Ints]) -> Floats:
        # Two guesses differ only where one is right and the other is not; so do their scores' second derivatives.
        return self.block.apart(self._differing(self.noise.curvature(low, high)), pairs)

    def mass(self, low: Floats, high: Floats, tag: Ints) -> Floats:
        return np.asarray(self._differing(self.noise.mass(low, high)).sum(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class _SingleScores:
    """Fibres of one member each, all at once: the score of naming it, and 0. The tag of a cell is the member."""

    noise: _Noise

    @property
    def bends(self) -> bool:
        return self.noise.model.kernel.bends

    def _average(self, table: Callable[..., Floats], *cells: Floats) -> Floats:
        """Return the prior's average of the table per cell; cells shared by many members are computed once."""
        unique, back = np.unique(cells[0] if len(cells) == 1 else cells[0] + 1j * cells[1], return_inverse=True)
        parts = (unique,) if len(cells) == 1 else (unique.real, unique.imag)
        step = self.noise.batch
        batches = [self.noise.pi @ table(*(p[k : k + step] for p in parts)) for k in range(0, unique.size, step)]
        return np.asarray(np.concatenate(batches)[back])

    def _own(self, kernel: Callable[..., Floats], tag: Ints, *cells: Floats) -> Floats:
        at = self.noise.model.points[tag]
        return np.asarray(self.noise.model.weights[tag] * kernel(*(cell - at for cell in cells)))

    def _pair(self, of_target: Floats, average: Floats, tag: Ints) -> Floats:
        score = self.noise.pi[tag] * (of_target - average)
        return np.stack([score, np.zeros_like(score)])

    def values(self, x: Floats, tag: Ints) -> Floats:
        of_target = self._own(self.noise.model.kernel.density, tag, x)
        return self._pair(of_target, self._average(self.noise.density, x), tag)

    def integrals(self, low: Floats, high: Floats, tag: Ints) -> tuple[Floats, Floats]:
        of_target = self._own(self.noise.model.kernel.mass, tag, low, high)
        hits = self.noise.pi[tag] * of_target
        scores = self._pair(of_target, self._average(self.noise.mass, low, high), tag)
        return scores, np.stack([hits, np.zeros_like(hits)])

    def spread(self, low: Floats, high: Floats, tag: Ints) -> Floats:
        of_target = self._own(self.noise.model.kernel.curvature, tag, low, high)
        return np.asarray(self.noise.pi[tag] * (of_target + self._average(self.noise.curvature, low, high)))

    def bend(self, low: Floats, high: Floats, tag: Ints, pairs: tuple[Ints, Ints, Ints]) -> Floats:
        return self.spread(low, high, tag)[pairs[2]]

    def mass(self, low: Floats, high: Floats, tag: Ints) -> Floats:
        of_target = self._own(self.noise.model.kernel.mass, tag, low, high)
        return np.asarray(self.noise.pi[tag] * (of_target + self._average(self.noise.mass, low, high)))


def line_risk(model: LineModel, prior: Prior, cover: Cover, moved: float = 0.0) -> ExactRisk:
    """Return intervals for rad and success of the best attackers on a real-valued release.

    ``moved`` says by how much of the noise's unit rounding may have moved a point; the intervals allow for it.

    Guarantee
    ---------
    The intervals hold the exact values; their width is at most about 1e-9, and that of a rad above 4e-7 less than 1e-6
    of it, unless the limit of cells is reached.

    Notes
    -----
    [RAD] Theorem 4.3. Cells in which one guess provably wins throughout are integrated through the distribution
    function; the others are cut (numerics/maximum_integrals.py). Atoms from clamping are two more outputs of a finite
    channel.
    """
    pi = prior.probabilities
    if float(np.ptp(model.points[pi > 0.0])) == 0.0:
        # All likelihoods are the same function: the output carries no information, so one of them is enough.
        _, success, hit = (float(x) for x in column_risk(np.ones((pi.size, 1)), pi, cover))
        return ExactRisk(rad=(0.0, moved), success=(success, min(1.0, success + moved)), hit=hit)
    model, shift_error = _shift_model(model)
    error = _ROUNDING + shift_error + moved
    risk = _integrate_scores(model, pi, cover, error, _TOLERANCE)
    low, high = risk.rad or (0.0, 0.0)
    if side_of(low, high) != "exact" and side_of(high - 2.0 * error, high) == "exact":
        # Small beside the tolerance, but not beside the rounding: integrate it to a share of itself.
        risk = _integrate_scores(model, pi, cover, error, _SHARE * high)
    return risk


def _integrate_scores(model: LineModel, pi: Floats, cover: Cover, error: float, tolerance: float) -> ExactRisk:
    noise = _Noise(model, pi)
    edges = base_edges(model.points[pi > 0.0], model.kernel, model.low, model.high)
    parts = [_tail_mass(noise, edges), _clamped_risk(model, pi, cover), *_single_risks(noise, edges, cover, tolerance)]
    for block in cover.blocks:
        useful = _possible_members(block, pi, model.points)
        if useful is not None:
            parts.append(_block_risk(noise, edges, useful, tolerance))
    rad_low, rad_high, success_low, success_high, hit, *cells = np.sum(parts, axis=0)
    rad_error, success_error = (error + max(0.0, _OF_CELL * count - _ROUNDING) for count in cells)
    return ExactRisk(
        rad=(max(0.0, rad_low - rad_error), rad_high + rad_error),
        success=(max(0.0, success_low - success_error), min(1.0, success_high + success_error)),
        hit=min(float(hit), 1.0),
    )


def _shift_model(model: LineModel) -> tuple[LineModel, float]:
    """Return the release moved near 0 without its long gaps and tiny ones, and how much that may change a risk.

    Beyond four times its reach no noise crosses a gap, so that a shorter one changes a risk by 1e-17 at most. A point
    that is off by d units of the noise changes the total variation by d/2 at most, rad by twice that.
    """
    ends = np.array([end for end in (model.low, model.high) if np.isfinite(end)])
    places, error = close_gaps(np.concatenate([model.points, ends]), 4.0 * model.kernel.reach)
    points, ends = places[: model.points.size], places[model.points.size :]
    points, merged = _merge_close_points(points, _SAME * model.kernel.unit)
    error += merged
    low = ends[0] if np.isfinite(model.low) else -np.inf
    high = ends[-1] if np.isfinite(model.high) else np.inf
    return replace(model, points=points, low=float(low), high=float(high)), error / model.kernel.unit


def _merge_close_points(points: Floats, gap: float) -> tuple[Floats, float]:
    """Return the points with those that lie closer together made equal, and how far any was moved.

    Functions that differ by less than their rounding would be compared in very many cells, in vain.
    """
    order = np.argsort(points)
    ordered = points[order]
    first = np.r_[True, np.diff(ordered) > gap]
    equal = ordered[first][np.cumsum(first) - 1]
    result = np.empty_like(points)
    result[order] = equal
    return result, float(np.max(ordered - equal))


# Each part below is a row: rad from below and above, success from below and above, hit, cells of rad and of success.


def _tail_mass(noise: _Noise, edges: Floats) -> Floats:
    """What lies beyond the edges can only add: at most its whole mass, to rad and to success alike."""
    low, high = np.array([noise.model.low]), np.array([noise.model.high])
    outside = noise.mass(low, edges[:1]) + noise.mass(edges[-1:], high) if edges.size else noise.mass(low, high)
    left_out = float(noise.pi @ outside[:, 0])
    return np.array([0.0, left_out, 0.0, left_out, 0.0, 0, 0])


def _clamped_risk(model: LineModel, pi: Floats, cover: Cover) -> Floats:
    """The atoms from clamping: a finite channel with two outputs."""
    atoms = _clamped_probabilities(model)
    rad, success, hit = column_risk(atoms, pi, cover) if atoms.size else np.zeros(3)
    return np.array([rad, rad, success, success, hit, 0, 0])


def _single_risks(noise: _Noise, edges: Floats, cover: Cover, tolerance: float) -> list[Floats]:
    """Fibres of one member: name it where that gains; where no guess can be wrong (or right) nothing is to choose."""
    pi = noise.pi
    possible = pi[cover.single] > 0.0
    single, share = cover.single[possible], (cover.single_hits / cover.guesses)[possible]
    inside = 1.0 - _clamped_probabilities(noise.model).sum(axis=1)  # what the atoms leave to the density
    always, sure_success = single[share == 1.0], float((pi * inside)[single[share > 0.0]].sum())
    forced = float((pi * (inside - pi @ inside))[always].sum())
    parts = [np.array([forced, forced, sure_success, sure_success, float((pi * inside)[always].sum()), 0, 0])]
    undecided = single[(share > 0.0) & (share < 1.0)]
    if undecided.size:
        gain = integrate_envelope(_SingleScores(noise), edges, undecided, tolerance, _ENTRIES // 8)
        parts.append(np.array([gain.low, gain.high, 0.0, 0.0, gain.companion, gain.cells, 0]))
    return parts


def _block_risk(noise: _Noise, edges: Floats, block: Block, tolerance: float) -> Floats:
    """A fibre of several members."""
    one = np.zeros(1, dtype=np.intp)
    gain = integrate_envelope(
        _BlockScores(noise, _without_sure_guesses(block, noise.pi), "rad"), edges, one, tolerance, noise.batch
    )
    success = integrate_envelope(_BlockScores(noise, block, "success"), edges, one, _TOLERANCE, noise.batch)
    return np.array([gain.low, gain.high, success.low, success.high, gain.companion, gain.cells, success.cells])


def _clamped_probabilities(model: LineModel) -> Floats:
    """Return the probabilities of the two ends of a clamped output, one row per input."""
    if not model.clamp:
        return np.empty((model.points.size, 0))
    below = model.kernel.mass(np.full(model.points.size, -np.inf), model.low - model.points)
    above = model.kernel.mass(model.high - model.points, np.full(model.points.size, np.inf))
    return np.stack([below, above], axis=1)


def _without_sure_guesses(block: Block, pi: Floats) -> Block:
    """Drop guesses that are right for the whole prior where another is right for nobody: both gain 0 throughout."""
    possible = (pi > 0.0).astype(float)  # counted, not weighed: values left out may be as rare as rounding
    sure = block.sums(possible[block.members]) == possible.sum()
    if not block.misses or not sure.any():
        return block
    hits = np.round(block.sums(np.eye(block.members.size))).astype(bool)[~sure]
    return Block(block.members, "matrix", block.counts[~sure], block.misses, hits=hits)


def _possible_members(block: Block, pi: Floats, points: Floats) -> Block | None:
    """Drop members without mass and merge guesses with the same score function, so that no two functions are equal."""
    possible = pi[block.members] > 0.0
    if not possible.any() or block.counts.size == 0:
        return None
    members = block.members[possible]
    if possible.all() and np.unique(points[members]).size == members.size:
        return block
    # Score functions are equal when the masses they put on each point are.
    hits = np.round(block.sums(np.eye(block.members.size))[:, possible]).astype(bool)
    places, where = np.unique(points[members], return_inverse=True)
    onto = np.zeros((members.size, places.size))
    onto[np.arange(members.size), where] = pi[members]
    masses = np.round(hits @ onto, 15)
    _, first = np.unique(masses, axis=0, return_index=True)
    rows = hits[np.sort(first)]
    rows = rows[rows.any(axis=1)]
    empty = int(block.counts[~hits.any(axis=1)].sum())
    return Block(members, "matrix", np.ones(rows.shape[0], dtype=np.intp), block.misses + empty, hits=rows)
