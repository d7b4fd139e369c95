"""Points of a line near 0: far from it floats have no digits left for the noise."""

from __future__ import annotations

from itertools import pairwise

from .lazy_numpy import Floats, np

__all__ = ["close_gaps", "from_lowest"]

_EXACT = 2.0**-40  # of a unit: rounding that moves no risk by as much as 1e-12


def close_gaps(points: Floats, longest: float) -> tuple[Floats, float]:
    """Return points with the lowest at 0 and longer gaps cut down to ``longest``, and how far rounding moved any.

    Guarantee
    ---------
    Computed with whole numbers and rounded once: points moved together by an amount that floats hold give the same.

    Examples
    --------
    >>> close_gaps(np.array([2.0**52 + 7, 2.0**52 + 5, 1e300]), 100.0)
    (array([  2.,   0., 102.]), 0.0)
    """
    ratios = [float(x).as_integer_ratio() for x in (*points.tolist(), longest)]
    unit = max(d for _, d in ratios)  # all are powers of two
    *places, most = (n * (unit // d) for n, d in ratios)
    sorted_places = sorted(set(places))
    at = {sorted_places[0]: 0}
    for previous, current in pairwise(sorted_places):
        at[current] = at[previous] + min(current - previous, most)
    shifted = {place: number / unit for place, number in at.items()}
    error = max(abs(_scaled_floor(x, unit) - at[place]) for place, x in shifted.items()) / unit
    return np.array([shifted[place] for place in places]), error


def _scaled_floor(x: float, unit: int) -> int:
    """Return x times a power of two, which is whole for a float that is not finer than 1/unit; else rounded down."""
    n, d = x.as_integer_ratio()
    return n * unit // d


def from_lowest(points: Floats, unit: float, reach: float) -> tuple[Floats, bool]:
    """Return vectors less the lowest entry of each coordinate, and whether that is all that was done.

    Where rounding would move a difference by what noise of this ``unit`` shows, long gaps of the coordinates are cut
    down to four times ``reach``, a distance beyond which there is practically no noise:
    points that noise separates stay separated.

    Examples
    --------
    >>> from_lowest(np.array([[2.0**52, 3.0], [2.0**52 + 1, 1.0]]), 1.0, 9.0)[0].tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """
    low = points.min(axis=0)
    shifted = points - low
    with np.errstate(invalid="ignore", over="ignore"):
        back = shifted - points  # the rounding error of a difference is itself a float (Knuth)
        error = (points - (shifted - back)) - (low + back)
    if np.all(np.isfinite(shifted)) and float(np.abs(error).max(initial=0.0)) <= _EXACT * unit:
        return shifted, True
    return np.stack([close_gaps(column, 4.0 * reach)[0] for column in points.T], axis=1), False
