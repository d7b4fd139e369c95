"""Fields that describe a release, from the parameters of its kind, and what they are set to at first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...mechanisms import Repeated
from ...options import Choice, Rows, describe, parameters
from ...spec.kinds import KINDS
from .fields import LESS, MORE, Field, Slider, choice, number_field, param_field, text_field

if TYPE_CHECKING:
    from ...options import Option
    from ...params import Param

__all__ = ["OFFERED_KINDS", "kind_field", "release_fields", "sensitivity_fields"]

OFFERED_KINDS = tuple(
    name for name, kind in KINDS.items() if all("form" in o.about.places for o in kind.options if o.required)
)
_GROUP_LABELS = {
    "local": "Each answer is randomised on its own",
    "noise": "Noise on a number",
    "other": "Other mechanisms",
    "guarantee": "Only a guarantee is known",
}
RELATION_LABELS = {"replace-one": "one record replaced by another", "add-remove": "one record added or removed"}


def kind_field(offered: tuple[str, ...], default: str) -> Field:
    """Return the list of kinds, in groups."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name in offered:
        groups.setdefault(KINDS[name].group, []).append((name, KINDS[name].help.rstrip(".")))
    choices = tuple((_GROUP_LABELS[group], tuple(groups[group])) for group in _GROUP_LABELS if group in groups)
    return Field(
        name="kind", option="kind", label="Mechanism or guarantee", kind="choice", default=default, choices=choices,
        redraws=True,
    )  # fmt: skip


def release_fields(kind: str, *, free: Param | None = None, size: bool = True) -> list[Field]:
    """Return the fields of a kind but for the parameter that is to be chosen; ``size``: with the number of values."""
    kind_description = KINDS[kind]
    fields = [
        _field(option, kind_description.first.get(option.name, option.about.example))
        for option in kind_description.options
        if "form" in option.about.places
        and (free is None or option.param != free)
        and (size or option.param is None or not option.about.counts_values)
        and not (option.about.beside or option.about.excludes)  # stated where no values say it: sensitivity_fields
    ]
    if not kind_description.states_relation:
        fields.append(_relation_field())
    return [*fields, _times_field()]


def _field(option: Option, example: str) -> Field:
    about, shape = option.about, option.shape
    label = about.label or option.name.replace("_", " ")
    help_text = f"{about.what[:1].upper()}{about.what[1:]}."
    default = example if option.required or not about.folded else ""
    if option.param is not None and about.typical is not None:
        ends = ("", "") if about.counts_values else None
        return param_field(option.param, example, label=label, ends=ends)
    if isinstance(shape, Choice):
        choices = tuple((word, RELATION_LABELS.get(word, word)) for word in shape.words)
        return choice(option.name, label, choices, shape.words[0], help_text=help_text)
    if option.param is not None:
        return replace(number_field(option.name, label, help_text, ""), folded=about.folded)
    return text_field(
        option.name,
        label,
        help_text,
        default,
        placeholder=about.example,
        folded=about.folded,
        long=isinstance(shape, Rows),
    )


def _relation_field() -> Field:
    options = (("", "whichever tells more"), *RELATION_LABELS.items())
    return choice("neighbours", "Data sets that are compared", options, "", folded=True)


def _times_field() -> Field:
    param = replace(parameters(Repeated)[0], typical=(1, 1000))
    label = describe(Repeated)[-1].about.label
    return replace(param_field(param, "1", label=label, ends=(LESS, MORE)), folded=True)


def sensitivity_fields(kind: str) -> list[Field]:
    """Return how far one person moves the output, and when: needed where no values say it."""
    names = KINDS[kind].names
    if "sensitivity" not in names:
        return []
    about = KINDS[kind].option("sensitivity").about
    slider = Slider(low=0.1, high=1000.0, log=True, at_low=LESS, at_high=MORE)
    norm = "L2" if "gaussian" in kind else "L1"
    help_text = f"How far one person moves what is released, in the {norm} norm."
    options = (("add-remove", "one person is added or removed"), ("replace-one", "one person's data are replaced"))
    fields = [
        number_field("sensitivity", about.label, help_text, about.example, slider),
        choice("neighbours", "when (neighbours)", options, "add-remove", help_text="The relation of the sensitivity."),
    ]
    if "nonnegative" in names:
        entries = (("", "may be any numbers"), ("yes", "are never negative, as in a histogram"))
        fields.append(choice("nonnegative", "A person's contributions", entries, "", folded=True))
    return fields
