"""Dask: a real scheduler and real workers on this computer, one of which is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import pytest

import dpradar as dr
from dpradar import campaigns
from tests.campaigns.campaigns import finished, kill, numbers, started, wait_for, write
from tests.campaigns.test_killing import undisturbed

pytestmark = pytest.mark.slow
SIZES = {"attacks": 3_000_000, "reports": 60_000_000}


@contextmanager
def dask(folder, *arguments):
    """Start a part of a cluster, and end it."""
    environment = {**os.environ, "SHARD_LOG": str(folder / "shards.log"), "DASK_LOGGING__DISTRIBUTED": "error"}
    with (folder / f"{arguments[0]}.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments], env=environment, start_new_session=True, stdout=log, stderr=log
        )
    try:
        yield process
    finally:
        kill(process)


@contextmanager
def cluster(folder):
    """Start a scheduler and two workers; yield the address and the workers."""
    pytest.importorskip("distributed")
    place = folder / "scheduler.json"
    with ExitStack() as stack:
        scheduler = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file")
        stack.enter_context(dask(folder, *scheduler, str(place)))
        options = ("worker", "--scheduler-file", str(place), "--nthreads", "1", "--no-nanny", "--no-dashboard")
        until = time.monotonic() + 60.0
        while not place.is_file() or not place.read_text().strip().endswith("}"):
            assert time.monotonic() < until
            time.sleep(0.05)
        workers = [stack.enter_context(dask(folder, *options)) for _ in range(2)]
        address = json.loads(place.read_text())["address"].replace("tcp://", "dask://")
        _two_workers(address, until)
        yield address, workers


def _two_workers(address, until):
    from distributed import Client

    with Client(address.replace("dask://", "tcp://")) as client:
        client.wait_for_workers(2, timeout=max(1.0, until - time.monotonic()))


def test_a_worker_of_dask_is_killed(tmp_path):
    expected = undisturbed(tmp_path / "plain", SIZES)
    file = write(tmp_path / "dask", **SIZES)
    with (
        cluster(tmp_path) as (address, workers),
        started(tmp_path, "run", str(file), "--executor", address, "--json") as process,
    ):
        assert wait_for(file.with_suffix(".sqlite"), process, 40)
        os.kill(workers[0].pid, signal.SIGKILL)
        out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert numbers(out) == expected


def test_a_coordinator_on_dask_is_killed(tmp_path):
    expected = undisturbed(tmp_path / "plain", SIZES)
    file = write(tmp_path / "dask", **SIZES)
    with cluster(tmp_path) as (address, _):
        with started(tmp_path, "run", str(file), "--executor", address) as process:
            assert wait_for(file.with_suffix(".sqlite"), process, 40)
            kill(process)
            process.communicate()
        out, _ = finished(tmp_path, "run", str(file), "--executor", address, "--json")
    assert numbers(out) == expected


@pytest.mark.parametrize("address", ["dask://", "tcp://127.0.0.1:1", "dask://host", "ray://127.0.0.1:8786"])
def test_addresses_that_are_none(tmp_path, address):
    campaign = campaigns.parse('run = [{do = "assess", kind = "grr", m = 4, epsilon = 1.0}]')
    with pytest.raises(dr.ParameterError, match=r"--executor must be dask://host:port; got"):
        campaigns.run(campaign, tmp_path / "a.sqlite", executor=address)


def test_a_scheduler_that_does_not_answer(tmp_path):
    file = write(tmp_path)
    _, err = finished(tmp_path, "run", str(file), "--executor", "dask://127.0.0.1:1", code=2)
    message = "error: --executor must be the address of a Dask scheduler that answers; got dask://127.0.0.1:1."
    assert message in err
    assert "Traceback" not in err
