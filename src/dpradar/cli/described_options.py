"""Options of commands, made from the descriptions of what they are about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from ..options import Choice, Flag
from ..options.reading import FLAGS
from . import number_types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..options import Option

__all__ = ["click_option", "takes"]

_WHETHER_TO, _WHETHER = re.compile(r"^whether to (\w)"), re.compile(r"^whether\b")


def click_option(option: Option, *, cls: type[click.Option] = click.Option, **settings: Any) -> click.Option:
    """Return the option of a command; ``settings`` are those of click that a description does not have.

    Examples
    --------
    >>> from dpradar.attacks.attack_options import AttackOptions
    >>> from dpradar.options.tables import options_in
    >>> option = click_option(options_in(AttackOptions, "maximise")[0])
    >>> option.opts, option.type.choices, option.default, option.help
    (['--maximise'], ('rad', 'success'), 'rad', 'What the attacker maximises.')
    """
    settings = {**_settings(option), **settings}
    settings.setdefault("required", option.required)
    return cls([FLAGS(option.name)], **settings)


def _settings(option: Option) -> dict[str, Any]:
    about, shape = option.about, option.shape
    what = f"{about.what[:1].upper()}{about.what[1:]}"
    if isinstance(shape, Flag):
        action = _WHETHER_TO.match(about.what)
        help_text = about.what[action.start(1) :] if action else f"assume {_WHETHER.sub('that', about.what)}"
        return {"is_flag": True, "help": f"{help_text[:1].upper()}{help_text[1:]}."}
    default = (
        {} if option.required or option.default in (None, "") else {"default": option.default, "show_default": True}
    )
    if isinstance(shape, Choice):
        return {**default, "type": click.Choice(shape.words), "help": f"{what}."}
    if option.param is not None:
        kind = number_types.WHOLE if option.param.integer else number_types.NUMBER
        return {**default, "type": kind, "help": f"{what}." if default else f"{what} ({option.allowed})."}
    notation = f": {shape.notation}" if shape.notation else ""
    return {
        **(default if isinstance(option.default, str) else {}),
        "metavar": shape.metavar,
        "help": f"{what}{notation}.",
    }


def takes(options: Iterable[Option]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return a decorator that gives a command these options, in this order."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        for option in reversed([*options]):
            command = click.option(FLAGS(option.name), required=option.required, **_settings(option))(command)
        return command

    return decorate
