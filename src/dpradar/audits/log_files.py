"""Read logged inputs and outputs from CSV, TSV and Parquet files."""

from __future__ import annotations

import csv
import json
import re
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra, ParameterError
from ..numerics.lazy_numpy import Array, Int64s, np
from ..numerics.limited_reading import open_table
from ..params import shown
from .output_arrays import REAL, WHOLE, Normalised, RequestedKind, check_size, missing_value_error, normalise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Log", "parse_values", "read_log"]

_MISSING_WORDS = re.compile(r"-?[nN][aA][nN]|N/?A|NULL|null|None|\?|\.")
_FILES = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
_WHOLE_TYPE = re.compile(r"DECIMAL\((?:\d|1[0-8]),0\)")  # whole numbers that would come as floats, and fit 64 bits
_MOST_SHOWN = 10
_MOST_ROWS = 200_000_000  # of a Parquet file, which may be small and yet have billions


@dataclass(frozen=True, slots=True)
class Log:
    """The column of inputs and the outputs, which are normalised already."""

    inputs: Any
    outputs: Normalised


@dataclass(frozen=True, slots=True)
class _LogColumn:
    """One column: each different text once, and its code in every row; logs repeat few texts many times."""

    name: str
    codes_by_text: dict[str, int] = field(default_factory=dict)
    codes: array[int] = field(default_factory=lambda: array("q"))

    def rows(self) -> Int64s:
        return np.frombuffer(self.codes, dtype=np.int64)

    def first_row(self, text: str) -> int:
        return int(np.argmax(self.rows() == self.codes_by_text[text]))


def read_log(path: str | Path, input: str, output: str | Sequence[str], kind: RequestedKind) -> Log:
    """Return the columns ``input`` and ``output`` of a file."""
    if not isinstance(path, str | Path):
        raise ParameterError("path", "the name of a file", type(path).__name__)
    file = Path(path)
    name = file.name.lower()
    names: list[Any] = list(output) if isinstance(output, list | tuple) else [output]
    if not names or not all(isinstance(column, str) for column in (input, *names)):
        raise ParameterError("output", "the name of a column, or a list of names", shown(output))
    if len({input, *names}) != len(names) + 1:
        raise ParameterError("output", "columns that differ, and differ from the input", shown(output))
    if not file.is_file():
        raise ParameterError("path", "a file that exists", shown(str(path)))
    suffix = next((suffix for suffix in (*_FILES, ".parquet") if name.endswith(suffix)), None)
    if suffix is None:
        raise ParameterError("path", f"a file that ends with {', '.join((*_FILES, '.parquet'))}", shown(file.name))
    has_columns = not isinstance(output, str)
    if suffix == ".parquet":
        columns = _read_parquet(file, [input, *names])
        values = _stack_columns(names, columns[1:], kind) if has_columns else columns[1]
        return Log(columns[0], normalise(values, kind))
    texts = _read_text_columns(file, _FILES[suffix], [input, *names])
    inputs = np.array(parse_values(texts[0]), dtype=object)[texts[0].rows()]
    return Log(inputs, _normalise_columns(texts[1:], kind) if has_columns else _normalise_column(texts[1], kind))


# --------------------------------------------------------------------------------------------------------------- text


def _read_text_columns(path: Path, delimiter: str, names: list[str]) -> list[_LogColumn]:
    """Read the columns row by row; nothing else of the file is kept."""
    try:
        with open_table(path) as file:
            return _read_rows(csv.reader(file, delimiter=delimiter, strict=True), names)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = str(error) if isinstance(error, csv.Error) else getattr(error, "strerror", None) or "damaged content"
        raise ParameterError("path", "a readable file of text in UTF-8", shown(path.name), f"{reason}.") from None


def _read_rows(reader: Iterator[list[str]], names: list[str]) -> list[_LogColumn]:
    header = next(reader, [])
    where = _positions(header, names)
    columns = [_LogColumn(name) for name in names]
    parts = [(place, column.codes_by_text, column.codes.append) for place, column in zip(where, columns, strict=True)]
    width, number = len(header), 0
    for row in reader:
        if not row:
            continue  # an empty line, as at the end of many files
        number += 1
        if len(row) != width:
            description = f"{len(row)} in row {number}"
            raise ParameterError("path", f"a file with {width} cells in each row, as in its header", description)
        for place, codes, append in parts:
            text = row[place]
            if not text:
                raise missing_value_error(f"column {header[place]!r}", number - 1)
            append(codes.setdefault(text, len(codes)))
    if not number:
        raise ParameterError("path", "a file with rows below its header", "none", "Is it the right file?")
    return columns


def _positions(header: list[str], names: Sequence[str]) -> list[int]:
    for name in names:
        if header.count(name) != 1:
            available = ", ".join(header[:_MOST_SHOWN]) + (", ..." if len(header) > _MOST_SHOWN else "")
            got = f"{header.count(name)} columns {name!r}; the file has: {available or 'nothing'}"
            hint = "Name the columns with input= and output= (command line: --input and --output)."
            if len(header) == 1 and ";" in header[0]:
                hint = "Save it with commas between columns: its header has only semicolons."
            raise ParameterError("path", "a file with this column once", got, hint)
    return [header.index(name) for name in names]


