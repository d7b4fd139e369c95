"""A store that cannot be written, or is none: a clear message, and no shard that was kept is lost."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psutil
import pytest

from dpradar import campaigns
from dpradar.campaigns import StoreError
from dpradar.campaigns.leases import is_dead, this_process
from dpradar.campaigns.shard_tasks import ShardPlan
from dpradar.campaigns.store import Store
from tests.campaigns.campaigns import finished, shards_in

# A thousand shards of less than a millisecond; the store grows by about 130 bytes for each.
LABELS = [k % 2 for k in range(2000)]
MANY = f"""
[[run]]
do = "attack"
kind = "grr"
m = 2000
epsilon = 1.0
knowledge = {{ labels = {LABELS} }}
trials = 4_000_000
seed = 1
"""
FEW = 'run = [{do = "attack", kind = "grr", m = 4, epsilon = 1.0, trials = 1000, seed = 1}]'


def ran(text, store, **options):
    with ThreadPoolExecutor(2) as threads:
        return campaigns.run(campaigns.parse(text), store, executor=threads, workers=2, **options)


def test_a_full_disk_is_told_and_nothing_kept_is_lost(tmp_path):
    """A limit on the size of files stands for the disk: writing behind it fails as on a full one."""
    (tmp_path / "many.toml").write_text(MANY)
    store = tmp_path / "many.sqlite"
    script = (
        "import resource, signal, sys\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from dpradar import campaigns\n"
        "if __name__ == '__main__':\n"
        "    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (57344, 57344))\n"
        "    try:\n"
        "        with ThreadPoolExecutor(2) as threads:\n"
        "            campaign = campaigns.read(sys.argv[1])\n"
        "            campaigns.run(campaign, sys.argv[2], executor=threads, workers=2, patience=0.3)\n"
        "    except campaigns.StoreError as error:\n"
        "        sys.exit(str(error))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "many.toml"), str(store)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"the store {store} cannot be used: the disk")
    assert (
        "finished shards were not saved and will be computed again. Everything saved before is intact.\n" in done.stderr
    )
    before = shards_in(store)
    assert 1 <= before < 1000
    status = campaigns.status(store)
    assert status.runs[0].shards_done == before
    again = ran(MANY, store)
    assert again.done
    assert again.runs[0].result == ran(MANY, tmp_path / "other.sqlite").runs[0].result


def in_namespace(script):
    """Run a script that may mount file systems, which only it sees."""
    return subprocess.run(["unshare", "--mount", "bash", "-ec", script], capture_output=True, text=True, check=False)


def can_mount():
    return os.geteuid() == 0 and in_namespace("mount -t tmpfs tmpfs /mnt").returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not can_mount(), reason="file systems cannot be mounted here")
def test_a_disk_that_is_full_and_then_is_not(tmp_path):
    (tmp_path / "many.toml").write_text(MANY)
    (tmp_path / "disk").mkdir()
    disk = tmp_path / "disk"
    command = f"{sys.executable} -m dpradar campaign"
    done = in_namespace(
        f"mount -t tmpfs -o size=128k tmpfs {disk}\n"
        f"cp {tmp_path}/many.toml {disk}\n"
        f"{command} run {disk}/many.toml --workers 1 2> {tmp_path}/error.txt && exit 9; echo code $?\n"
        f"{command} status {disk}/many.sqlite --json\n"
        f"mount -o remount,size=4m {disk}\n"
        f"{command} resume {disk}/many.sqlite --workers 1 --json\n"
    )
    assert done.returncode == 0, done.stderr
    code, before, after = done.stdout.splitlines()
    assert code == "code 2"
    assert (
        "cannot be used: the disk is full. Free some space, then resume the campaign."
        in (tmp_path / "error.txt").read_text()
    )
    kept_then = json.loads(before)["runs"][0]["shards_done"]
    assert 1 <= kept_then < 1000
    run = json.loads(after)["runs"][0]
    assert run["shards_done"] == 1000
    assert run["result"] == ran(MANY, tmp_path / "other.sqlite").runs[0].result.to_dict()


@pytest.mark.slow
@pytest.mark.skipif(not can_mount(), reason="file systems cannot be mounted here")
def test_a_read_only_disk(tmp_path):
    (tmp_path / "few.toml").write_text(FEW)
    finished(tmp_path, "run", str(tmp_path / "few.toml"))
    command = f"{sys.executable} -m dpradar campaign"
    read_only = f"mount --bind {tmp_path} {tmp_path} && mount -o remount,bind,ro {tmp_path}\n"
    done = in_namespace(
        f"sed -i s/1000/2000/ {tmp_path}/few.toml\n{read_only}"
        f"{command} run {tmp_path}/few.toml && exit 9; echo code $?\n"
        f"{command} run {tmp_path}/few.toml --store {tmp_path}/new.sqlite && exit 9; echo code $?\n"
        f"{command} status {tmp_path}/few.sqlite\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == ["code 2", "code 2"]
    assert "1 of 1 runs are done." in done.stdout  # it can still be read
    one, two = done.stderr.splitlines()
    assert one.startswith(f"error: the store {tmp_path}/few.sqlite cannot be used: it is read-only. Allow writing")
    assert two.startswith(f"error: the store {tmp_path}/new.sqlite cannot be used: it cannot be opened. Check that")


def as_nobody(work):
    """Run a function in a child without the rights of root, and return what it wrote."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            os.write(writer, work().encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text


