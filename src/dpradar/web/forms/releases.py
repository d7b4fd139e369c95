"""Fields that describe a release, from the parameters of its kind, and what they are set to at first."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ...mechanisms.ldp.parameters import M
from ...params import Param
from ...spec.kinds import KINDS, Kind
from .fields import LESS, MORE, Field, Slider, choice, number_field, param_field, text_field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["DEFAULTS", "OFFERED", "family", "kind_field", "release_fields", "sensitivity_fields"]

# A register is a file, and the points of a trade-off curve cannot be written as a command line.
OFFERED = tuple(name for name, kind in KINDS.items() if kind.flat and "file" not in kind.extra)
_FAMILIES = {
    "local": "Each answer is randomised on its own",
    "noise": "Noise on a number",
    "other": "Other mechanisms",
    "guarantee": "Only a guarantee is known",
}
_TIMES = Param(
    name="times",
    integer=True,
    low=1,
    what="how often the release is made about the same person",
    typical=(1, 1000),
    more_private="down",
)
DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "laplace": {"scale": "10", "values": "0:100", "goal": "within", "within": "5"},
    "gaussian": {"sigma": "15", "values": "0:100", "goal": "within", "within": "5"},
    "geometric": {"scale": "2", "values": "0:10"},
    "discrete-gaussian": {"sigma": "3", "values": "0:10"},
    "exponential": {"epsilon": "1", "interval": "0:100", "values": "0:100:10"},
    "channel": {"matrix": "[[0.75, 0.25], [0.25, 0.75]]"},
    "dp": {"epsilon": "1", "delta": "1e-5", "m": "10"},
    "gdp": {"mu": "1", "m": "10"},
    "zcdp": {"rho": "0.1", "m": "10"},
    "rdp": {"orders": "2, 4, 8, 16", "epsilons": "0.2, 0.4, 0.8, 1.6", "m": "10"},
    "tv": {"tv": "0.1", "m": "10"},
    "dpsgd": {"noise_multiplier": "2", "sample_rate": "0.01", "steps": "1000", "who": "membership"},
}
_LOCAL = {"m": "100", "epsilon": "2"}


def family(kind: Kind) -> str:
    """Return what sort of release a kind is.

    Examples
    --------
    >>> family(KINDS["grr"]), family(KINDS["laplace"]), family(KINDS["dp"]), family(KINDS["dpsgd"])
    ('local', 'noise', 'guarantee', 'other')
    """
    if any(param is M for param in kind.params):
        return "local"
    if "truncate" in kind.extra:
        return "noise"
    return "guarantee" if "neighbours" in kind.extra else "other"


def kind_field(offered: tuple[str, ...], default: str) -> Field:
    """Return the list of kinds, in groups."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name in offered:
        groups.setdefault(family(KINDS[name]), []).append((name, KINDS[name].help.rstrip(".")))
    listed = tuple((_FAMILIES[one], tuple(groups[one])) for one in _FAMILIES if one in groups)
    return Field(
        name="kind", option="kind", label="Mechanism or guarantee", kind="choice", default=default, choices=listed,
        redraws=True,
    )  # fmt: skip


def default_of(kind: str, param: Param) -> str:
    """Return what a parameter is set to at first: the middle of its typical range unless an example says more."""
    known = DEFAULTS.get(kind) or (_LOCAL if family(KINDS[kind]) == "local" else {})
    if param.name in known:
        return known[param.name]
    low, high = param.typical
    middle = math.sqrt(low * high) if low > 0.0 else (low + high) / 2.0
    return f"{round(middle)}" if param.integer else f"{middle:.2g}"


def release_fields(kind: str, *, free: Param | None = None, size: bool = True) -> list[Field]:
    """Return the fields of a kind but for the parameter that is to be chosen; ``size``: with the number of values."""
    known = KINDS[kind]
    shown = [param for param in known.params if param is not free and (size or param is not M)]
    fields = [_param(kind, param) for param in shown]
    own = [name for name in known.extra if name != "neighbours" or "sensitivity" not in known.extra]
    fields += [_EXTRA[name](kind) for name in own if name in _EXTRA]
    if "neighbours" not in own:
        fields.append(_relation(needed=False))
    return [*fields, _times()]


def _param(kind: str, param: Param) -> Field:
    if param is M:
        return param_field(param, default_of(kind, param), label="number of values (m)", ends=("", ""))
    return param_field(param, default_of(kind, param))


def _relation(*, needed: bool) -> Field:
    options = (("replace-one", "one record replaced by another"), ("add-remove", "one record added or removed"))
    unsaid = () if needed else (("", "whichever tells more"),)
    return choice(
        "neighbours",
        "Data sets that are compared",
        (*unsaid, *options),
        "replace-one" if needed else "",
        help_text="Which two data sets must look alike. It is part of the guarantee." if needed else "",
        more=not needed,
    )


def _times() -> Field:
    return replace(param_field(_TIMES, "1", label="how often (times)", ends=(LESS, MORE)), more=True)


def _example(kind: str, name: str) -> str:
    return DEFAULTS.get(kind, {}).get(name, "")


def sensitivity_fields(kind: str) -> list[Field]:
    """Return how far one person moves the output, and when: needed where no values say it."""
    extra = KINDS[kind].extra
    if "sensitivity" not in extra:
        return []
    slider = Slider(low=0.1, high=1000.0, log=True, at_low=LESS, at_high=MORE)
    norm = "L2" if "gaussian" in kind else "L1"
    told = f"How far one person moves what is released, in the {norm} norm."
    options = (("add-remove", "one person is added or removed"), ("replace-one", "one person's data are replaced"))
    fields = [
        number_field("sensitivity", "one person changes it by (sensitivity)", told, "1", slider),
        choice("neighbours", "when (neighbours)", options, "add-remove", help_text="The relation of the sensitivity."),
    ]
    if "nonnegative" in extra:
        entries = (("", "may be any numbers"), ("yes", "are never negative, as in a histogram"))
        fields.append(choice("nonnegative", "A person's contributions", entries, "", more=True))
    return fields


_EXTRA: Mapping[str, Callable[[str], Field]] = {
    "orders": lambda kind: text_field("orders", "orders", "Orders of the Rényi divergences.", _example(kind, "orders")),
    "epsilons": lambda kind: text_field(
        "epsilons", "epsilon at each order", "The bound at each order.", _example(kind, "epsilons")
    ),
    "neighbours": lambda _: _relation(needed=True),
    "query": lambda _: text_field(
        "query",
        "contribution of each value (query)",
        "What a person with each value adds to the released number. Without it: the value itself.",
        placeholder="0, 0, 1, 1",
        more=True,
    ),
    "truncate": lambda _: text_field(
        "truncate", "output is clamped to (truncate)", "LOW:HIGH.", placeholder="0:100", more=True
    ),
    "interval": lambda kind: text_field(
        "interval", "outputs", "LOW:HIGH; numbers near the true value are likelier.", _example(kind, "interval")
    ),
    "utility": lambda _: text_field(
        "utility",
        "utilities",
        "Instead of an interval: one row for each input, one number for each output.",
        more=True,
        long=True,
    ),
    "matrix": lambda kind: text_field(
        "matrix",
        "probabilities",
        "One row for each input, one number for each output; every row adds up to 1.",
        _example(kind, "matrix"),
        long=True,
    ),
}
