"""The store of a campaign: one SQLite file, written by coordinating processes only, a transaction for every batch.

A rollback journal, not a write-ahead log: that needs memory shared by all who use the file, which network file systems
do not have; and a journal leaves one file behind. Every commit is synced to the disk.

Every row carries a checksum of its columns, key included, which is verified whenever the row is read: it notices
damage. It keeps nobody from writing another row on purpose, so what a store says is never run as code, and the
results in it are checked like those of any other file.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing, contextmanager
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from ..errors import DpradarError
from .leases import gone
from .work import Plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from .leases import Who

__all__ = ["UNSOUND", "Store", "StoreError"]

_APPLICATION = 0x64707263  # "dprc", in the header of the file
_SCHEMA = 2
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE plan (question TEXT PRIMARY KEY, digest TEXT NOT NULL, total INTEGER NOT NULL, size INTEGER NOT NULL,
  checksum BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE shard (digest TEXT, number INTEGER, trials INTEGER, seconds REAL NOT NULL, content BLOB NOT NULL,
  checksum BLOB NOT NULL, data BLOB NOT NULL, PRIMARY KEY (digest, number, trials)) WITHOUT ROWID;
CREATE TABLE answer (question TEXT PRIMARY KEY, data TEXT NOT NULL, checksum BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE failure (question TEXT, number INTEGER, reason TEXT NOT NULL, checksum BLOB NOT NULL,
  PRIMARY KEY (question, number)) WITHOUT ROWID;
CREATE TABLE process (token TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, born REAL,
  workers INTEGER NOT NULL, expires REAL NOT NULL, checksum BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE lease (about TEXT, number INTEGER, trials INTEGER, token TEXT NOT NULL, checksum BLOB NOT NULL,
  PRIMARY KEY (about, number, trials)) WITHOUT ROWID;
"""
# The columns of each table that its checksum covers. The data of a shard, which may be large, have one of their own,
# its content, so that shards can be counted without reading them.
_COLUMNS = {
    "about": ("name", "value"),
    "plan": ("question", "digest", "total", "size"),
    "shard": ("digest", "number", "trials", "seconds", "content"),
    "answer": ("question", "data"),
    "failure": ("question", "number", "reason"),
    "process": ("token", "host", "pid", "born", "workers", "expires"),
    "lease": ("about", "number", "trials", "token"),
}
_REPLACED = {"about": "name", "failure": "question, number", "process": "token"}  # a later row replaces an earlier one
LEASE_SECONDS = 300.0
_AHEAD = 10_000
_ANOTHER = "run the campaign with another store (command line: campaign run --store FILE)"
UNSOUND = f"Take a copy of it that is not damaged, or {_ANOTHER}."
_WHY = {
    "FULL": ("the disk is full", "Make room, then go on where it was."),
    "IOERR": (
        "the disk or the network does not take it",
        "See that there is room and that it works, then go on.",
    ),
    "READONLY": ("it is read-only", f"Allow writing to the file and to its folder, or {_ANOTHER}."),
    "CANTOPEN": ("it cannot be opened", "See that its folder exists and can be written to."),
    "PERM": ("it cannot be opened", "See that the file and its folder can be written to."),
    "BUSY": ("another program holds it", "Wait until that has ended, or end it."),
    "LOCKED": ("another program holds it", "Wait until that has ended, or end it."),
    "NOTADB": ("it is no store of a campaign", f"Name the file that a campaign was kept in, or {_ANOTHER}."),
    "CORRUPT": ("it is damaged", UNSOUND),
    "PROTOCOL": ("its locks do not work", "Put it on a disk of this computer."),
}
_PASSING = ("FULL", "IOERR", "BUSY", "LOCKED", "READONLY", "CANTOPEN")


