"""The store of a campaign: one SQLite file, written by coordinating processes only, a transaction for every batch.

A rollback journal, not a write-ahead log: that needs memory shared by all who use the file, which network file systems
do not have; and a journal leaves one file behind. Every commit is synced to the disk.

Every row carries a checksum of its columns, key included, which is verified whenever the row is read: it notices
damage. It keeps nobody from writing another row on purpose, so what a store says is never run as code, and the
results in it are checked like those of any other file.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from ..errors import DpradarError
from .leases import holds_leases, lease_end
from .shard_tasks import ShardPlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from .leases import ProcessIdentity

__all__ = ["UNSOUND_HINT", "Store", "StoreError"]

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
# In these tables a later row replaces an earlier one with the same key.
_CONFLICT_KEYS = {"about": "name", "failure": "question, number", "process": "token"}
_LOOK_AHEAD = 10_000
_USE_ANOTHER_STORE = "run the campaign with another store (command line: campaign run --store FILE)"
UNSOUND_HINT = f"Use an undamaged copy of it, or {_USE_ANOTHER_STORE}."
_SQLITE_PROBLEMS = {
    "FULL": ("the disk is full", "Free some space, then resume the campaign."),
    "IOERR": (
        "the disk or the network reports an error",
        "Check that there is space and that it works, then resume the campaign.",
    ),
    "READONLY": ("it is read-only", f"Allow writing to the file and to its folder, or {_USE_ANOTHER_STORE}."),
    "CANTOPEN": ("it cannot be opened", "Check that its folder exists and can be written to."),
    "PERM": ("it cannot be opened", "Check that the file and its folder can be written to."),
    "BUSY": ("another program has locked it", "Wait until that program ends, or end it."),
    "LOCKED": ("another program has locked it", "Wait until that program ends, or end it."),
    "NOTADB": (
        "it is not the store of a campaign",
        f"Name the file in which a campaign was saved, or {_USE_ANOTHER_STORE}.",
    ),
    "CORRUPT": ("it is damaged", UNSOUND_HINT),
    "PROTOCOL": ("its locks do not work", "Put it on a local disk."),
}
_TRANSIENT = ("FULL", "IOERR", "BUSY", "LOCKED", "READONLY", "CANTOPEN")


class StoreError(DpradarError):
    """The store cannot be read or written; ``transient``: it may work later, such as when the disk is full.

    Examples
    --------
    >>> str(StoreError("a.sqlite", "the disk is full", "Free some space."))
    'the store a.sqlite cannot be used: the disk is full. Free some space.'
    """

    def __init__(self, path: str, why: str, hint: str, *, transient: bool = False) -> None:
        self.path, self.why, self.hint, self.transient = path, why, hint, transient
        super().__init__(f"the store {path} cannot be used: {why}. {hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_error, (self.path, self.why, self.hint, self.transient)  # so that it passes between processes


def _restore_error(path: str, why: str, hint: str, transient: bool) -> StoreError:  # noqa: FBT001
    return StoreError(path, why, hint, transient=transient)


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _row_checksum(table: str, row: Sequence[Any]) -> bytes:
    return _checksum(repr((table, *row)).encode("utf-8", "surrogatepass"))


@cache
def _own_schema() -> frozenset[tuple[str, str, str]]:
    """Return the schema that SQLite records for a new store."""
    with closing(sqlite3.connect(":memory:")) as base:
        base.executescript(_TABLES)
        return frozenset(base.execute("SELECT type, name, sql FROM sqlite_master"))


class Store:
    """An open store; every method that writes is called inside of ``writing()``."""

    def __init__(self, path: Path, *, write: bool = True, patience: float = 30.0) -> None:
        self.path = path
        if not write and not path.is_file():
            raise StoreError(str(path), "there is no such file", "`dpradar campaign run FILE` creates one.")
        with self._translated_errors():
            # Also to be read it is opened for writing where that is allowed: what a process that was killed left half
            # written has to be taken back first.
            uri = f"{path.resolve().as_uri()}?mode={'rwc' if write else 'rw'}"
            self._connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=patience)
            self._connection.execute("PRAGMA synchronous = FULL" if write else "PRAGMA query_only = ON")
            self._connection.execute("PRAGMA trusted_schema = OFF")
        try:
            if write:
                self._create()
            self._check()
        except BaseException:
            self._connection.close()
            raise

    def _create(self) -> None:
        with self.writing():
            if self._pragma("application_id") or self._pragma("user_version") or self._tables():
                return
            for statement in _TABLES.split(";\n"):
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {_SCHEMA}")

    def _tables(self) -> list[str]:
        return [row[0] for row in self._connection.execute("SELECT name FROM sqlite_master")]

    def _pragma(self, pragma: str) -> int:
        return int(self._connection.execute(f"PRAGMA {pragma}").fetchone()[0])

    def _check(self) -> None:
        with self._translated_errors():
            kind, schema = self._pragma("application_id"), self._pragma("user_version")
        if kind != _APPLICATION:
            raise StoreError(str(self.path), *_SQLITE_PROBLEMS["NOTADB"])
        if schema != _SCHEMA:
            age = "a newer" if schema > _SCHEMA else "an older"
            hint = f"Use that version of dpradar, or {_USE_ANOTHER_STORE}."
            message = f"it was made by {age} version of dpradar (schema {schema}, this one has {_SCHEMA})"
            if schema < _SCHEMA:
                message += ", whose rows have no checksums"
            raise StoreError(str(self.path), message, hint)
        with self._translated_errors():
            tables = frozenset(self._connection.execute("SELECT type, name, sql FROM sqlite_master"))
        if tables != _own_schema():  # a view or a trigger could run code of its own
            raise StoreError(str(self.path), "its tables are not those of a store", UNSOUND_HINT)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Turn errors of SQLite into a StoreError with a suggestion."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            name = str(getattr(error, "sqlite_errorname", "CORRUPT")).removeprefix("SQLITE_").partition("_")[0]
            why, hint = _SQLITE_PROBLEMS.get(name, (f"{error}", "Check that it is the store of a campaign."))
            raise StoreError(str(self.path), why, hint, transient=name in _TRANSIENT) from None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Open a transaction: everything written inside is saved, or nothing."""
        with self._translated_errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def query(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._translated_errors():
            return self._connection.execute(query, values).fetchall()

    def execute_many(self, query: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement for every row of values."""
        with self._translated_errors():
            self._connection.executemany(query, rows)

    def read_rows(self, table: str, condition: str = "", *values: Any, data: bool = False) -> list[tuple[Any, ...]]:
        """Return the rows of a table, each verified by its checksum; with the data of a shard where asked for."""
        columns = _COLUMNS[table]
        names = [*columns, "checksum", *(["data"] if data else [])]
        query = f"SELECT {', '.join(names)} FROM {table} {condition and 'WHERE'} {condition}"  # noqa: S608 (no values)
        rows = []
        for row in self.query(query, *values):
            covered = row[: len(columns)]
            if _row_checksum(table, covered) != row[len(columns)]:
                raise self._damage_error(f"a row of its table {table!r}")
            rows.append((*covered, *row[len(columns) + 1 :]))
        return rows

    def _damage_error(self, damaged: str) -> StoreError:
        return StoreError(str(self.path), f"{damaged} is damaged (its checksum does not match)", UNSOUND_HINT)

    def insert(self, table: str, rows: Iterable[Sequence[Any]], *, data: Iterable[bytes] | None = None) -> None:
        """Add rows with their checksums; where there is one with the same key, it is replaced or stays."""
        columns = _COLUMNS[table]
        key = _CONFLICT_KEYS.get(table)
        assignments = ", ".join(f"{name} = excluded.{name}" for name in (*columns, "checksum"))
        conflict = "DO NOTHING" if key is None else f"({key}) DO UPDATE SET {assignments}"
        marks = ", ".join("?" * (len(columns) + 1 + (data is not None)))
        checked = ((*row, _row_checksum(table, row)) for row in rows)
        full = checked if data is None else ((*row, blob) for row, blob in zip(checked, data, strict=True))
        self.execute_many(f"INSERT INTO {table} VALUES ({marks}) ON CONFLICT {conflict}", full)  # noqa: S608 (no values)

    def metadata(self) -> dict[str, str]:
        """Return the metadata of the store: the text of the campaign, versions, dates."""
        return dict(self.read_rows("about"))

    def set_metadata(self, **values: str) -> None:
        """Change entries of the metadata."""
        self.insert("about", values.items())

    def plans(self) -> dict[str, ShardPlan]:
        """Return the plans of all questions."""
        return {question: self._plan(row) for question, *row in self.read_rows("plan")}

    def plan(self, question: str) -> ShardPlan | None:
        """Return the plan of a question, if there is one."""
        rows = self.read_rows("plan", "question = ?", question)
        return self._plan(rows[0][1:]) if rows else None

    def _plan(self, row: Sequence[Any]) -> ShardPlan:
        digest, total, size = row
        if not (isinstance(total, int) and isinstance(size, int) and min(total, size) > 0):
            raise StoreError(str(self.path), "the plan of a run has an invalid number or size of shards", UNSOUND_HINT)
        return ShardPlan(digest, total, size)

    def save_plan(self, question: str, plan: ShardPlan) -> None:
        """Save a plan."""
        self.insert("plan", [(question, plan.digest, plan.total, plan.size)])

    def save_answer(self, question: str, answer: str) -> None:
        """Save an answer."""
        self.insert("answer", [(question, answer)])

    def save_failure(self, question: str, number: int, reason: str) -> None:
        """Save the reason why there is no answer."""
        self.insert("failure", [(question, number, reason)])

    def failures(self) -> dict[str, str]:
        """Return for each question that has no answer a reason."""
        return {question: reason for question, _, reason in sorted(self.read_rows("failure"), reverse=True)}

    def delete_failures(self, questions: Iterable[str]) -> None:
        """Delete the recorded failures, so that these questions are tried again."""
        self.execute_many("DELETE FROM failure WHERE question = ?", [(question,) for question in questions])

    def answered(self, question: str) -> bool:
        """Return whether there is an answer."""
        return bool(self.read_rows("answer", "question = ?", question))

    def answers(self) -> dict[str, str]:
        """Return the answers of all questions."""
        return dict(self.read_rows("answer"))

    def save_shards(self, plan: ShardPlan, shards: Iterable[tuple[int, bytes, float]]) -> None:
        """Save finished shards; one that exists already stays, as it has the same numbers."""
        finished = list(shards)
        rows = [(plan.digest, k, plan.trials(k), float(seconds), _checksum(data)) for k, data, seconds in finished]
        self.insert("shard", rows, data=[data for _, data, _ in finished])

    def shards(self, plan: ShardPlan) -> dict[int, float]:
        """Return the seconds of each saved shard, by its number."""
        rows = self.read_rows("shard", "digest = ? AND number < ?", plan.digest, len(plan))
        return {number: seconds for _, number, trials, seconds, _ in rows if trials == plan.trials(number)}

    def shard_data(self, plan: ShardPlan) -> tuple[bytes, ...]:
        """Return the data of all shards, in order."""
        parts = {}
        for _, number, trials, _, content, data in self.read_rows(
            "shard", "digest = ? AND number < ?", plan.digest, len(plan), data=True
        ):
            if trials != plan.trials(number):
                continue
            if _checksum(data) != content:
                raise self._damage_error(f"shard {number}")
            parts[number] = data
        return tuple(parts[k] for k in range(len(plan)))

    def record_heartbeat(self, process: ProcessIdentity, workers: int) -> None:
        """Record that a process is alive, and extend its leases."""
        row = (process.token, process.host, process.pid, process.started_at, workers, lease_end())
        self.insert("process", [row])

    def processes(self) -> list[tuple[str, int]]:
        """Return the token and the number of workers of every live process."""
        return [
            (token, workers)
            for token, host, pid, started_at, workers, expires in self.read_rows("process")
            if holds_leases(host, pid, started_at, expires)
        ]

    def unregister_process(self, process: ProcessIdentity) -> None:
        """Release all leases of a process."""
        self._delete_processes([process.token])

    def release_dead_leases(self) -> None:
        """Release the leases of dead processes: on this computer at once, elsewhere when they expire."""
        alive = {token for token, _ in self.processes()}
        dead = [row[0] for row in self.read_rows("process") if row[0] not in alive]
        if dead:
            self._delete_processes(dead)
        if self.query("SELECT 1 FROM lease WHERE token NOT IN (SELECT token FROM process) LIMIT 1"):
            self.execute_many("DELETE FROM lease WHERE token NOT IN (SELECT token FROM process)", [()])

    def _delete_processes(self, tokens: Iterable[str]) -> None:
        keys = [(token,) for token in tokens]
        self.execute_many("DELETE FROM lease WHERE token = ?", keys)
        self.execute_many("DELETE FROM process WHERE token = ?", keys)

    def lease(self, process: ProcessIdentity, key: str, numbers: Iterable[tuple[int, int]], limit: int) -> list[int]:
        """Lease the first of these (number, trials) that are not leased yet, and return their numbers."""
        leased = {(number, trials) for _, number, trials, _ in self.read_rows("lease", "about = ?", key)}
        free: list[tuple[int, int]] = []
        for shard in numbers:
            if shard not in leased:
                free.append(shard)
            if len(free) == limit:
                break
        self.insert("lease", [(key, *shard, process.token) for shard in free])
        return [number for number, _ in free]

    def finished_shards(self, plan: ShardPlan, numbers: Sequence[int]) -> set[int]:
        """Return which of these and the following shards are saved: another process may have computed them."""
        last = min(max(numbers) + _LOOK_AHEAD, len(plan) - 1)
        rows = self.read_rows("shard", "digest = ? AND number BETWEEN ? AND ?", plan.digest, min(numbers), last)
        return {number for _, number, trials, _, _ in rows if trials == plan.trials(number)}

    def leased_keys(self) -> set[str]:
        """Return the keys with leases: digests of plans, and questions."""
        return {row[0] for row in self.read_rows("lease")}

    def release(self, key: str, numbers: Iterable[tuple[int, int]]) -> None:
        """Release leases."""
        query = "DELETE FROM lease WHERE about = ? AND number = ? AND trials = ?"
        self.execute_many(query, [(key, *shard) for shard in numbers])
