"""Noise on the line over any number of values, nothing known: the most likely value, without an integral."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...numerics.lazy_numpy import Floats, np
from .exact_risk import ExactRisk

if TYPE_CHECKING:
    from ...mechanisms.capabilities import LineModel
    from ...threats import Prior
    from ...threats.hit_classes import Cover

__all__ = ["argmax_risk"]

_ROUNDING = 1e-13  # what sums over the values may add up to, beside 1 or beside the sum


def argmax_risk(model: LineModel, prior: Prior, cover: Cover) -> ExactRisk | None:
    """Return the risk where nothing is known, the goal is exact and the noise is not clamped; else None.

    Guarantee
    ---------
    Success is exact but for rounding. Rad is exact for values of equal probability; for others it lies between success
    minus the largest and success minus the smallest probability. Cost: sorting.

    Notes
    -----
    Given an output the value with the largest pi_z k(theta - v_z) is the best guess, and those for which it is the same
    one form an interval: always for equal probabilities, else where the kernel promises ``single_crossing``. Whoever
    guesses is right for somebody else with a probability between the smallest and the largest of the prior. For equal
    probabilities this is [RAD] Examples 4.7 and 4.8 with gaps g_i between neighbours: m rad = sum_i
    P(|noise| < g_i / 2). docs/derivations/line.md.
    """
    alone = len(cover.blocks) == 1 and cover.single.size == 0 and cover.blocks[0].kind == "singletons"
    whole = np.isneginf(model.low) and np.isposinf(model.high) and not model.clamp
    if not (alone and whole and bool(np.all(model.weights == 1.0))):
        return None
    # Between values of equal probability the nearest is the likeliest; others need one place where they change.
    if not (prior.is_uniform or model.kernel.single_crossing):
        return None
    pi = prior.probabilities
    if prior.is_uniform:
        half = 0.5 * np.diff(np.sort(model.points))
        rad = float(model.kernel.mass(-half, half).sum()) / pi.size  # a sum of positive numbers: small ones keep digits
        success = rad + 1.0 / pi.size
        interval = (rad * (1.0 - _ROUNDING), min(rad * (1.0 + _ROUNDING), 1.0 - 1.0 / pi.size))
    else:
        success = _success(model, pi)
        # A guess that is right for nobody, if there is one, is never right for others either.
        least, most = success - float(pi.max()), success - (0.0 if cover.blocks[0].misses else float(pi.min()))
        interval = (max(0.0, least - _ROUNDING), most + _ROUNDING)
    return ExactRisk(
        rad=interval,
        success=(success - _ROUNDING, min(1.0, success + _ROUNDING)),
        hit=min(success, 1.0) if prior.is_uniform else None,
    )


def _success(model: LineModel, pi: Floats) -> float:
    """Return the integral of the largest pi_z k(theta - v_z)."""
    order = np.lexsort((-pi, model.points))
    points, weights = model.points[order], pi[order]
    first = np.r_[True, np.diff(points) > 0.0] & (weights > 0.0)  # of equal values the likeliest
    points, weights = points[first], weights[first]
    winners, ends = _winners(model, points.tolist(), np.log(weights).tolist())
    # Where intervals end is taken from the values beside it: far from 0 a float has no digits for it.
    high = np.append(ends, np.inf)
    low = np.append(-np.inf, ends - np.diff(points[winners]))
    return float((weights[winners] * model.kernel.mass(low, high)).sum())


def _winners(model: LineModel, points: list[float], logs: list[float]) -> tuple[list[int], Floats]:
    """Return the values that are ever likeliest, in order, and how far beyond each but the last its interval ends."""
    winners: list[int] = []
    ends: list[float] = []  # ends[k]: from kept[k] to where kept[k + 1] takes over
    for new, (point, log) in enumerate(zip(points, logs, strict=True)):
        end = -np.inf
        while winners:
            last = winners[-1]
            end = model.kernel.meeting(point - points[last], logs[last] - log)
            begin = -np.inf if len(winners) == 1 else ends[-1] - (points[last] - points[winners[-2]])
            if end > begin:
                break
            winners.pop()  # the new value is likelier wherever the last one was
            if ends:
                ends.pop()
        if winners and end == np.inf:
            continue
        if winners:
            ends.append(end)
        winners.append(new)
    return winners, np.array(ends)
