"""The tasks of a worker: named functions from plain data to plain data. None reads a file or runs code it is given."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...attacks import attack
from ...bounds import assess
from ...calibration.calibrate import DEFAULT_PRECISION, calibrate_family
from ...calibration.limit import Limit
from ...calibration.release_family import family_of_template
from ...errors import ParameterError
from ...guarantees import ZCDP
from ...mechanisms import SHE
from ...options.tables import options_of
from ...present.attack import attack_finding
from ...present.html import document, fragment
from ...present.pages import page_of
from ...spec.model import RELATION
from ...spec.question import release_of, threat_of
from ...spec.release_kinds import KINDS
from ...spec.run import run
from ..copy_as import comparison_spec
from ..forms.form import PLACE
from .demonstration_audits import audit_pasted_pairs, audit_with_defect

if TYPE_CHECKING:
    from ...present.page import Page
    from ...results import Calibration

__all__ = ["TASKS", "Report"]

Report = Callable[..., None]  # (what is being done, share of it that is done or None)
Answer = dict[str, Any]


def _answer(result: Any, page: Page | None = None) -> Answer:
    shown = page_of(result) if page is None else page
    partial = not getattr(result, "complete", True)
    text = json.dumps(result.to_dict())
    return {"title": shown.title, "html": fragment(shown), "json": text, "partial": bool(partial)}


def _release_and_threat(question: dict[str, Any]) -> tuple[Any, Any]:
    threat = threat_of(question, PLACE)  # first, because it refuses what is too large to build
    return release_of(question, PLACE), threat


def run_assessment(data: dict[str, Any], report: Report) -> Answer:
    """Return what someone could learn about one person.

    Examples
    --------
    >>> answer = run_assessment({"question": {"kind": "grr", "m": 10, "epsilon": 1.0}}, lambda *_: None)
    >>> round(json.loads(answer["json"])["rad"]["value"], 6)
    0.131969
    """
    question = data["question"]
    release, threat = _release_and_threat(question)
    result = assess(release, threat, neighbours=question.get(RELATION.name), progress=lambda text: report(text, None))
    if not data.get("short"):
        return _answer(result)
    page = replace(page_of(result), curve=None, label=(), tables=(), others=())
    return _answer(result, page)


def run_comparison(data: dict[str, Any], report: Report) -> Answer:
    """Return several releases under one threat, side by side."""
    spec = comparison_spec(data)
    for i in range(len(spec.releases)):
        threat_of({**spec.release(i), **spec.threats[0].options}, PLACE)
    result = run(spec, attack=False, progress=lambda text: report(text, None))
    return _answer(result)


def _limits(texts: list[dict[str, Any]], question: dict[str, Any]) -> list[Limit]:
    threat = threat_of(question, PLACE)
    return [Limit(threat, neighbours=question.get(RELATION.name), **limit) for limit in texts]


def run_calibration(data: dict[str, Any], report: Report) -> Answer:
    """Return the least noise that keeps every limit, and the range that risk and accuracy allow."""
    question, limits = data["question"], data["limits"]
    param = KINDS[question["kind"]].noise
    if param is None:
        raise ParameterError("kind", "one with a parameter that makes noise", repr(question["kind"]))
    every_limit = _limits(limits, question)
    family = family_of_template(param, lambda x: release_of({**question, param.name: x}, PLACE))

    def calibrate(limits_to_keep: list[Limit]) -> Calibration | None:
        return (
            calibrate_family(family, limits_to_keep, DEFAULT_PRECISION, lambda text: report(text, None))
            if limits_to_keep
            else None
        )

    result = calibrate(every_limit)
    risks = [limit for limit in every_limit if limit.risks]
    costs = [limit for limit in every_limit if not limit.risks]
    least = result if not costs else calibrate(risks)
    most = result if not risks else calibrate(costs)
    ends = {"least": least, "most": most}
    values = {name: None if end is None else _range_end(end) for name, end in ends.items()}
    band = {"parameter": param.name, "up": param.more_private == "up", "range": list(param.typical), **values}
    return {**_answer(result), "band": band}


def _range_end(end: Calibration) -> dict[str, Any]:
    near, idle = end.near_ceiling and not end.acknowledged, any(limit.idle for limit in end.achieved)
    return {"value": end.value, "status": end.status, "near": near, "idle": idle}


def run_attack(data: dict[str, Any], report: Report) -> Answer:
    """Return what the optimal attack reaches, beside the bound that it must stay under."""
    question = data["question"]
    release, threat = _release_and_threat(question)
    upper = assess(release, threat).rad
    result = attack(
        release,
        threat,
        progress=lambda done, total: report(f"{done:,} of {total:,} trials", done / total),
        **data["settings"],
    )
    page = replace(page_of(result), evidence=(attack_finding(result, upper),))
    return _answer(result, page)


def run_audit(data: dict[str, Any], report: Report) -> Answer:
    """Return what outputs of a built-in mechanism, with a mistake put in, say about its claim."""
    return _answer(audit_with_defect(data, lambda done, total: report(f"{done:,} of {total:,} outputs", done / total)))


def run_pair_audit(data: dict[str, Any], report: Report) -> Answer:
    """Return what pasted pairs of input and output say about a claim."""
    return _answer(audit_pasted_pairs(data))


def render_report(data: dict[str, Any], report: Report) -> str:
    """Return a result, given as JSON, as a report."""
    from ...present.markdown import markdown
    from ...results.loading import result_of

    result = result_of(json.loads(data["json"]))
    return document(result) if data["form"] == "html" else markdown(result)


def preload(data: dict[str, Any], report: Report) -> None:
    """Load the modules that the first questions need, so that no user waits for them."""
    releases: tuple[Any, ...] = (SHE(m=3, epsilon=1.0), ZCDP(rho=0.1, neighbours="replace-one"))
    for release in releases:
        run_assessment({"question": {"kind": release.KIND, **options_of(release)}}, report)


TASKS: dict[str, Callable[[dict[str, Any], Report], Any]] = {
    "assess": run_assessment,
    "attack": run_attack,
    "audit": run_audit,
    "calibrate": run_calibration,
    "compare": run_comparison,
    "render": render_report,
    "rows": run_pair_audit,
    "preload": preload,
}
