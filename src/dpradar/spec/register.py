"""A register of releases about the same people, kept as a TOML file."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any

from ..errors import DpradarError, ParameterError, why_unreadable
from ..mechanisms import Composed
from ..numerics.limited_reading import read_text
from ..options.reading import inside
from .kinds import KINDS
from .question import release_of

__all__ = ["ALIASES", "register"]

ALIASES = {"pure-dp": "dp"}
_FREE = ("what", "date", "note")  # kept for people


def register(path: str | Path) -> Composed:
    """Return all releases of a register, as one release to be assessed.

    Guarantee
    ---------
    Every entry counts; an entry that cannot be understood is an error, never left out.

    Assumes
    -------
    The releases are about the same people and use independent randomness.

    Notes
    -----
    The file has one ``[[release]]`` table per release: ``kind`` (a name of the command line, such as ``gaussian``), the
    parameters of that kind, ``times`` if it is repeated, and ``what``, ``date`` or ``note`` for people. ``neighbours``
    at the top is the relation of the guarantees that state none themselves.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> text = '''
    ... neighbours = "add-remove"
    ... [[release]]
    ... what = "income by region, 2025"
    ... kind = "zcdp"
    ... rho = 0.1
    ... [[release]]
    ... what = "monthly counts"
    ... kind = "laplace"
    ... scale = 20.0
    ... times = 12
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "releases.toml"
    ...     _ = file.write_text(text)
    ...     register(file)
    Composed(2 releases)
    """
    try:
        data = tomllib.loads(read_text(Path(path)))
    except (OSError, ValueError, RecursionError) as error:
        raise ParameterError("register", "a readable TOML file", repr(str(path)), why_unreadable(error)) from None
    entries = data.get("release")
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        hint = "Write one [[release]] table for each release."
        raise ParameterError("register", "a list of [[release]] tables", repr(str(path)), hint)
    unknown = sorted(set(data) - {"release", "neighbours"})
    if unknown:
        raise ParameterError("register", "made of neighbours and [[release]] tables", repr(unknown[0]), "Remove it.")
    folder = Path(path).parent
    return Composed([_entry(number, entry, data.get("neighbours"), folder) for number, entry in enumerate(entries, 1)])


def _entry(number: int, entry: dict[str, Any], neighbours: str | None, folder: Path) -> Any:
    where = f"register, release {number}" + (f" ({entry['what']})" if isinstance(entry.get("what"), str) else "")
    settings = {key: value for key, value in entry.items() if key not in _FREE}
    given = settings.get("kind")
    kind = ALIASES.get(given, given) if isinstance(given, str) else None
    known = [name for name in KINDS if name != "register"]
    if kind not in known:
        near = difflib.get_close_matches(str(given), known, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "It is one of the names that `dpradar assess` knows."
        raise ParameterError(f"{where}: kind", f"one of {', '.join(known)}", repr(given), hint)
    names = KINDS[kind].names
    wrong = [key for key in settings if key not in (*names, "kind", "times")]
    if wrong:
        near = difflib.get_close_matches(wrong[0], names, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"For people there are {', '.join(_FREE)}."
        raise ParameterError(f"{where}: {kind}", f"given {', '.join([*names, 'times'])}", repr(wrong[0]), hint)
    if "neighbours" in names and neighbours is not None:
        settings.setdefault("neighbours", neighbours)
    try:
        return release_of({**settings, "kind": kind}, inside(f"release[{number}]", folder))
    except DpradarError as error:
        raise ParameterError(where, "a valid release", f"a {kind} that is not", str(error)) from None
