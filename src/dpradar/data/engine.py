"""The engine that holds a table: files read by DuckDB, a data frame, or a table of any ibis backend."""

from __future__ import annotations

import glob
import re
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import MissingExtra, ParameterError
from ..params import shown
from .column_names import checked_expression, engine_names, header
from .scratch_folder import private_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["TableSource", "connect_table", "files", "run_guarded"]

T = TypeVar("T")
_CSV = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".tsv.zst")
_PARQUET = (".parquet", ".pq")
_FRAMES = ("pandas", "pyarrow", "polars")
_ALLOWED = "a CSV or Parquet file, a pattern of such files, an ibis table, or a pandas, pyarrow or polars table"
_MEMORY = re.compile(r"\d+(\.\d+)? ?(KB|MB|GB|TB|KiB|MiB|GiB|TiB)")
# What drivers call their failures, and what helps.
_LOADING = Lock()  # ibis loads backends when they are first used: two threads at once may find half of one
_HINTS = {
    "OutOfMemory": "Allow more with memory='8GB', or leave room for temporary files (TMPDIR).",
    "Conversion": "Some values do not fit the type of their column; a Parquet file keeps types apart.",
    "InvalidInput": "All files need the same columns and types, and text in UTF-8; is one of them damaged?",
    "IO": "Is a file damaged, or not of the kind that its name says?",
    "Permission": "Is the file readable for you?",
}


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table and the backend that computes on it.

    ``names`` are the engine's names of the columns by those of the table. They differ where the table has names that
    differ only in case, which most engines ignore.
    """

    table: Any
    backend: Any
    names: Mapping[str, str]
    has_real_names: bool = True  # the names of a CSV file without a header are its first record

    def column(self, name: str) -> Any:
        """Return a column by its name in the table."""
        return self.table[self.names[name]]

    def check_zone(self) -> None:
        """Raise where time stamps would follow the zone of a Spark session, whose types do not say whether they do."""
        if self.backend.name != "pyspark":
            return
        zone = run_guarded(lambda: str(self.backend.raw_sql("SELECT current_timezone()").collect()[0][0]))
        if zone not in ("UTC", "Etc/UTC", "GMT", "Z", "+00:00"):
            hint = "Set spark.sql.session.timeZone to UTC: another zone moves time stamps into another day or year."
            raise ParameterError("data.table", "of a Spark session in UTC where it has time stamps", shown(zone), hint)

    def fetch(self, query: Any) -> Any:
        """Return the result of a query as a pyarrow table."""
        return run_guarded(lambda: self.backend.to_pyarrow(query))


def run_guarded(call: Callable[[], T]) -> T:
    """Return what ``call`` returns; when it fails, say so without the driver's words, which can quote records.

    Every exception is caught here, whatever the driver calls it, and none stays attached to the one that is raised.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the drivers among themselves; they may quote records too
            return call()
    except Exception as error:  # its text, its chain and its traceback may hold values of the table
        kind = type(error)
        failed = f"{kind.__module__.partition('.')[0]} {kind.__name__}"
    hint = next((text for word, text in _HINTS.items() if word in failed), "Does the table open in its own engine?")
    failure = f"a failure there ({failed}); its message is not shown, as it may quote records"
    raise ParameterError("data.table", "one that its engine can read and count", failure, hint)


@contextmanager
def connect_table(table: Any, memory: object) -> Iterator[TableSource]:
    """Give the table to a backend: the one it lives in, or a DuckDB of its own that is closed afterwards."""
    try:
        with _LOADING:
            import ibis
    except ImportError:
        raise MissingExtra("ibis", "data") from None
    if isinstance(table, ibis.Table) and not _in_memory(table):
        backend = run_guarded(table.get_backend)
        checked_expression(table, backend.name)
        yield TableSource(table, backend, {name: name for name in table.columns})
        return
    if not isinstance(memory, str) or not _MEMORY.fullmatch(memory):
        raise ParameterError("data.memory", "an amount such as '2GB'", shown(memory), "DuckDB uses files beyond it.")
    open_in = _reader(files(str(table))) if isinstance(table, str | Path) else _frame(table)
    # Rows that do not fit in memory are kept in a folder that only this user may read, and removed.
    with private_folder() as folder:
        backend = _duckdb(memory, folder)
        try:
            yield open_in(backend)
        finally:
            backend.disconnect()


def _in_memory(table: Any) -> bool:
    """Return whether an ibis table belongs to no backend (``ibis.memtable``); only a private name of ibis shows it."""
    find = getattr(table, "_find_backends", None)
    return find is not None and not find()[0]


