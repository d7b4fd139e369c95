"""A continuous prior cut into cells, with what its distribution function proves about each cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Bools, Floats, np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...threats.prior import Continuous
    from .density_shapes import Shape

__all__ = ["PriorCells", "cut_prior"]

_ROUNDS = 1_200  # halving 1 to the smallest float takes about 1,075
_DIGITS = 1e-15  # by which differences of the distribution function are off
_NEAR = 2  # cells on either side of the highest (lowest) average that may hold the turning point or touch its cell


@dataclass(frozen=True, eq=False)
class PriorCells:
    """The prior's distribution function on the edges of cells that cover its interval."""

    edges: Floats
    cdf: Floats
    shape: Shape | None = None

    @cached_property
    def width(self) -> Floats:
        """The widths of the cells."""
        return np.diff(self.edges)

    @cached_property
    def mass(self) -> Floats:
        """The probabilities of the cells."""
        return np.diff(self.cdf)

    @cached_property
    def density(self) -> Floats:
        """The average densities of the cells."""
        return self.mass / self.width

    @cached_property
    def turning(self) -> Bools:
        """Whether the density may turn in a cell or in one of its neighbours; elsewhere it is monotone on all three."""
        d = self.density
        if self.shape == "steps":
            return np.zeros(d.size, dtype=bool)
        if self.shape is None:
            noise = _DIGITS * (1.0 / self.width[1:] + 1.0 / self.width[:-1])
            moves = np.flatnonzero(np.abs(np.diff(d)) > noise)  # between cells of equal averages nothing turns
            sign = np.sign(np.diff(d)[moves])
            change = np.flatnonzero(sign[1:] != sign[:-1])
            turns = np.concatenate([moves[change] + 1, moves[change + 1]])  # both ends of a plateau
        else:
            turns = np.array([d.argmax() if self.shape == "peak" else d.argmin()])
        near = np.zeros(d.size, dtype=bool)
        for offset in range(-_NEAR, _NEAR + 1):
            near[np.clip(turns + offset, 0, d.size - 1)] = True
        return near

    @cached_property
    def bracket(self) -> tuple[Floats, Floats]:
        """Bounds on the density inside each cell: where it is monotone, the averages of the neighbours."""
        d = self.density
        if self.shape == "steps":  # the steps of a histogram are edges of cells
            return d, d
        before, after = np.concatenate([d[:1], d[:-1]]), np.concatenate([d[1:], d[-1:]])
        low, high = np.minimum(np.minimum(before, after), d), np.maximum(np.maximum(before, after), d)
        # At the ends a neighbour is lacking: the density may fall to 0 or rise without limit there.
        low[[0, -1]], high[[0, -1]] = 0.0, np.inf
        return np.where(self.turning, 0.0, low), np.where(self.turning, np.inf, high)


def cut_prior(
    law: Continuous, edges: Floats, excess: Callable[[PriorCells], Floats], most: int, shape: Shape | None = None
) -> PriorCells:
    """Return cells that are halved while their ``excess`` is above 1 and floats lie between: at most ``most``."""
    cells = _cells_at(law, np.unique(np.clip(edges, law.low, law.high)), shape)
    for _ in range(_ROUNDS):
        low, high = cells.edges[:-1], cells.edges[1:]
        middle = 0.5 * low + 0.5 * high
        over = np.where((middle > low) & (middle < high), excess(cells), 0.0)
        split = np.flatnonzero(over > 1.0)
        room = most - over.size
        if split.size == 0 or room <= 0:
            break
        if split.size > room:
            split = np.sort(split[np.argsort(over[split])[-room:]])
        new, where = middle[split], split + 1
        cdf = np.maximum.accumulate(np.insert(cells.cdf, where, law.cdf(new)))
        cells = PriorCells(np.insert(cells.edges, where, new), cdf, shape)
    return cells


def _cells_at(law: Continuous, edges: Floats, shape: Shape | None) -> PriorCells:
    values = np.maximum.accumulate(law.cdf(edges))
    values[0], values[-1] = 0.0, 1.0
    return PriorCells(edges, values, shape)
