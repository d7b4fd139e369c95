"""The epsilon of (epsilon, delta)-DP that a promise implies at a given delta."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..errors import MissingExtra, NumericsError
from ..numerics.lazy_numpy import np
from .composition import composition, gaussian_mu
from .pairs import GaussianPair
from .renyi import renyi_epsilon
from .renyi_pairs import renyi_of_pairs

if TYPE_CHECKING:
    from .pairs import Pair, Pairs
    from .privacy import Privacy

__all__ = ["epsilon_at", "smallest_delta"]

_POINTS, _SHRINKS = 65, 9  # 64^9 > 1e16


def epsilon_at(promise: Privacy, delta: float) -> float:
    """Return the least epsilon known to hold at ``delta``; infinite when none does.

    Guarantee
    ---------
    An upper bound; exact for one Gaussian or Laplace release (Balle and Wang 2018, Theorem 8). Composed privacy losses
    have a smallest delta, below which rounding hides everything: there Renyi divergences answer, for Laplace and
    Gaussian noise, with or without Poisson sampling. Infinite is no proof that no epsilon holds (`smallest_delta`).

    Examples
    --------
    >>> from dpradar.guarantees import GDP
    >>> round(epsilon_at(GDP(mu=1.0, neighbours="add-remove").privacy("add-remove"), 1e-5), 4)
    4.3772
    """
    candidates = [math.inf]
    if promise.epsilon is not None and delta >= promise.delta:
        candidates.append(promise.epsilon)
    if promise.pairs is not None:
        candidates.append(_of_pairs(promise.pairs, delta))
    if promise.renyi is not None and promise.pairs is None:
        candidates.append(renyi_epsilon(promise.renyi, delta))
    if promise.tv is not None and promise.tv <= delta:
        candidates.append(0.0)
    return min(candidates)


def _of_pairs(pairs: Pairs, delta: float) -> float:
    mu = gaussian_mu(pairs)
    if mu is not None:
        return _single(GaussianPair(mu), delta)
    if len(pairs) == 1 and pairs[0][1] == 1:
        pair = pairs[0][0]
        return max(_single(pair, delta), 0.0 if pair.swapped() == pair else _single(pair.swapped(), delta))
    try:
        epsilon = composition(pairs).epsilon(delta)
    except (MissingExtra, NumericsError):
        epsilon = math.inf
    if math.isinf(epsilon) and (bound := renyi_of_pairs(pairs)) is not None:
        return renyi_epsilon(bound, delta)
    return epsilon


def smallest_delta(promise: Privacy) -> float | None:
    """Return the delta below which rounding, not the release, makes `epsilon_at` infinite; None where nothing does.

    Examples
    --------
    >>> from dpradar.guarantees.pairs import LaplacePair
    >>> from dpradar.guarantees.composition import promise_of_pairs
    >>> promise = promise_of_pairs(((LaplacePair(0.01), 1000),), "add-remove", "1000 x Laplace")
    >>> 1e-15 < smallest_delta(promise) < 1e-12
    True
    """
    if promise.pairs is None or any(pair.infinite > 0.0 for pair, _ in promise.pairs):
        return None
    if gaussian_mu(promise.pairs) is not None or sum(times for _, times in promise.pairs) == 1:
        return None
    try:
        return composition(promise.pairs).smallest_delta
    except (MissingExtra, NumericsError):
        return 1.0


def _single(pair: Pair, delta: float) -> float:
    """Return the root of delta(epsilon) from above, on a grid that shrinks around it: delta falls."""
    low, high = 0.0, max(pair.span[1], 0.0)
    first, last = pair.delta(np.array([low, high])).tolist()
    if first <= delta:
        return 0.0
    if last > delta:
        return math.inf
    for _ in range(_SHRINKS):
        grid = np.linspace(low, high, _POINTS)
        first_small = int(np.argmax(pair.delta(grid) <= delta))  # the last one is
        if first_small == 0:
            break
        low, high = float(grid[first_small - 1]), float(grid[first_small])
    return high
