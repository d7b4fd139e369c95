"""Damaged stores of campaigns: what they give is what was stored, or an error."""

from __future__ import annotations

import csv
import functools
import io
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import mutations
from ..command import called
from ..verdicts import FINE, Question, Verdict
from ..written import Body
from .files import judged_output

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRESS = frozenset({"state", "done", "shards", "shards_done", "reason", "seconds", "finished", "trials_done"})
CAMPAIGN = """title = "small"
seed = 1
[[run]]
do = "attack"
kind = "grr"
m = 4
epsilon = 1.0
trials = 3000
[[run]]
do = "assess"
kind = "grr"
m = 4
epsilon = 1.0
[[run]]
do = "audit"
kind = "grr"
m = 4
epsilon = 1.0
trials = 4000
significance = 0.01
"""


@functools.cache
def stored() -> tuple[bytes, str]:
    """A finished store, and the rows that it exports."""
    folder = Path(tempfile.mkdtemp())
    (folder / "c.toml").write_text(CAMPAIGN, encoding="utf-8")
    command = [sys.executable, "-m", "dpradar", "campaign", "run", "c.toml", "--store", "c.sqlite", "--workers", "1"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    content = (folder / "c.sqlite").read_bytes()
    rows = _exported(folder, "c.sqlite")[1]
    shutil.rmtree(folder)
    return content, rows


def _exported(folder: Path, store: str) -> tuple[Any, str]:
    outcome = called(["campaign", "export", store, "--out", "rows.csv"], folder)
    rows = folder / "rows.csv"
    return outcome, rows.read_text(encoding="utf-8", errors="replace") if rows.is_file() else ""


class Stores:
    """A store of which a cell or a byte was changed."""

    name = "stores"

    def prepare(self) -> None:
        """Run the campaign whose store is damaged."""
        stored()

    def draw(self, rng: random.Random) -> Question:
        if rng.random() < 0.3:
            return {"bytes": rng.randrange(2**31)}
        with tempfile.NamedTemporaryFile(suffix=".sqlite") as file:
            Path(file.name).write_bytes(stored()[0])
            with closing(sqlite3.connect(file.name)) as base:
                table = rng.choice(("answer", "answer", "shard", "plan", "about", "failure", "lease"))
                rows = base.execute(f"SELECT * FROM {table}").fetchall()
                names = [row[1] for row in base.execute(f"PRAGMA table_info({table})")]
        if not rows:
            return {"sql": "DELETE FROM answer", "values": []}
        row, column = rng.randrange(len(rows)), rng.randrange(len(names))
        value = rows[row][column]
        where = f"{names[0]} = ?" if table != "shard" else "digest = ? AND number = ?"
        keys = list(rows[row][:1] if table != "shard" else rows[row][:2])
        sql = f"UPDATE {table} SET {names[column]} = ? WHERE {where}"
        return {"sql": sql, "values": [_other(rng, value), *keys]}

    def judge(self, question: Question) -> Verdict:
        content, before = stored()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            damaged(folder / "c.sqlite", content, question)
            outcome, after = _exported(folder, "c.sqlite")
            verdict = judged_output(outcome)
            if verdict.is_finding or outcome.code == 2:
                return verdict
            wrong = _misstated(before, after)
            if wrong:
                return Verdict("unsafe", f"exit {outcome.code}, but {wrong}")
            return judged_output(called(["campaign", "status", "c.sqlite", "--json"], folder))
        return FINE

    def smaller(self, question: Question) -> Iterator[Question]:
        return iter(())

    def body(self, question: Question, verdict: Verdict) -> Body:
        condition = "result.returncode == 2" if verdict.kind == "unsafe" else "result.returncode != 1"
        lines = (
            f"content, _ = stored()\ndamaged(tmp_path / 'c.sqlite', content, {question!r})\n"
            "command = [sys.executable, '-m', 'dpradar', 'campaign', 'export', 'c.sqlite', '--out', 'rows.csv']\n"
            "result = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)\n"
            f"assert {condition}, result.stderr\n"
        )
        return Body(
            lines, "import subprocess\nimport sys\n\nfrom tests.fuzz.families.stores import damaged, stored", "tmp_path"
        )


def damaged(path: Path, content: bytes, question: Question) -> None:
    """Write the store with its damage."""
    if "bytes" in question:
        path.write_bytes(mutations.changed_bytes(random.Random(question["bytes"]), content))
        return
    path.write_bytes(content)
    values = [v.encode("latin-1") if isinstance(v, str) and v.startswith("\x00") else v for v in question["values"]]
    with closing(sqlite3.connect(path)) as base:
        try:
            base.execute(question["sql"], values)
            base.commit()
        except (sqlite3.Error, OverflowError):
            return


def _other(rng: random.Random, value: Any) -> Any:
    """Another value for a cell: data in JSON is changed inside."""
    if isinstance(value, str):
        try:
            return json.dumps(mutations.changed_data(rng, json.loads(value)))
        except ValueError:
            return rng.choice((value + "x", "", value[:-1], "0"))
    if isinstance(value, bytes):
        return "\x00" + mutations.changed_bytes(rng, value).decode("latin-1")
    return rng.choice((-1, 0, 1, 10**9, None, "x", 0.5))


def _misstated(before: str, after: str) -> str:
    """A cell that says something else than it did; that a run is no longer finished is no misstatement."""
    old, new = (list(csv.DictReader(io.StringIO(rows))) for rows in (before, after))
    for was, now in zip(old, new, strict=False):
        for name in was.keys() & now.keys() - PROGRESS:
            if was[name] and now[name] and was[name] != now[name]:
                return f"{name} {was[name][:80]!r} became {now[name][:80]!r}"
    return ""


FAMILIES = [Stores()]
