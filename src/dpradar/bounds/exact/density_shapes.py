"""Which distributions have a density that rises and then falls, or falls and then rises."""

from __future__ import annotations

from typing import Any, Literal

__all__ = ["density_shape"]

Shape = Literal["peak", "valley"]

# Families of scipy.stats whose density rises and then falls (or only does one of the two) for all parameters.
_PEAK = frozenset(
    (
        "burr12",
        "cauchy",
        "chi",
        "chi2",
        "cosine",
        "expon",
        "exponnorm",
        "fisk",
        "gamma",
        "gumbel_l",
        "gumbel_r",
        "halfcauchy",
        "halflogistic",
        "halfnorm",
        "hypsecant",
        "invgamma",
        "invgauss",
        "laplace",
        "laplace_asymmetric",
        "logistic",
        "lognorm",
        "loguniform",
        "lomax",
        "maxwell",
        "norm",
        "pareto",
        "rayleigh",
        "reciprocal",
        "semicircular",
        "skewnorm",
        "t",
        "trapezoid",
        "triang",
        "truncexpon",
        "truncnorm",
        "uniform",
        "wald",
        "weibull_min",
    )
)


def density_shape(distribution: Any) -> Shape | None:
    """Return "peak" or "valley" for distributions whose density is known to turn at most once, else None.

    Examples
    --------
    >>> from scipy.stats import beta, norm, rv_histogram
    >>> density_shape(norm(3.0, 2.0)), density_shape(beta(0.1, 0.1)), density_shape(beta(0.1, 3.0))
    ('peak', 'valley', 'peak')
    """
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
