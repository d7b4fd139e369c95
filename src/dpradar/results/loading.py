"""Read a saved result, of whatever kind it is."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from ..errors import ParameterError, why_unreadable
from ..numerics.limited_reading import read_text
from .result_codec import Result, kind_of_schema

__all__ = ["load", "result_kinds", "result_of"]


def load(path: str | Path) -> Any:
    """Return the result saved at ``path``: an assessment, a calibration, an attack, an audit or a run.

    Guarantee
    ---------
    Every field is in its range, the fields agree with each other, and the file is as it was written, as far as its
    digest shows; else SpecError names each place. The digest detects damage and careless edits. It is no signature.
    Files of schema 1 have no digest: what they say is checked as far as it can be, and pages call them unverified.

    Examples
    --------
    >>> import dpradar as dr, tempfile, pathlib
    >>> a = dr.assess(dr.GRR(m=10, epsilon=1.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     a.save(pathlib.Path(folder) / "a.json")
    ...     dr.load(pathlib.Path(folder) / "a.json") == a
    True
    """
    try:
        data = json.loads(read_text(Path(path)))
    except (OSError, ValueError, RecursionError) as error:
        raise ParameterError("load", "a file written by save()", str(path), why_unreadable(error)) from None
    return result_of(data, str(path))


def result_of(data: Any, place: str = "data") -> Any:
    """Return the result that ``to_dict`` wrote, of whatever kind it is, or raise SpecError with what is wrong in it."""
    kinds = result_kinds()
    kind = kind_of_schema(data)
    if kind is None or kind not in kinds:
        schemas = ", ".join(result.schema() for result in kinds.values())
        raise ParameterError("load", "a file written by save()", place, f"Known: {schemas}.")
    return kinds[kind].from_dict(data, place)


def result_kinds() -> dict[str, type[Result]]:
    """Return the class of each kind of result; each is declared in a module of this package."""
    for module in iter_modules(import_module(__package__).__path__):
        import_module(f".{module.name}", __package__)
    return Result.by_kind()
