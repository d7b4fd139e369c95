"""Names of columns in engines that do not distinguish capitals from small letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["checked_expression", "engine_names", "header"]

_TELLS_CASE = ("postgres",)  # backends known to read the column that was named, capitals included
_ALLOWED = "one whose columns have names that differ not only in capitals"
_HINT = "Rename them, or give the table as a pandas or pyarrow one: the engine would read one column for the other."


def header(backend: Any, file: str, *, parquet: bool) -> list[str]:
    """Return the names of the columns of a file as they are written there; DuckDB changes those that are alike."""
    if parquet:
        import pyarrow.parquet

        return [str(name) for name in pyarrow.parquet.read_schema(file).names]
    quoted = file.replace("'", "''")
    backend.raw_sql("SET preserve_insertion_order = true")  # the first row, not one of those read first
    cursor = backend.raw_sql(f"SELECT * FROM read_csv('{quoted}', header = false, all_varchar = true) LIMIT 1")  # noqa: S608 (escaped)
    first = cursor.fetchone()
    backend.raw_sql("SET preserve_insertion_order = false")
    return ["" if name is None else str(name) for name in first or ()]


def engine_names(headers: Sequence[Sequence[str]], engine: Sequence[str]) -> dict[str, str]:
    """Return the engine's names by those in the files, or refuse where position does not settle which is which.

    Examples
    --------
    >>> engine_names([["ill", "Ill"]], ["ill", "Ill_1"])
    {'ill': 'ill', 'Ill': 'Ill_1'}
    >>> engine_names([["age", "sex"]], ["age", "sex"])
    {'age': 'age', 'sex': 'sex'}
    """
    if not any(map(_same_but_for_case, headers)):
        return {name: name for name in engine}
    names = list(headers[0])
    if len(set(filter(None, names))) < len(list(filter(None, names))):
        raise ParameterError("data.table", "one whose columns have different names", "a name that stands twice")
    if len(names) != len(engine) or any(list(other) != names for other in headers):
        raise ParameterError("data.table", _ALLOWED, "some that differ only in upper and lower case", _HINT)
    return {name or engine[i]: engine[i] for i, name in enumerate(names)}


def checked_expression(table: Any, backend: str) -> None:
    """Raise where an ibis table, or one that it is computed from, has names that the backend takes for one."""
    from ibis.expr import operations

    if backend in _TELLS_CASE:
        return
    if any(_same_but_for_case(node.schema.names) for node in table.op().find(operations.Relation)):
        raise ParameterError("data.table", _ALLOWED, "some that differ only in upper and lower case", _HINT)


def _same_but_for_case(names: Sequence[str]) -> bool:
    """Return whether two names are the same but for capitals; columns without a name are left out."""
    folded = [name.casefold() for name in names if name]
    return len(set(folded)) < len(folded)