def test_a_read_only_file(tmp_path):
    store = tmp_path / "few.sqlite"
    before = ran(FEW, store)
    store.chmod(0o444)
    tmp_path.chmod(0o555)
    own = (folder for folder in tmp_path.parents if folder.name.startswith(("pytest-", "popen-")))
    for folder in own:
        folder.chmod(folder.stat().st_mode | 0o055)

    def work():
        read = campaigns.status(store)
        assert read.runs == before.runs
        try:
            ran(FEW.replace("1000", "2000"), store)
        except StoreError as error:
            return str(error)
        return "nothing"

    message = as_nobody(work)
    tmp_path.chmod(0o755)
    assert message.startswith(f"the store {store} cannot be used: it is read-only. Allow writing to the file")


def test_a_store_that_others_hold(tmp_path):
    store = tmp_path / "few.sqlite"
    ran(FEW, store)
    other = sqlite3.connect(store)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match=r"another program has locked it\. Wait until that program ends, or end it"):
        ran(FEW.replace("1000", "2000"), store, patience=0.2)
    other.rollback()
    other.close()
    assert ran(FEW.replace("1000", "2000"), store).done


def test_files_that_are_no_store(tmp_path):
    text = tmp_path / "text.sqlite"
    text.write_text("This is no store at all, but it is longer than the header of one." * 20)
    with pytest.raises(StoreError, match="it is not the store of a campaign"):
        ran(FEW, text)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as base:
        base.execute("CREATE TABLE mine (x)")
    base.close()
    for use in (lambda: ran(FEW, other), lambda: campaigns.status(other), lambda: campaigns.resume(other)):
        with pytest.raises(StoreError, match="it is not the store of a campaign"):
            use()
    with sqlite3.connect(other) as base:
        assert base.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]  # left as it was
    base.close()
    for use in (campaigns.status, campaigns.resume):
        with pytest.raises(StoreError, match="there is no such file"):
            use(tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()
    with pytest.raises(StoreError, match="it cannot be opened"):
        ran(FEW, tmp_path / "no folder" / "a.sqlite")


@pytest.mark.parametrize(("schema", "word"), [(0, "an older"), (1, "an older"), (3, "a newer")])
def test_stores_of_other_versions(tmp_path, schema, word):
    store = tmp_path / "few.sqlite"
    ran(FEW, store)
    with sqlite3.connect(store) as base:
        base.execute(f"PRAGMA user_version = {schema}")
    base.close()
    for use in (lambda: ran(FEW, store), lambda: campaigns.status(store)):
        with pytest.raises(StoreError, match=rf"made by {word} version of dpradar \(schema {schema}, this one has 2\)"):
            use()


HALF_WRITTEN = """
import os, sqlite3, sys
base = sqlite3.connect(sys.argv[1], isolation_level=None)
base.execute("PRAGMA cache_size = 1")  # so that pages are written before the end of the transaction
base.execute("BEGIN IMMEDIATE")
base.execute("DELETE FROM shard")
base.executemany("INSERT INTO shard VALUES ('x', ?, 1, 1.0, x'00', x'00', ?)", [(k, b"x" * 1000) for k in range(500)])
os.kill(os.getpid(), 9)
"""


def test_what_was_half_written_is_taken_back_even_to_read(tmp_path):
    store = tmp_path / "few.sqlite"
    before = ran(FEW, store)
    size = store.stat().st_size
    subprocess.run([sys.executable, "-c", HALF_WRITTEN, str(store)], check=False)
    assert (tmp_path / "few.sqlite-journal").exists()
    assert store.stat().st_size > size
    assert campaigns.status(store).runs == before.runs
    assert shards_in(store) == 1


def test_errors_of_the_store_pass_between_processes():
    error = StoreError("a.sqlite", "the disk is full", "Make room.", transient=True)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made a word before
    assert (str(again), again.transient) == (str(error), True)


def test_damage_is_noticed(tmp_path):
    store = tmp_path / "few.sqlite"
    ran(FEW, store)
    with sqlite3.connect(store) as base:  # a flipped bit in what a shard gave
        data = bytearray(base.execute("SELECT data FROM shard").fetchone()[0])
        data[3] ^= 1
        base.execute("UPDATE shard SET data = ?", (bytes(data),))
        base.execute("DELETE FROM answer")
    base.close()
    with pytest.raises(StoreError, match="shard 0 is damaged"):
        ran(FEW, store)
    whole = store.read_bytes()
    store.write_bytes(whole[:4096] + b"\xff" * 4096 * 2 + whole[12288:])
    with pytest.raises(StoreError, match="it is damaged"):
        campaigns.status(store)


def test_leases_of_the_living_and_of_the_dead(tmp_path):
    """A living process keeps its leases, a dead one of this computer loses them, one elsewhere when they are over."""
    plan = ShardPlan("digest", total=30, size=10)
    numbers_of = [(number, plan.trials(number)) for number in range(3)]
    with subprocess.Popen(["sleep", "60"]) as sleeper, Store(tmp_path / "a.sqlite") as store:
        here = this_process()
        other = type(here)("other", here.host, sleeper.pid, psutil.Process(sleeper.pid).create_time())
        far = type(here)("far", "elsewhere", 1, 1.0)
        with store.writing():
            for who in (here, other, far):
                store.record_heartbeat(who, 1)
            assert store.lease(other, "digest", numbers_of, 1) == [0]
            assert store.lease(far, "digest", numbers_of, 1) == [1]
            store.release_dead_leases()
            assert store.lease(here, "digest", numbers_of, 3) == [2]
        sleeper.send_signal(signal.SIGKILL)
        sleeper.wait()
        assert is_dead(other.host, other.pid, other.started_at)
        with store.writing():
            store.release_dead_leases()
            assert store.lease(here, "digest", numbers_of, 3) == [0]
            store.insert("process", [("far", "elsewhere", 1, 1.0, 1, time.time() - 1.0)])
            store.release_dead_leases()
            assert store.lease(here, "digest", numbers_of, 3) == [1]


def test_leases_of_nobody_are_given_up(tmp_path):
    with Store(tmp_path / "a.sqlite") as store, store.writing():
        me = this_process()
        assert store.lease(me, "digest", [(0, 10)], 1) == [0]  # without having said who it is
        store.record_heartbeat(type(me)("other", me.host, me.pid, me.started_at), 1)
        assert store.lease(me, "digest", [(0, 10)], 1) == []
        store.release_dead_leases()
        assert store.lease(me, "digest", [(0, 10)], 1) == [0]


def test_a_number_of_a_process_that_was_given_again(tmp_path):
    me = this_process()
    assert is_dead(me.host, me.pid, me.started_at) is False
    assert is_dead(me.host, me.pid, me.started_at + 60.0) is True
    assert is_dead(me.host, me.pid, me.started_at - 60.0) is True


def test_a_shard_that_is_kept_twice_stays_as_it_was(tmp_path):
    plan = ShardPlan("digest", total=10, size=10)
    with Store(tmp_path / "a.sqlite") as store:
        for data in (b"first", b"second"):
            with store.writing():
                store.save_shards(plan, [(0, data, 0.1)])
        assert store.shard_data(plan) == (b"first",)


def test_what_is_written_in_a_turn_that_fails_is_not_there(tmp_path):
    plan = ShardPlan("digest", total=20, size=10)
    with Store(tmp_path / "a.sqlite") as store:
        with suppress(KeyboardInterrupt), store.writing():
            store.save_shards(plan, [(0, b"data", 0.1)])
            assert store.shards(plan) == {0: 0.1}
            raise KeyboardInterrupt
        assert store.shards(plan) == {}
