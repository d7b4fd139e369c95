"""What the best attacker reaches on given gradients: against quadrature, enumeration, simulation, and its bounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.stats import multivariate_normal, norm

import dpradar as dr
from dpradar.learning import GradientScores, attack_gradients, candidate_risk

SURE = 1.0 - 1e-9
SKEWED = np.array([0.35, 0.35, *[0.05] * 6])
LABELS = [0, 0, 0, 1, 1, 2, 2, 2]


def known_by(name):
    return {
        "nothing": dr.Knowledge.nothing(),
        "label": dr.Knowledge.labels(LABELS),
        "everything": dr.Knowledge.everything(),
    }[name]


def codes_of(name):
    return {"nothing": [0] * 8, "label": LABELS, "everything": list(range(8))}[name]


def best(densities, prior, codes):
    """Theorem 4.3 as it is written: for each output and kind of knowledge the largest pi (p - mixture), or 0."""
    mixture = np.tensordot(prior, densities, axes=1)
    gain, right = 0.0, 0.0
    for code in set(codes):
        members = [z for z, its in enumerate(codes) if its == code]
        gain = gain + np.maximum(np.max([prior[z] * (densities[z] - mixture) for z in members], axis=0), 0.0)
        right = right + np.max([prior[z] * densities[z] for z in members], axis=0)
    return gain, right


@pytest.mark.parametrize("known", ["nothing", "label", "everything"])
@pytest.mark.parametrize("prior", [np.full(8, 0.125), SKEWED], ids=["uniform", "skewed"])
def test_on_a_line_against_quadrature(known, prior):
    """All gradients along one direction: one integral over the line."""
    points = np.array([-1.0, -0.8, -0.3, 0.0, 0.1, 0.5, 0.9, 1.0])
    threat = dr.Threat(dr.Prior.of(prior), known_by(known))
    direction = np.array([0.6, 0.0, 0.8])
    risk = candidate_risk(points[:, None] * direction, threat, clip=1.0, noise_multiplier=0.4, confidence=SURE)
    grid = np.linspace(-8.0, 8.0, 400_001)
    gain, right = best(norm.pdf(grid[None, :] - points[:, None] / 0.4), prior, codes_of(known))
    rad, success = (np.trapezoid(values, grid) for values in (gain, right))
    assert risk.rad.low <= rad + 1e-6
    assert rad - 1e-6 <= risk.rad.high
    assert risk.success.low - 1e-6 <= success <= risk.success.high + 1e-6
    assert risk.rad.high - risk.rad.low < 0.03
    assert risk.rad.low <= risk.by_distances.rad.value <= risk.any_gradients.rad.value + 1e-9


def test_in_a_plane_against_quadrature():
    points = np.array([[0.9, 0.0], [0.0, 0.7], [-0.5, -0.6]])
    prior = np.array([0.5, 0.3, 0.2])
    risk = candidate_risk(points, dr.Threat(dr.Prior.of(prior)), clip=1.0, noise_multiplier=0.7, confidence=SURE)
    clouds = [multivariate_normal(point / 0.7) for point in points]

    def gain(y, x):
        return float(best(np.array([cloud.pdf([x, y]) for cloud in clouds]), prior, [0, 0, 0])[0])

    exact = dblquad(gain, -7.0, 7.0, -7.0, 7.0, epsabs=2e-4)[0]
    assert risk.method.startswith("Monte Carlo")
    assert risk.rad.low - 2e-4 <= exact <= risk.rad.high + 2e-4
    assert risk.rad.high < risk.by_distances.rad.value < risk.any_gradients.rad.value


@pytest.mark.parametrize("known", ["nothing", "label", "everything"])
def test_sampling_against_a_mixture_on_a_line(known):
    """One step, each record taking part with probability 0.4: the density is written out."""
    points, q, sigma = np.linspace(-1.0, 1.0, 8), 0.4, 0.5
    threat = dr.Threat(dr.Prior.of(SKEWED), known_by(known))
    options = {"clip": 1.0, "noise_multiplier": sigma, "confidence": SURE}
    risk = candidate_risk(points[:, None], threat, sample_rate=q, **options)
    grid = np.linspace(-8.0, 8.0, 400_001)
    densities = (1 - q) * norm.pdf(grid)[None, :] + q * norm.pdf(grid[None, :] - points[:, None] / sigma)
    rad, success = (np.trapezoid(values, grid) for values in best(densities, SKEWED, codes_of(known)))
    assert risk.rad.low <= rad <= risk.rad.high
    assert risk.success.low - 1e-6 <= success <= risk.success.high + 1e-6
    full = candidate_risk(points[:, None], threat, **options)
    assert risk.rad.high < full.rad.low
    assert risk.rad.low < risk.any_gradients.rad.value < full.any_gradients.rad.value


def test_sampling_over_steps_against_all_ways_to_take_part():
    """Three steps in one direction each: the target's density is a sum over the eight ways, by brute force."""
    q, sigma, prior = 0.3, 0.35, np.array([0.6, 0.4])
    steps = [np.array([[0.9], [-0.4]]), np.array([[-0.2], [0.8]]), np.array([[1.0], [0.3]])]
    threat = dr.Threat(dr.Prior.of(prior), dr.Knowledge.everything())
    risk = candidate_risk(steps, threat, clip=1.0, noise_multiplier=sigma, sample_rate=q, confidence=SURE)
    axis = np.linspace(-6.0, 6.0 + 1.0 / sigma, 91)
    cell = (axis[1] - axis[0]) ** 3
    outputs = np.array(np.meshgrid(axis, axis, axis, indexing="ij")).reshape(3, -1)
    densities = []
    for z in range(2):
        total = 0.0
        for part in itertools.product((0, 1), repeat=3):
            chance = np.prod([q if taken else 1 - q for taken in part])
            centre = np.array([taken * step[z, 0] / sigma for taken, step in zip(part, steps, strict=True)])
            total = total + chance * norm.pdf(outputs - centre[:, None]).prod(axis=0)
        densities.append(total)
    gain, _ = best(np.array(densities), prior, [0, 1])
    assert risk.rad.low - 1e-3 <= gain.sum() * cell <= risk.rad.high + 1e-3
    assert risk.rad.high - risk.rad.low < 0.02


