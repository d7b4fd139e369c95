"""Read a spec: TOML to plain data, and all the problems of a file at once."""

from __future__ import annotations

import difflib
import errno
import re
import tomllib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..attacks.attack_options import AttackOptions
from ..errors import ParameterError, Problem, SpecError, why_unreadable
from ..numerics.limited_reading import read_text
from ..options.reading import inside
from ..params import shown
from .checks import prior_problems, spec_problems
from .file_tables import SINGLE, THREAT_TABLE, TOP, release_table
from .model import TOP_KEYS, ReleaseSpec, Spec, ThreatSpec, place_of
from .problems import problem_of
from .release_kinds import ALIASES, IN_FILES, kind_of
from .threat_options import THREAT

if TYPE_CHECKING:
    from ..options.tables import Table

__all__ = ["parse", "plain_tables", "read", "tables_in", "text_of"]

MOST_BYTES = 1_000_000
_ATTACK = AttackOptions(seed=1)  # the same file gives the same numbers
_COMMA = re.compile(r"=\s*([+-]?\d+),(\d+)\s*(#.*)?$")


def read(path: str | Path) -> Spec:
    r"""Return the spec in a TOML file, or raise SpecError with all its problems.

    Files that the spec names are looked for beside it. It may have 1 MB, and a prior 1,000,000 values.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "survey.toml"
    ...     _ = file.write_text('[release]\nkind = "grr"\nm = 100\nepsilon = 2.0\n')
    ...     read(file).releases[0].kind
    'grr'
    """
    path = Path(path)
    return parse(text_of(path), folder=path.parent, file=str(path))


def text_of(path: Path, start: str = "`dpradar new` writes one to start from.") -> str:
    """Return the text of a file, or raise SpecError with the reason why there is none and where to ``start``."""
    try:
        return read_text(path, MOST_BYTES)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise SpecError(str(path), [_too_large()]) from None
        raise SpecError(str(path), [Problem("", f"cannot be read: {error.strerror}", _near(path) or start)]) from None
    except UnicodeDecodeError as error:
        raise SpecError(
            str(path), [Problem("", f"must be UTF-8 text; got byte {error.start}: {error.reason}")]
        ) from None


def _near(path: Path) -> str:
    """Return a hint at a file with a similar name, or nothing."""
    beside = {other.stem: str(other) for other in path.parent.glob("*.toml")} if path.parent.is_dir() else {}
    near = difflib.get_close_matches(path.stem, beside, n=1)
    return f"Did you mean {beside[near[0]]!r}?" if near else ""


def parse(text: str, *, folder: Path | None = None, file: str = "the spec", top: Table = TOP) -> Spec:
    r"""Return the spec that a TOML text describes, or raise SpecError with all its problems.

    Without a ``folder`` the text may name no files. ``top`` lists the keys outside of tables.

    Examples
    --------
    >>> parse('titel = "x"\n[release]\nkind = "grr"\nm = 1\nepsilon = "0,5"\n')
    Traceback (most recent call last):
        ...
    dpradar.errors.SpecError: the spec has 3 problems:
      titel: is not a key of this table. Did you mean 'title'?
      release.m: must be a whole number at least 2; got 1. It is the number of values a person can have.
      release.epsilon: must be a number at least 0; got '0,5'. '0,5' has a decimal comma. Write it with a point: 0.5.
    """
    draft = _Draft(plain_tables(text, file), folder, file)
    spec = draft.spec(top)
    problems = [*draft.problems, *spec_problems(spec, draft.sound)]
    if problems:
        raise SpecError(file, problems)
    return spec


def plain_tables(text: str, file: str) -> dict[str, Any]:
    """Return the content of a TOML text, or raise SpecError with the place of the mistake."""
    if len(text) > MOST_BYTES:
        raise SpecError(file, [_too_large()])
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError(file, [_not_toml(text, error)]) from None


def _too_large() -> Problem:
    hint = "Put long lists into files of their own, such as prior = '@prior.csv'."
    return Problem("", f"must have at most {MOST_BYTES:,} bytes; got more", hint)