def parse_values(column: _LogColumn, *, words: bool = False) -> list[Any]:
    """Return the different values of a column: whole numbers or numbers if all of them are, else words.

    A word for a missing value among numbers is an error, unless ``words`` may stand among them.
    """
    texts = [text.strip() for text in column.codes_by_text]
    if all(map(WHOLE.fullmatch, texts)):
        return [int(text) for text in texts]
    if all(map(REAL.fullmatch, texts)):
        return [float(text) for text in texts]
    others = [i for i, text in enumerate(texts) if not REAL.fullmatch(text)]
    if not words and len(others) < len(texts) and all(_MISSING_WORDS.fullmatch(texts[i]) for i in others):
        original = list(column.codes_by_text)
        raise missing_value_error(f"column {column.name!r}", min(column.first_row(original[i]) for i in others))
    return texts


def _normalise_column(column: _LogColumn, kind: RequestedKind) -> Normalised:
    texts = [text.strip() for text in column.codes_by_text]
    lists = kind in ("auto", "bits") and all(text.startswith("[") for text in texts)
    values: list[Any]
    if lists or kind in ("subset", "vector"):
        values = [_json_list(column, text) for text in column.codes_by_text]
    else:
        values = texts if kind == "bits" else parse_values(column, words=kind == "categorical")
    return _normalise_distinct(column, values, kind)


def _normalise_distinct(column: _LogColumn, values: list[Any], kind: RequestedKind) -> Normalised:
    """Normalise each different value once and put it in every row that has it."""
    rows = column.rows()
    try:
        kind_of_outputs, entries, names = normalise(values, kind)
    except ParameterError:
        # The same error again, now with the right number of the row.
        normalise([values[code] for code in rows], kind)
        raise
    if names is not None and kind_of_outputs == "bits":
        check_size(len(rows), len(names))
    return kind_of_outputs, entries[rows], names


def _json_list(column: _LogColumn, text: str) -> list[Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list):
        hint = 'Write lists as in [1, 4, 7]; words need output_kind="categorical" (command line: --output-kind).'
        got = f"something else in row {column.first_row(text) + 1}"
        raise ParameterError(f"column {column.name!r}", "JSON lists", got, hint)
    return value


def _normalise_columns(columns: list[_LogColumn], kind: RequestedKind) -> Normalised:
    return normalise(
        _stack_columns([c.name for c in columns], [np.array(parse_values(c))[c.rows()] for c in columns], kind), kind
    )


def _stack_columns(names: Sequence[str], columns: Sequence[Any], kind: RequestedKind) -> Array:
    """Return several columns of numbers as one array with a row for each output."""
    if kind not in ("auto", "bits", "vector", "categorical"):
        raise ParameterError("output_kind", "auto, bits, vector or categorical for several columns", repr(kind))
    arrays = []
    for name, column in zip(names, columns, strict=True):
        if np.ma.is_masked(column):
            raise missing_value_error(f"column {name!r}", int(np.argmax(np.ma.getmaskarray(column))))
        values = np.asarray(column)
        if values.ndim != 1 or values.dtype.kind not in "biuf":
            hint = "Give one column as output, or columns of numbers."
            raise ParameterError(
                "output", "columns of numbers when there are several", f"{name!r}, a column of words", hint
            )
        arrays.append(values)
    return np.column_stack(arrays)


# ------------------------------------------------------------------------------------------------------------ Parquet


def _read_parquet(path: Path, names: list[str]) -> list[Any]:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("duckdb", "data") from None
    try:
        with duckdb.connect(":memory:") as connection:
            # Signs for patterns in the path are escaped, so that this file is read and no others.
            file = [re.sub(r"([*?\[])", r"[\1]", str(path))]
            table = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", file).fetchall()
            header, types = [row[0] for row in table], [row[1] for row in table]
            column_indices = [
                '"' + name.replace('"', '""') + '"' + ("::BIGINT" if _WHOLE_TYPE.fullmatch(types[place]) else "")
                for name, place in zip(names, _positions(header, names), strict=True)
            ]
            rows = connection.execute("SELECT count(*) FROM read_parquet(?)", file).fetchall()[0][0]
            if rows > _MOST_ROWS:
                hint = "Audit a random part of them."
                raise ParameterError("path", f"a file of at most {_MOST_ROWS:,} rows", f"{rows:,}", hint)
            query = f"SELECT {', '.join(column_indices)} FROM read_parquet(?)"  # noqa: S608 (quoted names, which the header has)
            arrays = connection.execute(query, file).fetchnumpy()
    except duckdb.Error as error:
        reason = shown(str(error).partition("\n")[0])
        raise ParameterError("path", "a readable Parquet file", shown(path.name), reason) from None
    columns = list(arrays.values())
    if len(columns[0]) == 0:
        raise ParameterError("path", "a file with rows", "none", "Is it the right file?")
    return columns
