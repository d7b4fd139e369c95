"""The form of a screen: fields with their texts, read from an address and written to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ...errors import ParameterError
from ...options import Flag, reading
from ...options.tables import options_of
from ...params import shown
from ...spec.question import threat_of
from ...spec.release_kinds import KINDS, kind_of
from ...spec.threat_options import OPTIONS, ThreatOptions
from ...threats.attackers import ATTACKERS
from .question_fields import (
    ALTERNATIVES,
    OFFERED_KINDS,
    attacker_field,
    kind_field,
    question_threat_fields,
    release_fields,
    split_alternative,
    without_stale_choices,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ...options import Option
    from ...options.reading import Where
    from .fields import Field

__all__ = [
    "MOST_VALUES",
    "PLACE",
    "Form",
    "FormSection",
    "question_of",
    "question_sections",
    "texts_for_kind",
    "texts_of",
]

MOST_VALUES = 100_000
PLACE: Where = reading.Where(lambda option: option, None, MOST_VALUES)
_ATTACKER = "who"
_FORM_ONLY_FIELDS = {_ATTACKER, *(kind.field for shape in ALTERNATIVES.values() for kind in shape.kinds)}


@dataclass(frozen=True, slots=True)
class FormSection:
    """Fields under one heading."""

    title: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """Fields in order, and the text in each."""

    sections: tuple[FormSection, ...]
    texts: Mapping[str, str]

    @property
    def fields(self) -> list[Field]:
        """Every field."""
        return [field for section in self.sections for field in section.fields]

    def text(self, field: Field) -> str:
        """Return the text in a field; a list to choose from is never empty, unless that is a choice."""
        text = self.texts.get(field.name, field.default)
        return text if field.kind != "choice" or text.strip() else field.default

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The whole state as pairs of a query; fields that are empty, and are so by default, are omitted."""
        return [(field.name, text) for field in self.fields if (text := self.text(field)) or field.default]

    @property
    def query(self) -> str:
        """The state as the part of an address after the question mark."""
        return urlencode(self.pairs)

    def values(self) -> dict[str, Any]:
        """Return what the fields say that are not empty, by their names."""
        return {field.name: field.value(text) for field in self.fields if (text := self.text(field).strip())}


def texts_for_kind(query: Mapping[str, str], kept_names: Collection[str]) -> dict[str, str]:
    """Return the texts of a query.

    A form that was rendered for another kind (``was``) submits fields of that kind: only those in ``kept_names`` are
    used, so that a new kind starts from its own example.
    """
    kind_changed = query.get("was") not in (None, query.get("kind"))
    return {name: text for name, text in query.items() if name != "was" and (not kind_changed or name in kept_names)}


def question_sections(
    query: Mapping[str, str],
    *,
    offered: tuple[str, ...] = OFFERED_KINDS,
    default: str = "grr",
    free: bool = False,
    attackers: Collection[str] = tuple(ATTACKERS),
) -> tuple[tuple[FormSection, FormSection], dict[str, str]]:
    """Return the fields of a release and a threat, without its noise where that is ``free``, and the texts in them."""
    name = query.get("kind", default)
    if name not in offered:
        got = shown(name)
        raise ParameterError("kind", f"one of {', '.join(offered)}", got, "`dpradar list` describes them.")
    kind = KINDS[name]
    attacker_choice = attacker_field(kind, attackers)
    who = query.get(_ATTACKER, attacker_choice.default)
    if who not in dict(attacker_choice.choices[0][1]):
        who = attacker_choice.default
    attacker = ATTACKERS[who]
    release = release_fields(kind, attacker, free=kind.noise.name if free and kind.noise is not None else "")
    texts = texts_for_kind({**query, _ATTACKER: who}, ["kind", _ATTACKER, *(field.name for field in release)])
    texts = without_stale_choices(texts, attacker)
    sections = (
        FormSection("What is released", (kind_field(offered, default), *release)),
        FormSection("Who attacks", (attacker_choice, *question_threat_fields(kind, attacker, texts))),
    )
    return sections, texts


def question_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question that the values of the fields ask, in the form that commands and files use.

    Examples
    --------
    >>> question_of({"kind": "grr", "m": 3, "epsilon": 1.0, "who": "record", "knowledge": "labels", "known": "a, a, b"})
    {'kind': 'grr', 'm': 3, 'epsilon': 1.0, 'knowledge': 'labels:a, a, b'}
    >>> question_of({"kind": "dp", "epsilon": 1.0, "who": "worst"})
    {'kind': 'dp', 'epsilon': 1.0, 'worst': True}
    """
    question = {name: value for name, value in values.items() if name not in _FORM_ONLY_FIELDS}
    attacker = ATTACKERS.get(values.get(_ATTACKER, ""))
    if attacker is not None and attacker.lists_records:
        threat = {name: question[name] for name in OPTIONS if name in question and name not in ALTERNATIVES}
        for option in kind_of(question, PLACE).options:
            if option.about.counts_values and option.param is not None:
                question[option.name] = threat_of(threat, PLACE).finite.size
    stated = None if attacker is None else OPTIONS.get(attacker.name)
    if stated is not None and isinstance(stated.shape, Flag):
        question[stated.name] = True
    for option in OPTIONS.values():
        if option.name in ALTERNATIVES and option.name in question:
            _append_detail(question, values, option)
    return question


def texts_of(release: Any, threat: ThreatOptions) -> dict[str, str]:
    """Return the texts of the fields that ask about a release and an attacker: the way back from ``question_of``.

    Examples
    --------
    >>> from dpradar import Laplace
    >>> texts_of(Laplace(scale=10), ThreatOptions(values="0:100", goal="within:5"))
    {'kind': 'laplace', 'scale': '10', 'values': '0:100', 'goal': 'within', 'within': '5'}
    """
    texts = {"kind": release.KIND}
    if threat.without_prior:
        texts[_ATTACKER] = threat.without_prior[0]
    for name, value in {**options_of(release), **options_of(threat)}.items():
        text = f"{value:g}" if isinstance(value, float) else f"{value}"
        texts |= split_alternative(name, text) if name in ALTERNATIVES else {name: text}
    return texts


def _append_detail(question: dict[str, Any], values: Mapping[str, Any], option: Option) -> None:
    """Append the detail of a choice to it, as in ``labels:a,a,b``; remove a choice that is the default."""
    choice = ALTERNATIVES[option.name].kind(question[option.name])
    if choice.name == option.default:
        del question[option.name]
    elif choice.field:
        detail = values.get(choice.field)
        if detail is None:
            raise ParameterError(choice.field, "given", "nothing", f"{option.name} needs it.")
        if isinstance(detail, str) and detail.startswith(("@", "[", "{")):
            raise ParameterError(choice.field, "a list of names", shown(detail), "Such as: a, a, b.")
        question[option.name] = f"{choice.name}:{detail!r}" if isinstance(detail, float) else f"{choice.name}:{detail}"
