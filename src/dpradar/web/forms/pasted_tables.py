"""Tables as people paste them: rows of numbers, and records under a header."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from ...errors import ParameterError
from ...options.reading import number
from ...params import shown

__all__ = ["columns_of", "rows_of"]

_BETWEEN = re.compile(r"[,\t ]+")


def rows_of(text: str, name: str) -> Any:
    """Return rows of numbers, one a line (or between semicolons); JSON is left to those who read it.

    Examples
    --------
    >>> rows_of("0.75, 0.25; 0.25, 0.75", "matrix")
    [[0.75, 0.25], [0.25, 0.75]]
    """
    if text.lstrip().startswith("["):
        return text
    lines = [line.strip() for line in re.split(r"[;\n]", text) if line.strip()]
    return [[number(cell, name) for cell in _BETWEEN.split(line)] for line in lines]


def columns_of(text: str, name: str) -> Any:
    r"""Return the columns of a table with a header; JSON is left to those who read it.

    Examples
    --------
    >>> columns_of("age,diagnosis\nyoung,flu\nold,none", "records")
    {'age': ['young', 'old'], 'diagnosis': ['flu', 'none']}
    """
    if text.lstrip().startswith("{"):
        return text
    rows = [row for row in csv.reader(io.StringIO(text.strip())) if row]
    header, body = [cell.strip() for cell in rows[0]], rows[1:]
    if not body or any(len(row) != len(header) for row in body) or len(set(header)) != len(header):
        allowed = "a table with a header and rows of equal length"
        raise ParameterError(name, allowed, shown(text), "Such as: age,sex and below it young,f.")
    return {name: [row[i].strip() for row in body] for i, name in enumerate(header)}
