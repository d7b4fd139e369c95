"""Calibrate: from a limit on the risk, or on the accuracy, to the noise."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...calibration.limit import COST_KEYS, RISK_KEYS, RISKS
from ...errors import ParameterError
from ...mechanisms.cost import cost_of
from ...spec.question import release_of
from ...spec.release_kinds import KINDS
from ...threats.attackers import ATTACKERS
from ..copy_as import calibrate_copies
from ..forms.fields import Field, Slider, choice, number_field, option_field, slider_of
from ..forms.form import PLACE, Form, FormSection, question_of, question_sections
from ..forms.question_fields import OFFERED_KINDS
from .screen_request import Screen, ScreenRequest, request_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...options import Option
    from ...params import Param

__all__ = ["CALIBRATE", "read"]

_CALIBRATED_KINDS = tuple(name for name in OFFERED_KINDS if KINDS[name].noise is not None)
_RISKS = [option for name in RISKS for option in RISK_KEYS if option.name == name]  # in the order of the form
_COSTS = [option for option in COST_KEYS if not option.about.beside]
_FURTHER = [option for option in RISK_KEYS if option not in _RISKS]
_RELEASE_OPTIONS = {name for kind in OFFERED_KINDS for name in KINDS[kind].names}
# What goes with a limit; under another name where the release has an option of that name.
_NAMES = {one.name: f"{one.name}_at" if one.name in _RELEASE_OPTIONS else one.name for one in _FURTHER}
_LIMIT_FIELDS = ("risk", "limit", *_NAMES.values(), "measure", "most")


def _goes_with(option: Option, risk: str) -> bool:
    """Whether an option says more about a limit on this risk."""
    return option.about.beside == risk or (bool(option.about.excludes) and risk not in option.about.excludes)


def _risk_fields(attacker: str, texts: Mapping[str, str]) -> list[Field]:
    """Return the limit on the risk; which quantities there are depends on who attacks."""
    offered = {one.name: one for one in _RISKS if attacker in (one.about.attackers or ATTACKERS)}
    default = next(iter(offered))
    risk = offered.get(texts.get("risk", default), offered[default])
    help_text = "The largest acceptable value. Empty: no limit on the risk."
    choices = tuple((name, one.about.label) for name, one in offered.items())
    return [
        choice("risk", "Limit", choices, default, redraws=True),
        number_field("limit", "risk at most", help_text, risk.about.example, slider_of(risk)),
        *(replace(option_field(one), name=_NAMES[one.name]) for one in _FURTHER if _goes_with(one, risk.name)),
    ]


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
        for name in (option.name for option in _COSTS)
        if len(ends := [costs[name] for costs in costs_at_ends if name in costs]) == 2
    }


def _cost_fields(costs: Mapping[str, tuple[float, float]], texts: Mapping[str, str]) -> list[Field]:
    if not costs:
        return []
    names = tuple((option.name, option.about.label) for option in _COSTS if option.name in costs)
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
    (release, threat), texts = question_sections(query, offered=_CALIBRATED_KINDS, free=True)
    for name in _LIMIT_FIELDS:
        if name in query and (query.get("was") in (None, query.get("kind")) or name in ("risk", "limit")):
            texts[name] = query[name]
    kind = texts.get("kind", "grr")
    costs: dict[str, tuple[float, float]] = {}
    noise = KINDS[kind].noise
    if noise is not None:
        with suppress(ParameterError):  # the whole form says it, too
            costs = _costs(question_of(Form((release,), texts).values()), noise)
    fields = (*_risk_fields(texts["who"], texts), *_cost_fields(costs, texts))
    form = Form((FormSection("Limits", fields), release, threat), texts)
    return request_of(form, _ask, long=True, hidden_fields=(("was", kind),))


def _ask(form: Form) -> dict[str, Any]:
    values = form.values()
    limits = _limits(values)
    question = question_of({name: value for name, value in values.items() if name not in _LIMIT_FIELDS})
    return {
        "task": "calibrate",
        "data": {"question": question, "limits": limits},
        "copies": lambda result: calibrate_copies(question, limits, None if result is None else result.get("value")),
    }


def _limits(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return each limit as the command line takes it."""
    limits: list[dict[str, Any]] = []
    if "limit" in values:
        limit = {values["risk"]: values["limit"]}
        for option in _FURTHER:
            value = values.get(_NAMES[option.name])
            if value is not None:
                limit[option.name] = value
            elif option.about.beside == values["risk"]:
                raise ParameterError(_NAMES[option.name], "given with this limit", "nothing")
        limits.append(limit)
    if "most" in values:
        limits.append({values["measure"]: values["most"]})
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
