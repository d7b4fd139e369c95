"""A process that trains is killed, with its workers, and started again: the numbers are those of an undisturbed run."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time

import numpy as np
import pytest

import dpradar as dr
from dpradar.learning import Candidates, Network, Training
from dpradar.learning.experiment import experiment
from dpradar.numerics.worker_processes import in_processes

SCRIPT = """
import pathlib, sys
import numpy as np
from dpradar.learning import Candidates, Network, Training
from dpradar.learning.experiment import experiment

def settings(steps):
    rng = np.random.default_rng(2)
    data = Candidates(rng.normal(size=(200, 50)), rng.integers(0, 4, 200), rng.normal(size=(3, 50)), np.arange(3))
    return Training(network=Network((50, 6, 4)), steps=steps, clip=0.5, noise_multiplier=1.5, learning_rate=0.4), data

if __name__ == "__main__":
    folder, workers, steps = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    targets, scores = experiment(*settings(steps), 70, 4, shard=4, keep=folder / "kept", workers=workers)
    np.savez(folder / "done.npz", targets=targets, likelihoods=scores.likelihoods, distances=scores.distances)
"""
STEPS = 150


def started(folder, script, workers):
    return subprocess.Popen(
        [sys.executable, str(script), str(folder), str(workers), str(STEPS)], stdout=subprocess.PIPE
    )


def finished(folder, script, workers):
    with started(folder, script, workers) as process:
        process.communicate(timeout=300)
    assert process.returncode == 0
    with np.load(folder / "done.npz") as arrays:
        return dict(arrays)


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_and_started_again(tmp_path, workers):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    broken.mkdir()
    whole.mkdir()
    process = started(broken, script, workers)
    until = time.monotonic() + 120.0
    while not list(broken.glob("kept/*.npz")):
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < until
        time.sleep(0.01)
    process.kill()  # SIGKILL: no handler runs, nothing is tidied up
    # The workers have the pipe too: reading it to its end means that they have ended as well.
    with process:
        process.communicate(timeout=60)
    times = {file.name: file.stat().st_mtime_ns for file in broken.glob("kept/*.npz")}
    assert 1 <= len(times) < 18
    assert not (broken / "done.npz").exists()
    again, expected = finished(broken, script, workers), finished(whole, script, 3 - workers)
    assert expected["targets"].tolist() == [k % 3 for k in range(70)]
    for name, value in expected.items():
        assert np.array_equal(again[name], value), name
    assert {name: (broken / "kept" / name).stat().st_mtime_ns for name in times} == times  # read, not made again


def tiny(**changes):
    rng = np.random.default_rng(2)
    data = Candidates(rng.normal(size=(9, 3)), rng.integers(0, 2, 9), rng.normal(size=(3, 3)), np.array([0, 1, 1]))
    options = {"network": Network((3, 2)), "steps": 2, "clip": 0.5, "noise_multiplier": 1.5, "learning_rate": 0.4}
    return Training(**{**options, **changes}), data


def test_fewer_and_more_runs_than_are_kept(tmp_path):
    whole = experiment(*tiny(), 10, 1, shard=4)
    for runs in (7, 10, 6, 10):
        targets, scores = experiment(*tiny(), runs, 1, shard=4, keep=tmp_path)
        alone = experiment(*tiny(), runs, 1, shard=4)[1]
        assert targets.tolist() == whole[0][:runs].tolist()
        assert np.array_equal(scores.likelihoods, alone.likelihoods)
        assert np.array_equal(scores.distances, alone.distances)


def test_targets_in_a_given_order(tmp_path):
    order = [2, 0, 2, 1, 2]
    targets, scores = experiment(*tiny(), 10, 1, shard=4, keep=tmp_path, order=order)
    assert targets.tolist() == order * 2
    plain = experiment(*tiny(), 10, 1, shard=4, keep=tmp_path)  # other targets: other files
    assert plain[0].tolist() == [k % 3 for k in range(10)]
    same = targets == plain[0]
    assert 0 < same.sum() < 10
    np.testing.assert_allclose(scores.likelihoods[same], plain[1].likelihoods[same], atol=1e-5)


@pytest.mark.parametrize("order", [[], [3], [-1], [0.5], [[0, 1]], "ab"])
def test_orders_that_are_refused(order):
    with pytest.raises(dr.ParameterError, match=r"experiment\.order must be numbers from 0 to 2"):
        experiment(*tiny(), 10, 1, order=order)


@pytest.mark.parametrize("name", ["shard", "workers"])
@pytest.mark.parametrize("value", [0, -1, 1.5])
def test_counts_that_are_refused(name, value):
    with pytest.raises(dr.ParameterError, match=rf"experiment\.{name}"):
        experiment(*tiny(), 10, 1, **{name: value})


def test_an_error_in_a_worker_arrives_as_it_is():
    training, data = tiny(network=Network((4, 2)))
    with pytest.raises(dr.ParameterError, match=r"Training.network must be for 3 features .* got \(4, 2\)"):
        experiment(training, data, 8, 1, shard=2, workers=2)


@pytest.mark.parametrize(
    "error", [dr.ParameterError("a", "b", 3, "hint"), dr.MissingExtra("torch", "torch"), dr.NumericsError("x")]
)
def test_errors_pass_between_processes(error):
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - made a word before
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


def test_jobs_in_order_and_none():
    assert list(in_processes(abs, [], workers=3)) == []
    assert list(in_processes(abs, [-3], workers=3)) == [(-3, 3)]
    assert sorted(in_processes(abs, [-1, 2, -3], workers=2)) == [(-3, 3), (-1, 1), (2, 2)]
