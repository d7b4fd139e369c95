"""What may stand in a saved result: one shape for each kind, so that a new field is one line here.

A file may come from anywhere. Before anything is made of it every field is checked: its type, its range, and whether
the fields agree with each other. Keys that are not named here are left to whoever knows them.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, Problem, SpecError
from ..params import shown
from .agreement import (
    advantage,
    calibrated,
    claimed_total,
    limits_on_bounds,
    noise_per_threat,
    ordered,
    parallel,
    per_threat,
    reasons,
    refutation,
)
from .bound import QUANTITIES
from .parts import (
    ACHIEVED,
    CHANGE,
    CHECK,
    COST,
    DIFFERENCE,
    DISCARDED,
    EVIDENCE,
    FULL_RISK,
    LEAKAGE,
    LIMIT,
    LOSS,
    NOTICE,
    OPEN_SHARE,
    PRIOR,
    RAREST,
    RATES,
    READING,
    RELATION,
    RISK,
    SHARE,
    SIMULATED,
    TEXT_LOSS,
    TEXTS,
    THEOREM,
    TOTAL,
    WITNESS,
    estimate,
)
from .shapes import also, each, flag, mapping, maybe, number, table, text, whole, word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .shapes import Check

__all__ = ["MOST_PROBLEMS", "checked"]

MOST_PROBLEMS = 20  # more are not listed
ASSESSMENT = also(
    table(
        {
            "version": text,
            "release": text,
            "threat": text,
            **dict.fromkeys(QUANTITIES, maybe(FULL_RISK)),
            "baseline": maybe(SHARE),
            "hit": maybe(SHARE),
            "false_hit": maybe(SHARE),
            "reason": mapping(text),
            "prior": PRIOR,
            "neighbours": maybe(RELATION),
            "others": each(DISCARDED),
        },
        {"rates": maybe(RATES), "ceiling": maybe(FULL_RISK), "rarest": maybe(RAREST)},
    ),
    reasons,
)
ATTACK = also(
    table(
        {
            "rad": estimate(DIFFERENCE),
            "success": estimate(SHARE),
            "false_hit": estimate(SHARE),
            "version": text,
            "release": maybe(text),
            "threat": maybe(text),
            "strategy": text,
            "maximise": maybe(word("rad", "success")),
            "trials": whole(),
            "asked": maybe(whole()),
            "seed": maybe(whole()),
            "confidence": OPEN_SHARE,
            "baseline": maybe(SHARE),
            "paired": maybe(flag),
            "notes": TEXTS,
        }
    ),
    ordered("trials", "asked"),
    advantage,
)
AUDIT = also(
    table(
        {
            "epsilon_lower": EVIDENCE,
            "epsilon_estimate": maybe(TEXT_LOSS),
            "version": text,
            "claim": text,
            "refuted": flag,
            "claim_epsilon": maybe(LOSS),
            "delta": SHARE,
            "significance": OPEN_SHARE,
            "method": text,
            "trials": whole(),
            "asked": maybe(whole()),
            "seed": maybe(whole()),
            "looks": whole(),
            "command": maybe(text),
            "witness": maybe(WITNESS),
            "rad": maybe(estimate(DIFFERENCE)),
            "readings": each(READING),
            "notes": TEXTS,
        }
    ),
    refutation,
)
CALIBRATION = also(
    table(
        {
            "version": text,
            "parameter": text,
            "value": maybe(number()),
            "status": word("met", "free", "unmet", "stopped"),
            "more_private": maybe(word("up", "down")),
            "binding": maybe(text),
            "reason": text,
            "tried": whole(),
            "achieved": each(ACHIEVED),
            "cost": mapping(LOSS),
            "release": maybe(text),
        },
        {"assumes": TEXTS},
    ),
    calibrated,
)
ADVICE = table(
    {
        "version": text,
        "granularity": text,
        "epsilon": TEXT_LOSS,
        "users": whole(),
        "points": whole(),
        "most_points": whole(),
        "middle_points": number(0.0),
        "times": whole(),
        "hidden": maybe(text),
        "mixing_quarter": maybe(TEXT_LOSS),
        "mixing_hundredth": maybe(TEXT_LOSS),
        "states": maybe(whole()),
        "window": maybe(whole()),
        "rows": each(NOTICE),
        "notes": TEXTS,
    }
)
FINDING = table(
    {
        "rule": text,
        "title": text,
        "severity": word("refutes", "unproven", "note"),
        "where": text,
        "why": text,
        "witness": text,
        "fix": text,
        "cites": TEXTS,
        "evidence": maybe(AUDIT),
    }
)
ACCOUNTING = also(
    table(
        {
            "version": text,
            "title": text,
            "claim": maybe(text),
            "claimed": maybe(text),
            "met": maybe(flag),
            "command": maybe(text),
            "totals": each(TOTAL),
            "warnings": TEXTS,
            "facts": mapping(None),
            "advice": maybe(ADVICE),
            "assessment": maybe(ASSESSMENT),
        },
        {"findings": each(FINDING)},
    ),
    claimed_total,
)
CORRELATION = table(
    {
        "version": text,
        "model": text,
        "release": text,
        "epsilon": LOSS,
        "target": LOSS,
        "sensitivity": maybe(LOSS),
        "records": maybe(whole()),
        "command": maybe(text),
        "leakage": LEAKAGE,
        "any_dependence": LEAKAGE,
        "at_least": maybe(LEAKAGE),
        "theorems": each(THEOREM),
        "checks": each(CHECK),
        "simulated": maybe(SIMULATED),
        "notes": TEXTS,
        "warnings": TEXTS,
    }
)
LINT = table(
    {
        "version": text,
        "subject": text,
        "claim": maybe(text),
        "seed": maybe(whole()),
        "command": maybe(text),
        "findings": each(FINDING),
        "checked": TEXTS,
        "notes": TEXTS,
    }
)
THREAT = also(
    table({"name": text, "limits": each(LIMIT), "change": maybe(CHANGE), "assessment": ASSESSMENT}),
    limits_on_bounds,
)
NOISE = table(
    {"factor": number(0.0), "parameter": text, "value": number(), "cost": COST, "assessments": each(ASSESSMENT)}
)
POINT = also(
    table(
        {
            "value": number(),
            "bounds": each(table(dict.fromkeys(QUANTITIES, maybe(RISK)))),
            "baselines": each(maybe(SHARE)),
            "cost": COST,
        }
    ),
    parallel("bounds", "baselines"),
)
SWEEP = also(
    table({"parameter": text, "release": text, "threats": TEXTS, "points": each(POINT)}),
    per_threat,
)


def _evidence(data: Any, path: str) -> Iterator[Problem]:
    kinds = {"dpradar/attack/1": ATTACK, "dpradar/audit/1": AUDIT}
    kind = kinds.get(str(data.get("schema"))) if isinstance(data, dict) else None
    if kind is None:
        yield Problem(path.removesuffix("."), f"must be a saved result: {' or '.join(kinds)}")
        return
    yield from kind(data, path)


RELEASE = also(
    table(
        {
            "name": text,
            "what": text,
            "release": text,
            "dates": TEXTS,
            "parts": TEXTS,
            "assessments": each(THREAT),
            "cost": COST,
            "utility": each(LIMIT),
            "change": maybe(CHANGE),
            "neighbours_cost": each(NOISE),
            "evidence": each(_evidence),
        }
    ),
    noise_per_threat,
)
RUN = table(
    {
        "version": text,
        "title": text,
        "description": text,
        "together": word("compose", "compare"),
        "spec_hash": text,
        "spec_text": text,
        "command": text,
        "made": text,
        "decision": mapping(text),
        "releases": each(RELEASE, least=1),
        "sweeps": each(SWEEP),
    }
)
SHAPES: dict[str, Check] = {
    "dpradar/accounting/1": ACCOUNTING,
    "dpradar/advice/1": ADVICE,
    "dpradar/assessment/1": ASSESSMENT,
    "dpradar/attack/1": ATTACK,
    "dpradar/audit/1": AUDIT,
    "dpradar/calibration/1": CALIBRATION,
    "dpradar/correlation/1": CORRELATION,
    "dpradar/lint/1": LINT,
    "dpradar/run/1": RUN,
}


def checked(data: Any, schema: str, place: str = "the saved result") -> dict[str, Any]:
    """Return the data of a saved result, or raise SpecError with everything that is wrong in it.

    Examples
    --------
    >>> checked({"schema": "dpradar/attack/1"}, "dpradar/audit/1")
    Traceback (most recent call last):
        ...
    dpradar.errors.ParameterError: the saved result must be data with schema 'dpradar/audit/1'; got 'dpradar/attack/1'.
    """
    given = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(data, dict) or given != schema:
        raise ParameterError(place, f"data with schema {schema!r}", shown(given))
    problems = list(islice(SHAPES[schema](data, ""), MOST_PROBLEMS))
    if problems:
        raise SpecError(place, problems)
    return data