def _not_toml(text: str, error: Exception) -> Problem:
    line = re.search(r"at line (\d+)", str(error))
    rows = text.splitlines()
    if line and int(line.group(1)) <= len(rows):
        comma = _COMMA.search(rows[int(line.group(1)) - 1])
        if comma:
            hint = f"It has a decimal comma. Write it with a point: {comma.group(1)}.{comma.group(2)}."
            return Problem(f"line {line.group(1)}", "must be TOML", hint)
    reason = "tables inside tables without end" if isinstance(error, RecursionError) else why_unreadable(error)
    return Problem("", f"must be TOML: {reason.rstrip('.')}")


def tables_in(data: dict[str, Any], name: str, problems: list[Problem]) -> list[tuple[str, dict[str, Any]]]:
    """Return [name] or every [[name]] of a file with its place; what is no table is added to the problems."""
    value = data.get(name, [])
    tables = [value] if isinstance(value, dict) else value
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        hint = f"Write [{name}], or [[{name}]] for each of several."
        problems.append(Problem(name, f"must be a table; got {shown(value)}", hint))
        return []
    return [(place_of(name, i, len(tables)), table) for i, table in enumerate(tables)]


@dataclass(slots=True)
class _Draft:
    """A file on its way to a spec: the tables that are sound so far, and the problems of the others."""

    data: dict[str, Any]
    folder: Path | None
    file: str
    problems: list[Problem] = field(default_factory=list)
    sound: set[str] = field(default_factory=set)  # the places of tables without problems of their own

    def spec(self, keys: Table) -> Spec:
        """Return the spec of the sound tables; the others are left empty."""
        top = self._checked(keys, self.data, "")
        releases = tuple(self._release(place, table) for place, table in self._tables("release"))
        threats = tuple(self._threat(place, table) for place, table in self._tables("threat"))
        rest = {name: self._checked(table, self.data.get(name, {}), name) for name, table in SINGLE.items()}
        evidence = rest["evidence"]
        return Spec(
            releases=releases,
            threats=threats,
            **{option.name: top[option.name] for option in TOP_KEYS if option.name in top},
            utility=rest["utility"],
            attack=None if "attack" not in evidence else replace(_ATTACK, **evidence["attack"]),
            results=tuple(evidence.get("results", ())),
            **rest["report"],
            decision=rest["decision"],
            folder=self.folder,
            file=self.file,
        )

    def _checked(self, keys: Table, table: Any, place: str) -> dict[str, Any]:
        """Return the keys of a table that is sound, or none."""
        values, problems = keys.read(table, place, self.folder)
        if problems:
            self.problems += problems
            return {}
        self.sound.add(place)
        return values

    def _tables(self, name: str) -> list[tuple[str, Any]]:
        """Return [name] or every [[name]] with its place."""
        if name == "release" and self.data.get(name) == []:
            self.problems.append(Problem(name, "must be at least one table; got none", "Write [release]."))
        return tables_in(self.data, name, self.problems)

    def _release(self, place: str, table: dict[str, Any]) -> ReleaseSpec:
        kind = table.get("kind")
        table = {**table, "kind": ALIASES.get(kind, kind)} if isinstance(kind, str) else table
        try:
            kind_of(table, inside(place, self.folder), IN_FILES)
        except ParameterError as error:
            self.problems.append(problem_of(error, place))
            return ReleaseSpec(kind="")
        options = self._checked(release_table(table["kind"]), table, place)
        own = _pop_fields(ReleaseSpec, options)
        return ReleaseSpec(**{"kind": table["kind"], **own}, options=options)

    def _threat(self, place: str, table: dict[str, Any]) -> ThreatSpec:
        options = self._checked(THREAT_TABLE, table, place)
        if place not in self.sound:  # the prior can be wrong too
            wrong = {problem.path for problem in self.problems}
            sound = {key: table[key] for key in THREAT if key in table and f"{place}.{key}" not in wrong}
            self.problems += prior_problems(sound, place, self.folder)
        return ThreatSpec(**_pop_fields(ThreatSpec, options), options=options)


def _pop_fields(cls: Any, table: dict[str, Any]) -> dict[str, Any]:
    """Remove from a table what a class has fields for, and return it."""
    return {field.name: table.pop(field.name) for field in fields(cls) if field.name in table}
