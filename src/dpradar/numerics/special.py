"""The special functions of scipy, imported when first used: `import dpradar` does not wait for them."""

from __future__ import annotations

from typing import Any

__all__ = ["betaincinv", "betaln", "erf", "expit", "gammaln", "log_ndtr", "logsumexp", "ndtr", "ndtri", "ndtri_exp"]


def betaincinv(a: Any, b: Any, q: Any) -> Any:
    """Return the quantile of the beta distribution."""
    from scipy import special

    return special.betaincinv(a, b, q)


def betaln(a: Any, b: Any) -> Any:
    """Return the logarithm of the beta function."""
    from scipy import special

    return special.betaln(a, b)


def erf(x: Any) -> Any:
    """Return the error function."""
    from scipy import special

    return special.erf(x)


def expit(x: Any) -> Any:
    """Return 1/(1 + e^-x)."""
    from scipy import special

    return special.expit(x)


def gammaln(x: Any) -> Any:
    """Return the logarithm of the gamma function."""
    from scipy import special

    return special.gammaln(x)


def log_ndtr(x: Any) -> Any:
    """Return the logarithm of the standard normal distribution function."""
    from scipy import special

    return special.log_ndtr(x)


def logsumexp(values: Any, **settings: Any) -> Any:
    """Return the logarithm of the sum of exponentials."""
    from scipy import special

    return special.logsumexp(values, **settings)


def ndtr(x: Any) -> Any:
    """Return the standard normal distribution function."""
    from scipy import special

    return special.ndtr(x)


def ndtri(q: Any) -> Any:
    """Return the standard normal quantile function."""
    from scipy import special

    return special.ndtri(q)


def ndtri_exp(y: Any) -> Any:
    """Return the standard normal quantile function of e^y."""
    from scipy import special

    return special.ndtri_exp(y)