@pytest.mark.parametrize("known", ["nothing", "everything"])
def test_orthogonal_gradients_need_no_simulation(known):
    threat = dr.Threat(dr.Prior.uniform(8), known_by(known))
    risk = candidate_risk(0.3 * np.eye(8, 9), threat, clip=0.3, noise_multiplier=0.5)
    assert (risk.method, risk.confidence) == ("exact", 1.0)
    assert risk.rad.high - risk.rad.low <= 1e-4
    if known == "nothing":
        right = quad(lambda x: norm.pdf(x - 2.0) * norm.cdf(x) ** 7, -7, 11, epsabs=1e-12)[0]
        assert risk.success.estimate == pytest.approx(right, abs=1e-6)
        assert risk.rad.estimate == pytest.approx(right - 0.125, abs=1e-6)
    else:
        assert risk.rad.estimate == pytest.approx(0.66124, abs=1e-4)
        assert risk.success.estimate == pytest.approx(1.0)
    # By their own distances they are sqrt 2 apart, any gradients may be 2 apart.
    assert risk.rad.high <= risk.by_distances.rad.value + 1e-12
    assert risk.by_distances.rad.value < risk.any_gradients.rad.value


@pytest.mark.parametrize("known", ["nothing", "label", "everything"])
@pytest.mark.parametrize("rate", [1.0, 0.35])
def test_the_attack_on_draws_reaches_it(known, rate):
    """The streamed attack on residuals, which are drawn here, has the value that is computed without them."""
    rng, runs, clip, sigma = np.random.default_rng(6), 40_000, 0.5, 0.9
    steps = [rng.normal(size=(8, 4)) for _ in range(5)]
    steps = [clip * table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1.0) for table in steps]
    threat = dr.Threat(dr.Prior.of(SKEWED), known_by(known))
    risk = candidate_risk(
        steps, threat, clip=clip, noise_multiplier=sigma, sample_rate=rate, confidence=SURE, draws=100_000
    )
    targets = rng.choice(8, size=runs, p=SKEWED)
    scores = GradientScores(runs, 8, clip, sigma, rate)
    for table in steps:
        part = (rng.random((runs, 1)) < rate).astype(float)
        scores.add(part * table[targets] + rng.normal(0.0, clip * sigma, (runs, 4)), table)
    run = attack_gradients(scores, targets, threat, confidence=SURE)
    right = attack_gradients(scores, targets, threat, maximise="success", confidence=SURE)
    for drawn, computed in ((run.rad, risk.rad), (right.success, risk.success)):
        assert drawn.low <= computed.high
        assert computed.low <= drawn.high
        assert drawn.estimate == pytest.approx(computed.estimate, abs=0.015)
    assert run.rad.low <= risk.any_gradients.rad.value


