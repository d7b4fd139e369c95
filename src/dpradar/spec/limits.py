"""Limits beside what is reached, and the smallest change that would meet them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..bounds.assess import assess, assess_case
from ..bounds.question import Case
from ..calibration import Limit
from ..calibration.calibrate import calibrate_family
from ..calibration.limit import AT, COSTS
from ..calibration.release_family import family_of_template
from ..errors import NumericsError, ParameterError, UnsupportedError
from ..results.bound import QUANTITIES, Side
from ..results.ceiling import ACKNOWLEDGE
from ..results.limit_result import LimitResult
from ..results.suggested_change import Change
from .question import release_of
from .release_kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..results import Assessment
    from ..threats import Prior, Threat
    from .model import Spec

__all__ = ["assessed", "change_of", "risk_limits", "utility_limits"]

_PRECISION = 1e-4  # of a suggested parameter; it is on the safe side in any case
_FAILURES = (NumericsError, ParameterError, UnsupportedError)


def assessed(
    what: Any,
    threat: Threat,
    relation: Any,
    abouts: Sequence[Prior],
    *,
    include_prior: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Assessment:
    """Return the assessment of a threat; one without a prior is assessed on the records of the other threats.

    The priors of the other threats settle how much one record can change the release (its sensitivity), so a threat
    without a prior is assessed for each of them, and the largest value counts.
    """
    if threat.prior is not None or not abouts:
        return assess(what, threat, neighbours=relation, include_prior=include_prior, progress=progress)
    assessments = [assess_case(Case(what, threat, relation, about=prior), progress=progress) for prior in abouts]
    return assessments[0] if len(assessments) == 1 else _largest(assessments)


def _largest(assessments: Sequence[Assessment]) -> Assessment:
    """Return the assessment with the largest gain in the worst case, each of its bounds being the largest of all."""

    def value(one: Assessment, quantity: Any) -> float:
        bound = one.bounds[quantity]
        return math.inf if bound is None else bound.value

    worst = max(assessments, key=lambda one: value(one, "worst_gain"))
    tops = {quantity: max(assessments, key=lambda one: value(one, quantity)) for quantity in QUANTITIES}
    bounds: dict[str, Any] = {quantity: one.bounds[quantity] for quantity, one in tops.items()}
    reason: dict[str, str] = {
        quantity: one.reason[quantity] for quantity, one in tops.items() if quantity in one.reason
    }
    return replace(worst, **bounds, hit=tops["rad"].hit, false_hit=tops["rad"].false_hit, reason=reason)


def risk_limits(
    spec: Spec, index: int, what: Any, threat: Threat, assessment: Assessment, relation: Any, abouts: Sequence[Prior]
) -> tuple[LimitResult, ...]:
    """Return every limit of a threat beside what is reached; a limit without a known value is not met."""
    threat_spec = spec.assessed_threats[index]
    if not threat_spec.limits:
        return ()
    results = []
    limits = Limit(threat, neighbours=relation, **threat_spec.limits)
    for name, limit in limits.risks.items():
        at = getattr(limits, AT[name]) if name in AT else None
        numbers: dict[str, Any] = {name: limit} if at is None else {name: limit, AT[name]: at}
        single = Limit(threat, neighbours=relation, **numbers)
        if name in QUANTITIES:
            value, side, rule, reason, neighbours = _bounded(assessment, name)
        else:
            value, side, rule, reason, neighbours = _achieved(single, what, threat, abouts)
        met = value is not None and value <= limit
        results.append(
            LimitResult(
                quantity=name, limit=limit, value=value, met=met, side=side, rule=rule, reason=reason, at=at,
                source=threat_spec.limit_source, raw=single.raw(name, exact=side == "exact"), neighbours=neighbours,
                acknowledge=ACKNOWLEDGE if limits.acknowledge else "",
            )
        )  # fmt: skip
    return tuple(results)


def _bounded(assessment: Assessment, name: Any) -> tuple[float | None, Side, str, str, str]:
    bound = assessment.bounds[name]
    if bound is None:
        return None, "upper", "", assessment.reason.get(name, "it is not known"), ""
    return bound.value, bound.side, bound.rule, "", bound.neighbours or ""


def _achieved(
    limit: Limit, what: Any, threat: Threat, abouts: Sequence[Prior]
) -> tuple[float | None, Side, str, str, str]:
    """Return the largest true-positive rate or epsilon over the records that the release may be about."""
    places: Sequence[Prior | None] = abouts if threat.prior is None and abouts else (None,)
    try:
        reached = [limit.achieved(what, about)[0] for about in places]
    except _FAILURES as error:
        return None, "upper", "", str(error), ""
    worst = max(reached, key=lambda one: one.value)
    if not math.isfinite(worst.value):
        return None, "upper", worst.rule, "no finite value is promised", worst.neighbours
    return worst.value, worst.side, worst.rule, "", worst.neighbours


def utility_limits(spec: Spec, cost: dict[str, float]) -> tuple[LimitResult, ...]:
    """Return every limit on accuracy beside what the noise costs; ``at`` is the number of reports."""
    results = []
    for name in COSTS:
        if name in spec.utility:
            by_report = name == "frequency_error"
            value = cost[name] / (math.sqrt(_reports(spec)) if by_report else 1.0)
            finite = math.isfinite(value)
            results.append(
                LimitResult(
                    quantity=name,
                    limit=spec.utility[name],
                    value=value if finite else None,
                    met=finite and value <= spec.utility[name],
                    side="exact",
                    rule="cost",
                    at=_reports(spec) if by_report else None,
                    reason="" if finite else "the noise hides everything",
                )
            )
    return tuple(results)


def _reports(spec: Spec) -> float:
    return spec.utility.get("reports", 1)


def change_of(
    spec: Spec, release: int, limits: Sequence[Limit], progress: Callable[[str], None] | None
) -> Change | None:
    """Return the smallest change of the noise of one release that meets every limit, or that none does."""
    param = KINDS[spec.releases[release].kind].noise
    if param is None or (not limits and not spec.utility):
        return None
    costs: dict[str, Any] = {name: spec.utility[name] for name in COSTS if name in spec.utility}
    if "frequency_error" in costs:
        costs["reports"] = _reports(spec)
    if costs:
        limits = [*limits, Limit(**costs)]
    question, where = spec.release(release), spec.where("release", release)

    family = family_of_template(param, lambda value: release_of({**question, param.name: value}, where))
    try:
        calibration = calibrate_family(family, limits, _PRECISION, progress)
    except _FAILURES:
        return None
    return Change(
        parameter=param.name,
        instead_of=float(question[param.name]),
        value=calibration.value,
        more_private=param.more_private,
        reason="" if calibration.met else calibration.reason,
        exact=calibration.exact,
    )
