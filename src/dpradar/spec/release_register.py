"""A register of releases about the same people, kept as a TOML file."""

from __future__ import annotations

from pathlib import Path

from ..mechanisms import Composed
from ..options.tables import Table
from .file_tables import TOP
from .model import RELATION
from .read import parse, text_of

__all__ = ["register"]

_START = 'Write neighbours = "add-remove", if the guarantees state none, and one [[release]] table for each release.'
_REGISTER = Table(
    "Register",
    "All releases about the same people.",
    tuple(option for option in TOP.options if option.name in (RELATION.name, "release")),
)


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
    path = Path(path)
    spec = parse(text_of(path, _START), folder=path.parent, file=str(path), top=_REGISTER)
    return Composed([spec.release_call(i).build() for i in range(len(spec.releases))])
