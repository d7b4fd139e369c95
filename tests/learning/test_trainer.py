"""The batched trainer: gradients against differences, runs against each other, shards that survive."""

from __future__ import annotations

import numpy as np
import pytest

import dpradar as dr
from dpradar.learning import Candidates, Network, Training, candidate_risk, train, trainer
from dpradar.learning.experiment import experiment


def data(known=30, features=4, classes=3, m=3, seed=0):
    rng = np.random.default_rng(seed)
    return Candidates(
        rng.normal(size=(known, features)),
        rng.integers(0, classes, known),
        rng.normal(size=(m, features)),
        rng.integers(0, classes, m),
    )


def settings(**changes):
    options = {"network": Network((4, 5, 3)), "steps": 6, "clip": 0.5, "noise_multiplier": 1.5, "learning_rate": 0.4}
    return Training(**{**options, **changes})


def seeds(count, seed=1):
    return [np.random.SeedSequence(seed, spawn_key=(k,)) for k in range(count)]


def flat(weights, biases):
    return np.concatenate([np.append(w.ravel(), b.ravel()) for w, b in zip(weights, biases, strict=True)])


@pytest.mark.parametrize("activation", ["relu", "elu", "tanh"])
@pytest.mark.parametrize("sizes", [(4, 3), (4, 5, 3), (4, 5, 6, 3)])
def test_clipped_gradients_against_differences(sizes, activation):
    rng = np.random.default_rng(5)
    stack = Network(sizes, activation).start(2, rng, np.float64)
    for layer in range(len(sizes) - 1):
        stack.weights[layer] = 0.6 * rng.normal(size=stack.weights[layer].shape)
        stack.biases[layer] = 0.6 * rng.normal(size=stack.biases[layer].shape)
    x, y, clip = rng.normal(size=(5, 4)), rng.integers(0, 3, 5), 0.9

    def gradient(run, example, step=1e-6):
        parts = []
        for arrays in zip(stack.weights, stack.biases, strict=True):
            for array in arrays:
                part = np.empty(array[run].shape)
                for place in np.ndindex(*part.shape):
                    before = array[run][place]
                    losses = []
                    for moved in (before + step, before - step):
                        array[run][place] = moved
                        losses.append(-np.log(stack.probabilities(x[example : example + 1])[run, 0, y[example]]))
                    array[run][place] = before
                    part[place] = (losses[0] - losses[1]) / (2 * step)
                parts.append(part.ravel())
        return np.concatenate(parts)

    full = np.array([[gradient(run, example) for example in range(5)] for run in range(2)])
    norms = np.linalg.norm(full, axis=2)
    clipped = full * np.minimum(1.0, clip / norms)[:, :, None]
    assert (norms > clip).any()
    gradients = stack.clipped(x, y, clip)
    np.testing.assert_allclose(gradients.products(), clipped @ clipped.transpose(0, 2, 1), atol=1e-8)
    weight = rng.random((2, 5))
    weights, biases = stack.summed(gradients, weight)
    rows = [np.concatenate([w.reshape(2, -1), b], axis=1) for w, b in zip(weights, biases, strict=True)]
    np.testing.assert_allclose(np.concatenate(rows, axis=1), (clipped * weight[:, :, None]).sum(axis=1), atol=1e-8)


@pytest.mark.parametrize("rate", [1.0, 0.4])
def test_runs_do_not_depend_on_each_other(rate):
    records, how = data(), settings(sample_rate=rate)
    together = train(how, records, [0, 1, 2, 0], seeds(4))
    for run in range(4):
        alone = train(how, records, [together.targets[run]], seeds(4)[run : run + 1])
        np.testing.assert_allclose(alone.scores.likelihoods[0], together.scores.likelihoods[run], atol=1e-4)
        np.testing.assert_allclose(alone.models.weights[0][0], together.models.weights[0][run], atol=1e-5)


def test_scores_are_those_of_the_gradients_themselves():
    """One step by hand: residual = clipped gradient of the target + noise, as GradientScores.add takes it."""
    from dpradar.learning import GradientScores
    from dpradar.learning.trainer import _noise

    records, how = data(), settings(steps=1)
    done = train(how, records, [2], seeds(1))
    fresh = how.network.start(1, np.random.default_rng(0))
    noise_weights, noise_biases = _noise(how, fresh, [np.random.default_rng(seeds(1)[0])])
    part = fresh.clipped(records.x, records.y, how.clip)
    rows = []
    for z in range(3):
        one = np.zeros((1, 3), dtype=np.float32)
        one[0, z] = 1.0
        weights, biases = fresh.summed(part, one)
        rows.append(flat(weights, biases))
    noise = flat(noise_weights, noise_biases)
    scores = GradientScores(1, 3, how.clip, how.noise_multiplier)
    scores.add((rows[2] + noise)[None], np.array(rows))
    np.testing.assert_allclose(done.scores.likelihoods, scores.likelihoods, atol=1e-4)