@pytest.mark.parametrize("scale", [1e2, 1e4, 1e9])
@pytest.mark.parametrize("prior", [(1 / 3, 1 / 3, 1 / 3), (0.02, 0.49, 0.49)])
@pytest.mark.parametrize("codes", [(0, 0, 0), (0, 1, 2)], ids=["nothing", "everything"])
def test_candidates_near_each_other_and_far_from_another(scale, prior, codes):
    """The small direction counts, however large the other is: two outputs apart for sure, then one on a line."""
    gradients = np.array([[scale, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
    threat = dr.Threat(dr.Prior.of(prior), dr.Knowledge.labels(codes))
    risk = candidate_risk(gradients, threat, clip=scale, noise_multiplier=1.0 / scale, confidence=SURE)
    grid = np.linspace(-9.0, 9.0, 100_001)
    alone = best(np.array([[1.0], [0.0], [0.0]]), np.array(prior), codes)[0].sum()
    near = np.stack([np.zeros_like(grid), norm.pdf(grid - 1.0), norm.pdf(grid + 1.0)])
    rad = alone + np.trapezoid(best(near, np.array(prior), codes)[0], grid)
    assert risk.rad.low - 1e-6 <= rad <= risk.rad.high + 1e-6
    assert risk.by_distances.rad.value >= rad - 1e-6
    assert risk.any_gradients.rad.value >= rad - 1e-6


def test_goals_of_which_every_guess_may_lose():
    """Each guess is right for somebody, so the best one may lose given some outputs: integral over the plane."""
    hits = np.array([[True, True, False], [True, False, True], [True, False, False]])
    prior = np.array([0.8, 0.1, 0.1])
    threat = dr.Threat(dr.Prior.of(prior), goal=dr.Goal.within(0.5, (~hits).T.astype(float)))
    assert np.array_equal(threat.goal.hits(threat.finite), hits)
    points = np.array([[1.0, 0.0], [-1.0, 0.3], [-1.0, -0.3]]) / 1.1
    risk = candidate_risk(points, threat, clip=1.0, noise_multiplier=0.5, confidence=SURE)
    line = np.linspace(-10.0, 10.0, 1001)
    plane = np.stack(np.meshgrid(line, line), axis=-1)
    densities = np.stack([multivariate_normal.pdf(plane, mean=point / 0.5) for point in points])
    gains = prior[:, None, None] * (densities - np.tensordot(prior, densities, axes=1))
    value = np.tensordot(hits.astype(float), gains, axes=1).max(axis=0)
    assert value.min() < -1e-3
    rad = value.sum() * (line[1] - line[0]) ** 2
    assert risk.rad.low <= rad <= risk.rad.high
    assert risk.rad.high - risk.rad.low < 0.01


def test_equal_gradients_give_nothing_away():
    threat = dr.Threat(dr.Prior.of([0.7, 0.3]))
    risk = candidate_risk(np.ones((2, 1)), threat, clip=1.0, noise_multiplier=0.1, confidence=SURE)
    assert risk.by_distances is None
    assert risk.rad.estimate == pytest.approx(0.0, abs=1e-12)
    assert risk.success.estimate == pytest.approx(0.7)


def test_intervals_are_honest():
    """At 80 %: with sampling there is no closed form, and the value on a line is outside in at most 40 of 200 seeds."""
    points, prior, q = np.array([-1.0, 0.2, 1.0]), np.array([0.2, 0.5, 0.3]), 0.6
    grid = np.linspace(-8.0, 8.0, 200_001)
    densities = (1 - q) * norm.pdf(grid)[None] + q * norm.pdf(grid[None] - points[:, None])
    exact = np.trapezoid(best(densities, prior, [0, 0, 0])[0], grid)
    outside = []
    for seed in range(200):
        options = {"clip": 1.0, "noise_multiplier": 1.0, "sample_rate": q, "draws": 2_000, "confidence": 0.8}
        risk = candidate_risk(points[:, None], dr.Threat(dr.Prior.of(prior)), seed=seed, **options)
        outside.append(not risk.rad.low <= exact <= risk.rad.high)
        assert risk.rad.high - risk.rad.low < 0.1
    assert sum(outside) <= 40


@pytest.mark.parametrize(
    ("gradients", "changes", "words"),
    [
        (np.full((2, 3), np.nan), {}, "finite numbers"),
        (np.full((2, 3), np.inf), {}, "finite numbers"),
        (np.zeros((3, 3)), {}, "2 rows"),
        (np.zeros((2, 0)), {}, "2 rows"),
        (np.zeros(2), {}, "2 rows"),
        ([], {}, "at least one step"),
        (np.ones((2, 3)), {}, "clipped to norm 1"),
        ([[[1.0, 0.0], [0.0]]], {}, "table of numbers"),
        ([np.eye(2), np.zeros((2, 3)), [["a"]]], {}, "table of numbers"),
        (3.0, {}, "one table for each step"),
        (np.eye(2), {"clip": 0.0}, "clip"),
        (np.eye(2), {"clip": 1e-20}, "clip"),
        (np.eye(2), {"noise_multiplier": 1e-200}, "noise_multiplier"),
        (np.eye(2), {"clip": -1.0}, "clip"),
        (np.eye(2), {"noise_multiplier": 0.0}, "noise_multiplier"),
        (np.eye(2), {"noise_multiplier": -2.0}, "noise_multiplier"),
        (np.eye(2), {"sample_rate": 0.0}, "sample_rate"),
        (np.eye(2), {"draws": 0}, "trials"),
        (np.eye(2), {"confidence": 1.0}, "confidence"),
    ],
)
def test_bad_input(gradients, changes, words):
    options = {"clip": 1.0, "noise_multiplier": 1.0, **changes}
    with pytest.raises(dr.ParameterError, match=words):
        candidate_risk(gradients, dr.Threat(dr.Prior.uniform(2)), **options)
