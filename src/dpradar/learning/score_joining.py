"""Merge the scores of several runs that were recorded separately."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..numerics.lazy_numpy import np
from .gradient_scores import GradientScores

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["joined_scores"]

_SAME = ("candidates", "clip", "noise_multiplier", "sample_rate", "steps")


def joined_scores(parts: Sequence[GradientScores]) -> GradientScores:
    """Return scores with the rows of all parts, one after the other; the settings must be the same.

    Examples
    --------
    >>> one = GradientScores(runs=1, candidates=2, clip=1.0, noise_multiplier=0.5)
    >>> joined_scores([one, one, one]).likelihoods.shape
    (3, 2)
    """
    if not parts:
        raise ParameterError("joined_scores", "given at least one part", "0")
    first = parts[0]
    if any(getattr(one, name) != getattr(first, name) for one in parts for name in _SAME):
        raise ParameterError("joined_scores", f"given trainings with the same {', '.join(_SAME)}", "different ones")
    runs = [one.runs for one in parts]
    scores = GradientScores(
        sum(runs), first.candidates, first.clip, first.noise_multiplier, first.sample_rate, first.steps
    )
    scores.likelihoods = np.concatenate([one.likelihoods for one in parts])
    scores.plain = np.concatenate([one.plain for one in parts])
    scores.distances = np.average([one.distances for one in parts], axis=0, weights=runs)
    return scores
