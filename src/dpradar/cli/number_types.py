"""Types of options: numbers, with an error that says what is wrong with the text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from ..options.reading import number_problem, whole_number
from ..params import shown

__all__ = ["NUMBER", "WHOLE", "NumberType"]


if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # older releases of click have no type parameter


class NumberType(_ParamType):
    """A number; a decimal comma gets an error that says so."""

    name = "number"

    def __init__(self, *, whole: bool = False) -> None:
        self.whole = whole
        self.name = "whole number" if whole else "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        if not isinstance(value, str):
            return value
        try:
            number = whole_number(value) if self.whole else float(value)
        except ValueError:
            self.fail(number_problem(value, self.name), param, ctx)
        if not self.whole and not math.isfinite(number):
            self.fail(f"{shown(value)} is not finite. Give a finite {self.name}.", param, ctx)
        return number


NUMBER, WHOLE = NumberType(), NumberType(whole=True)
