"""The fields of a question, made of the descriptions of its options: what is released, and who attacks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...options.alternatives import Alternatives
from ...spec.model import RELATION
from ...spec.question import TIMES
from ...spec.release_kinds import KINDS
from ...spec.threat_options import OPTIONS
from ...threats.attackers import ATTACKERS, RECORD
from .fields import Field, choice, number_field, option_field, text_field

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ...options import Option
    from ...options.alternatives import Alternative
    from ...spec.release_kinds import Kind
    from ...threats.attackers import AttackerKind

__all__ = [
    "ALTERNATIVES",
    "OFFERED_KINDS",
    "attacker_field",
    "kind_field",
    "own_fields",
    "question_threat_fields",
    "release_fields",
    "split_alternative",
    "threat_fields",
    "without_stale_choices",
]

OFFERED_KINDS = tuple(
    name for name, kind in KINDS.items() if all("form" in o.about.places for o in kind.options if o.required)
)
_GROUP_LABELS = {
    "local": "Each answer is randomised on its own",
    "noise": "Noise on a number",
    "other": "Other mechanisms",
    "guarantee": "Only a guarantee is known",
}
ALTERNATIVES = {option.name: option.shape for option in OPTIONS.values() if isinstance(option.shape, Alternatives)}


def kind_field(offered: tuple[str, ...], default: str) -> Field:
    """Return the list of kinds, in groups."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name in offered:
        groups.setdefault(KINDS[name].group, []).append((name, KINDS[name].help.rstrip(".")))
    choices = tuple((label, tuple(groups[group])) for group, label in _GROUP_LABELS.items() if group in groups)
    return replace(choice("kind", "Mechanism or guarantee", (), default, redraws=True), choices=choices)


def attacker_field(kind: Kind, offered: Collection[str]) -> Field:
    """Return the list of those attackers that a question about this kind can have."""
    options = tuple((attacker.name, attacker.label) for attacker in kind.attackers if attacker.name in offered)
    return choice("who", "Attacker", options, kind.first.get("who", RECORD.name), redraws=True)


def own_fields(kind: Kind, attacker: AttackerKind) -> list[Field]:
    """Return the fields of a release that only questions about some attackers have, such as a sensitivity."""
    return [option_field(option, kind.first.get(option.name)) for option in _own_options(kind, attacker)]


def _own_options(kind: Kind, attacker: AttackerKind) -> list[Option]:
    return [option for option in kind.options if attacker.name in option.about.attackers]


def release_fields(kind: Kind, attacker: AttackerKind, *, free: str = "") -> list[Field]:
    """Return the fields of a release but for the parameter that is to be chosen."""
    shown = [
        option
        for option in kind.options
        if "form" in option.about.places
        and not option.about.attackers
        and option.name != free
        # The number of different records is the number of values.
        and not (attacker.lists_records and option.about.counts_values and option.param is not None)
    ]
    taken = {option.name for option in (*shown, *_own_options(kind, attacker))}
    shown += [option for option in (RELATION, TIMES) if option.name not in taken]
    return [option_field(option, kind.first.get(option.name)) for option in shown]


def question_threat_fields(kind: Kind, attacker: AttackerKind, texts: Mapping[str, str]) -> list[Field]:
    """Return the fields of the attacker of one release."""
    first = {**kind.first, **attacker.first}
    options = [option for option in kind.threat_options if option.name not in kind.names]
    return [*threat_fields(options, attacker, first, texts), *own_fields(kind, attacker)]


def threat_fields(
    options: Iterable[Option], attacker: AttackerKind, first: Mapping[str, str], texts: Mapping[str, str]
) -> list[Field]:
    """Return the fields of an attacker: what a first question says, further options, and choices with their details."""
    needed = [
        option
        for option in options
        if "form" in option.about.places
        and attacker.name in (option.about.attackers or ATTACKERS)
        and not set(option.about.needless_with) & set(first)
    ]
    plain = [option_field(option, first.get(option.name)) for option in needed if option.name not in ALTERNATIVES]
    choices = [
        field
        for option in needed
        if option.name in ALTERNATIVES
        for field in _alternative_fields(option, attacker, first.get(option.name, option.default), texts)
    ]
    return [*sorted(plain, key=lambda field: field.name not in first), *choices]


def _offered(option: str, attacker: AttackerKind) -> list[Alternative]:
    """Return the kinds of an option that an attacker can choose among."""
    return [kind for kind in ALTERNATIVES[option].kinds if attacker.name in (kind.attackers or ATTACKERS)]


def split_alternative(option: str, text: str) -> dict[str, str]:
    """Return the texts of the fields that stand for ``within:5``: of the kind, and of its argument.

    Examples
    --------
    >>> split_alternative("goal", "within:5"), split_alternative("knowledge", "everything")
    ({'goal': 'within', 'within': '5'}, {'knowledge': 'everything'})
    """
    name, _, argument = text.partition(":")
    field = ALTERNATIVES[option].kind(name).field
    return {option: name, field: argument} if field else {option: name}


def _alternative_fields(
    option: Option, attacker: AttackerKind, first: str, texts: Mapping[str, str]
) -> Iterator[Field]:
    """Return the choice among kinds, and the argument of the one that is chosen."""
    offered = _offered(option.name, attacker)
    defaults = split_alternative(option.name, first)
    default = defaults[option.name]
    yield choice(
        option.name, option.about.label, tuple((kind.name, kind.what) for kind in offered), default, redraws=True
    )
    chosen = next((kind for kind in offered if kind.name == texts.get(option.name, default)), None)
    if chosen is not None and chosen.field:
        argument = defaults.get(chosen.field, "") if chosen.name == default else ""
        yield _argument_field(chosen, argument)


def _argument_field(kind: Alternative, first: str) -> Field:
    about = kind.about
    if kind.argument == "number":
        return number_field(kind.field, about.label, about.sentence, first or about.example)
    return replace(text_field(kind.field, about.label, about.sentence, first), placeholder=about.example)


def without_stale_choices(texts: Mapping[str, str], attacker: AttackerKind) -> dict[str, str]:
    """Return the texts without choices of another attacker; unknown choices stay, and are refused later."""
    stale = {
        option
        for option, shape in ALTERNATIVES.items()
        if texts.get(option) in {kind.name for kind in shape.kinds}
        and texts[option] not in {kind.name for kind in _offered(option, attacker)}
    }
    return {name: text for name, text in texts.items() if name not in stale}