class StoreError(DpradarError):
    """The store cannot be read or written; ``passing``: it may work later, such as when the disk is full.

    Examples
    --------
    >>> str(StoreError("a.sqlite", "the disk is full", "Make room."))
    'the store a.sqlite cannot be used: the disk is full. Make room.'
    """

    def __init__(self, path: str, why: str, hint: str, *, passing: bool = False) -> None:
        self.path, self.why, self.hint, self.passing = path, why, hint, passing
        super().__init__(f"the store {path} cannot be used: {why}. {hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.path, self.why, self.hint, self.passing)  # so that it passes between processes


def _again(path: str, why: str, hint: str, passing: bool) -> StoreError:  # noqa: FBT001
    return StoreError(path, why, hint, passing=passing)


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _row_checksum(table: str, row: Sequence[Any]) -> bytes:
    return _checksum(repr((table, *row)).encode("utf-8", "surrogatepass"))


@cache
def _own_schema() -> frozenset[tuple[str, str, str]]:
    """Return what SQLite writes down about a new store."""
    with closing(sqlite3.connect(":memory:")) as base:
        base.executescript(_TABLES)
        return frozenset(base.execute("SELECT type, name, sql FROM sqlite_master"))


class Store:
    """An open store; every method that writes is called inside of ``writing()``."""

    def __init__(self, path: Path, *, write: bool = True, patience: float = 30.0) -> None:
        self.path = path
        if not write and not path.is_file():
            raise StoreError(str(path), "there is no such file", "`dpradar campaign run FILE` makes one.")
        with self._told():
            # Also to be read it is opened for writing where that is allowed: what a process that was killed left half
            # written has to be taken back first.
            uri = f"{path.resolve().as_uri()}?mode={'rwc' if write else 'rw'}"
            self._base = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=patience)
            self._base.execute("PRAGMA synchronous = FULL" if write else "PRAGMA query_only = ON")
            self._base.execute("PRAGMA trusted_schema = OFF")
        try:
            if write:
                self._create()
            self._check()
        except BaseException:
            self._base.close()
            raise

    def _create(self) -> None:
        with self.writing():
            if self._number("application_id") or self._number("user_version") or self._tables():
                return
            for statement in _TABLES.split(";\n"):
                self._base.execute(statement)
            self._base.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._base.execute(f"PRAGMA user_version = {_SCHEMA}")

    def _tables(self) -> list[str]:
        return [row[0] for row in self._base.execute("SELECT name FROM sqlite_master")]

    def _number(self, pragma: str) -> int:
        return int(self._base.execute(f"PRAGMA {pragma}").fetchone()[0])

    def _check(self) -> None:
        with self._told():
            kind, schema = self._number("application_id"), self._number("user_version")
        if kind != _APPLICATION:
            raise StoreError(str(self.path), *_WHY["NOTADB"])
        if schema != _SCHEMA:
            which = "a newer" if schema > _SCHEMA else "an older"
            hint = f"Use that version of dpradar, or {_ANOTHER}."
            message = f"it was made by {which} version of dpradar (schema {schema}, this one has {_SCHEMA})"
            if schema < _SCHEMA:
                message += ", whose rows have no checksums"
            raise StoreError(str(self.path), message, hint)
        with self._told():
            tables = frozenset(self._base.execute("SELECT type, name, sql FROM sqlite_master"))
        if tables != _own_schema():  # a view or a trigger would be computed in passing
            raise StoreError(str(self.path), "its tables are not those of a store", UNSOUND)

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn errors of SQLite into what to do about them."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            name = str(getattr(error, "sqlite_errorname", "CORRUPT")).removeprefix("SQLITE_").partition("_")[0]
            why, hint = _WHY.get(name, (f"{error}", "See that it is the store of a campaign."))
            raise StoreError(str(self.path), why, hint, passing=name in _PASSING) from None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All that is written inside is kept, or nothing of it."""
        with self._told():
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._base.execute("COMMIT")
            except BaseException:
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
                raise

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the answer to a query."""
        with self._told():
            return self._base.execute(query, values).fetchall()

    def write(self, query: str, rows: Iterable[Sequence[Any]]) -> None:
        """Change rows."""
        with self._told():
            self._base.executemany(query, rows)

    def read(self, table: str, condition: str = "", *values: Any, data: bool = False) -> list[tuple[Any, ...]]:
        """Return the rows of a table, each verified by its checksum; with the data of a shard where asked for."""
        columns = _COLUMNS[table]
        names = [*columns, "checksum", *(["data"] if data else [])]
        query = f"SELECT {', '.join(names)} FROM {table} {condition and 'WHERE'} {condition}"  # noqa: S608 (no values)
        rows = []
        for row in self.rows(query, *values):
            covered = row[: len(columns)]
            if _row_checksum(table, covered) != row[len(columns)]:
                raise self._damaged(f"a row of its table {table!r}")
            rows.append((*covered, *row[len(columns) + 1 :]))
        return rows

    def _damaged(self, what: str) -> StoreError:
        return StoreError(str(self.path), f"{what} is damaged (its checksum does not fit)", UNSOUND)

    def insert(self, table: str, rows: Iterable[Sequence[Any]], *, data: Iterable[bytes] | None = None) -> None:
        """Add rows with their checksums; where there is one with the same key, it is replaced or stays."""
        columns = _COLUMNS[table]
        key = _REPLACED.get(table)
        assignments = ", ".join(f"{name} = excluded.{name}" for name in (*columns, "checksum"))
        conflict = "DO NOTHING" if key is None else f"({key}) DO UPDATE SET {assignments}"
        marks = ", ".join("?" * (len(columns) + 1 + (data is not None)))
        summed = ((*row, _row_checksum(table, row)) for row in rows)
        full = summed if data is None else ((*row, blob) for row, blob in zip(summed, data, strict=True))
        self.write(f"INSERT INTO {table} VALUES ({marks}) ON CONFLICT {conflict}", full)  # noqa: S608 (no values)

    def about(self) -> dict[str, str]:
        """Return what the store is about: the text of the campaign, versions, dates."""
        return dict(self.read("about"))

    def tell(self, **values: str) -> None:
        """Change what the store is about."""
        self.insert("about", values.items())

    def plans(self) -> dict[str, Plan]:
        """Return the plans of all questions."""
        return {question: self._plan(row) for question, *row in self.read("plan")}

    def plan(self, question: str) -> Plan | None:
        """Return the plan of a question, if there is one."""
        rows = self.read("plan", "question = ?", question)
        return self._plan(rows[0][1:]) if rows else None

    def _plan(self, row: Sequence[Any]) -> Plan:
        digest, total, size = row
        if not (isinstance(total, int) and isinstance(size, int) and min(total, size) > 0):
            raise StoreError(str(self.path), "the plan of a run has no shards of a sound size", UNSOUND)
        return Plan(digest, total, size)

    def keep_plan(self, question: str, plan: Plan) -> None:
        """Keep a plan."""
        self.insert("plan", [(question, plan.digest, plan.total, plan.size)])

    def keep_answer(self, question: str, answer: str) -> None:
        """Keep an answer."""
        self.insert("answer", [(question, answer)])

    def keep_failure(self, question: str, number: int, reason: str) -> None:
        """Keep why there is no answer."""
        self.insert("failure", [(question, number, reason)])

    def failures(self) -> dict[str, str]:
        """Return for each question that has no answer a reason."""
        return {question: reason for question, _, reason in sorted(self.read("failure"), reverse=True)}

    def forget_failures(self, questions: Iterable[str]) -> None:
        """Forget why there was no answer: it is tried again."""
        self.write("DELETE FROM failure WHERE question = ?", [(question,) for question in questions])

    def answered(self, question: str) -> bool:
        """Return whether there is an answer."""
        return bool(self.read("answer", "question = ?", question))

    def answers(self) -> dict[str, str]:
        """Return the answers of all questions."""
        return dict(self.read("answer"))

    def keep_shards(self, plan: Plan, shards: Iterable[tuple[int, bytes, float]]) -> None:
        """Keep finished shards; one that is there already stays, as it has the same numbers."""
        made = list(shards)
        rows = [(plan.digest, k, plan.trials(k), float(seconds), _checksum(data)) for k, data, seconds in made]
        self.insert("shard", rows, data=[data for _, data, _ in made])

    def shards(self, plan: Plan) -> dict[int, float]:
        """Return the seconds that each shard took that is there, by its number."""
        rows = self.read("shard", "digest = ? AND number < ?", plan.digest, len(plan))
        return {number: seconds for _, number, trials, seconds, _ in rows if trials == plan.trials(number)}

    def parts(self, plan: Plan) -> tuple[bytes, ...]:
        """Return what all shards gave, in order."""
        parts = {}
        for _, number, trials, _, content, data in self.read(
            "shard", "digest = ? AND number < ?", plan.digest, len(plan), data=True
        ):
            if trials != plan.trials(number):
                continue
            if _checksum(data) != content:
                raise self._damaged(f"shard {number}")
            parts[number] = data
        return tuple(parts[k] for k in range(len(plan)))

    def enter(self, who: Who, workers: int) -> None:
        """Say that a process works here, and still does; its leases are good for some minutes more."""
        self.insert("process", [(who.token, who.host, who.pid, who.born, workers, time.time() + LEASE_SECONDS)])

    def processes(self) -> list[tuple[str, int]]:
        """Return the token and the number of workers of every process that is at work."""
        alive = []
        for token, host, pid, born, workers, expires in self.read("process"):
            ended = gone(host, pid, born)
            if not (expires < time.time() if ended is None else ended):
                alive.append((token, workers))
        return alive

    def leave(self, who: Who) -> None:
        """Give up everything that a process has leased."""
        self._bury([who.token])

    def bury(self) -> None:
        """Give up what processes have leased that are gone: here at once, elsewhere when their leases are over."""
        alive = {token for token, _ in self.processes()}
        dead = [row[0] for row in self.read("process") if row[0] not in alive]
        if dead:
            self._bury(dead)
        if self.rows("SELECT 1 FROM lease WHERE token NOT IN (SELECT token FROM process) LIMIT 1"):
            self.write("DELETE FROM lease WHERE token NOT IN (SELECT token FROM process)", [()])

    def _bury(self, tokens: Iterable[str]) -> None:
        keys = [(token,) for token in tokens]
        self.write("DELETE FROM lease WHERE token = ?", keys)
        self.write("DELETE FROM process WHERE token = ?", keys)

    def lease(self, who: Who, about: str, numbers: Iterable[tuple[int, int]], most: int) -> list[int]:
        """Lease the first of these (number, trials) that nobody has leased, and return their numbers."""
        taken = {(number, trials) for _, number, trials, _ in self.read("lease", "about = ?", about)}
        free: list[tuple[int, int]] = []
        for one in numbers:
            if one not in taken:
                free.append(one)
            if len(free) == most:
                break
        self.insert("lease", [(about, *one, who.token) for one in free])
        return [number for number, _ in free]

    def made_since(self, plan: Plan, numbers: Sequence[int]) -> set[int]:
        """Return which of these shards, and of those behind them, are there: another process may have made them."""
        last = min(max(numbers) + _AHEAD, len(plan) - 1)
        rows = self.read("shard", "digest = ? AND number BETWEEN ? AND ?", plan.digest, min(numbers), last)
        return {number for _, number, trials, _, _ in rows if trials == plan.trials(number)}

    def leased(self) -> set[str]:
        """Return what is leased: digests of plans, and questions."""
        return {row[0] for row in self.read("lease")}

    def release(self, about: str, numbers: Iterable[tuple[int, int]]) -> None:
        """Give up leases."""
        query = "DELETE FROM lease WHERE about = ? AND number = ? AND trials = ?"
        self.write(query, [(about, *one) for one in numbers])
