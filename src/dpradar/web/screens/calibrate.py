"""Calibrate: from a limit on the risk, or on the accuracy, to the noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...calibration.limit import COSTS
from ...errors import ParameterError
from ...mechanisms.cost import cost_of
from ...results.ceiling import ACKNOWLEDGE
from ...spec.kinds import KINDS
from ...spec.question import release_of
from ..copies import calibrate_copies
from ..forms.fields import LESS, MORE, Field, Slider, choice, number_field
from ..forms.form import PLACE, Form, Section, question_of, question_sections
from ..forms.releases import OFFERED
from .asked import Asked, Screen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...params import Param

__all__ = ["CALIBRATE", "read"]

_KINDS = tuple(name for name in OFFERED if KINDS[name].noise is not None)
_RISKS = {
    "rad": "what taking part adds (rad)",
    "gain": "more than by guessing blindly (gain)",
    "success": "right after the release (success)",
    "worst_gain": "more than by guessing, any attacker (worst gain)",
    "tpr": "targets found (tpr)",
    "epsilon": "epsilon",
}
_MEASURES = {
    "error": "error in 95 of 100 releases",
    "variance": "variance of the noise",
    "frequency_error": "error of a frequency from one report",
}
_LIMIT_FIELDS = ("risk", "limit", "fpr", "delta_at", "acknowledge", "measure", "most")
_ACKNOWLEDGE = (("", "no"), (ACKNOWLEDGE, "yes, accept it"))


def _risk_fields(who: str, texts: Mapping[str, str]) -> list[Field]:
    """Return the limit on the risk; which quantities there are depends on who attacks."""
    left_out = {"membership": ("rad",), "worst": ("success",)}.get(who, ())
    names = [name for name in _RISKS if name not in left_out]
    fields = [choice("risk", "Limit", tuple((n, _RISKS[n]) for n in names), names[0], redraws=True)]
    chosen = texts.get("risk", names[0])
    probability = Slider(low=0.001, high=1.0, log=True, at_low=LESS, at_high=MORE)
    loss = Slider(low=0.05, high=12.0, log=True, at_low=LESS, at_high=MORE)
    slider = loss if chosen == "epsilon" else probability
    first = {"epsilon": "1", "success": "0.6"}.get(chosen, "0.1")
    told = "The most that is accepted. Empty: no limit on the risk."
    fields.append(number_field("limit", "risk at most", told, first, slider))
    if chosen == "tpr":
        rate = Slider(low=1e-4, high=0.5, log=True)
        fields.append(number_field("fpr", "bystanders accused (fpr)", "At this false-positive rate.", "0.01", rate))
    if chosen == "epsilon":
        small = Slider(low=1e-10, high=0.1, log=True)
        fields.append(number_field("delta_at", "at delta", "Epsilon is asked at this delta.", "1e-5", small))
    else:
        told = "Accept a release that is hardly better than publishing the raw data."
        label = "near the raw data (acknowledge)"
        fields.append(choice("acknowledge", label, _ACKNOWLEDGE, "", help_text=told, more=True))
    return fields


def _costs(question: dict[str, Any], noise: Param) -> dict[str, tuple[float, float]]:
    """Return what can be said about the accuracy of a kind, with its range over typical noise."""
    found: list[dict[str, float]] = []
    for value in noise.typical:
        try:
            found.append(cost_of(release_of({**question, noise.name: value}, PLACE)))
        except ParameterError:
            return {}
    return {name: (min(one), max(one)) for name in COSTS if len(one := [c[name] for c in found if name in c]) == 2}


def _cost_fields(costs: Mapping[str, tuple[float, float]], texts: Mapping[str, str]) -> list[Field]:
    if not costs:
        return []
    names = tuple((name, _MEASURES[name]) for name in costs)
    chosen = texts.get("measure", names[0][0])
    low, high = costs.get(chosen, next(iter(costs.values())))
    low = low or high / 1000.0  # rounding may leave little noise without any error
    slider = Slider(low=float(f"{low:.2g}"), high=float(f"{high:.2g}"), log=True, at_low="exact", at_high="noisy")
    told = "The most that is accepted. Empty: the accuracy is not limited."
    return [
        choice("measure", "Accuracy", names, names[0][0], redraws=True),
        number_field("most", "error at most", told, "", slider),
    ]


def read(query: Mapping[str, str]) -> Asked:
    """Return what the query asks."""
    sections, texts, noise = question_sections(query, offered=_KINDS, free=True)
    who = texts.get("who", sections[1].fields[0].default)
    for name in _LIMIT_FIELDS:
        if name in query and (query.get("was") in (None, query.get("kind")) or name in ("risk", "limit")):
            texts[name] = query[name]
    own = Form((sections[0],), texts)
    was = (("was", texts.get("kind", "grr")),)
    costs: dict[str, tuple[float, float]] = {}
    problem = None
    try:
        costs = _costs(question_of(own.options()), noise) if noise is not None else {}
    except ParameterError as error:
        problem = error
    risk, cost = _risk_fields(who, texts), _cost_fields(costs, texts)
    form = Form((Section("Limits", (*risk, *cost)), *sections), texts)
    try:
        if problem is not None:
            raise problem
        said = form.options()
        limits = _limits(said, _RISKS, costs)
        question = question_of({name: value for name, value in said.items() if name not in _LIMIT_FIELDS})
    except ParameterError as error:
        return Asked(form=form, task=None, was=was, problem=str(error), option=error.name)
    return Asked(
        form=form,
        task="calibrate",
        data={"question": question, "limits": limits},
        long=True,
        was=was,
        copies=lambda result: calibrate_copies(question, limits, None if result is None else result.get("value")),
    )


def _limits(said: dict[str, Any], risks: Mapping[str, str], costs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the limits, each by itself, as the command line takes them."""
    limits: list[dict[str, Any]] = []
    risk = str(said.get("risk"))
    if said.get("limit") is not None and risk in risks:
        limit = {risk: said["limit"]}
        for name, beside in (("fpr", "tpr"), ("delta_at", "epsilon")):
            if risk == beside:
                if said.get(name) is None:
                    raise ParameterError(name, "given beside this limit", "nothing")
                limit[name.removesuffix("_at")] = said[name]
        if said.get("acknowledge"):
            limit["acknowledge"] = said["acknowledge"]
        limits.append(limit)
    if said.get("most") is not None and said.get("measure") in costs:
        limits.append({said["measure"]: said["most"]})
    if not limits:
        raise ParameterError("limit", "given, for the risk or for the accuracy", "nothing")
    return limits


CALIBRATE = Screen(
    name="calibrate",
    title="Calibrate",
    lead="You know what risk is acceptable. How much noise does it take?",
    read=read,
    button="Find the noise",
)
