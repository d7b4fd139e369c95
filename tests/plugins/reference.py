"""The risk of staircase noise by enumeration, from its density alone; nothing of dpradar."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np


def density(x: float, epsilon: float, step: float, share: float) -> float:
    """Return a e^(-k epsilon) on [k step, (k + share) step), and a e^(-(k + 1) epsilon) up to (k + 1) step."""
    b = math.exp(-epsilon)
    a = (1 - b) / (2 * step * (share + b * (1 - share)))
    k = math.floor(abs(x) / step)
    return a * b**k if abs(x) < (k + share) * step else a * b ** (k + 1)


def risks(values, prior, epsilon, step, share, eta):
    """Return rad and success of naming a number within eta of the value, nothing being known.

    The densities are constant between two jumps, so the integral of the best guess is a finite sum. A guess is one of
    the values.
    """
    prior = np.asarray(prior, dtype=float)
    tail = math.ceil(40 / epsilon)
    jumps = [k + part for k in range(tail + 1) for part in (0.0, share)]
    ends = sorted({round(v + sign * jump * step, 9) for v in values for jump in jumps for sign in (-1, 1)})
    hits = np.array([[abs(guess - v) <= eta for v in values] for guess in values], dtype=float)
    success = rad = 0.0
    for low, high in pairwise(ends):
        chances = np.array([density((low + high) / 2 - v, epsilon, step, share) for v in values])
        joint = prior * chances
        right = hits @ joint  # of each guess, about the target
        lucky = (hits @ prior) * joint.sum()  # about somebody else, who has nothing to do with the output
        success += (high - low) * right.max()
        rad += (high - low) * (right - lucky).max()
    return rad, success


def best_share(epsilon: float) -> float:
    """Return the share with the least mean absolute error."""
    return 1 / (1 + math.exp(epsilon / 2))
