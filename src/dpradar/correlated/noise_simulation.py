"""What noise for correlated records does to the answer: measured on drawn noise, beside what its law says."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..numerics.lazy_numpy import np
from ..params import Param
from ..results.correlation import Simulated

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["simulate"]

_SCALE = Param(name="scale", low=0.0, low_open=True, what="the scale of the Laplace noise")
_RUNS = Param(name="runs", integer=True, low=1, high=100_000_000, what="the number of simulated releases")
_TAIL = 0.05


def simulate(
    answer: float | Sequence[float], scale: float, *, runs: int, rng: np.random.Generator, seed: int | None = None
) -> Simulated:
    """Return the error that 5 of 100 releases exceed and the mean absolute percentage error, measured and exact.

    Parameters
    ----------
    answer
        The true answer, or several: every release then draws one of them in turn.
    scale
        Of the Laplace noise.
    runs
        Releases drawn for each answer.
    rng
        Where the noise comes from.
    seed
        Kept in the result.

    Examples
    --------
    >>> import numpy as np
    >>> s = simulate(4250.0, 0.5, runs=10_000, rng=np.random.default_rng(1))
    >>> round(s.error_exact, 4), abs(s.error / s.error_exact - 1.0) < 0.1
    (1.4979, True)
    """
    b = _SCALE.check("simulate", scale)
    truth = np.atleast_1d(np.asarray(answer, dtype=float))
    if truth.ndim != 1 or truth.size == 0 or not np.all(np.isfinite(truth)):
        raise ParameterError("simulate.answer", "a finite number, or several", "something else")
    count = int(_RUNS.check("simulate", runs))
    off = np.abs(rng.laplace(0.0, b, (count, truth.size)))
    relative = None if np.any(truth == 0.0) else float((off / np.abs(truth)).mean())
    return Simulated(
        runs=count * truth.size,
        error=float(np.quantile(off, 1.0 - _TAIL)),
        error_exact=-math.log(_TAIL) * b,
        mape=relative,
        mape_exact=None if relative is None else float((b / np.abs(truth)).mean()),
        seed=seed,
    )
