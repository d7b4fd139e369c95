"""The target's contribution to a query: one number or vector per record."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..errors import ParameterError
from ..numerics.lazy_numpy import ArrayLike, Floats, np
from ..options import About, Contributions, option_of

if TYPE_CHECKING:
    from ..threats import Prior

__all__ = ["Contribution", "Query", "contributions", "largest_distance", "pairs_affordable", "smallest_radius"]

Query = ArrayLike | Callable[[Any], Any] | None
_MOST_PAIR_WORK = 1_000_000_000


Contribution = Annotated[
    Query,
    Contributions(),
    About(
        "what the target's record adds to the released number, for each of its values; a row of numbers for each "
        "where a table is released",
        example="0, 1",
        label="contribution of each value (query)",
        private=True,
        folded=True,
        counts_values=True,
    ),
]
_NO_SENSITIVITY = (
    "It is not stated how much one person changes the output. State sensitivity and neighbours, such as sensitivity=1 "
    "and neighbours='add-remove', or give a query, or a prior over numbers."
)


def contributions(owner: str, query: Query, prior: Prior | None) -> Floats:
    """Return the contributions as a matrix, one row per value of the prior."""
    if callable(query):
        if prior is None or prior.is_continuous:
            raise ParameterError(
                f"{owner}.query", "a list here", "a function", "A function needs a prior over finitely many values."
            )
        raw = [query(prior.record(i)) for i in range(prior.size)]
        array = np.asarray(option_of("query", Contribution).check(owner, raw))
    elif query is not None:
        array = np.asarray(query, dtype=float)
    elif prior is None:
        raise ParameterError(
            f"{owner}.sensitivity", "stated where there is neither a query nor a prior", "nothing", _NO_SENSITIVITY
        )
    else:
        array = prior.numbers(f"{owner} without a query")
    if prior is not None and array.shape[0] != prior.size:
        hint = "Equal records of a prior count once."
        allowed = f"one entry for each of the prior's {prior.size} values"
        raise ParameterError(f"{owner}.query", allowed, f"{array.shape[0]}", hint)
    return array.reshape(array.shape[0], -1)


def largest_distance(points: Floats, norm: Literal[1, 2]) -> float:
    """Return the largest distance between two rows; from above when there are too many pairs to compare."""
    rows, columns = points.shape
    if columns == 1:
        return float(np.ptp(points))
    if not pairs_affordable(points):
        # Every pair lies in a ball (or a box), so twice its radius (or the sum of its sides) is enough.
        return float(np.ptp(points, axis=0).sum()) if norm == 1 else 2.0 * smallest_radius(points, norm)
    largest = 0.0
    for i in range(rows - 1):
        difference = points[i + 1 :] - points[i]
        lengths = np.abs(difference).sum(axis=1) if norm == 1 else np.sqrt(np.square(difference).sum(axis=1))
        largest = max(largest, float(lengths.max()))
    return largest


def pairs_affordable(points: Floats) -> bool:
    """Whether comparing all pairs of rows takes about a second at most."""
    return bool(points.shape[0] * points.size <= _MOST_PAIR_WORK)


def smallest_radius(points: Floats, norm: Literal[1, 2]) -> float:
    """Return a radius of a ball that holds all rows: not the smallest one, but any is sound."""
    middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
    best = _radius(points, middle, norm)
    if norm == 2 and points.shape[1] > 1:
        centre = points.mean(axis=0)
        best = min(best, _radius(points, centre, norm))
        for step in range(1, max(2, min(200, _MOST_PAIR_WORK // points.size))):
            # Badoiu and Clarkson: walk towards the farthest point.
            distances = np.square(points - centre).sum(axis=1)
            best = min(best, float(np.sqrt(distances.max())))
            centre = centre + (points[int(distances.argmax())] - centre) / (step + 1.0)
    return best


def _radius(points: Floats, centre: Floats, norm: Literal[1, 2]) -> float:
    difference = points - centre
    if norm == 1:
        return float(np.abs(difference).sum(axis=1).max())
    return float(np.sqrt(np.square(difference).sum(axis=1).max()))
