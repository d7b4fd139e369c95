"""[RAD] Figure 1: the same epsilon, five mechanisms, five risks; Theorem 4.3 beside Theorem 4.2."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr

from dpradar.bounds import assess
from dpradar.guarantees import ApproxDP, PureDP
from dpradar.mechanisms import GRR, OUE, Gaussian, Laplace, SubsetSelection
from dpradar.threats import Prior, Threat

from . import canvas
from .rule_values import bound_of, interval_of
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from .table import Cell

__all__ = ["MECHANISMS", "compute", "draw", "gaussian_delta", "gaussian_sigma", "laplace_oue_crossing"]

MECHANISMS = ("GRR", "SS", "OUE", "Laplace", "Gaussian")
EPSILONS = tuple(k / 4 for k in range(1, 65))
SIZE = 11
DELTA = 1e-5
_COLUMNS = ("epsilon", "mechanism", "noise", "rad", "rad_low", "thm_4_2_guarantee", "thm_4_2_mechanism")
_CHARGED = 1e-9  # share of delta kept back for rounding; it costs less than 1e-9 of sigma


def gaussian_delta(sigma: float, epsilon: float) -> float:
    """Return the delta of Gaussian noise with standard deviation sigma on a number that moves by at most 1.

    Notes
    -----
    Balle and Wang (2018), Theorem 8, Phi(a) - e^eps Phi(b), written as
    Phi(a) (1 - e^(eps + ln Phi(b) - ln Phi(a))) so that tails keep their digits.

    Examples
    --------
    >>> f"{gaussian_delta(3.730632, 1.0):.4g}"
    '1e-05'
    """
    near, far = log_ndtr(np.array([0.5, -0.5]) / sigma - epsilon * sigma)
    return float(math.exp(near) * -math.expm1(min(0.0, epsilon + far - near)))


def gaussian_sigma(epsilon: float, delta: float) -> float:
    """Return the least sigma whose delta at epsilon is at most ``delta``, from above (sensitivity 1).

    Guarantee
    ---------
    The noise is never too small: the upper end of the bisection is returned, and a share of 1e-9 of delta is kept back
    for rounding.

    Examples
    --------
    >>> round(gaussian_sigma(1.0, 1e-5), 6)
    3.730632
    """
    low = high = 1.0
    while gaussian_delta(high, epsilon) > delta * (1.0 - _CHARGED):
        high *= 2.0
    while gaussian_delta(low, epsilon) <= delta * (1.0 - _CHARGED):
        low /= 2.0
    while low < (middle := 0.5 * (low + high)) < high:
        if gaussian_delta(middle, epsilon) > delta * (1.0 - _CHARGED):
            low = middle
        else:
            high = middle
    return high


def _mechanism(name: str, m: int, epsilon: float) -> tuple[Any, float | None]:
    """Return a mechanism of Figure 1 and its noise; the query takes m equally spaced values in [0, 1]."""
    query = np.linspace(0.0, 1.0, m)
    if name == "Laplace":
        return Laplace(scale=1.0 / epsilon, query=query), 1.0 / epsilon
    if name == "Gaussian":
        sigma = gaussian_sigma(epsilon, DELTA)
        return Gaussian(sigma=sigma, query=query), sigma
    local: dict[str, Callable[..., Any]] = {"GRR": GRR, "SS": SubsetSelection, "OUE": OUE}
    return local[name](m=m, epsilon=epsilon), None


def compute(epsilons: Sequence[float] = EPSILONS, m: int = SIZE) -> Table:
    """Return the numbers of Figure 1: one row per epsilon and mechanism.

    ``noise`` is the scale of Laplace and the sigma of Gaussian noise; ``rad`` and ``rad_low`` enclose the exact value
    (Theorem 4.3); Theorem 4.2 is given for what is promised (epsilon, and delta = 1e-5 for Gaussian noise) and for the
    mechanism's own total variation. Uniform prior over ``m`` values, nothing known, exact goal.

    Examples
    --------
    >>> table = compute(epsilons=[1.0])
    >>> table.numbers("rad", mechanism="OUE").round(6).tolist()
    [0.074698]
    """
    threat = Threat(Prior.uniform(m))
    rows: list[dict[str, Cell]] = []
    for epsilon in epsilons:
        pure = assess(PureDP(epsilon=epsilon, neighbours="replace-one"), threat)
        approx = assess(ApproxDP(epsilon=epsilon, delta=DELTA, neighbours="replace-one"), threat)
        for name in MECHANISMS:
            mechanism, noise = _mechanism(name, m, epsilon)
            risk = assess(mechanism, threat)
            low, high = interval_of(risk.rad)
            promised = bound_of(approx if name == "Gaussian" else pure, "rad", "thm-4.2")
            own = bound_of(risk, "rad", "thm-4.2")
            rows.append(dict(zip(_COLUMNS, (epsilon, name, noise, high, low, promised, own), strict=True)))
    return Table(_COLUMNS, tuple(rows))


def laplace_oue_crossing(m: int = SIZE, low: float = 1.0, high: float = 40.0) -> float:
    """Return the epsilon up to which Laplace noise leaks less than OUE, by root finding on the exact values.

    [RAD] Example 4.7 says "for all epsilon in [0, 14]"; the curves cross a little earlier.

    Examples
    --------
    >>> round(laplace_oue_crossing(), 5)
    13.86282
    """
    threat = Threat(Prior.uniform(m))

    def difference(epsilon: float) -> float:
        laplace, oue = (assess(_mechanism(name, m, epsilon)[0], threat).rad for name in ("Laplace", "OUE"))
        return interval_of(laplace)[1] - interval_of(oue)[1]

    return float(brentq(difference, low, high, xtol=1e-9))


@canvas.styled
def draw(table: Table) -> Figure:
    """Return Figure 1."""
    figure, axes = canvas.panels(1, 1, 7.6, 3.9)
    panel = axes[0, 0]
    pure = table.where(mechanism="GRR")
    panel.plot(
        pure.numbers("epsilon"),
        pure.numbers("thm_4_2_guarantee"),
        color="#444444",
        linestyle=canvas.DASHES[2],
        label="any ε-DP, Theorem 4.2",
    )
    for i, name in enumerate(MECHANISMS):
        epsilon, rad = (table.numbers(column, mechanism=name) for column in ("epsilon", "rad"))
        canvas.curve(panel, epsilon, rad, i, f"{name}, Theorem 4.3 (exact)", markers=10)
    return canvas.finish(
        figure,
        panel,
        title="Same ε, different risk: 11 equally likely values, nothing known",
        x="ε",
        y="reconstruction advantage (RAD)",
    )
