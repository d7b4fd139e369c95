"""Calibrate: from a limit on the risk, or on the accuracy, to the noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...calibration.limit import COSTS
from ...errors import ParameterError
from ...mechanisms.cost import cost_of
from ...results.ceiling import ACKNOWLEDGE
from ...spec.kinds import KINDS
from ...spec.question import release_of
from ..copy_as import calibrate_copies
from ..forms.fields import LESS, MORE, Field, Slider, choice, number_field
from ..forms.form import PLACE, Form, FormSection, question_of, question_sections
from ..forms.release_fields import OFFERED_KINDS
from .screen_request import Screen, ScreenRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...params import Param

__all__ = ["CALIBRATE", "read"]

_CALIBRATED_KINDS = tuple(name for name in OFFERED_KINDS if KINDS[name].noise is not None)
_RISK_LABELS = {
    "rad": "what taking part adds (rad)",
    "gain": "more than by guessing blindly (gain)",
    "success": "right after the release (success)",
    "worst_gain": "more than by guessing, any attacker (worst gain)",
    "tpr": "members found (tpr)",
    "epsilon": "epsilon",
}
_COST_LABELS = {
    "error": "error in 95 of 100 releases",
    "variance": "variance of the noise",
    "frequency_error": "error of a frequency from one report",
}
_LIMIT_FIELDS = ("risk", "limit", "fpr", "delta_at", "acknowledge", "measure", "most")
_ACKNOWLEDGE = (("", "no"), (ACKNOWLEDGE, "yes, accept it"))


def _risk_fields(attacker: str, texts: Mapping[str, str]) -> list[Field]:
    """Return the limit on the risk; which quantities there are depends on who attacks."""
    excluded = {"membership": ("rad",), "worst": ("success",)}.get(attacker, ())
    names = [name for name in _RISK_LABELS if name not in excluded]
    fields = [choice("risk", "Limit", tuple((n, _RISK_LABELS[n]) for n in names), names[0], redraws=True)]
    quantity = texts.get("risk", names[0])
    probability = Slider(low=0.001, high=1.0, log=True, at_low=LESS, at_high=MORE)
    loss = Slider(low=0.05, high=12.0, log=True, at_low=LESS, at_high=MORE)
    slider = loss if quantity == "epsilon" else probability
    default = {"epsilon": "1", "success": "0.6"}.get(quantity, "0.1")
    help_text = "The largest acceptable value. Empty: no limit on the risk."
    fields.append(number_field("limit", "risk at most", help_text, default, slider))
    if quantity == "tpr":
        rate = Slider(low=1e-4, high=0.5, log=True)
        fields.append(
            number_field("fpr", "non-members wrongly flagged (fpr)", "At this false-positive rate.", "0.01", rate)
        )
    if quantity == "epsilon":
        small = Slider(low=1e-10, high=0.1, log=True)
        fields.append(number_field("delta_at", "at delta", "Delta at which epsilon is limited.", "1e-5", small))
    else:
        help_text = "Accept a release that is hardly better than publishing the raw data."
        label = "near the raw data (acknowledge)"
        fields.append(choice("acknowledge", label, _ACKNOWLEDGE, "", help_text=help_text, folded=True))
    return fields


def _costs(question: dict[str, Any], noise: Param) -> dict[str, tuple[float, float]]:
    """Return what can be said about the accuracy of a kind, with its range over typical noise."""
    costs_at_ends: list[dict[str, float]] = []
    for value in noise.typical:
        try:
            costs_at_ends.append(cost_of(release_of({**question, noise.name: value}, PLACE)))
        except ParameterError:
            return {}
    return {
        name: (min(ends), max(ends))
        for name in COSTS
        if len(ends := [costs[name] for costs in costs_at_ends if name in costs]) == 2
    }


def _cost_fields(costs: Mapping[str, tuple[float, float]], texts: Mapping[str, str]) -> list[Field]:
    if not costs:
        return []
    names = tuple((name, _COST_LABELS[name]) for name in costs)
    quantity = texts.get("measure", names[0][0])
    low, high = costs.get(quantity, next(iter(costs.values())))
    low = low or high / 1000.0  # rounding may leave little noise without any error
    slider = Slider(low=float(f"{low:.2g}"), high=float(f"{high:.2g}"), log=True, at_low="exact", at_high="noisy")
    help_text = "The largest acceptable value. Empty: no limit on the accuracy."
    return [
        choice("measure", "Accuracy", names, names[0][0], redraws=True),
        number_field("most", "error at most", help_text, "", slider),
    ]


def read(query: Mapping[str, str]) -> ScreenRequest:
    """Return the request of a query."""
    sections, texts, noise = question_sections(query, offered=_CALIBRATED_KINDS, free=True)
    attacker = texts.get("who", sections[1].fields[0].default)
    for name in _LIMIT_FIELDS:
        if name in query and (query.get("was") in (None, query.get("kind")) or name in ("risk", "limit")):
            texts[name] = query[name]
    release_form = Form((sections[0],), texts)
    hidden_fields = (("was", texts.get("kind", "grr")),)
    costs: dict[str, tuple[float, float]] = {}
    problem = None
    try:
        costs = _costs(question_of(release_form.options()), noise) if noise is not None else {}
    except ParameterError as error:
        problem = error
    risk, cost = _risk_fields(attacker, texts), _cost_fields(costs, texts)
    form = Form((FormSection("Limits", (*risk, *cost)), *sections), texts)
    try:
        if problem is not None:
            raise problem
        options = form.options()
        limits = _limits(options, _RISK_LABELS, costs)
        question = question_of({name: value for name, value in options.items() if name not in _LIMIT_FIELDS})
    except ParameterError as error:
        return ScreenRequest(form=form, task=None, hidden_fields=hidden_fields, problem=str(error), option=error.name)
    return ScreenRequest(
        form=form,
        task="calibrate",
        data={"question": question, "limits": limits},
        long=True,
        hidden_fields=hidden_fields,
        copies=lambda result: calibrate_copies(question, limits, None if result is None else result.get("value")),
    )


def _limits(options: dict[str, Any], risks: Mapping[str, str], costs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each limit as the command line takes it."""
    limits: list[dict[str, Any]] = []
    risk = str(options.get("risk"))
    if options.get("limit") is not None and risk in risks:
        limit = {risk: options["limit"]}
        for name, beside in (("fpr", "tpr"), ("delta_at", "epsilon")):
            if risk == beside:
                if options.get(name) is None:
                    raise ParameterError(name, "given with this limit", "nothing")
                limit[name.removesuffix("_at")] = options[name]
        if options.get("acknowledge"):
            limit["acknowledge"] = options["acknowledge"]
        limits.append(limit)
    if options.get("most") is not None and options.get("measure") in costs:
        limits.append({options["measure"]: options["most"]})
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
