"""A mechanism given as a matrix of probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from ..errors import ParameterError, UnsupportedError
from ..guarantees.approx import tv_of_approx
from ..guarantees.curves import approx_curve
from ..guarantees.pairs import approx_pair
from ..guarantees.privacy import Privacy, Relation
from ..numerics.lazy_numpy import ArrayLike, Floats, Ints, np
from ..options import About, Rows, described
from ..params import as_floats
from .capabilities import Release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..threats import Prior

__all__ = ["Channel", "MatrixChannel", "checked_size"]

_ROW_TOLERANCE = 1e-9
_MAX_PAIR_WORK = 3e8  # about a second of absolute differences


def checked_size(owner: str, m: int, prior: Prior | None) -> None:
    """Raise unless the prior is about as many values as the mechanism has inputs."""
    if prior is None:
        return
    if prior.is_continuous:
        raise UnsupportedError(
            f"{owner} takes finitely many values, not a continuous prior. Use Prior.of or Prior.uniform."
        )
    if prior.size != m:
        raise ParameterError(
            owner,
            f"used with a prior over its {m} inputs",
            f"a prior over {prior.size} values",
            "Row i of the mechanism is value i of the prior; give both the same number.",
        )


def _checked_matrix(matrix: ArrayLike) -> Floats:
    allowed = "a matrix with one row per input (at least 2) and one column per output"
    hint = "Row i is the distribution of the output when the input is i."
    array = as_floats("Channel.matrix", allowed, matrix, hint)
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] < 1:
        raise ParameterError("Channel.matrix", allowed, f"an array of shape {array.shape}", hint)
    if not np.all(np.isfinite(array)) or np.any(array < 0.0):
        raise ParameterError("Channel.matrix", "finite and at least 0", "a negative, infinite or missing entry", hint)
    sums = array.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1.0) > _ROW_TOLERANCE)
    if off.size:
        raise ParameterError(
            "Channel.matrix",
            "rows that sum to 1 (within 1e-9)",
            f"row {off[0]} with sum {sums[off[0]]:.12g}",
            "Row i is the distribution of the output when the input is i; transpose it if inputs are columns.",
        )
    array /= sums[:, None]
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, eq=False)
class MatrixChannel:
    """A finite channel held as a matrix."""

    matrix: Floats
    name: str = "channel"

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return int(self.matrix.shape[0])

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return int(self.matrix.shape[1])

    def chunks(self, columns: int) -> Iterator[Floats]:
        """Yield the matrix some columns at a time."""
        for start in range(0, self.outputs, columns):
            yield self.matrix[:, start : start + columns]

    def privacy(self, relation: Relation) -> Privacy | None:
        """Return epsilon and total variation over all pairs of inputs (replace-one)."""
        if relation != "replace-one":
            return None
        low, high = self.matrix.min(axis=0), self.matrix.max(axis=0)
        possible = high > 0.0
        with np.errstate(divide="ignore"):
            epsilon = float(np.max(np.log(high[possible]) - np.log(low[possible])))
        epsilon = max(epsilon, 0.0)
        finite = math.isfinite(epsilon)
        tv = self._total_variation(float(low.sum()), epsilon)
        return Privacy(
            relation=relation,
            source=f"the {self.name}'s own probabilities",
            epsilon=epsilon if finite else None,
            curve=approx_curve(epsilon, 0.0) if finite else None,
            tv=tv,
            pairs=((approx_pair(epsilon, 0.0) if finite else approx_pair(0.0, tv), 1),),
        )

    def _total_variation(self, common: float, epsilon: float) -> float:
        m, n = self.matrix.shape
        if m * m * n / 2 <= _MAX_PAIR_WORK:
            largest = 0.0
            for i in range(m - 1):
                largest = max(largest, float(np.abs(self.matrix[i + 1 :] - self.matrix[i]).sum(axis=1).max()))
            return min(1.0, largest / 2.0)
        # What all rows share is never seen to differ, and epsilon bounds the total variation too.
        bounds = [1.0 - common] + ([tv_of_approx(epsilon, 0.0)] if math.isfinite(epsilon) else [])
        return min(1.0, *bounds)

    def sample(self, inputs: Ints, rng: np.random.Generator) -> Ints:
        """Return one output index per given input; for simulation only."""
        running = np.cumsum(self.matrix, axis=1)
        running /= running[:, -1:]
        uniforms = rng.random(len(inputs))
        result = np.empty(len(inputs), dtype=np.intp)
        for value in np.unique(inputs):
            mine = inputs == value
            result[mine] = np.searchsorted(running[value], uniforms[mine], side="right")
        return np.minimum(result, self.outputs - 1)

    def likelihoods(self, reports: Any) -> Floats:
        """Return the log-likelihood of every input, one row per output."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.matrix[:, np.asarray(reports, dtype=np.intp)].T))

    def release(self) -> Release:
        """Return what the channel offers."""
        return Release(
            name=self.name,
            privacy=self.privacy,
            inputs=self.inputs,
            finite=self,
            sample=self.sample,
            likelihoods=self.likelihoods,
        )


@described("channel", "Any mechanism with finitely many outputs, as a matrix p(output | input).", eq=False)
class Channel:
    """A mechanism given by its matrix p(output | input), rows = inputs.

    Examples
    --------
    >>> Channel([[0.9, 0.1], [0.2, 0.8]])
    Channel(2 inputs, 2 outputs)
    """

    matrix: Annotated[
        ArrayLike,
        Rows("a matrix of probabilities, rows = inputs"),
        About(
            "the probability of each output, one row for each input",
            example="[[0.75, 0.25], [0.25, 0.75]]",
            label="probabilities",
            private=True,
            counts_values=True,
        ),
    ]

    def check_together(self) -> None:
        """Keep the matrix as a read-only array of probabilities."""
        object.__setattr__(self, "matrix", _checked_matrix(self.matrix))

    def at(self, prior: Prior | None) -> Release:
        """Return the release about the records of the prior: row i is value i."""
        channel = MatrixChannel(np.asarray(self.matrix))
        checked_size("Channel", channel.inputs, prior)
        return channel.release()

    def __repr__(self) -> str:
        rows, columns = np.asarray(self.matrix).shape
        return f"Channel({rows} inputs, {columns} outputs)"
