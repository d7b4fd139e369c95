"""A campaign is killed, stopped, or run twice at the same time: its numbers are those of an undisturbed one."""

from __future__ import annotations

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dpradar import campaigns
from tests.campaigns.campaigns import finished, kill, numbers, shards_in, shards_of, started, unnamed, wait_for, write

SMALL = {"attacks": 400_000, "reports": 6_000_000}
LARGE = {"attacks": 4_000_000, "reports": 90_000_000}
SMALL_SHARDS, SMALL_REPORTS = 20 + 16 + 1, 16


def undisturbed(folder, sizes):
    """Return the numbers, computed by one thread of this process."""
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as thread:
        patch.setenv("SHARD_LOG", str(folder / "shards.log"))
        file = write(folder, **sizes)
        status = campaigns.run(campaigns.read(file), file.with_suffix(".sqlite"), executor=thread, workers=1)
    assert status.done
    return json.loads(json.dumps([unnamed(run.result.to_dict()) for run in status.runs]))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return undisturbed(tmp_path_factory.mktemp("small"), SMALL)


def killed(folder, kills, seed, sizes):
    """Kill a campaign some times, each time after it kept something more or at any time; then let it finish."""
    chance = np.random.default_rng(seed)
    file = write(folder, **sizes)
    store = file.with_suffix(".sqlite")
    done = 0
    while done < kills:
        before = shards_in(store)
        with started(folder, "run", str(file), "--json") as process:
            if done % 2:
                time.sleep(chance.uniform(0.0, 3.0))  # also while it starts
            elif not wait_for(store, process, before + 1):
                break
            time.sleep(chance.uniform(0.0, 0.1))
            if process.poll() is not None:
                break
            kill(process)
            process.communicate()
        assert shards_in(store) >= before
        done += 1
    return done, numbers(finished(folder, "run", str(file), "--json")[0])


def test_killed_three_times(tmp_path, small):
    done, result = killed(tmp_path, 3, seed=1, sizes=SMALL)
    assert done >= 1  # a fast machine may be done before it is killed again
    assert result == small
    assert shards_in(tmp_path / "campaign.sqlite") == SMALL_SHARDS


@pytest.mark.slow
def test_killed_twenty_times(tmp_path):
    expected = undisturbed(tmp_path / "a", LARGE)
    done, result = killed(tmp_path / "b", 20, seed=2, sizes=LARGE)
    assert done == 20
    assert result == expected


def test_a_second_process_shares_the_work(tmp_path, small):
    file = write(tmp_path, **SMALL)
    command = ("run", str(file), "--workers", "1", "--json")
    with started(tmp_path, *command) as one, started(tmp_path, *command) as two:
        outputs = [process.communicate(timeout=300) for process in (one, two)]
    assert [one.returncode, two.returncode] == [0, 0], outputs
    assert numbers(outputs[0][0]) == numbers(outputs[1][0]) == small
    assert shards_of(tmp_path) == [375_000] * SMALL_REPORTS  # each once
    assert shards_in(file.with_suffix(".sqlite")) == SMALL_SHARDS


@pytest.mark.slow
def test_what_a_killed_process_had_leased_is_taken_over_at_once(tmp_path):
    file = write(tmp_path, **LARGE)
    store = file.with_suffix(".sqlite")
    with started(tmp_path, "run", str(file), "--workers", "2") as one:
        assert wait_for(store, one, 10)
        with started(tmp_path, "run", str(file), "--workers", "1", "--json") as two:
            assert wait_for(store, two, 60)
            kill(one)
            one.communicate()
            out, err = two.communicate(timeout=120)  # far less than a lease lasts
    assert two.returncode == 0, err
    assert json.loads(out)["done"]


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced(tmp_path):
    expected = undisturbed(tmp_path / "plain", LARGE)
    file = write(tmp_path, **LARGE)
    store = file.with_suffix(".sqlite")
    with started(tmp_path, "run", str(file), "--workers", "2", "--json") as process:
        assert wait_for(store, process, 210)  # the sampler has been asked: its process is a worker
        lines = (tmp_path / "shards.log").read_text().splitlines()
        os.kill(int(lines[-1].split()[1]), signal.SIGKILL)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert numbers(out) == expected


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on(tmp_path, small):
    file = write(tmp_path, **SMALL)
    store = file.with_suffix(".sqlite")
    with started(tmp_path, "run", str(file), "--workers", "1") as process:
        assert wait_for(store, process, 3)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err == f"interrupted; finished shards are saved. Continue: dpradar campaign run {file} --workers 1\n"
    assert 3 <= shards_in(store) < SMALL_SHARDS
    assert json.loads(finished(tmp_path, "status", str(store), "--json")[0])["processes"] == 0
    assert numbers(finished(tmp_path, "resume", str(store), str(file), "--json")[0]) == small


WORKER_ENDS = """
import os
def ends(inputs, rng):
    if len(inputs) > 100:
        os._exit(9)
    return (inputs + rng.integers(0, 2, len(inputs))) % 3
"""


@pytest.mark.slow
def test_a_shard_that_ends_its_worker_is_given_up_and_named(tmp_path):
    file = write(tmp_path)
    (tmp_path / "samplers.py").write_text(WORKER_ENDS)
    file.write_text(
        'run = [{do = "audit", sampler = "samplers.py:ends", kind = "grr", m = 3, epsilon = 1.0, trials = 1000},'
        ' {do = "assess", kind = "grr", m = 3, epsilon = 1.0}]'
    )
    out, err = finished(tmp_path, "run", str(file), "--workers", "1", "--json", code=2)
    assert "error: audit grr: 3 workers ended while computing this. Were they killed, or is there too little" in err
    assert [run["state"] for run in json.loads(out)["runs"]] == ["failed", "done"]
