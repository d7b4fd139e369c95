"""A new option needs its description only: forms, copies and comparisons have it without a change of the explorer."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import product
from typing import Annotated

import pytest
from annotated_types import Ge, Gt

from dpradar.options import About, Span, described
from dpradar.options.tables import options_in
from dpradar.spec import threat_options
from dpradar.spec.release_kinds import KINDS, Kind
from dpradar.spec.threat_options import ThreatOptions
from dpradar.web.copy_as import assess_copies, compare_copies, comparison_spec
from dpradar.web.forms.form import Form, question_of, question_sections
from dpradar.web.screens import compare_screen


@described("staircase", "Staircase noise.", "noise", first={"values": "0:10"})
class Staircase:
    """A class as an outside package would write it."""

    scale: Annotated[float, Gt(0), About("the length of a step", example="4", typical=(0.1, 10.0), more_private="up")]
    skewed: Annotated[bool, About("whether steps are skewed", folded=True)] = False
    jump: Annotated[float, Ge(0), About("how far one person moves it", example="3", attackers=("worst",))] | None = None
    ends: Annotated[tuple[float, float], Span(), About("where the noise ends", example="-9:9", folded=True)] | None = (
        None
    )


@pytest.fixture
def staircase(monkeypatch):
    monkeypatch.setitem(KINDS, "staircase", Kind("staircase", Staircase))
    monkeypatch.setattr(compare_screen, "_COMPARED_KINDS", ("grr", "staircase"))


@dataclass(frozen=True, slots=True, kw_only=True)
class WiderOptions(ThreatOptions):
    """The options of threats, and one more."""

    accomplices: (
        Annotated[int, Ge(1), About("the number of people who share what they know", example="2", label="accomplices")]
        | None
    ) = None


@pytest.fixture
def accomplices(monkeypatch):
    """Let every module see the wider class, as if it stood in the place of the other."""
    monkeypatch.setitem(threat_options.OPTIONS, "accomplices", options_in(WiderOptions, "accomplices")[0])
    replaced = {"ThreatOptions": WiderOptions, "THREAT": tuple(threat_options.OPTIONS)}
    modules = [module for name, module in sys.modules.items() if name.startswith("dpradar.")]
    for module, (name, new) in product(modules, replaced.items()):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, new)


def _form(**query):
    return Form(*question_sections(query, offered=(query["kind"],)))


@pytest.mark.usefixtures("staircase")
def test_an_option_of_a_new_kind_is_in_form_and_copies():
    form = _form(kind="staircase", skewed="yes", ends="0:5")
    fields = {field.name: field for field in form.fields}
    assert fields["scale"].slider.at_high == "less can be learned"
    assert fields["skewed"].folded
    assert fields["values"].default == "0:10"
    assert "jump" not in fields
    question = question_of(form.values())
    assert question["skewed"] is True
    line, code, file = (copy.text for copy in assess_copies(question))
    assert "--scale 4.0 --skewed --ends 0:5" in line
    assert "Staircase(scale=4.0, skewed=True, ends=(0.0, 5.0))" in code
    assert "skewed = true" in file


@pytest.mark.usefixtures("staircase")
def test_an_option_for_some_attackers_is_shown_to_them_only():
    form = _form(kind="staircase", who="worst")
    assert question_of(form.values())["jump"] == 3.0


@pytest.mark.usefixtures("accomplices")
@pytest.mark.parametrize("who", ["record", "baseline", "worst"])
def test_an_option_of_a_threat_is_in_form_and_copies(who):
    form = _form(kind="grr", who=who, accomplices="7")
    assert "accomplices" in [field.label for field in form.sections[1].fields]
    question = question_of(form.values())
    assert question["accomplices"] == 7
    line, _, file = (copy.text for copy in assess_copies({**question, "m": 3}))
    assert "--accomplices 7" in line
    assert "accomplices = 7" in file


@pytest.mark.usefixtures("staircase", "accomplices")
def test_new_options_are_compared():
    query = {"columns": "2", "1.kind": "staircase", "1.skewed": "yes", "2.kind": "grr", "accomplices": "7"}
    request = compare_screen.read(query)
    assert request.problem == ""
    assert request.data["releases"][0]["options"] == {"scale": 4.0, "skewed": True}
    assert request.data["threat"] == {"accomplices": 7, "values": "0:99"}
    line, _, file = (copy.text for copy in compare_copies(comparison_spec(request.data)))
    assert "dpradar assess staircase --scale 4.0 --skewed" in line
    assert "accomplices = 7" in file
