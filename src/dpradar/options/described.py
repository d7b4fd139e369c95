"""Classes whose fields describe themselves: ``scale: Annotated[float, Gt(0), About("the scale of the noise")]``.

``@described`` makes a frozen dataclass whose constructor judges every option, the only place where that is done.
``describe`` lists the options of such a class for those who read, write and explain them.
"""

from __future__ import annotations

import types
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import annotated_types as at

from ..errors import ParameterError
from ..params import Param
from .about import About
from .shapes import Choice, Flag, Number, Shape, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .reading import Where

__all__ = ["Group", "Option", "by_name", "describe", "described", "number_of", "option_of", "parameters"]

T = TypeVar("T")
Group = Literal["local", "noise", "other", "guarantee"]
_LIMITS = (at.Gt, at.Ge, at.Lt, at.Le)


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a class, assembled from its field."""

    name: str
    shape: Shape
    about: About
    default: Any = MISSING
    param: Param | None = None  # of a number: its range

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is MISSING

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        return self.shape.noun if self.param is None else self.param.allowed

    @property
    def hint(self) -> str:
        """What it is, as a sentence."""
        return f"It is {self.about.what}." if self.about.what else ""

    def check(self, owner: str, value: Any) -> Any:
        """Return the value as the object keeps it, or raise ParameterError."""
        if value is None and self.default is None:
            return None
        return self.shape.check(f"{owner}.{self.name}", value, self.hint)

    def read(self, value: Any, where: Where) -> Any:
        """Return what text or plain data stands for."""
        if value is None:
            raise ParameterError(where(self.name), self.allowed, "nothing", self.hint)
        return self.shape.read(value, self.name, where)

    def from_file(self, value: Any, where: Where) -> Any:
        """Return the value of a file, as it was written, or raise ParameterError."""
        return self.shape.from_file(value, self.name, where, self.hint)

    def schema(self) -> dict[str, Any]:
        """Return its JSON Schema."""
        return {**self.shape.schema(), **({"description": self.about.what} if self.about.what else {})}


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def described(
    kind: str,
    help_text: str,
    group: Group = "other",
    *,
    samples: bool | str = True,
    first: Mapping[str, str] | None = None,
    eq: bool = True,
) -> Callable[[type[T]], type[T]]:
    """Make a frozen dataclass of described options.

    Parameters
    ----------
    kind
        Its name in files and on the command line.
    help_text
        What it is, as a short sentence.
    group
        The group of releases that it belongs to.
    samples
        Whether outputs can be drawn from it, so that it can be attacked; or what to do instead.
    first
        Options of the attacker in a first question about it, as texts.
    eq
        Whether objects with equal options are equal; not where an option is an array.

    Notes
    -----
    A method ``check_together(self)`` is called once every option is sound, for what concerns several of them.
    """

    def decorate(cls: Any) -> Any:
        together = cls.__dict__.get("check_together")

        def check_options(self: Any) -> None:
            subclass: Any = type(self)
            for option in describe(subclass):
                object.__setattr__(self, option.name, option.check(cls.__name__, getattr(self, option.name)))
            if together is not None:
                together(self)

        cls.__post_init__ = check_options
        cls.KIND, cls.HELP, cls.GROUP = kind, help_text, group
        cls.SAMPLES, cls.INSTEAD_OF_ATTACK = samples is True, samples if isinstance(samples, str) else ""
        cls.FIRST = types.MappingProxyType(dict(first or {}))
        return dataclass(frozen=True, slots=True, eq=eq)(cls)

    return decorate


@cache
def describe(cls: type) -> tuple[Option, ...]:
    """Return the options of a described class, in order."""
    hints = get_type_hints(cls, include_extras=True)
    return tuple(option_of(field_info.name, hints[field_info.name], field_info.default) for field_info in fields(cls))


def by_name(options: Iterable[Option]) -> dict[str, Option]:
    """Return options by their names; the first of each name counts."""
    unique: dict[str, Option] = {}
    for option in options:
        unique.setdefault(option.name, option)
    return unique


def parameters(cls: type) -> tuple[Param, ...]:
    """Return the numbers among the options that have a typical range: what is searched, swept and moved by sliders.

    A class that is not described has none.
    """
    if not hasattr(cls, "KIND"):
        return ()
    return tuple(option.param for option in describe(cls) if option.param is not None and option.about.typical)


def option_of(name: str, hint: Any, default: Any = MISSING) -> Option:
    """Return the option of a type with its constraints, ``About`` and, where the type does not settle it, its shape.

    A ``Param`` among the annotations stands for constraints and meaning: the option is that parameter by another name.
    """
    notes: list[Any] = []
    while True:
        inner = [argument for argument in get_args(hint) if argument is not type(None)]
        if get_origin(hint) is Annotated:
            hint, *more = get_args(hint)
            notes += more
        elif get_origin(hint) in (Union, types.UnionType) and len(inner) == 1:
            hint = inner[0]
        else:
            break
    declared = next((note for note in notes if isinstance(note, Param)), None)
    what = name.replace("_", " ") if declared is None else declared.what
    about = next((note for note in notes if isinstance(note, About)), About(what))
    shape = next((note for note in notes if isinstance(note, Shape)), None)
    param = None
    if declared is not None:
        param = replace(declared, name=name, what=about.what)
        noun = "WHOLE NUMBER" if param.integer else "NUMBER"
        shape = Number(noun=param.allowed, metavar=noun, param=param)
    elif hint in (int, float):
        param = _param(name, [note for note in notes if isinstance(note, _LIMITS)], about, integer=hint is int)
        noun = "WHOLE NUMBER" if hint is int else "NUMBER"
        shape = shape or Number(noun=param.allowed, metavar=noun, param=param)
    elif hint is bool:
        shape = shape or Flag()
    elif hint is str:
        shape = shape or Text()
    elif get_origin(hint) is Literal:
        shape = shape or Choice.of(*get_args(hint))
    if shape is None:
        message = f"{name} is declared as {hint}: say how it is given, by a shape"
        raise TypeError(message)
    return Option(name, shape, about, default, param)


def number_of(name: str, hint: Any) -> Param:
    """Return the range of an option that is a number, for functions that take it as an argument."""
    param = option_of(name, hint).param
    if param is None:
        message = f"{name} is declared as {hint}, not as a number"
        raise TypeError(message)
    return param


def _param(name: str, limits: list[Any], about: About, *, integer: bool) -> Param:
    """Return the range of a number."""
    settings: dict[str, Any] = {}
    for limit in limits:
        if isinstance(limit, at.Gt):
            settings |= {"low": float(limit.gt), "low_open": True}  # type: ignore[arg-type]
        elif isinstance(limit, at.Ge):
            settings |= {"low": float(limit.ge)}  # type: ignore[arg-type]
        elif isinstance(limit, at.Lt):
            settings |= {"high": float(limit.lt), "high_open": True}  # type: ignore[arg-type]
        else:
            settings |= {"high": float(limit.le)}
    if about.typical is not None:
        settings["typical"] = about.typical
    return Param(name=name, what=about.what, integer=integer, more_private=about.more_private, **settings)
