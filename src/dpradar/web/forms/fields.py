"""Controls: what a field asks for, what it is set to at first, and how a slider moves it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ...errors import ParameterError
from ...options import Choice, Flag
from ...options.reading import number, whole
from ...params import shown
from .pasted_tables import columns_of, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...options import Option

__all__ = ["LESS", "MORE", "Field", "Slider", "choice", "number_field", "option_field", "slider_of", "text_field"]

Choices = tuple[tuple[str, str], ...]
_WIDE = 20.0  # a range with ends further apart than this moves by ratios
LESS, MORE = "less can be learned", "more can be learned"
_ENDS = {"down": (LESS, MORE), "up": (MORE, LESS)}
_NUMBERS: dict[str, Callable[[str, str], Any]] = {"number": number, "whole": whole}
_PASTED: dict[str, Callable[[str, str], Any]] = {"": lambda text, _: text, "rows": rows_of, "columns": columns_of}
_YES = "yes"


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
    """One control; ``name`` is that of the query."""

    name: str
    label: str
    help: str = ""
    kind: Literal["number", "whole", "text", "long", "choice"] = "text"
    read: Callable[[str, str], Any] = _PASTED[""]  # from a text, and the name of the field, to what the text says
    default: str = ""
    choices: tuple[tuple[str, Choices], ...] = ()  # groups of (value, words)
    slider: Slider | None = None
    redraws: bool = False  # other fields depend on it
    folded: bool = False  # folded away unless it is set
    placeholder: str = ""

    @property
    def id(self) -> str:
        """The name as an identifier of the page."""
        return f"f-{self.name.replace('.', '-')}"

    @property
    def option(self) -> str:
        """The option that it gives, without what tells columns apart."""
        return self.name.rpartition(".")[2]

    def looks_numeric(self, text: str) -> bool:
        """Return whether a text can stand in a number box; other texts are shown as they are."""
        try:
            return self.kind in ("number", "whole") and (text == "" or math.isfinite(float(text)))
        except ValueError:
            return False

    def value(self, text: str) -> Any:
        """Return what a text says, or say what it must be."""
        allowed = [value for _, group in self.choices for value, _ in group]
        if allowed and text not in allowed:
            raise ParameterError(self.name, f"one of {', '.join(filter(None, allowed))}", shown(text))
        return self.read(text, self.name)


def slider_of(option: Option) -> Slider | None:
    """Return the slider of a number that has a range to move in.

    Examples
    --------
    >>> from dpradar.spec.release_kinds import KINDS
    >>> slider = slider_of(KINDS["grr"].option("epsilon"))
    >>> slider.log, slider.at_low, slider.at_high
    (True, 'less can be learned', 'more can be learned')
    """
    about = option.about
    ends = about.slider or about.typical
    if ends is None or option.param is None:
        return None
    low, high = ends
    at_low, at_high = _ENDS.get(about.more_private or "", about.slider_ends)
    log = low > 0.0 and high / low > _WIDE
    return Slider(low=low, high=high, log=log, whole=option.param.integer, at_low=at_low, at_high=at_high)


def option_field(option: Option, first: str | None = None) -> Field:
    """Return the field of an option, as it is described; ``first``: what a first question says, if not its example."""
    about, shape, param = option.about, option.shape, option.param
    folded = about.folded and first is None
    if first is None:
        unused = "" if option.default in (None, False) else f"{option.default}"
        first = unused if about.unset or (folded and not option.required) else about.example
    common: dict[str, Any] = {
        "name": option.name,
        "label": about.label or option.name.replace("_", " "),
        "help": about.form_help or about.sentence,
        "folded": folded,
    }
    if isinstance(shape, Flag):
        return Field(**common, kind="choice", choices=(("", (("", "no"), (_YES, _YES))),), read=lambda *_: True)
    if isinstance(shape, Choice):
        choices = ((("", about.unset),) if about.unset else ()) + tuple(zip(shape.words, shape.labels, strict=True))
        return Field(**common, kind="choice", choices=(("", choices),), default=first)
    if param is not None:
        kind: Literal["number", "whole"] = "whole" if param.integer else "number"
        return Field(**common, kind=kind, read=_NUMBERS[kind], default=first, slider=slider_of(option))
    return Field(
        **common,
        kind="long" if shape.pasted else "text",
        read=_PASTED[shape.pasted],
        default=first,
        placeholder=about.unset or about.example,
    )


def number_field(name: str, label: str, help_text: str, default: str, slider: Slider | None = None) -> Field:
    """Return a number box, with a slider where one makes sense."""
    kind: Literal["number", "whole"] = "whole" if slider is not None and slider.whole else "number"
    return Field(name=name, label=label, help=help_text, kind=kind, read=_NUMBERS[kind], default=default, slider=slider)


def text_field(name: str, label: str, help_text: str, default: str, *, folded: bool = False) -> Field:
    """Return a box for words."""
    return Field(name=name, label=label, help=help_text, default=default, folded=folded)


def choice(
    name: str,
    label: str,
    options: Choices,
    default: str,
    *,
    help_text: str = "",
    redraws: bool = False,
    folded: bool = False,
) -> Field:
    """Return a list to choose from."""
    return Field(
        name=name,
        label=label,
        help=help_text,
        kind="choice",
        default=default,
        choices=(("", options),),
        redraws=redraws,
        folded=folded,
    )
