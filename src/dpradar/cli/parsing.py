"""From words on the command line to numbers, priors, knowledge and goals."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..errors import ParameterError
from ..threats import Goal, Knowledge, Prior, Threat

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NUMBER", "WHOLE", "columns", "number", "numbers", "span", "table", "threat_from", "words"]

_MOST_VALUES = 10_000_000


class Number(click.ParamType[Any]):
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
            number = int(value) if self.whole else float(value)
        except ValueError:
            self.fail(_number_problem(value, self.name), param, ctx)
        if not math.isfinite(number):
            self.fail(f"'{value}' is not finite. Give a finite {self.name}.", param, ctx)
        return number


NUMBER, WHOLE = Number(), Number(whole=True)


def _number_problem(text: str, kind: str) -> str:
    if "," in text:
        return f"'{text}' has a decimal comma. Write it with a point: {text.replace(',', '.')}."
    return f"'{text}' is not a {kind}."


def number(text: str, option: str) -> float:
    """Return one number; a decimal comma gets an error that says so."""
    try:
        return float(text)
    except ValueError:
        raise ParameterError(option, "made of numbers", repr(text), _number_problem(text, "number")) from None


def words(text: str, option: str) -> list[str]:
    """Split a comma-separated list, or read one entry per line from @file."""
    if not text.startswith("@"):
        return [word.strip() for word in text.split(",")]
    try:
        lines = Path(text[1:]).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(option, "a readable file after @", repr(text[1:]), str(error)) from None
    return [line.strip() for line in lines if line.strip()]


def numbers(text: str, option: str) -> list[float]:
    """Return LOW:HIGH, LOW:HIGH:STEP (both ends included), a comma-separated list, or @file with one number a line."""
    if ":" not in text or text.startswith("@"):
        return [number(word, option) for word in words(text, option)]
    parts = [number(word, option) for word in text.split(":")]
    if len(parts) not in (2, 3):
        raise ParameterError(option, "LOW:HIGH or LOW:HIGH:STEP", repr(text))
    low, high, step = (*parts, 1.0)[:3]
    if not (all(map(math.isfinite, parts)) and low < high and step > 0.0 and (high - low) / step < _MOST_VALUES):
        raise ParameterError(option, "LOW:HIGH[:STEP] with LOW below HIGH and STEP above 0", repr(text))
    count = math.floor((high - low) / step + 1e-9) + 1
    return [low + step * i for i in range(count)]


def span(text: str, option: str) -> tuple[float, float]:
    """Return LOW:HIGH as a pair."""
    parts = text.split(":")
    if len(parts) != 2:
        raise ParameterError(option, "LOW:HIGH", repr(text))
    return number(parts[0], option), number(parts[1], option)


def table(path: str, option: str) -> list[list[float]]:
    """Return a CSV file of numbers, one row per line."""
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(option, "a readable CSV file", repr(path), str(error)) from None
    if len({len(row) for row in rows}) != 1:
        raise ParameterError(
            option, "a CSV file with rows of equal length", f"lengths {sorted({len(r) for r in rows})}"
        )
    return [[number(cell.strip(), option) for cell in row] for row in rows]


def columns(path: str, option: str) -> dict[str, list[str]]:
    """Return the columns of a CSV file with a header."""
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(option, "a readable CSV file with a header", repr(path), str(error)) from None
    if not rows or any(None in row or None in row.values() for row in rows):
        raise ParameterError(option, "a CSV file with a header and rows of equal length", repr(path))
    return {name: [row[name] for row in rows] for name in rows[0]}


def _records(path: str, weights: str | None) -> Prior:
    table = columns(path, "--records")
    if weights is None:
        return Prior.records(table)
    if weights not in table:
        raise ParameterError("--weights", f"a column of the file: {', '.join(table)}", repr(weights))
    raw = [number(word, "--weights") for word in table.pop(weights)]
    return Prior.records(table, raw)


def _continuous(text: str, values: str | None) -> Prior:
    from scipy import stats  # slow to import, needed only here

    if values is None:
        raise ParameterError("--values", "LOW:HIGH, the interval of a continuous prior", "nothing")
    low, high = span(values, "--values")
    kind, _, arguments = text.removeprefix("continuous:").partition(":")
    shape = [number(word, "--prior") for word in arguments.split(",")] if arguments else []
    if kind == "uniform" and not shape:
        return Prior.continuous(stats.uniform(low, high - low), low, high)
    if kind == "beta" and len(shape) == 2 and min(shape) > 0.0:
        return Prior.continuous(stats.beta(*shape, loc=low, scale=high - low), low, high)
    raise ParameterError("--prior", "continuous:uniform or continuous:beta:A,B with A, B above 0", repr(text))


def prior_from(options: dict[str, Any], size: int | None) -> Prior | None:
    """Return the prior that the options describe; ``size`` is what the mechanism needs; None when nothing is said."""
    prior, values, records = options["prior"], options["values"], options["records"]
    if records is not None:
        return _records(records, options["weights"])
    if prior is not None and prior.startswith("continuous:"):
        return _continuous(prior, values)
    named = None if values is None else numbers(values, "--values")
    if prior is not None and prior != "uniform":
        probabilities = [number(word, "--prior") for word in words(prior, "--prior")]
        return Prior.of(probabilities, named)
    if named is not None:
        return Prior.uniform(len(named), named)
    return None if size is None else Prior.uniform(size)


def _prefixed(text: str, option: str, plain: Sequence[str], prefixes: Sequence[str]) -> tuple[str, str]:
    kind, _, rest = text.partition(":")
    if text in plain:
        return text, ""
    if kind in prefixes and rest:
        return kind, rest
    allowed = [*plain, *(f"{prefix}:..." for prefix in prefixes)]
    raise ParameterError(option, " or ".join(allowed), repr(text))


def knowledge_from(text: str) -> Knowledge:
    """Return the knowledge that the option describes."""
    kind, rest = _prefixed(text, "--knowledge", ("nothing", "everything"), ("labels", "columns"))
    if kind == "labels":
        return Knowledge.labels(words(rest, "--knowledge"))
    if kind == "columns":
        return Knowledge.columns(*words(rest, "--knowledge"))
    return Knowledge.nothing() if kind == "nothing" else Knowledge.everything()


def goal_from(text: str) -> Goal:
    """Return the goal that the option describes."""
    kind, rest = _prefixed(text, "--goal", ("exact",), ("within", "labels", "columns"))
    if kind == "within":
        return Goal.within(number(rest, "--goal within"))
    if kind == "labels":
        return Goal.labels(words(rest, "--goal"))
    if kind == "columns":
        return Goal.columns(*words(rest, "--goal"))
    return Goal.exact()


def threat_from(options: dict[str, Any], size: int | None) -> Threat:
    """Return the threat that the options describe."""
    short = [name for name in ("baseline", "membership", "worst") if options[name] not in (None, False)]
    prior = prior_from(options, None if short else size)
    if len(short) + (prior is not None) > 1:
        given = [f"--{name}" for name in short] + (["a prior"] if prior is not None else [])
        raise ParameterError("threat", "one of --baseline, --membership, --worst or a prior", " and ".join(given))
    if options["baseline"] is not None:
        return Threat.baseline(options["baseline"])
    if options["membership"] is not None:
        return Threat.membership(options["membership"])
    if prior is None:
        if options["knowledge"] != "nothing" or options["goal"] != "exact":
            raise ParameterError(
                "--knowledge and --goal", "used with a prior (--m, --values, --prior, --records)", "no prior"
            )
        return Threat.worst()
    return Threat(prior, knowledge_from(options["knowledge"]), goal_from(options["goal"]))


def as_array(rows: list[list[float]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return rows as an array; a single column becomes a flat list."""
    array = np.array(rows, dtype=float)
    return array[:, 0] if array.shape[1] == 1 else array
