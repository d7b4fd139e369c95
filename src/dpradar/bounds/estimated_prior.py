"""Bounds for priors that were estimated from a table: they hold for every prior in the confidence region."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..results import Bound, Discarded

if TYPE_CHECKING:
    from ..results import Assessment
    from ..results.bound import Quantity
    from ..threats import Threat
    from .question import Case

__all__ = ["RULE", "widened_assessment"]

RULE = "prior-region"
_WHY = "for the prior as it was counted; prior-region holds for every prior as near as the true one may be"

_UNSEEN = "contributions that were not counted lie between those that were"


def widened_assessment(result: Assessment, case: Case, tv: float) -> Assessment:
    """Return the assessment for every prior within ``distance`` of the one that was counted, and its values.

    Guarantee
    ---------
    With t the distance in total variation and ``tv`` a bound on the total variation between any two records' outputs:
    rad moves by at most 3 t tv, success and baseline by t, gain by 2 t; rad is at most tv, and gain at most rad. Where
    t is 0 the numbers stay as they are. A value that was not counted may be the best guess. So any number may be
    guessed where the goal is a distance of numbers, and with a user-defined loss the bounds are those of any goal.

    Notes
    -----
    docs/derivations/tables.md. ``hit`` belongs to the counted prior and is not reported.
    """
    threat, measured = case.threat, case.prior.measured
    if measured is None:
        return result
    note = measured.assumption
    prior = {**result.prior, "counted": measured.to_dict()}
    if measured.further == 0.0:
        return replace(
            result,
            rad=_assuming(result.rad, note),
            success=_assuming(result.success, note),
            prior=prior,
        )
    if measured.distance == 0.0:
        return _for_all_tables(replace(result, prior=prior), threat, measured.rounding, tv, note)
    t, baseline = measured.further, result.baseline or 0.0
    any_goal = threat.leaves_guesses_out
    least = threat.least_blind_guess  # with fewer guesses the gain may be larger
    rad = _widened_bound(result.rad, 1.0 if any_goal else 3.0 * t * tv, tv, note)
    success = _widened_bound(result.success, 1.0 if any_goal else t, 1.0, note)
    by = 1.0 if any_goal else 2.0 * t + baseline - least
    gain = _widened_bound(result.gain, by, tv if rad is None else rad.value, note)
    if threat.goal.kind == "within":  # from above only: the attacks were found with guesses that a table may not have
        rad, success, gain = (
            None if bound is None else replace(bound, low=None, high=None) for bound in (rad, success, gain)
        )
    worst = result.worst_gain if tv < 1.0 else _assuming(result.worst_gain, _UNSEEN)
    replaced = [
        Discarded(quantity=name, rule=bound.rule, why=_WHY, bound=bound) for name, bound in _replaceable(result)
    ]
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
        others=(*replaced, *result.others),
        prior={**prior, "region": region},
    )


def _for_all_tables(result: Assessment, threat: Threat, t: float, tv: float, note: str) -> Assessment:
    """Return the assessment for all tables that share their rounded frequencies, and have values of the prior only.

    What holds whatever the release is moves with the prior, too.
    """
    rad = _widened_bound(result.rad, 3.0 * t * tv, tv, note, rule=None)
    success, gain = _assuming(result.success, note), result.gain
    if threat.lowest_blind_guess < 1.0:  # otherwise the blind guess is always right, whatever the prior
        success = _widened_bound(result.success, t, 1.0, note, rule=None)
        gain = _widened_bound(gain, 2.0 * t, tv if rad is None else rad.value, note, rule=None)
    by = {"rad": 3.0 * t, "success": t}
    others = [
        replace(one, bound=_widened_bound(one.bound, by.get(one.quantity, 0.0), 1.0, note, rule=None))
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


def _replaceable(result: Assessment) -> list[tuple[Quantity, Bound]]:
    bounds: dict[Quantity, Bound | None] = {"rad": result.rad, "success": result.success}
    return [(name, bound) for name, bound in bounds.items() if bound is not None and bound.rule != "trivial"]


def _assuming(bound: Bound | None, note: str) -> Bound | None:
    return None if bound is None else replace(bound, assumes=(*bound.assumes, note))


def _widened_bound(bound: Bound | None, by: float, most: float, note: str, rule: str | None = RULE) -> Bound | None:
    """Return a bound for the near priors too; what holds for every prior stays as it is."""
    if bound is None:
        return None
    value = min(bound.value + by, max(most, 0.0), 1.0)
    lower_end = bound.value if bound.side == "exact" and bound.low is None else bound.low
    low = None if lower_end is None else min(max(0.0, lower_end - by), value)
    cites = tuple(dict.fromkeys(("dpradar derivation", *bound.cites)))
    return Bound(
        value=value,
        side="upper",
        rule=bound.rule if rule is None or bound.rule == "trivial" else rule,
        cites=cites,
        assumes=(*bound.assumes, note),
        low=low,
        high=None if low is None else value,
        neighbours=bound.neighbours,
    )