def _duckdb(memory: str, folder: str) -> Any:
    import ibis

    try:
        with _LOADING:
            connect = ibis.duckdb.connect
        backend = connect(
            memory_limit=memory,
            temp_directory=folder,
            autoinstall_known_extensions=False,
            preserve_insertion_order=False,
        )
    except ImportError:
        raise MissingExtra("duckdb", "data") from None
    backend.raw_sql("SET enable_progress_bar = false")  # it would stand between the lines of an answer
    return backend


def _frame(table: Any) -> Callable[[Any], TableSource]:
    """Return the function that opens a data frame in a backend, under names that differ not only in case."""
    import ibis

    if isinstance(table, ibis.Table):
        names, data = list(table.columns), _in_memory_data(table)
        if data is None:
            checked_expression(table, "duckdb")
            return lambda backend: TableSource(table, backend, {name: name for name in names})
    elif type(table).__module__.partition(".")[0] not in _FRAMES or not hasattr(table, "columns"):
        raise ParameterError("data.table", _ALLOWED, type(table).__name__)
    else:
        names = [str(name) for name in getattr(table, "column_names", table.columns)]
        if len(set(names)) != len(names):
            raise ParameterError("data.table", "one whose columns have different names", "a name that stands twice")
        data = run_guarded(lambda: _arrow(table))
    safe = {name: f"column{i}" for i, name in enumerate(names)}
    renamed = run_guarded(lambda: ibis.memtable(_rename_columns(data, safe)))
    return lambda backend: TableSource(renamed, backend, safe)


def _in_memory_data(table: Any) -> Any:
    """Return the rows of an ``ibis.memtable`` as a pyarrow table; None for an expression that computes with some."""
    from ibis.expr import operations

    node = table.op()
    if not isinstance(node, operations.InMemoryTable):
        return None
    return run_guarded(lambda: node.data.to_pyarrow(node.schema))


def _rename_columns(data: Any, names: Mapping[str, str]) -> Any:
    if hasattr(data, "rename_columns"):
        return data.rename_columns(list(names.values()))
    return data.rename(dict(names))  # polars


def _arrow(table: Any) -> Any:
    """Return a pandas table as a pyarrow one; others as they are."""
    if not type(table).__module__.startswith("pandas"):
        return table
    import pyarrow as pa

    return pa.Table.from_pandas(table, preserve_index=False)


def files(text: str) -> list[str]:
    """Return the files that a name or a pattern stands for, in order."""
    if "://" in text:
        hint = "Connect to it with ibis, and give the ibis table."
        raise ParameterError("data.table", "a file of this machine when it is given by name", shown(text), hint)
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        hint = "Write the folder itself instead of ~."
        raise ParameterError("data.table", _ALLOWED, f"{text!r}, of a user without a home folder", hint) from None
    if path.is_file():
        return [str(path)]
    if path.is_dir():
        hint = f"Give a pattern: {str(path / '**' / '*.parquet')!r}."
        raise ParameterError("data.table", _ALLOWED, f"the folder {text!r}", hint)
    names = sorted(name for name in glob.glob(str(path), recursive=True) if Path(name).is_file())  # noqa: PTH207 (absolute patterns)
    if not names:
        problem = "a pattern that matches no file" if re.search(r"[*?\[]", text) else "no such file"
        raise ParameterError("data.table", _ALLOWED, f"{text!r}, {problem}")
    return names


def _reader(files: list[str]) -> Callable[[Any], TableSource]:
    kinds = {_kind(Path(name).name) for name in files}
    if len(kinds) > 1:
        raise ParameterError("data.table", "files that are all CSV or all Parquet", "both")
    parquet = kinds == {"parquet"}
    # Signs for patterns in a name are escaped, so that this file is read and no others.
    names = [re.sub(r"([*?\[])", r"[\1]", name) for name in files]

    def read(backend: Any) -> Any:
        if parquet:
            return backend.read_parquet(names)
        # Types are found from all rows, not the first ones: one late word must not end a long computation.
        return backend.read_csv(names, header=True, sample_size=-1)

    def source(backend: Any) -> TableSource:
        table = run_guarded(lambda: read(backend))
        headers = run_guarded(
            lambda: [header(backend, name, parquet=parquet) for name in (files if parquet else names)]
        )
        return TableSource(table, backend, engine_names(headers, list(table.columns)), has_real_names=parquet)

    return source


def _kind(name: str) -> str:
    lower = name.lower()
    if lower.endswith(_PARQUET):
        return "parquet"
    if lower.endswith(_CSV):
        return "csv"
    raise ParameterError("data.table", f"made of files that end with {', '.join((*_CSV, *_PARQUET))}", shown(name))
