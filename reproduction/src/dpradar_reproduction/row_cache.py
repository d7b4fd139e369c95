"""Rows of a table that took long, kept in a file: what was interrupted goes on behind the last finished part."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpradar import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .table import Cell

__all__ = ["cached_rows"]


def cached_rows(
    folder: Path | None, key: Any, data: Mapping[str, Any], compute: Callable[[], list[dict[str, Cell]]]
) -> list[dict[str, Cell]]:
    """Return the rows that ``compute`` gives, from the folder when they are there already.

    ``key`` and ``data`` (columns of numbers or words) are all that the rows depend on.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> cached_rows(folder, "a", {"x": np.arange(3)}, lambda: [{"rad": 0.1}])
    [{'rad': 0.1}]
    >>> cached_rows(folder, "a", {"x": np.arange(3)}, lambda: [{"rad": 0.2}])
    [{'rad': 0.1}]
    >>> cached_rows(folder, "a", {"x": np.arange(4)}, lambda: [{"rad": 0.3}])
    [{'rad': 0.3}]
    """
    if folder is None:
        return compute()
    hasher = hashlib.sha256(f"{__version__} {key!r}".encode())
    for name, column in data.items():
        values = np.asarray(column)
        hasher.update(f"{name} {values.dtype.str} {values.shape}".encode())
        hasher.update(np.ascontiguousarray(values).tobytes())
    file = folder / f"{hasher.hexdigest()[:16]}.json"
    if file.is_file():
        try:
            cached: list[dict[str, Cell]] = json.loads(file.read_text(encoding="utf-8"))
        except ValueError:
            pass  # half a file is made again
        else:
            return cached
    rows = compute()
    folder.mkdir(parents=True, exist_ok=True)
    # Written beside and then renamed, so that it is there completely or not at all.
    handle, name = tempfile.mkstemp(dir=folder, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as beside:
        json.dump(rows, beside)
    Path(name).replace(file)
    return rows
