"""Learn: the words, every rule with what it needs, and some things to try."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...bounds.rules import RULES
from ...errors import ParameterError
from ...guarantees import ApproxDP
from ...mechanisms import GRR
from ...options import describe
from ...options.tables import options_of
from ...params import shown
from ...present.glossary import GROUPS, TERMS
from ...spec.threat_options import ThreatOptions
from ...threats import Knowledge
from ..forms.fields import choice, option_field
from ..forms.form import Form, FormSection
from .screen_request import Screen, ScreenRequest, request_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...bounds.rule import Rule

__all__ = ["LEARN", "Lesson", "RuleNote", "read", "rule_notes"]

_RULE_NEEDS = {
    "exact-grr": "Randomised response over finitely many values.",
    "exact-sets": "A report that is a set of values, and in which the true value is likelier than the others.",
    "exact-line": "Noise on one number for each value, at most 3,000 values.",
    "exact-counts": "A local report that is made several times, with new randomness each time.",
    "exact-finite": "Finitely many inputs and outputs, at most 100 million pairs of them.",
    "exact-continuous": "A continuous prior, and a mechanism that takes any number of its interval.",
    "exact-collinear": "Gaussian noise on vectors that lie on one line.",
    "exact-one-hot": "Noise on the cells of a histogram in which each person is counted once.",
    "exact-known-cell": "Noise on the cells of a histogram, and an attacker who knows the record.",
    "exact-two-values": "Two possible values, and a release that is known exactly for both.",
    "simulation": "A mechanism that can be drawn from. Gives a lower bound, never the answer.",
}


_NOTHING_KNOWN = ThreatOptions()


@dataclass(frozen=True, slots=True)
class Lesson:
    """Something to try: what to look for, the class that it is about, and who attacks."""

    title: str
    text: str
    release: Any
    threat: ThreatOptions = _NOTHING_KNOWN


LESSONS = {
    "rad": Lesson(
        "What taking part adds",
        "Move epsilon. The hatched squares are people about whom the attacker is right only because they took part; "
        "the grey ones it would have guessed anyway.",
        GRR,
    ),
    "everything": Lesson(
        "When everything is known",
        "The attacker knows the value and asks whether it was used. Guessing blindly is always right then, so only "
        "what taking part adds still says something.",
        GRR,
        ThreatOptions(knowledge=Knowledge.everything().kind),
    ),
    "guarantee": Lesson(
        "A guarantee says less than a mechanism",
        "The same epsilon, but now only the promise is known: the number is what the worst mechanism with this promise "
        "could give away.",
        ApproxDP,
    ),
}


@dataclass(frozen=True, slots=True)
class RuleNote:
    """A rule as it is shown: what it says about which numbers, what it needs, and its source."""

    name: str
    title: str
    gives: str
    quantities: str
    needs: str
    source: str


def _note(rule: Rule) -> RuleNote:
    needs = _RULE_NEEDS.get(rule.name) or (inspect.getdoc(rule.find) or "").partition("\n\n")[0].replace("\n", " ")
    gives = "an upper bound"
    if rule.engine:
        gives = "a lower bound" if rule.from_below else "the exact value"
    return RuleNote(
        name=rule.name,
        title=rule.title,
        gives=gives,
        quantities=", ".join(rule.quantities),
        needs=needs,
        source="; ".join(rule.cites) or "holds by definition",
    )


def rule_notes() -> list[RuleNote]:
    """Return every rule with what it needs."""
    return [_note(rule) for rule in RULES]


def glossary_groups() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the words in groups; one that belongs to no group comes last."""
    grouped = {name for _, names in GROUPS for name in names}
    rest = tuple(name for name in TERMS if name not in grouped)
    groups = (*GROUPS, ("Further words", rest)) if rest else GROUPS
    return [(title, [(name, TERMS[name]) for name in names if name in TERMS]) for title, names in groups]


def read(query: Mapping[str, str]) -> ScreenRequest:
    """Return the request of a query."""
    name = query.get("try", "rad")
    if name not in LESSONS:
        raise ParameterError("try", f"one of {', '.join(LESSONS)}", shown(name))
    lessons = tuple((name, lesson.title) for name, lesson in LESSONS.items())
    lesson = LESSONS[name]
    fields = (choice("try", "Try", lessons, "rad", redraws=True), *map(option_field, reversed(describe(GRR))))
    names = {field.name for field in fields}
    form = Form((FormSection("Try it", fields),), {name: text for name, text in query.items() if name in names})

    def ask(form: Form) -> dict[str, Any]:
        first = {name: text for name, text in lesson.release.FIRST.items() if name not in names}
        values = {name: value for name, value in form.values().items() if name != "try"}
        question = {"kind": lesson.release.KIND, **first, **options_of(lesson.threat), **values}
        return {"task": "assess", "data": {"question": question, "short": True}}

    return request_of(form, ask)


LEARN = Screen(
    name="learn",
    title="Learn",
    lead="What the numbers mean, where they come from, and what they assume.",
    read=read,
    layout="learn_screen.html",
)
