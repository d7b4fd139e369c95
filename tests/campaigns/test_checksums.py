"""A store that was changed is noticed, whatever was changed in it; what it says is checked as files are."""

from __future__ import annotations

import json
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import numpy as np
import pytest

from dpradar import campaigns
from dpradar.campaigns import StoreError
from dpradar.campaigns.leases import this_process
from dpradar.campaigns.store import Store
from dpradar.errors import DpradarError
from tests.cli.test_assess import run
from tests.mutations import changed, some

CAMPAIGN = """
[[run]]
do = "attack"
kind = "grr"
m = 4
epsilon = 1.0
trials = 1000
seed = 1
[[run]]
do = "assess"
kind = "grr"
m = 4
epsilon = 2.0
[[run]]
do = "calibrate"
kind = "grr"
m = 4
limits = { rad = 0.1 }
[[run]]
do = "audit"
kind = "grr"
m = 4
epsilon = 1.0
trials = 2000
seed = 1
"""


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A store with a row in every table."""
    path = tmp_path_factory.mktemp("original") / "c.sqlite"
    with ThreadPoolExecutor(1) as thread:
        assert campaigns.run(campaigns.parse(CAMPAIGN), path, executor=thread).done
    with Store(path) as store, store.writing():
        who = this_process()
        store.record_heartbeat(who, 1)
        store.lease(who, "digest", [(0, 10)], 1)
        store.save_failure("question", 0, "a reason")
    return path


@pytest.fixture
def store(original, tmp_path):
    return shutil.copy(original, tmp_path / "c.sqlite")


COLUMNS = {
    "about": ("name", "value"),
    "plan": ("question", "digest", "total", "size"),
    "shard": ("digest", "number", "trials", "seconds"),
    "answer": ("question", "data"),
    "failure": ("question", "number", "reason"),
    "process": ("token", "host", "pid", "workers", "expires"),
    "lease": ("about", "number", "trials", "token"),
}


@pytest.mark.parametrize(("table", "column"), [(table, column) for table in COLUMNS for column in COLUMNS[table]])
def test_a_changed_column_is_noticed(store, table, column):
    with closing(sqlite3.connect(store)) as base, base:
        key = base.execute(f"SELECT {column} FROM {table} LIMIT 1").fetchone()[0]  # noqa: S608
        new = f"{key}x" if isinstance(key, str) else key + 1
        base.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, key))  # noqa: S608
    with pytest.raises(StoreError, match=f"a row of its table '{table}' is damaged"), Store(store) as opened:
        opened.read_rows(table)
    done = run("campaign", "status", str(store))
    if table not in ("shard", "lease"):  # those are looked up by what belongs to a run, which is not this one any more
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: the store {store} cannot be used: a row of its table '{table}' is dam")


def test_one_changed_digit_of_an_answer(store, tmp_path):
    """The rad of a run, written over in the file itself."""
    rad = campaigns.status(store).runs[1].result.rad.value
    text = repr(rad).encode()
    data = store.read_bytes()
    assert data.count(text) >= 1
    store.write_bytes(data.replace(text, b"0.0" + text[3:]))
    for arguments in (("status",), ("export", "--out", str(tmp_path / "c.csv")), ("resume",)):
        done = run("campaign", arguments[0], str(store), *arguments[1:])
        assert done.returncode == 2
        assert "a row of its table 'answer' is damaged (its checksum does not match)" in done.stderr
    assert not (tmp_path / "c.csv").exists()


def numbers(path):
    return [(one.title, one.state, one.result) for one in campaigns.status(path).runs]


def flipped(store, positions, chance):
    """Yield what is read after one bit was changed; nothing where that is refused."""
    data = store.read_bytes()
    for k in positions:
        new = bytearray(data)
        new[k] ^= 1 << int(chance.integers(8))
        store.write_bytes(bytes(new))
        with suppress(DpradarError):
            yield numbers(store)
    store.write_bytes(data)


@pytest.mark.parametrize("count", [150, pytest.param(3000, marks=pytest.mark.slow)])
def test_flipped_bits(store, count):
    """A bit anywhere in the file: what is read is what was there, or less of it, and never another number."""
    expected = numbers(store)
    chance = np.random.default_rng(1)
    positions = chance.choice(store.stat().st_size, count, replace=False)
    seen = list(flipped(store, positions, chance))
    for runs in seen:
        assert [one[0] for one in runs] == [one[0] for one in expected]
        for one, other in zip(runs, expected, strict=True):
            assert one == other or (one[1] != "done" and one[2] is None)
    assert 0 < len(seen) < count


def test_a_store_with_more_than_tables(store):
    with closing(sqlite3.connect(store)) as base, base:
        base.execute("CREATE TRIGGER more AFTER INSERT ON lease BEGIN DELETE FROM answer; END")
    with pytest.raises(StoreError, match="its tables are not those of a store"):
        campaigns.status(store)


def rewritten(store, table, change):
    """Change rows as somebody does who knows how checksums are computed."""
    with Store(store) as opened:
        rows = [change(row) for row in opened.read_rows(table)]
        with opened.writing():
            opened.execute_many(f"DELETE FROM {table}", [()])  # noqa: S608
            opened.insert(table, rows)


def read(store):
    """Return whether a store is accepted; then it can be shown, and exported."""
    with suppress(DpradarError):
        campaigns.status(store)
        assert run("campaign", "status", str(store)).returncode == 0
        campaigns.export(store, store.with_suffix(".csv"))
        return True
    return False


@pytest.mark.parametrize("seed", [1, 2])
def test_mutated_runs(store, seed):
    """What a store says of its runs, with checksums that fit."""
    with Store(store) as opened:
        rows = json.loads(opened.metadata()["runs"])[:2]
    answers = []
    for place, value in some(rows, 25, seed):
        text = json.dumps(changed(rows, place, value))
        rewritten(store, "about", lambda row, text=text: (row[0], text if row[0] == "runs" else row[1]))
        answers.append(read(store))
    assert not all(answers)


@pytest.mark.parametrize("number", range(4))
def test_mutated_answers(store, number):
    """What a store gives as results, with checksums that fit."""
    with Store(store) as opened:
        key = json.loads(opened.metadata()["runs"])[number]["question"]
        answer = json.loads(opened.answers()[key])
    answers = []
    for place, value in [((), {"schema": "dpradar/advice/2"}), *some(answer, 15, seed=number)]:
        text = json.dumps(changed(answer, place, value) if place else value)
        rewritten(store, "answer", lambda row, text=text: (row[0], text if row[0] == key else row[1]))
        answers.append(read(store))
    assert not all(answers)


def test_a_plan_without_shards(store):
    rewritten(store, "plan", lambda row: (*row[:2], 0, 0))
    with pytest.raises(StoreError, match="the plan of a run has an invalid number or size of shards"):
        campaigns.status(store)
