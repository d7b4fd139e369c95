"""From text and plain data to numbers, lists and tables: the same for the command line, for files and for the web.

A value is given as text ("0.5,0.3,0.2", "0:100", "within:40") or as data (a list, a table). Text that starts with
``[`` or ``{`` is read as JSON, so that whatever data can say text can say too.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import ParameterError, why_unreadable
from ..numerics.limited_reading import open_table
from ..params import has_decimal_comma, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..params import Param

__all__ = [
    "FLAGS",
    "PLAIN",
    "TABLES",
    "Options",
    "Steps",
    "Where",
    "check_commas",
    "checked",
    "columns",
    "contribution",
    "data",
    "inside",
    "number",
    "number_problem",
    "numbers",
    "span",
    "steps",
    "table",
    "whole",
    "whole_number",
    "words",
]

Options = Mapping[str, Any]
_EXACT_WHOLE = 2**53  # larger whole numbers are not all floats


@dataclass(frozen=True, slots=True)
class Steps:
    """The numbers low, low + step, ...: written short, built in full.

    Each is the float of the decimal that people mean: sums of floats drift, and then neighbours of 0:1:0.1 would be
    more than 0.1 apart.

    Examples
    --------
    >>> Steps(0.0, 0.1, 4).build(), Steps(0.0, 0.1, 4).source(), Steps(2.0, 5.0, 3).source()
    ([0.0, 0.1, 0.2, 0.3], '[(0 + 1 * i) / 10 for i in range(4)]', '[2.0 + 5.0 * i for i in range(3)]')
    """

    low: float
    step: float
    count: int

    def build(self) -> list[float]:
        """Return the numbers."""
        low, step, unit = self._whole_parts()
        return [(low + step * i) / unit for i in range(self.count)]  # division of whole numbers rounds once

    def source(self) -> str:
        """Return Python code for them."""
        low, step, unit = self._whole_parts()
        if unit == 1 and abs(low) + step * self.count <= _EXACT_WHOLE:
            return f"[{self.low!r} + {self.step!r} * i for i in range({self.count})]"
        return f"[({low} + {step} * i) / {unit} for i in range({self.count})]"

    def _whole_parts(self) -> tuple[int, int, int]:
        """Return low and step as whole multiples of one unit, and how many of these make 1."""
        low, step = Fraction(repr(self.low)), Fraction(repr(self.step))
        unit = math.lcm(low.denominator, step.denominator)
        return int(low * unit), int(step * unit), unit


@dataclass(frozen=True, slots=True)
class Where:
    """Where a question was written: how its options are called there, which files it may name, how long lists may be.

    Examples
    --------
    >>> FLAGS("noise_multiplier"), PLAIN("prior"), inside("threat[1]", None)("prior")
    ('--noise-multiplier', 'prior', 'threat[1].prior')
    """

    name: Callable[[str], str]
    folder: Path | None = None  # file names are relative to it; without one no file is read
    most_values: int = 1_000_000

    def __call__(self, option: str) -> str:
        """Return how an option is called there."""
        return self.name(option)

    def path(self, text: str, option: str) -> Path:
        """Return the file that an option names, or say that files cannot be named here."""
        if self.folder is None:
            hint = "No file is read here: give the numbers themselves."
            raise ParameterError(self(option), "given without a file", shown(text), hint)
        return self.folder / text

    def check_count(self, count: float, option: str) -> None:
        """Refuse more values than can be worked with."""
        if not count <= self.most_values:
            hint = "Group values that are alike."
            raise ParameterError(self(option), f"at most {self.most_values:,} values", f"{count:,.0f}", hint)


FLAGS = Where(lambda option: f"--{option.replace('_', '-')}", Path(), 10_000_000)
PLAIN = Where(lambda option: option)
TABLES = Where(str, Path(), 10_000_000)  # of commands that read one, with the most rows


def inside(table: str, folder: Path | None) -> Where:
    """Return the place inside a table of a file, such as ``threat[1]``; other files are relative to its folder."""
    return Where(lambda option: f"{table}.{option}" if table else option, folder)


def number_problem(text: str, kind: str) -> str:
    """Return what is wrong with a text that is not a number.

    Examples
    --------
    >>> number_problem("0,5", "number")
    "'0,5' has a decimal comma. Write it with a point: 0.5."
    >>> number_problem("1,delta=1e-5", "number")
    "'1,delta=1e-5' is not a number."
    """
    if has_decimal_comma(text):
        return f"'{text}' has a decimal comma. Write it with a point: {text.replace(',', '.')}."
    if text.isdecimal():
        return f"{shown(text)} has too many digits."
    return f"{shown(text)} is not a {kind}."


def number(value: Any, name: str) -> float:
    """Return one number; a decimal comma gets an error that says so.

    A whole number that no float is stays whole: whoever needs floats refuses it, instead of taking it for another one.
    """
    try:
        if isinstance(value, str):
            return _number_of_text(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
    except ValueError:
        raise ParameterError(name, "made of numbers", repr(value), number_problem(value, "number")) from None
    raise ParameterError(name, "made of numbers", shown(value))


def _number_of_text(text: str) -> float:
    number = float(text)
    if abs(number) < _EXACT_WHOLE or not text.strip().removeprefix("-").isdecimal():
        return number
    return number if math.isinf(number) or int(text) == int(number) else int(text)


def whole_number(text: str) -> int:
    """Return the whole number that a text is, exactly, also of 1e5; ValueError where it is none.

    Examples
    --------
    >>> whole_number("20"), whole_number("1e5"), whole_number("2.5e1")
    (20, 100000, 25)
    """
    try:
        return int(text)
    except ValueError:
        pass
    if not math.isfinite(float(text)):  # 1e999999999 would have that many digits
        raise ValueError(text)
    try:
        number = Decimal(text)  # not float: 1e23 is a whole number, its nearest float another one
    except InvalidOperation:
        raise ValueError(text) from None
    if number != number.to_integral_value():
        raise ValueError(text)
    return int(number)


def whole(value: Any, name: str) -> int | float:
    """Return one whole number; numbers that are not whole are left to the parameter to refuse."""
    if not isinstance(value, str):
        return number(value, name)
    try:
        return whole_number(value)
    except ValueError:
        raise ParameterError(name, "a whole number", repr(value), number_problem(value, "whole number")) from None


def checked(param: Param, value: Any, name: str) -> Any:
    """Return the value of a parameter, given as a number or as text, or say what is allowed and what it is."""
    if isinstance(value, str):
        value = (whole if param.integer else number)(value, name)
    try:
        return param.check("", value)
    except ParameterError as error:
        raise ParameterError(name, error.allowed, error.got, error.hint) from None


def data(value: Any, name: str) -> Any:
    """Return JSON text as data, and anything else as it is."""
    if not (isinstance(value, str) and value.lstrip().startswith(("[", "{"))):
        return value

    def refuse(word: str) -> NoReturn:
        raise ParameterError(name, "made of finite numbers", word)

    try:
        return json.loads(value, parse_constant=refuse)
    except ParameterError:
        raise
    except (ValueError, RecursionError) as error:
        allowed = "a JSON list or table, as it starts like one"
        raise ParameterError(name, allowed, shown(value), why_unreadable(error)) from None


def _list(value: Any, name: str) -> Sequence[Any] | None:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return value
    if not isinstance(value, str):
        raise ParameterError(name, "a list or text", shown(value))
    return None


def words(value: Any, option: str, where: Where) -> list[Any]:
    """Return a list, split a comma-separated one, or read one entry per line from @file."""
    value = data(value, where(option))
    entries = _list(value, where(option))
    if entries is not None:
        values = list(entries)
    elif not value.startswith("@"):
        values = [word.strip() for word in value.split(",")]
    else:
        values = _lines(where.path(value[1:], option), option, where)
    where.check_count(len(values), option)
    return values


def _lines(path: Path, option: str, where: Where) -> list[str]:
    try:
        with open_table(path) as file:
            lines = (line.strip() for line in file)
            return list(islice((line for line in lines if line), where.most_values + 1))  # one too many is noticed
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(where(option), "a readable file after @", repr(str(path)), why_unreadable(error)) from None


def steps(value: Any, option: str, where: Where) -> Steps | list[float]:
    """Return LOW:HIGH, LOW:HIGH:STEP (both ends included), a list, or @file with one number a line."""
    if not isinstance(value, str) or ":" not in value or value.startswith(("@", "[")):
        return [number(word, where(option)) for word in words(value, option, where)]
    parts = [number(word, where(option)) for word in value.split(":")]
    if len(parts) not in (2, 3):
        raise ParameterError(where(option), "LOW:HIGH or LOW:HIGH:STEP", repr(value))
    low, high, step = (*parts, 1.0)[:3]
    allowed = "LOW:HIGH[:STEP] with LOW below HIGH and STEP above 0"
    if not (all(map(math.isfinite, parts)) and low < high and step > 0.0):
        raise ParameterError(where(option), allowed, repr(value))
    where.check_count((high - low) / step + 1.0, option)
    count = math.floor((high - low) / step + 1e-9) + 1
    if not math.isfinite(low + step * (count - 1)):
        raise ParameterError(where(option), allowed, repr(value))
    return Steps(low, step, count)


def numbers(value: Any, option: str, where: Where) -> list[float]:
    """Return the numbers that ``steps`` describes."""
    values = steps(value, option, where)
    return values.build() if isinstance(values, Steps) else values


def span(value: Any, option: str, where: Where) -> tuple[float, float]:
    """Return LOW:HIGH, or a list of two numbers, as a pair."""
    value = data(value, where(option))
    entries = _list(value, where(option))
    parts = value.split(":") if entries is None else list(entries)
    if len(parts) != 2:
        raise ParameterError(where(option), "LOW:HIGH", repr(value))
    return number(parts[0], where(option)), number(parts[1], where(option))


def table(value: Any, option: str, where: Where) -> list[list[float]]:
    """Return rows of numbers: a list of lists, or a CSV file."""
    name, value = where(option), data(value, where(option))
    entries = _list(value, name)
    rows = _csv(where.path(value, option), option, where) if entries is None else [_row(row, name) for row in entries]
    if len({len(row) for row in rows}) != 1:
        kind = "a CSV file with" if entries is None else "a list of"
        raise ParameterError(name, f"{kind} rows of equal length", f"lengths {sorted({len(r) for r in rows})}")
    where.check_count(sum(map(len, rows)), option)
    return [[number(cell.strip() if isinstance(cell, str) else cell, name) for cell in row] for row in rows]


def _row(row: Any, name: str) -> Sequence[Any]:
    entries = _list(row, name)
    if not entries:
        raise ParameterError(name, "a list of rows of numbers", shown(row))
    return entries


def _csv(path: Path, option: str, where: Where) -> list[list[str]]:
    try:
        with open_table(path) as file:
            rows, cells = [], 0
            for row in filter(None, csv.reader(file)):
                rows.append(row)
                cells += len(row)
                if cells > where.most_values:
                    break
            return rows
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ParameterError(where(option), "a readable CSV file", repr(str(path)), why_unreadable(error)) from None


def columns(value: Any, option: str, where: Where) -> dict[str, list[Any]]:
    """Return the columns of a table {name: list}, or of a CSV file with a header."""
    name, value = where(option), data(value, where(option))
    if not isinstance(value, str):
        return _columns_of(value, option, where)
    path = where.path(value, option)
    try:
        with open_table(path) as file:
            reader = csv.DictReader(file)
            check_commas(reader.fieldnames or (), name)
            rows = list(islice(reader, where.most_values + 1))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ParameterError(
            name, "a readable CSV file with a header", repr(str(path)), why_unreadable(error)
        ) from None
    if not rows or any(None in row or None in row.values() for row in rows):
        raise ParameterError(name, "a CSV file with a header and rows of equal length", repr(str(path)))
    header = list(reader.fieldnames or ())
    if len(set(header)) < len(header):
        twice = next(column for column in header if header.count(column) > 1)
        raise ParameterError(name, "a CSV file with a different name for each column", f"{twice!r} twice")
    where.check_count(len(rows), option)
    return {column: [row[column] for row in rows] for column in rows[0]}


def check_commas(header: Sequence[str], name: str) -> None:
    """Refuse a file whose columns are separated by semicolons, as some spreadsheets write it: there is one column."""
    if len(header) == 1 and ";" in header[0]:
        hint = "Save it with commas between columns, and with points in numbers."
        raise ParameterError(name, "a CSV file with commas between columns", "a header with ; and no comma", hint)


def _columns_of(value: Any, option: str, where: Where) -> dict[str, list[Any]]:
    if not isinstance(value, Mapping) or not all(isinstance(column, list) for column in value.values()):
        raise ParameterError(where(option), "a CSV file, or a table of columns, each a list", shown(value))
    where.check_count(max(map(len, value.values()), default=0), option)
    return {str(column): list(entries) for column, entries in value.items()}


def contribution(value: Any, option: str, where: Where) -> Any:
    """Return the contributions of a query: numbers, rows of them, or a CSV file after @."""
    value = data(value, where(option))
    if isinstance(value, str) and value.startswith("@"):
        return _one_column(table(value[1:], option, where))
    entries = _list(value, where(option))
    if entries is not None and any(isinstance(row, Sequence) and not isinstance(row, str) for row in entries):
        return _one_column(table(entries, option, where))
    return numbers(value, option, where)


def _one_column(rows: list[list[float]]) -> Any:
    if len(rows[0]) == 1:
        return [float(row[0]) for row in rows]
    return [[float(cell) for cell in row] for row in rows]
