"""The store of a campaign: one SQLite file, written by coordinating processes only, a transaction for every batch.

A rollback journal, not a write-ahead log: that needs memory shared by all who use the file, which network file systems
do not have; and a journal leaves one file behind. Every commit is synced to the disk.
"""

from __future__ import annotations

import sqlite3
import time
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import DpradarError
from .leases import gone
from .work import Plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from .leases import Who

__all__ = ["Store", "StoreError"]

_APPLICATION = 0x64707263  # "dprc", in the header of the file
_SCHEMA = 1
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE plan (question TEXT PRIMARY KEY, digest TEXT NOT NULL, total INTEGER NOT NULL, size INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE TABLE shard (digest TEXT, number INTEGER, trials INTEGER, seconds REAL NOT NULL, crc INTEGER NOT NULL,
  data BLOB NOT NULL, PRIMARY KEY (digest, number, trials)) WITHOUT ROWID;
CREATE TABLE answer (question TEXT PRIMARY KEY, data TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE failure (question TEXT, number INTEGER, reason TEXT NOT NULL, PRIMARY KEY (question, number))
  WITHOUT ROWID;
CREATE TABLE process (token TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, born TEXT NOT NULL,
  workers INTEGER NOT NULL, expires REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE lease (about TEXT, number INTEGER, trials INTEGER, token TEXT NOT NULL,
  PRIMARY KEY (about, number, trials)) WITHOUT ROWID;
"""
LEASE_SECONDS = 300.0
_AHEAD = 10_000
_ANOTHER = "run the campaign with another store (command line: campaign run --store FILE)"
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
    "CORRUPT": ("it is damaged", f"Take a copy of it that is not, or {_ANOTHER}."),
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
            told = f"it was made by {which} version of dpradar (schema {schema}, this one has {_SCHEMA})"
            raise StoreError(str(self.path), told, hint)

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
        except sqlite3.Error as error:
            name = str(getattr(error, "sqlite_errorname", "")).removeprefix("SQLITE_").partition("_")[0]
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

    def about(self) -> dict[str, str]:
        """Return what the store is about: the text of the campaign, versions, dates."""
        return dict(self.rows("SELECT name, value FROM about"))

    def tell(self, **values: str) -> None:
        """Change what the store is about."""
        self.write(
            "INSERT INTO about VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", values.items()
        )

    def plans(self) -> dict[str, Plan]:
        """Return the plans of all questions."""
        rows = self.rows("SELECT question, digest, total, size FROM plan")
        return {question: Plan(digest, total, size) for question, digest, total, size in rows}

    def plan(self, question: str) -> Plan | None:
        """Return the plan of a question, if there is one."""
        rows = self.rows("SELECT digest, total, size FROM plan WHERE question = ?", question)
        return Plan(*rows[0]) if rows else None

    def keep_plan(self, question: str, plan: Plan) -> None:
        """Keep a plan."""
        row = (question, plan.digest, plan.total, plan.size)
        self.write("INSERT INTO plan VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", [row])

    def keep_answer(self, question: str, answer: str) -> None:
        """Keep an answer."""
        self.write("INSERT INTO answer VALUES (?, ?) ON CONFLICT DO NOTHING", [(question, answer)])

    def keep_failure(self, question: str, number: int, reason: str) -> None:
        """Keep why there is no answer."""
        query = "INSERT INTO failure VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET reason = excluded.reason"
        self.write(query, [(question, number, reason)])

    def forget_failures(self, questions: Iterable[str]) -> None:
        """Forget why there was no answer: it is tried again."""
        self.write("DELETE FROM failure WHERE question = ?", [(question,) for question in questions])

    def answered(self, question: str) -> bool:
        """Return whether there is an answer."""
        return bool(self.rows("SELECT 1 FROM answer WHERE question = ?", question))

    def answers(self) -> dict[str, str]:
        """Return the answers of all questions."""
        return dict(self.rows("SELECT question, data FROM answer"))

    def keep_shards(self, plan: Plan, shards: Iterable[tuple[int, bytes, float]]) -> None:
        """Keep finished shards; one that is there already stays, as it has the same numbers."""
        rows = ((plan.digest, k, plan.trials(k), seconds, zlib.crc32(data), data) for k, data, seconds in shards)
        self.write("INSERT INTO shard VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", rows)

    def finished(self, plan: Plan) -> set[int]:
        """Return the numbers of the shards that are there."""
        rows = self.rows("SELECT number, trials FROM shard WHERE digest = ? AND number < ?", plan.digest, len(plan))
        return {number for number, trials in rows if trials == plan.trials(number)}

    def parts(self, plan: Plan) -> tuple[bytes, ...]:
        """Return what all shards gave, in order."""
        query = "SELECT number, trials, crc, data FROM shard WHERE digest = ? AND number < ? ORDER BY number"
        found = {}
        for number, trials, crc, data in self.rows(query, plan.digest, len(plan)):
            if trials != plan.trials(number):
                continue
            if zlib.crc32(data) != crc:
                raise StoreError(str(self.path), f"shard {number} is damaged", _WHY["CORRUPT"][1])
            found[number] = data
        return tuple(found[k] for k in range(len(plan)))

    def enter(self, who: Who, workers: int) -> None:
        """Say that a process works here, and still does; its leases are good for some minutes more."""
        row = (who.token, who.host, who.pid, who.born, workers, time.time() + LEASE_SECONDS)
        query = (
            "INSERT INTO process VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (token) DO UPDATE SET expires = excluded.expires"
        )
        self.write(query, [row])

    def leave(self, who: Who) -> None:
        """Give up everything that a process has leased."""
        self._bury([who.token])

    def bury(self) -> None:
        """Give up what processes have leased that are gone: here at once, elsewhere when their leases are over."""
        rows = self.rows("SELECT token, host, pid, born, expires FROM process")
        dead = []
        for token, host, pid, born, expires in rows:
            ended = gone(host, pid, born)
            if ended or (ended is None and expires < time.time()):
                dead.append(token)
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
        taken = set(self.rows("SELECT number, trials FROM lease WHERE about = ?", about))
        free: list[tuple[int, int]] = []
        for one in numbers:
            if one not in taken:
                free.append(one)
            if len(free) == most:
                break
        self.write("INSERT INTO lease VALUES (?, ?, ?, ?)", [(about, *one, who.token) for one in free])
        return [number for number, _ in free]

    def made_since(self, plan: Plan, numbers: Sequence[int]) -> set[int]:
        """Return which of these shards, and of those behind them, are there: another process may have made them."""
        query = "SELECT number, trials FROM shard WHERE digest = ? AND number BETWEEN ? AND ?"
        rows = self.rows(query, plan.digest, min(numbers), min(max(numbers) + _AHEAD, len(plan) - 1))
        return {number for number, trials in rows if trials == plan.trials(number)}

    def release(self, about: str, numbers: Iterable[tuple[int, int]]) -> None:
        """Give up leases."""
        query = "DELETE FROM lease WHERE about = ? AND number = ? AND trials = ?"
        self.write(query, [(about, *one) for one in numbers])
