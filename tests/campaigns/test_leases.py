"""Who holds a lease: known by the number and the start of a process, and where those cannot be read by time alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import psutil
import pytest

from dpradar.campaigns.leases import is_dead, this_process
from dpradar.campaigns.store import Store
from tests.campaigns.test_store import can_mount, in_namespace


@pytest.fixture
def hidden(tmp_path, monkeypatch):
    """Hide /proc from psutil."""
    (tmp_path / "proc").mkdir()
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(tmp_path / "proc"), raising=False)


def test_nothing_is_said_of_processes_that_cannot_be_seen(hidden):
    me = this_process()
    assert me.started_at is None
    assert is_dead(me.host, me.pid, me.started_at) is None
    assert is_dead(me.host, me.pid, time.time()) is None
    assert is_dead(me.host, 2**22 - 7, 1.0) is None


def test_a_number_that_was_given_again_loses_its_lease_in_time(hidden, tmp_path):
    """The process of the lease is gone, another one has its number; without /proc that does not show."""
    me = this_process()
    other = type(me)("other", me.host, me.pid, me.started_at)
    with Store(tmp_path / "a.sqlite") as store, store.writing():
        for who in (me, other):
            store.record_heartbeat(who, 1)
        assert store.lease(other, "digest", [(0, 10)], 1) == [0]
        store.release_dead_leases()
        assert store.lease(me, "digest", [(0, 10)], 1) == []
        store.insert("process", [("other", other.host, other.pid, None, 1, time.time() - 1.0)])
        store.release_dead_leases()
        assert store.lease(me, "digest", [(0, 10)], 1) == [0]
        assert [token for token, _ in store.processes()] == [me.token]


def test_a_process_that_was_not_waited_for_is_gone():
    me = this_process()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        born = psutil.Process(child.pid).create_time()
        assert is_dead(me.host, child.pid, born) is False
        child.stdin.close()
        until = time.monotonic() + 60.0
        while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert is_dead(me.host, child.pid, born) is True
    assert is_dead(me.host, child.pid, born) is True


def test_no_signal_is_sent(monkeypatch):
    """On Windows os.kill(pid, 0) is Ctrl-C."""

    def kill(*_):
        raise AssertionError

    monkeypatch.setattr(os, "kill", kill)
    me = this_process()
    assert is_dead(me.host, me.pid, me.started_at) is False
    assert is_dead(me.host, 2**22 - 7, 1.0) is True
    assert is_dead(me.host, me.pid, None) is None


@pytest.mark.skipif(not can_mount(), reason="file systems cannot be mounted here")
def test_a_campaign_where_there_is_no_proc(tmp_path):
    (tmp_path / "c.toml").write_text('run = [{do = "attack", kind = "grr", m = 4, epsilon = 1.0, trials = 1000}]')
    code = (
        "from dpradar.campaigns.leases import is_dead, this_process; me = this_process(); "
        "print(me.started_at, is_dead(me.host, me.pid, me.started_at), is_dead(me.host, me.pid, 1.0))"
    )
    command = f"{sys.executable} -m dpradar campaign"
    done = in_namespace(
        "mount -t tmpfs tmpfs /proc\n"
        f"{sys.executable} -c '{code}'\n"
        f"{command} run {tmp_path}/c.toml --workers 1 | tail -n 3 | head -n 1\n"
        f"{command} status {tmp_path}/c.sqlite | tail -n 1\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["None None None", "1 of 1 runs are done.", "1 of 1 runs are done."]
