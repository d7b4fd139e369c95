"""Randomised response on a two-state chain: every record flipped on its own, and the count estimated from the answers.

A response with flip probability f is an epsilon-DP mechanism with epsilon = ln((1-f)/f), and its likelihoods reach what
``markov.steps`` bounds, so its leakage is known exactly (docs/derivations/correlated.md).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..numerics.lazy_numpy import np
from ..params import Param
from . import markov
from .leakage_theorems import invert_leakage
from .shared_options import TARGET

if TYPE_CHECKING:
    from .models import Chain

__all__ = ["exact_flip", "printed_flip", "response_error", "response_leakage", "response_tail"]

_FLIP = Param(name="flip", low=0.0, high=0.5, low_open=True, high_open=True, what="the probability of a false answer")
_R = Param(name="r", low=0.0, high=1.0, low_open=True, what="the parameter r of the printed formula")
_TAIL = 0.05
_NOTHING = 1e-9  # records: the true count, up to rounding


def printed_flip(r: float, epsilon: float) -> float:
    """Flip probability of Chakrabarti et al. (2022) as printed in [GuerraThesis] Section 6.4.2.1.

    Notes
    -----
    Which chain it is for is not clear from the text: with r the probability of a change it is safe and far from tight;
    r = 1 gives back plain randomised response, which fits a probability of r/2, but then the leakage exceeds epsilon.
    Use :func:`exact_flip`.

    Examples
    --------
    >>> round(printed_flip(0.3, 4.0), 5)
    0.13821
    """
    r = _R.check("printed_flip", r)
    E = math.exp(TARGET.check("printed_flip", epsilon))
    root = math.sqrt(r * r * E * (4.0 + r * (r * E - 4.0)))
    return (4.0 + r * (r * E - 2.0) - root) / (8.0 + 2.0 * r * (r * E + r - 4.0))


def response_leakage(chain: Chain, flip: float) -> float:
    """Leakage of randomised response on a chain, over all attackers: exact for two states, rounding included.

    Examples
    --------
    >>> from dpradar.correlated import Chain
    >>> round(response_leakage(Chain([[0.7, 0.3], [0.3, 0.7]], 7), printed_flip(0.6, 1.0)), 3)
    1.134
    """
    f = _FLIP.check("response_leakage", flip)
    return markov.steps(chain, math.log1p(-f) - math.log(f))[0]


def exact_flip(chain: Chain, target: float) -> float:
    """Smallest flip probability that keeps the leakage at the target, rounded to the safe side.

    Examples
    --------
    >>> from dpradar.correlated import Chain
    >>> chain = Chain([[0.7, 0.3], [0.3, 0.7]], 500)
    >>> f = exact_flip(chain, 4.0)
    >>> round(f, 4), response_leakage(chain, f) <= 4.0
    (0.0937, True)
    """
    if chain.states != 2:
        raise ParameterError("exact_flip", "used with two states", f"{chain.states}")
    level = TARGET.check("exact_flip", target)
    epsilon = invert_leakage(lambda e: markov.steps(chain, e)[0], level, level / (2.0 * chain.length))
    flip = 1.0 / (1.0 + math.exp(epsilon))
    while response_leakage(chain, flip) > level:  # rounding of the last step
        flip *= 1.0 + 1e-12
    return flip


def _log_binomial(n: int, p: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    from scipy import special

    k = np.arange(n + 1.0)
    ways = special.gammaln(n + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)
    return np.asarray(ways + k * math.log(p) + (n - k) * math.log1p(-p))


def _answers(n: int, ones: int, flip: float) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], float]:
    """Return the law of the number of answers 1, and its mean: two binomials added up."""
    if not (0 <= ones <= n and n >= 1):
        raise ParameterError("response_error.ones", f"between 0 and {n}", ones)
    f = _FLIP.check("response_error", flip)
    law = np.convolve(np.exp(_log_binomial(n - ones, f)), np.exp(_log_binomial(ones, 1.0 - f)))
    return law, ones * (1.0 - 2.0 * f) + n * f


def response_tail(n: int, ones: int, flip: float, error: float) -> float:
    """Probability that the estimated count is off by at least ``error``.

    Notes
    -----
    The exponents printed in [GuerraThesis] Equations 6.71 and 6.72 are wrong; this adds up the two binomials instead.

    Examples
    --------
    >>> round(response_tail(500, 250, 0.13821, 20.7), 3)
    0.06
    """
    law, mean = _answers(n, ones, flip)
    off = np.abs(np.arange(n + 1) - mean) / (1.0 - 2.0 * flip)
    return float(min(1.0, law[off >= error].sum()))


def response_error(n: int, ones: int, flip: float, tail: float = _TAIL) -> float:
    """Error of the estimated count that is exceeded with probability at most ``tail`` (exact law).

    Examples
    --------
    >>> round(response_error(500, 250, 0.13821), 2)
    20.73
    """
    law, mean = _answers(n, ones, flip)
    off = np.abs(np.arange(n + 1) - mean) / (1.0 - 2.0 * flip)
    order = np.argsort(-off)
    beyond = np.cumsum(law[order])  # Pr[off >= each], from the largest down
    first = int(np.argmax(beyond > tail)) if np.any(beyond > tail) else len(order) - 1
    error = float(off[order[first]])
    return error if error > _NOTHING else 0.0
