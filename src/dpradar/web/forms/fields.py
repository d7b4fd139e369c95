"""Controls: what a field asks for, what it is set to at first, and how a slider moves it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ...params import Param

__all__ = ["Field", "Slider", "choice", "number_field", "param_field", "text_field"]

_WIDE = 20.0  # a range with ends further apart than this moves by ratios
LESS, MORE = "less can be learned", "more can be learned"
_RANGES = {"delta": (1e-10, 0.1)}  # typical from 0, which has no logarithm


@dataclass(frozen=True, slots=True, kw_only=True)
class Slider:
    """A range with words at both ends; ``log`` moves by ratios, ``whole`` by whole numbers."""

    low: float
    high: float
    log: bool
    whole: bool = False
    at_low: str = ""
    at_high: str = ""

    def position(self, text: str) -> int:
        """Return where a typed number stands on a scale of 0 to 1000; outside it stands at the end.

        Examples
        --------
        >>> Slider(low=0.01, high=100.0, log=True).position("1")
        500
        """
        try:
            value = float(text)
        except ValueError:
            return 0
        if math.isnan(value) or value <= self.low:
            return 0
        if value >= self.high:
            return 1000
        if self.log:
            return round(1000 * math.log(value / self.low) / math.log(self.high / self.low))
        return round(1000 * (value - self.low) / (self.high - self.low))


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One control. ``name`` is that of the query, ``option`` that of the question it answers."""

    name: str
    option: str
    label: str
    help: str = ""
    kind: Literal["number", "whole", "text", "long", "choice", "flag"] = "text"
    default: str = ""
    choices: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()  # groups of (value, words)
    slider: Slider | None = None
    redraws: bool = False  # other fields depend on it
    folded: bool = False  # folded away unless it is set
    placeholder: str = ""

    @property
    def id(self) -> str:
        """The name as an identifier of the page."""
        return f"f-{self.name.replace('.', '-')}"

    def looks_numeric(self, text: str) -> bool:
        """Return whether a text can stand in a number box; other texts are shown as they are."""
        try:
            return self.kind in ("number", "whole") and (text == "" or math.isfinite(float(text)))
        except ValueError:
            return False

    def prefixed(self, prefix: str) -> Field:
        """Return the same field under another name."""
        return replace(self, name=f"{prefix}{self.name}")


def _ends(param: Param) -> tuple[str, str]:
    return {"down": (LESS, MORE), "up": (MORE, LESS)}.get(param.more_private or "", ("", ""))


def param_field(param: Param, default: str, *, label: str = "", ends: tuple[str, str] | None = None) -> Field:
    """Return the field of a parameter: number box, slider over its typical range, words at both ends.

    Examples
    --------
    >>> from dpradar.guarantees.approx import EPSILON
    >>> slider = param_field(EPSILON, "2").slider
    >>> slider.log, slider.at_low, slider.at_high
    (True, 'less can be learned', 'more can be learned')
    """
    low, high = _RANGES.get(param.name, param.typical)
    at_low, at_high = _ends(param) if ends is None else ends
    log = low > 0.0 and high / low > _WIDE
    return Field(
        name=param.name,
        option=param.name,
        label=label or param.name.replace("_", " "),
        help=f"{param.what[:1].upper()}{param.what[1:]}.",
        kind="whole" if param.integer else "number",
        default=default,
        slider=Slider(low=low, high=high, log=log, whole=param.integer, at_low=at_low, at_high=at_high),
    )


def number_field(name: str, label: str, help_text: str, default: str, slider: Slider | None = None) -> Field:
    """Return a number box, with a slider where one makes sense."""
    whole = slider is not None and slider.whole
    kind: Literal["number", "whole"] = "whole" if whole else "number"
    return Field(name=name, option=name, label=label, help=help_text, kind=kind, default=default, slider=slider)


def text_field(
    name: str,
    label: str,
    help_text: str,
    default: str = "",
    *,
    placeholder: str = "",
    folded: bool = False,
    long: bool = False,
) -> Field:
    """Return a box for words or lists."""
    return Field(
        name=name,
        option=name,
        label=label,
        help=help_text,
        kind="long" if long else "text",
        default=default,
        placeholder=placeholder,
        folded=folded,
    )


def choice(
    name: str,
    label: str,
    options: tuple[tuple[str, str], ...],
    default: str,
    *,
    help_text: str = "",
    redraws: bool = False,
    folded: bool = False,
) -> Field:
    """Return a list to choose from."""
    return Field(
        name=name,
        option=name,
        label=label,
        help=help_text,
        kind="choice",
        default=default,
        choices=(("", options),),
        redraws=redraws,
        folded=folded,
    )