def test_training_learns_and_attack_beats_the_guess():
    rng = np.random.default_rng(1)
    centres = 3.0 * rng.normal(size=(3, 8))
    y = rng.integers(0, 3, 120)
    x = centres[y] + rng.normal(size=(120, 8))
    records = Candidates(x[:112], y[:112], x[112:], y[112:])
    how = settings(network=Network((8, 3)), steps=40, noise_multiplier=2.0, clip=1.0, learning_rate=2.0)
    targets, scores = experiment(how, records, runs=800, seed=3)
    run = dr.learning.attack_gradients(scores, targets, dr.Threat(dr.Prior.uniform(8)), confidence=1 - 1e-6)
    assert run.rad.low > 0.03
    bound = dr.assess(dr.DPSGD(2.0, 1.0, 40), dr.Threat(dr.Prior.uniform(8))).rad.value
    assert run.rad.low <= bound
    model = train(how, records, [0], seeds(1)).models
    assert (model.probabilities(records.known_x)[0].argmax(axis=1) == records.known_y).mean() > 0.7


def test_the_noise_has_the_stated_size():
    how = settings(network=Network((200, 100, 3)), clip=0.5, noise_multiplier=1.6)
    models = how.network.start(2, np.random.default_rng(0))
    drawn = trainer._noise(how, models, [np.random.default_rng(seed) for seed in (1, 2)])
    parts = [part.ravel() for kind in drawn for part in kind]
    assert [part.size for part in parts] == [40_000, 600, 200, 6]
    for part in parts[:2]:
        assert part.std() == pytest.approx(0.8, rel=5.0 / np.sqrt(2.0 * part.size))


def test_the_attack_on_fixed_gradients_is_as_good_as_it_should_be():
    """Steps that hardly move: the closed form for two points. With 0.8 or 1.2 times the noise it would be 4 s. e. off.

    Three quarters of the records take part, which the second half of the runs is about.
    """
    records = Candidates(np.zeros((3, 2)), [0, 1, 0], [[3.0, 0.0], [0.0, 3.0]], [0, 1])
    for rate in (1.0, 0.75):
        how = settings(network=Network((2, 2)), steps=4, noise_multiplier=2.0, learning_rate=1e-9, sample_rate=rate)
        targets, scores = experiment(how, records, runs=4000, seed=5)
        threat = dr.Threat(dr.Prior.uniform(2))
        success = dr.learning.attack_gradients(scores, targets, threat).success.estimate
        gradients = _clipped_at_the_start(how, records)
        expected = candidate_risk(
            [gradients] * 4, threat, clip=how.clip, noise_multiplier=2.0, sample_rate=rate, draws=4_000_000
        )
        assert success == pytest.approx(expected.success.estimate, abs=3.5 * np.sqrt(0.25 / 4000))
        assert 0.7 < success < 0.95


def _clipped_at_the_start(how, records):
    """Return the clipped gradients of the candidates in the first step, by differences of the loss."""
    stack = how.network.start(1, np.random.default_rng(5), np.float64)
    weight, bias = stack.weights[0][0], stack.biases[0][0]

    def loss(parameters, x, y):
        scores = x @ parameters[:4].reshape(2, 2) + parameters[4:]
        return np.log(np.exp(scores).sum()) - scores[y]

    at, step, rows = np.append(weight.ravel(), bias), 1e-6, []
    for x, y in zip(records.x.astype(float), records.y, strict=True):
        ends = [[loss(at + sign * step * one, x, y) for one in np.eye(6)] for sign in (1.0, -1.0)]
        row = (np.array(ends[0]) - np.array(ends[1])) / (2.0 * step)
        rows.append(row * min(1.0, how.clip / np.linalg.norm(row)) * (1.0 - 1e-9))
    return np.array(rows)


def test_shards_of_other_seeds_and_other_data_are_not_used(tmp_path):
    for seed, records in ((1, data()), (2, data()), (1, data(seed=1)), (1, data())):
        saved = experiment(settings(), records, runs=6, seed=seed, shard=3, keep=str(tmp_path))[1]
        alone = experiment(settings(), records, runs=6, seed=seed, shard=3)[1]
        assert np.array_equal(saved.likelihoods, alone.likelihoods)
    assert len(list(tmp_path.glob("*.npz"))) == 6


def test_distances_are_those_of_a_run_on_average():
    whole = experiment(settings(), data(), runs=6, seed=1, shard=6)[1]
    parts = experiment(settings(), data(), runs=6, seed=1, shard=4)[1]
    single = [train(settings(), data(), [k % 3], [seeds(6)[k]], start=1).scores.distances for k in range(6)]
    for scores in (whole, parts):
        np.testing.assert_allclose(scores.distances, np.mean(single, axis=0), rtol=1e-4)


def _changed(path, **changes):
    with np.load(path) as saved:
        arrays = dict(saved)
    np.savez(path, **{name: changes.get(name, lambda table: table)(table) for name, table in arrays.items()})


def _short(path):
    _changed(path, likelihoods=lambda table: table[:1, :2])


def _of_others(path):
    _changed(path, targets=lambda table: table[::-1])


