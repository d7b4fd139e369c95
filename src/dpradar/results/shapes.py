"""Checks of plain data that read like the data: a number in a range, a word of several, a list, a table.

A check takes the data and where they stand, and yields the problems.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import Problem
from ..params import shown

__all__ = ["Check", "also", "each", "flag", "mapping", "maybe", "name", "number", "table", "text", "whole", "word"]

Check = Callable[[Any, str], Iterator[Problem]]
_MOST_WHOLE = 2**127  # a seed may be long; more is a mistake, and slow to print


def _wrong(path: str, allowed: str, value: Any) -> Problem:
    return Problem(path.removesuffix("."), f"must be {allowed}; got {shown(value)}")


def text(value: Any, path: str) -> Iterator[Problem]:
    """Check that a value is a text."""
    if not isinstance(value, str):
        yield _wrong(path, "a text", value)


def name(value: Any, path: str) -> Iterator[Problem]:
    """Check that a value is a text that says something."""
    if not isinstance(value, str) or not value.strip():
        yield _wrong(path, "a text that is not empty", value)


def flag(value: Any, path: str) -> Iterator[Problem]:
    """Check that a value is true or false."""
    if not isinstance(value, bool):
        yield _wrong(path, "true or false", value)


def number(low: float = -math.inf, high: float = math.inf, *, ends: bool = True, infinite: object = None) -> Check:
    """Return the check of a number in a range; ``infinite`` is how a number without end is written there, if it may be.

    Examples
    --------
    >>> [str(problem) for problem in number(0.0, 1.0)(-5, "rad.value")]
    ['rad.value: must be a number from 0 to 1; got -5.']
    """
    between = "from" if ends else "between"
    span = f" {between} {low:g} {'to' if ends else 'and'} {high:g}" if math.isfinite(high) else ""
    allowed = f"a number{span or (f' at least {low:g}' if math.isfinite(low) else '')}"

    def check(value: Any, path: str) -> Iterator[Problem]:
        if infinite is not None and value == infinite:
            return
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not _within(value, low, high, ends=ends):
            yield _wrong(path, allowed, value)

    return check


def _within(value: float, low: float, high: float, *, ends: bool) -> bool:
    try:
        size = float(value)
    except OverflowError:
        return False
    return math.isfinite(size) and (low <= size <= high if ends else low < size < high)


def whole(low: int = 0) -> Check:
    """Return the check of a whole number that is at least ``low``."""

    def check(value: Any, path: str) -> Iterator[Problem]:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= _MOST_WHOLE:
            yield _wrong(path, f"a whole number at least {low}", value)

    return check


def word(*words: str) -> Check:
    """Return the check of one word of several."""

    def check(value: Any, path: str) -> Iterator[Problem]:
        if not isinstance(value, str) or value not in words:
            yield _wrong(path, f"one of {', '.join(words)}", value)

    return check


def maybe(inner: Check) -> Check:
    """Return the check of something that may be left open (null)."""

    def check(value: Any, path: str) -> Iterator[Problem]:
        if value is not None:
            yield from inner(value, path)

    return check


def each(inner: Check, least: int = 0) -> Check:
    """Return the check of a list, of which every entry is checked."""

    def check(value: Any, path: str) -> Iterator[Problem]:
        if not isinstance(value, (list, tuple)) or len(value) < least:
            yield _wrong(path, "a list" if not least else f"a list of {least} or more", value)
            return
        base = path.removesuffix(".")
        for index, one in enumerate(value):
            yield from inner(one, f"{base}[{index + 1}].")

    return check


def mapping(inner: Check | None) -> Check:
    """Return the check of a table with any keys; without ``inner`` its values may be anything."""

    def check(value: Any, path: str) -> Iterator[Problem]:
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            yield _wrong(path, "a table", value)
            return
        for key, one in value.items() if inner is not None else ():
            yield from inner(one, f"{path}{key}.")  # type: ignore[misc]

    return check


def table(fields: dict[str, Check], optional: dict[str, Check] | None = None, *, only: bool = False) -> Check:
    """Return the check of a table with these keys, and perhaps others unless there may be ``only`` these.

    Examples
    --------
    >>> point = table({"x": number(), "y": number()})
    >>> [str(problem) for problem in point({"x": "1"}, "point.")]
    ["point.x: must be a number; got '1'.", 'point.y: is missing.']
    """
    also_known = optional or {}

    def check(value: Any, path: str) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield _wrong(path, "a table", value)
            return
        for key, inner in fields.items():
            if key not in value:
                yield Problem(f"{path}{key}", "is missing")
            else:
                yield from inner(value[key], f"{path}{key}.")
        for key, inner in also_known.items():
            if key in value:
                yield from inner(value[key], f"{path}{key}.")
        if only:
            unknown = [key for key in value if key not in fields and key not in also_known]
            yield from (Problem(f"{path}{key}", "is not known here") for key in unknown)

    return check


def also(first: Check, *further: Check) -> Check:
    """Return a check that goes on with further ones where the ones before found nothing."""

    def check(value: Any, path: str) -> Iterator[Problem]:
        for one in (first, *further):
            problems = list(one(value, path))
            yield from problems
            if problems:
                return

    return check
