"""The results of a campaign as a table: one row for each run, as CSV or Parquet."""

from __future__ import annotations

import csv
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra, ParameterError
from .campaign_model import canonical
from .campaign_status import status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .campaign_status import CampaignStatus, RunStatus

__all__ = ["export", "rows_of"]

_RUN_COLUMNS = ("number", "title", "name", "do", "seed", "state", "reason", "shards", "shards_done", "seconds")
_ESTIMATE_COLUMNS = ("rad", "success", "false_hit", "gain", "worst_gain")
_RESULT_COLUMNS = (
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
_LARGEST_BIGINT = 2**63 - 1


def rows_of(campaign: CampaignStatus) -> list[dict[str, Any]]:
    """Return one row for each run: what it is, its parameters, what it found, and with which versions.

    A parameter that has the name of a column already stands there as ``given_NAME``.
    """
    rows = [
        {**_run_row(run), **{f"version_{name}": text for name, text in campaign.versions.items()}}
        for run in campaign.runs
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name) for name in names} for row in rows]


def _run_row(run: RunStatus) -> dict[str, Any]:
    run_columns = {name: getattr(run, name) for name in _RUN_COLUMNS}
    option_columns = {
        f"given_{key}" if key in (*_RUN_COLUMNS, *_RESULT_COLUMNS, *_ESTIMATE_COLUMNS) else key: v
        for key, v in run.options.items()
    }
    result_columns = {} if run.result is None else dict(_result_columns(run.result.to_dict()))
    return {**run_columns, **{name: _cell(value) for name, value in {**option_columns, **result_columns}.items()}}


def _result_columns(result: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the numbers of a result; a measured one with its limits, a bound with its side and rule."""
    for name in _ESTIMATE_COLUMNS:
        estimate = result.get(name)
        if isinstance(estimate, dict) and "estimate" in estimate:
            yield from (
                (name, estimate["estimate"]),
                (f"{name}_low", estimate["low"]),
                (f"{name}_high", estimate["high"]),
            )
        elif isinstance(estimate, dict) and "value" in estimate:
            yield from (
                (name, estimate["value"]),
                (f"{name}_side", estimate["side"]),
                (f"{name}_rule", estimate["rule"]),
            )
    columns = {name: result[name] for name in _RESULT_COLUMNS if name in result}
    if isinstance(columns.get("claim"), dict):
        columns["claim"] = columns["claim"]["text"]
    yield from columns.items()


def _cell(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST_BIGINT:
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
    writers: dict[str, Callable[[list[dict[str, Any]], Path], None]] = {".csv": _write_csv, ".parquet": _write_parquet}
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


def _write_csv(rows: list[dict[str, Any]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else [])
        writer.writeheader()
        writer.writerows(rows)


def _write_parquet(rows: list[dict[str, Any]], path: Path) -> None:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("duckdb", "data") from None
    types = {name: _column_type([row[name] for row in rows]) for name in (rows[0] if rows else {})}
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in types}
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE TABLE runs ({', '.join(f'{quoted[name]} {type_name}' for name, type_name in types.items())})"
        )
        texts = {name for name, type_name in types.items() if type_name == "VARCHAR"}
        values = [[_cell_text(v) if name in texts else v for name, v in row.items()] for row in rows]
        connection.executemany(f"INSERT INTO runs VALUES ({', '.join('?' * len(types))})", values)  # noqa: S608
        connection.execute("COPY runs TO '" + str(path).replace("'", "''") + "' (FORMAT parquet)")


def _column_type(values: list[Any]) -> str:
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, bool) for value in present):
        return "BOOLEAN"
    numbers = [value for value in present if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if not present or len(numbers) < len(present):
        return "VARCHAR"
    return "BIGINT" if all(isinstance(value, int) for value in present) else "DOUBLE"


def _cell_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else canonical(value)
