"""Priors that were counted in a table: bounds for every prior as near as the true one may be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..results import Bound, Discarded

if TYPE_CHECKING:
    from ..results import Assessment
    from ..results.bound import Quantity
    from ..threats import Threat
    from .case import Case

__all__ = ["RULE", "widened"]

RULE = "prior-region"
_WHY = "for the prior as it was counted; prior-region holds for every prior as near as the true one may be"

_UNSEEN = "contributions that were not counted lie between those that were"


def widened(result: Assessment, case: Case, tv: float) -> Assessment:
    """Return the assessment for every prior within ``distance`` of the one that was counted, and its values.

    Guarantee
    ---------
    With t the distance in total variation and ``tv`` a bound on the total variation between any two records' outputs:
    rad moves by at most 3 t tv, success and baseline by t, gain by 2 t; rad is at most tv, and gain at most rad. Where
    t is 0 the numbers stay as they are. A value that was not counted may be the best guess. So any number may be
    guessed where the goal is a distance of numbers, and with a loss of one's own the bounds are those of any goal.

    Notes
    -----
    docs/derivations/tables.md. ``hit`` belongs to the prior that was counted, and is not told.
    """
    threat, measured = case.threat, case.prior.measured
    if measured is None:
        return result
    told = measured.assumption
    counted = {**result.prior, "counted": measured.to_dict()}
    if measured.further == 0.0:
        return replace(result, rad=_with(result.rad, told), success=_with(result.success, told), prior=counted)
    if measured.distance == 0.0:
        return _for_all_tables(replace(result, prior=counted), threat, measured.rounding, tv, told)
    t, baseline = measured.further, result.baseline or 0.0
    any_goal = threat.leaves_guesses_out
    least = threat.least_blind_guess  # with fewer guesses the gain may be larger
    rad = _wider(result.rad, 1.0 if any_goal else 3.0 * t * tv, tv, told)
    success = _wider(result.success, 1.0 if any_goal else t, 1.0, told)
    by = 1.0 if any_goal else 2.0 * t + baseline - least
    gain = _wider(result.gain, by, tv if rad is None else rad.value, told)
    if threat.goal.kind == "within":  # from above only: the attacks were found with guesses that a table may not have
        rad, success, gain = (
            None if bound is None else replace(bound, low=None, high=None) for bound in (rad, success, gain)
        )
    worst = result.worst_gain if tv < 1.0 else _with(result.worst_gain, _UNSEEN)
    old = [Discarded(quantity=name, rule=bound.rule, why=_WHY, bound=bound) for name, bound in _replaced(result)]
    region = {
        "distance": measured.distance,
        "confidence": measured.confidence,
        "baseline": [max(0.0, least - t), 1.0 if any_goal else min(1.0, baseline + t)],
    }
    return replace(
        result,
        rad=rad,
        success=success,
        gain=gain,
        worst_gain=worst,
        baseline=None if result.baseline is None else threat.lowest_blind_guess,
        hit=None,
        false_hit=None,
        others=(*old, *result.others),
        prior={**counted, "region": region},
    )


def _for_all_tables(result: Assessment, threat: Threat, t: float, tv: float, told: str) -> Assessment:
    """Return the assessment for all tables that share their rounded frequencies, and have values of the prior only.

    What holds whatever the release is moves with the prior, too.
    """
    rad = _wider(result.rad, 3.0 * t * tv, tv, told, rule=None)
    success, gain = _with(result.success, told), result.gain
    if threat.lowest_blind_guess < 1.0:  # otherwise the blind guess is always right, whatever the prior
        success = _wider(result.success, t, 1.0, told, rule=None)
        gain = _wider(gain, 2.0 * t, tv if rad is None else rad.value, told, rule=None)
    by = {"rad": 3.0 * t, "success": t}
    others = [
        replace(one, bound=_wider(one.bound, by.get(one.quantity, 0.0), 1.0, told, rule=None))
        if one.rule == "trivial"
        else one
        for one in result.others
    ]
    return replace(
        result,
        rad=rad,
        success=success,
        gain=gain,
        baseline=None if result.baseline is None else threat.lowest_blind_guess,
        hit=None,
        false_hit=None,
        others=tuple(others),
    )


def _replaced(result: Assessment) -> list[tuple[Quantity, Bound]]:
    found: dict[Quantity, Bound | None] = {"rad": result.rad, "success": result.success}
    return [(name, bound) for name, bound in found.items() if bound is not None and bound.rule != "trivial"]


def _with(bound: Bound | None, told: str) -> Bound | None:
    return None if bound is None else replace(bound, assumes=(*bound.assumes, told))


def _wider(bound: Bound | None, by: float, most: float, told: str, rule: str | None = RULE) -> Bound | None:
    """Return a bound for the near priors too; what holds for every prior stays as it is."""
    if bound is None:
        return None
    value = min(bound.value + by, max(most, 0.0), 1.0)
    known = bound.value if bound.side == "exact" and bound.low is None else bound.low
    low = None if known is None else min(max(0.0, known - by), value)
    cites = tuple(dict.fromkeys(("dpradar derivation", *bound.cites)))
    return Bound(
        value=value,
        side="upper",
        rule=bound.rule if rule is None or bound.rule == "trivial" else rule,
        cites=cites,
        assumes=(*bound.assumes, told),
        low=low,
        high=None if low is None else value,
        neighbours=bound.neighbours,
    )
