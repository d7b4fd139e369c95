"""The largest of many ranges of one array."""

from __future__ import annotations

from ...numerics.lazy_numpy import Floats, Ints, np

__all__ = ["largest", "largest_touching"]


def largest(values: Floats, first: Ints, last: Ints) -> Floats:
    """Return the largest of values[first:last] for each range; none is empty and no value negative."""
    pairs = np.stack([first, last], axis=1).ravel()
    return np.asarray(np.maximum.reduceat(np.append(values, 0.0), pairs)[::2])


def largest_touching(values: Floats, edges: Floats, low: Floats, high: Floats) -> Floats:
    """Return the largest value of the cells between ``edges`` that each interval [low, high] touches.

    Examples
    --------
    >>> largest_touching(np.array([1.0, 5.0, 2.0]), np.arange(4.0), np.array([2.5, 0.5]), np.array([9.0, 1.5]))
    array([2., 5.])
    """
    first = np.clip(np.searchsorted(edges, low, side="right") - 1, 0, values.size - 1)
    last = np.clip(np.searchsorted(edges, high, side="left"), first + 1, values.size)
    return largest(values, first, last)
