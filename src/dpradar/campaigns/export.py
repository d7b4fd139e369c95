"""The results of a campaign as a table: one row for each run, as CSV or Parquet."""

from __future__ import annotations

import csv
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra, ParameterError
from .model import canonical
from .status import status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .status import Outcome, Results

__all__ = ["export", "rows_of"]

_OWN = ("number", "title", "name", "do", "seed", "state", "reason", "shards", "shards_done", "seconds")
_ESTIMATES = ("rad", "success", "false_hit", "gain", "worst_gain")
_PLAIN = (
    "trials",
    "asked",
    "confidence",
    "significance",
    "strategy",
    "baseline",
    "share",
    "near_ceiling",
    "epsilon_lower",
    "epsilon_estimate",
    "refuted",
    "claim",
    "method",
    "looks",
    "parameter",
    "value",
    "status",
    "binding",
)
_MOST_WHOLE = 2**63 - 1


def rows_of(found: Results) -> list[dict[str, Any]]:
    """Return one row for each run: what it is, its parameters, what it found, and with which versions.

    A parameter that has the name of a column already stands there as ``given_NAME``.
    """
    rows = [{**_row(run), **{f"version_{name}": text for name, text in found.versions.items()}} for run in found.runs]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name) for name in names} for row in rows]


def _row(run: Outcome) -> dict[str, Any]:
    own = {name: getattr(run, name) for name in _OWN}
    given = {f"given_{key}" if key in (*_OWN, *_PLAIN, *_ESTIMATES) else key: v for key, v in run.options.items()}
    measured = {} if run.result is None else dict(_numbers(run.result.to_dict()))
    return {**own, **{name: _cell(value) for name, value in {**given, **measured}.items()}}


def _numbers(result: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the numbers of a result; a measured one with its limits, a bound with its side and rule."""
    for name in _ESTIMATES:
        found = result.get(name)
        if isinstance(found, dict) and "estimate" in found:
            yield from ((name, found["estimate"]), (f"{name}_low", found["low"]), (f"{name}_high", found["high"]))
        elif isinstance(found, dict) and "value" in found:
            yield from ((name, found["value"]), (f"{name}_side", found["side"]), (f"{name}_rule", found["rule"]))
    yield from ((name, result[name]) for name in _PLAIN if name in result)


def _cell(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _MOST_WHOLE:
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else canonical(value)


def export(store: str | Path, out: str | Path) -> int:
    """Write the results of a store as a table, .csv or .parquet, and return the number of rows.

    The file is there completely or not at all. Runs that are not done have a row without numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from dpradar.campaigns import export, parse, run
    >>> campaign = parse('run = {do = "assess", kind = "grr", m = 4, grid = {epsilon = [1.0, 2.0]}}')
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as thread:
    ...     _ = run(campaign, f"{folder}/small.sqlite", executor=thread)
    ...     rows = export(f"{folder}/small.sqlite", f"{folder}/small.csv")
    ...     header = pathlib.Path(f"{folder}/small.csv").read_text().splitlines()[0]
    >>> rows, header
    (2, 'number,title,name,do,seed,state,reason,shards,shards_done,seconds,epsilon,kind,m,rad,rad_side,rad_rule,...')
    """
    path = Path(out)
    writers: dict[str, Callable[[list[dict[str, Any]], Path], None]] = {".csv": _csv, ".parquet": _parquet}
    if path.suffix not in writers:
        raise ParameterError("--out", "a file that ends in .csv or .parquet", repr(str(path)), "Such as results.csv.")
    rows = rows_of(status(store))
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=f".tmp{path.suffix}")
        os.close(handle)
        try:
            writers[path.suffix](rows, Path(name))
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise ParameterError("--out", "a file that can be written", repr(str(path)), f"{error.strerror}.") from None
    return len(rows)


def _csv(rows: list[dict[str, Any]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else [])
        writer.writeheader()
        writer.writerows(rows)


def _parquet(rows: list[dict[str, Any]], path: Path) -> None:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("duckdb", "data") from None
    kinds = {name: _kind([row[name] for row in rows]) for name in (rows[0] if rows else {})}
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in kinds}
    with duckdb.connect() as base:
        base.execute(f"CREATE TABLE runs ({', '.join(f'{quoted[name]} {kind}' for name, kind in kinds.items())})")
        texts = {name for name, kind in kinds.items() if kind == "VARCHAR"}
        values = [[_text(v) if name in texts else v for name, v in row.items()] for row in rows]
        base.executemany(f"INSERT INTO runs VALUES ({', '.join('?' * len(kinds))})", values)  # noqa: S608
        base.execute("COPY runs TO '" + str(path).replace("'", "''") + "' (FORMAT parquet)")


def _kind(values: list[Any]) -> str:
    given = [value for value in values if value is not None]
    if given and all(isinstance(value, bool) for value in given):
        return "BOOLEAN"
    numbers = [value for value in given if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if not given or len(numbers) < len(given):
        return "VARCHAR"
    return "BIGINT" if all(isinstance(value, int) for value in given) else "DOUBLE"


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else canonical(value)
