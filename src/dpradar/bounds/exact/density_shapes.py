"""Which distributions have a density that rises and then falls, or falls and then rises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ...numerics.lazy_numpy import Floats, np

if TYPE_CHECKING:
    from ...threats.prior import Continuous

__all__ = ["cdf_error", "density_shape", "steps_of"]

Shape = Literal["peak", "valley", "steps"]

# Families of scipy.stats whose density rises and then falls (or only does one of the two) for all parameters, with the
# reason; log-concave densities do.
_PEAK = frozenset(
    (
        "burr12",  # (c-1)/x less a rising function of x^c is the slope of the logarithm: one change of sign
        "cauchy",  # falls with the distance from its centre
        "chi",  # (k-1)/x - x falls for k > 1, is negative for k <= 1
        "chi2",  # a gamma distribution
        "cosine",  # 1 + cos x on [-pi, pi]
        "expon",  # falls
        "exponnorm",  # normal plus exponential, both log-concave
        "fisk",  # burr12 with d = 1
        "gamma",  # (a-1)/x - 1 falls for a > 1, is negative for a <= 1
        "gumbel_l",  # log-concave
        "gumbel_r",  # log-concave
        "halfcauchy",  # falls
        "halflogistic",  # falls
        "halfnorm",  # falls
        "hypsecant",  # log-concave
        "invgamma",  # -(a+1)/x + 1/x^2 changes sign once
        "invgauss",  # the slope of the logarithm times x^2 is a quadratic with one positive root, from + to -
        "laplace",  # falls with the distance from its centre
        "laplace_asymmetric",  # rises up to its centre, falls after it
        "logistic",  # log-concave
        "lognorm",  # -1 - log(x)/s^2 falls
        "loguniform",  # falls
        "lomax",  # falls
        "maxwell",  # chi with k = 3
        "norm",  # log-concave
        "pareto",  # falls
        "rayleigh",  # chi with k = 2
        "reciprocal",  # falls
        "semicircular",  # falls with the distance from its centre
        "skewnorm",  # a normal density times a normal distribution function, both log-concave
        "t",  # falls with the distance from its centre
        "trapezoid",  # rises, is level, falls, and nowhere exceeds the level
        "triang",  # rises, then falls
        "truncexpon",  # falls
        "truncnorm",  # log-concave
        "uniform",  # level
        "wald",  # invgauss with mu = 1
        "weibull_min",  # (c-1)/x - c x^(c-1) changes sign once for c > 1, is negative for c <= 1
    )
)
_DIGITS = 1e-14  # to which scipy's distribution functions are right
_QUADRATURE = 5e-8  # to which they are where scipy integrates the density: its goal is 1.5e-8


def density_shape(distribution: Any) -> Shape | None:
    """Return "peak" or "valley" for densities known to turn at most once, "steps" for histograms, else None.

    Examples
    --------
    >>> from scipy.stats import beta, norm, rv_histogram
    >>> density_shape(norm(3.0, 2.0)), density_shape(beta(0.1, 0.1)), density_shape(beta(0.1, 3.0))
    ('peak', 'valley', 'peak')
    """
    if _is_histogram(distribution):
        return "steps"
    family = getattr(distribution, "dist", None)
    name = getattr(family, "name", None) if type(family).__module__.startswith("scipy.stats.") else None
    if name == "arcsine":
        return "valley"
    if name == "beta":
        a, b = _beta_parameters(distribution)
        return "valley" if a < 1.0 and b < 1.0 else "peak"
    return "peak" if name in _PEAK else None


def _beta_parameters(distribution: Any) -> tuple[float, float]:
    shapes, _, _ = distribution.dist._parse_args(*distribution.args, **distribution.kwds)
    return float(shapes[0]), float(shapes[1])


def _is_histogram(distribution: Any) -> bool:
    kind = type(distribution)
    return kind.__name__ == "rv_histogram" and kind.__module__.startswith("scipy.stats.")


def steps_of(distribution: Any) -> Floats:
    """Return where the density of a histogram steps; nothing for other distributions."""
    return np.asarray(distribution._hbins if _is_histogram(distribution) else (), dtype=float)


def cdf_error(law: Continuous) -> float:
    """Return by how much the distribution function of a prior may be off.

    It is a difference of the distribution's own function, or of its survival function, divided by the probability of
    the interval. For the families listed here that function is right to some digits of itself, also far out in a tail;
    for others to some digits of 1.
    """
    if law.is_integrated:
        return _QUADRATURE / law.inside
    if density_shape(law.distribution) is None:
        return _DIGITS / law.inside
    return _DIGITS * (law.start if law.upper else law.start + law.inside) / law.inside
