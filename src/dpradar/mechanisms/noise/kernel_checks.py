"""Check by numbers what a noise density promises to the engines."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Floats, np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..capabilities import Kernel

__all__ = ["kernel_problems"]

_OUTSIDE = 1e-18  # of the noise may lie beyond ``reach``
_CLOSE = 1e-9  # relative
_INTERVALS = 60  # between 0 and ``reach``, beside the kinks
_GAPS, _LEADS = (0.1, 0.5, 1.0, 2.5, 7.0), (-3.0, -0.4, 0.0, 0.4, 3.0)  # units of the noise; logarithms


def kernel_problems(kernel: Kernel) -> tuple[str, ...]:
    """Return which promises of a noise density are broken, in words; nothing where none is.

    Engines rely on what :class:`~dpradar.plugins.Kernel` promises, and a number is wrong where a promise is broken.
    Use this in the tests of a kernel, for a few of its parameters.

    Guarantee
    ---------
    Promises are compared with the density on a fixed grid of some thousand places. What is reported is broken; a
    fault between the places is not seen.

    Examples
    --------
    >>> from dpradar.mechanisms.noise.kernels import LaplaceKernel
    >>> kernel_problems(LaplaceKernel(2.0))
    ()
    """
    if not 0.0 < kernel.unit <= kernel.reach < math.inf:
        return ("unit and reach: 0 < unit <= reach < infinity does not hold",)
    return tuple(problem for check in _CHECKS for problem in check(kernel))


def _edges(kernel: Kernel) -> Floats:
    """Return cell edges from 0 to reach: the kinks, and steps in between."""
    kinks = np.abs(np.asarray(kernel.kinks, dtype=float))
    regular = np.linspace(0.0, kernel.reach, _INTERVALS + 1)
    return np.unique(np.concatenate([regular, kinks[kinks <= kernel.reach]]))


def _inside(low: Floats, high: Floats, share: float) -> Floats:
    return np.asarray(low + share * (high - low))


def _grid(kernel: Kernel) -> Floats:
    """Return places inside the cells from 0 to reach."""
    edges = _edges(kernel)
    return np.sort(np.concatenate([_inside(edges[:-1], edges[1:], share) for share in (0.01, 0.3, 0.5, 0.8, 0.99)]))


def _shape(kernel: Kernel) -> Iterator[str]:
    x = _grid(kernel)
    right, left = kernel.density(x), kernel.density(-x)
    if not np.allclose(right, left, rtol=_CLOSE, atol=0.0):
        yield "symmetric: density(-x) differs from density(x)"
    if np.any(np.diff(right) > _CLOSE * right[:-1]):
        yield "unimodal: the density rises away from 0"
    with np.errstate(divide="ignore"):
        logs = np.log(right)
    finite = np.isfinite(logs)
    if not np.allclose(kernel.log_density(x)[finite], logs[finite], rtol=_CLOSE, atol=_CLOSE):
        yield "log_density: it is not the logarithm of the density"


def _masses(kernel: Kernel) -> Iterator[str]:
    edges = _edges(kernel)
    low, high = edges[:-1], edges[1:]
    places, weights = np.polynomial.legendre.leggauss(20)
    nodes = 0.5 * (low + high)[:, None] + 0.5 * (high - low)[:, None] * places
    integrals = 0.5 * (high - low) * (kernel.density(nodes.ravel()).reshape(nodes.shape) @ weights)
    # An edge that is a jump may round to either side of it: a difference of 1e-14 units is none.
    rounding = 1e-14 * kernel.unit * kernel.density(low)
    for name, mass in (("right", kernel.mass(low, high)), ("left", kernel.mass(-high, -low))):
        if not np.all(np.abs(mass - integrals) <= _CLOSE * integrals + rounding):
            yield f"mass: it is not the integral of the density, {name} of 0, or loses digits in the tail"
    whole, infinite = np.zeros(1), np.full(1, np.inf)
    if not abs(float(kernel.mass(-infinite, infinite)[0]) - 1.0) <= _CLOSE:
        yield "mass: the whole line does not have probability 1"
    across = kernel.mass(-high, high)
    if not np.allclose(across, 2.0 * kernel.mass(whole + 0.0 * high, high), rtol=_CLOSE, atol=0.0):
        yield "mass: an interval around 0 is not the sum of its halves"
    if not 2.0 * float(kernel.mass(whole + kernel.reach, infinite)[0]) <= _OUTSIDE:
        yield f"reach: more than {_OUTSIDE:g} of the noise lies beyond it"


def _second_derivative(kernel: Kernel) -> Iterator[str]:
    if not kernel.bends:
        return
    # An even number of edges: 0 lies inside a cell, unless it is a kink.
    edges = np.union1d(np.linspace(-kernel.reach, kernel.reach, 2 * _INTERVALS), np.asarray(kernel.kinks, dtype=float))
    low, high = edges[:-1], edges[1:]
    step = 0.1 * (high - low)
    bound = kernel.curvature(low, high)
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        x = _inside(low, high, share)
        before, at, after = (kernel.density(x + shift * step) for shift in (-1.0, 0.0, 1.0))
        if np.any(np.abs(before - 2.0 * at + after) > bound * step * step + 1e-13 * at):
            yield "curvature or kinks: the second derivative is larger than curvature between two kinks"
            return


def _mixtures(kernel: Kernel) -> Iterator[str]:
    """Without ``bends`` a mixture that is 0 at both ends of a cell is 0 inside it: else it, or its negative, is not."""
    if kernel.bends:
        return
    kinks = np.asarray(kernel.kinks, dtype=float)
    for shifts in ((0.0, 1.3, -0.8), (0.2, 3.1, 0.9), (-2.6, 0.4, 1.7)):
        at = kernel.unit * np.asarray(shifts)
        edges = np.unique((at[:, None] + np.append(kinks, [-3.0 * kernel.unit, 3.0 * kernel.unit])).ravel())
        edges = edges[np.abs(edges) <= 6.0 * kernel.unit]
        for low, high in pairwise(edges.tolist()):
            if high - low < 1e-6 * kernel.unit:
                continue
            x = _inside(low, high, np.array([1e-6, 0.35, 0.5, 0.7, 1.0 - 1e-6])[:, None])  # type: ignore[arg-type]
            table = kernel.density((x - at).ravel()).reshape(-1, at.size)
            weights = np.linalg.svd(table[[0, -1]])[2][-1]  # of a mixture that is 0 at both ends
            if np.any(np.abs(table[1:-1] @ weights) > _CLOSE * np.abs(table).max()):
                yield "bends: a mixture that is 0 at both ends of a cell without kinks is not 0 inside"
                return


def _crossings(kernel: Kernel) -> Iterator[str]:
    if not kernel.single_crossing:
        return
    half = _grid(kernel)
    for gap in (kernel.unit * gap for gap in _GAPS):
        x = np.concatenate([-half, half, gap + half, gap - half])
        apart = kernel.log_density(x) - kernel.log_density(x - gap)
        for ahead in _LEADS:
            place, lead = kernel.meeting(gap, ahead), ahead + apart
            near = np.abs(x - place) <= _CLOSE * kernel.unit
            if np.any((lead < -_CLOSE) & (x < place) & ~near) or np.any((lead > _CLOSE) & (x > place) & ~near):
                yield "single_crossing or meeting: two shifted copies change places elsewhere than where they meet"
                return


_CHECKS = (_shape, _masses, _second_derivative, _mixtures, _crossings)