@pytest.mark.parametrize(
    "damage",
    [lambda path: path.write_bytes(b""), lambda path: path.write_bytes(path.read_bytes()[:-40]), _short, _of_others],
    ids=["empty", "cut off", "too small", "other targets"],
)
def test_a_shard_that_is_damaged_is_made_again(tmp_path, damage):
    targets, whole = experiment(settings(), data(), runs=6, seed=1, shard=3, keep=tmp_path)
    damage(sorted(tmp_path.glob("*.npz"))[0])
    again = experiment(settings(), data(), runs=6, seed=1, shard=3, keep=tmp_path)
    assert np.array_equal(again[0], targets)
    assert np.array_equal(again[1].likelihoods, whole.likelihoods)


def test_a_killed_experiment_goes_on(tmp_path):
    records, how = data(), settings(steps=3)
    whole = experiment(how, records, runs=23, seed=1, shard=5)

    class Killed(Exception):
        pass

    def stop(done, _):
        if done == 10:
            raise Killed

    with pytest.raises(Killed):
        experiment(how, records, runs=23, seed=1, shard=5, keep=tmp_path, progress=stop)
    assert len(list(tmp_path.glob("*.npz"))) == 2
    next(iter(tmp_path.glob("*.npz"))).write_bytes(b"half a file")
    steps = []
    again = experiment(how, records, runs=23, seed=1, shard=5, keep=tmp_path, progress=lambda d, _: steps.append(d))
    assert steps == [5, 10, 15, 20, 23]
    np.testing.assert_array_equal(again[0], whole[0])
    np.testing.assert_array_equal(again[1].likelihoods, whole[1].likelihoods)
    more = experiment(how, records, runs=25, seed=1, shard=5, keep=tmp_path)
    np.testing.assert_array_equal(more[1].likelihoods[:20], whole[1].likelihoods[:20])
    other = experiment(settings(steps=4), records, runs=5, seed=1, shard=5, keep=tmp_path)
    assert not np.array_equal(other[1].likelihoods, whole[1].likelihoods[:5])
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: settings(clip=0.0), "clip"),
        (lambda: settings(noise_multiplier=-1.0), "noise_multiplier"),
        (lambda: settings(steps=0), "steps"),
        (lambda: Network((4,)), "sizes"),
        (lambda: Network((4, 2), "step"), "activation"),
        (lambda: Candidates(np.full((3, 2), np.nan), [0, 1, 0], np.eye(2), [0, 1]), "finite"),
        (lambda: Candidates(np.zeros((3, 2)), [0, 1], np.eye(2), [0, 1]), "one class per record"),
        (lambda: Candidates(np.eye(2), [0, 1], np.eye(2), [0, 1]), "disjoint"),
        (lambda: Candidates(np.eye(2), [0, 1], [[1.0, -0.0], [5.0, 5.0]], [0, 1]), "disjoint"),
        (lambda: Candidates(np.eye(2), [0, 1], np.ones((2, 2)), [0.5, 1.0]), "whole numbers"),
        (lambda: Candidates(np.eye(2), [0, -1], np.ones((2, 2)), [0, 1]), "at least 0"),
        (lambda: Candidates(np.eye(2), [0, 1], np.full((2, 2), np.inf), [0, 1]), "finite"),
        (lambda: Candidates(np.eye(2), [0, 1], np.ones((1, 2)), [0]), "at least 2"),
        (lambda: Candidates(np.empty((0, 2)), [], np.eye(2), [0, 1]), "at least one record"),
        (lambda: settings(noise_multiplier=0.0), "noise_multiplier"),
        (lambda: settings(clip=-0.1), "clip"),
        (lambda: settings(sample_rate=0.0), "sample_rate"),
        (lambda: Candidates(np.zeros((3, 2)), [0, 1, 0], np.ones((2, 2)), [0, 0]), "two equal ones"),
        (lambda: Candidates(np.zeros((3, 2)), [0, 1, 0], np.ones((2, 3)), [0, 1]), "features"),
        (lambda: train(settings(), data(), [3], seeds(1)), "targets"),
        (lambda: train(settings(), data(), [0, 1], seeds(1)), "targets"),
        (lambda: train(settings(network=Network((5, 3))), data(), [0], seeds(1)), "features"),
        (lambda: train(settings(network=Network((4, 2))), data(), [0], seeds(1)), "classes"),
        (lambda: experiment(settings(), data(), 0, 1), "runs"),
        (lambda: experiment(settings(), data(), 3, -1), "seed"),
        (lambda: experiment(settings(), data(), 3, 1.5), "seed"),
        (lambda: experiment(settings(), data(), 3, None), "seed"),
        (lambda: settings(clip=1e-25), "clip"),
        (lambda: Network(3), "sizes"),
        (lambda: Candidates([[1.0], [1.0, 2.0]], [0, 1], np.eye(2), [0, 1]), "finite numbers"),
        (lambda: Candidates([["a", "b"]], [0], np.eye(2), [0, 1]), "finite numbers"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(dr.ParameterError, match=words):
        call()
