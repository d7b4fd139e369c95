"""Attacks that are not optimal have the success, the correction and the advantage worked out for them.

Intervals fail with probability 1e-9; the trials reject the numbers of 0.7 and 1.3 times epsilon.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpradar as dr
from dpradar.attacks.strategies import mode_of_reports, prior_only, walk_or_report
from tests.attacks.powers import FAILURE, Measured, trials_needed
from tests.twin import oracles
from tests.worlds import printed_as

CHAIN = np.array([[float(x) for x in row] for row in oracles.MARKOV_CHAIN])


def inside(number: float, interval: dr.Estimate, rounding: float = 1e-9) -> bool:
    return interval.low - rounding <= number <= interval.high + rounding


def run_it(mechanism, threat: dr.Threat, strategy, trials: int, seed: int = 1) -> dr.AttackRun:
    return dr.attack(mechanism, threat, trials=trials, seed=seed, strategy=strategy, confidence=1 - FAILURE)


def grr_rows(m: int, epsilon: float) -> np.ndarray:
    return (np.ones((m, m)) + (math.exp(epsilon) - 1) * np.eye(m)) / (math.exp(epsilon) + m - 1)


# A walk on three places: the last place is known, the next one reported.


def stationary() -> np.ndarray:
    values, vectors = np.linalg.eig(CHAIN.T)
    vector = np.real(vectors[:, np.argmin(abs(values - 1))])
    return vector / vector.sum()


def walk_terms(epsilon: float, threshold: float) -> tuple[float, float]:
    """Success and correction of 'the report if it can follow, else a step of the chain', summed over everything."""
    start, report = stationary(), grr_rows(3, epsilon)
    # named[v, r, w]: the probability to name w after report r when the last place was v
    named = np.where((threshold < CHAIN)[:, :, None], np.eye(3)[None], CHAIN[:, None, :])
    joint = start[:, None] * CHAIN
    success = np.einsum("vw,wr,vrw->", joint, report, named)
    law = joint.sum(axis=0) @ report
    return float(success), float(np.einsum("vw,r,vrw->", joint, law, named))


PLACES = [(v, w) for v in range(3) for w in range(3) if CHAIN[v, w] > 0]


def walk(epsilon: float, threshold: float) -> tuple[dr.Channel, dr.Threat, object]:
    """Records (before, now); the guess is a place, given as a record that ends there."""
    weights = [stationary()[v] * CHAIN[v, w] for v, w in PLACES]
    prior = dr.Prior.records({"before": [v for v, _ in PLACES], "now": [w for _, w in PLACES]}, weights)
    threat = dr.Threat(prior, dr.Knowledge.columns("before"), dr.Goal.columns("now"))
    ends = np.array([next(i for i, (_, w) in enumerate(PLACES) if w == place) for place in range(3)])
    guess = walk_or_report(CHAIN, threshold)
    release = dr.Channel(grr_rows(3, epsilon)[[w for _, w in PLACES]])
    return release, threat, lambda reports, known, rng: ends[guess(reports, known, rng)]


@pytest.mark.parametrize("row", oracles.MARKOV_ATTACK)
def test_walk_or_report(row):
    epsilon, tau = row["epsilon"], float(row["tau"])
    success, correction = walk_terms(epsilon, tau)
    for number, printed in zip((success, correction, success - correction), row["terms"], strict=True):
        assert printed_as(number, printed)
    wrong = [walk_terms(factor * epsilon, tau) for factor in (0.7, 1.3)]
    aim = Measured(success, [one - other for one, other in wrong], correction, 1.0)
    run = run_it(*walk(epsilon, tau), trials_needed(aim))
    assert inside(success, run.success)
    assert inside(correction, run.false_hit)
    assert inside(success - correction, run.rad)
    assert not any(inside(number, run.rad, 0.0) for number in aim.wrong)
    # The bound of the notes is the optimum: believe every report, never use the chain.
    best = dr.attack(*walk(epsilon, tau)[:2], trials=100_000, seed=2, confidence=1 - FAILURE)
    assert inside(row["bound"].value, best.rad, 1e-6)
    assert best.rad.low > success - correction


def test_walk_draws_from_the_row():
    """Reports that cannot follow: the next place is drawn from the row, also from a sparse matrix."""
    from scipy import sparse

    n = 200_000
    for matrix in (CHAIN, sparse.csr_matrix(CHAIN)):
        guess = walk_or_report(matrix)
        for place in range(3):
            drawn = guess(np.full(n, place), np.full(n, place), np.random.default_rng(3))
            share = np.bincount(drawn, minlength=3) / n
            assert np.all(np.abs(share - CHAIN[place]) <= 6.5 * np.sqrt(CHAIN[place] * (1 - CHAIN[place]) / n))
            assert np.all(share[CHAIN[place] == 0] == 0)


# The exponential mechanism on a path of twelve places.


@pytest.mark.parametrize("row", oracles.PATH_12)
@pytest.mark.parametrize("eta", [0, 3])
def test_report_on_a_path(row, eta):
    threat = dr.Threat(dr.Prior.uniform(12), goal=dr.Goal.within(eta))

    def terms(epsilon: float) -> tuple[float, float]:
        places = np.arange(12)
        distance = abs(places[:, None] - places)
        P = np.exp(-epsilon * distance / 22)
        P /= P.sum(axis=1, keepdims=True)
        near = distance <= eta
        return float((P * near).sum() / 12), float(P.mean(axis=0) @ near.mean(axis=0))

    success, correction = terms(row["epsilon"])
    for number, printed in zip((success, correction, success - correction), row["report"][eta], strict=True):
        assert printed_as(number, printed)
    wrong = [terms(factor * row["epsilon"])[0] for factor in (0.7, 1.3)]
    run = run_it(dr.Exponential(row["epsilon"]), threat, "report", trials_needed(Measured(success, wrong)))
    assert inside(success, run.success)
    assert inside(correction, run.false_hit)
    assert inside(success - correction, run.rad)
    assert not any(inside(number, run.success, 0.0) for number in wrong)
    best = dr.attack(dr.Exponential(row["epsilon"]), threat, trials=200_000, seed=4, confidence=1 - FAILURE)
    assert inside(row["optimal"][eta].value, best.rad, 1e-6)


# Randomised response.

SKEWED = dr.Prior.of([0.5, 0.3, 0.1, 0.1])


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_report_of_randomised_response(epsilon):
    """UNI and TRUE: success p, correction q + (p - q) kappa."""
    rows = grr_rows(4, epsilon)
    keep, other = rows[0, 0], rows[0, 1]
    run = run_it(dr.GRR(4, epsilon), dr.Threat(SKEWED), "report", 100_000)
    assert run.strategy == "report as it is"
    assert run.maximise is None
    assert inside(keep, run.success)
    assert inside(other + (keep - other) * SKEWED.collision, run.false_hit)
    for factor in (0.7, 1.3):
        assert not inside(grr_rows(4, factor * epsilon)[0, 0], run.success)


def test_prior_only():
    """PRIOR: right for the likeliest value, with or without the release."""
    run = run_it(dr.GRR(4, 3.0), dr.Threat(SKEWED), "prior", 50_000)
    assert inside(0.5, run.success)
    assert run.false_hit.low == pytest.approx(0.5, abs=1e-15)
    assert inside(0.0, run.rad)
    same = run_it(dr.GRR(4, 3.0), dr.Threat(SKEWED), prior_only(SKEWED.probabilities), 50_000)
    assert same.success == run.success


def mode_success(counts: list[int], epsilon: float) -> float:
    """Add one report to the counts and name the mode, ties at random: the average over value and report."""
    m = len(counts)
    total = 0.0
    for report in range(m):
        after = np.array(counts) + np.eye(m, dtype=int)[report]
        leaders = after == after.max()
        total += float((grr_rows(m, epsilon)[:, report] * leaders).sum()) / leaders.sum() / m
    return total


@pytest.mark.parametrize("counts", [[1, 2, 2], [3, 3, 3], [0, 1, 3, 2], [2, 1, 1, 1, 0], [5, 4, 4, 4]])
def test_mode_of_reports(counts):
    m, epsilon = len(counts), 3.0
    others = np.repeat(np.arange(m), counts)
    success = mode_success(counts, epsilon)
    run = run_it(dr.GRR(m, epsilon), dr.Threat(dr.Prior.uniform(m)), mode_of_reports(others, m), 400_000)
    assert inside(success, run.success)
    assert inside(success - 1 / m, run.rad)
    assert inside(1 / m, run.false_hit)
    wrong = [mode_success(counts, factor * epsilon) for factor in (0.7, 1.3)]
    assert not any(inside(number, run.success) for number in wrong)


# Functions of the user.


def test_a_function_with_knowledge():
    """Name the report if it has the known label, else say nothing."""
    labels = np.array([0, 0, 1, 1])
    threat = dr.Threat(SKEWED, dr.Knowledge.labels(labels.tolist()))

    def guess(reports, known, rng):
        return np.where(labels[reports] == known, reports, -1)

    rows = grr_rows(4, 2.0)
    law = SKEWED.probabilities @ rows
    run = run_it(dr.GRR(4, 2.0), threat, guess, 200_000)
    assert run.strategy == "guess"
    assert inside(rows[0, 0], run.success)
    assert inside(float(law @ SKEWED.probabilities), run.false_hit)
    # That is the optimal attack, so its rad is the largest there is.
    assert inside(dr.assess(dr.GRR(4, 2.0), threat).rad.value, run.rad)


@pytest.mark.parametrize("m", [64, 100])
def test_many_kinds_of_knowledge(m):
    """More than 64 labels: success on others is sampled too, and still right."""
    threat = dr.Threat(dr.Prior.uniform(m), dr.Knowledge.everything())
    exact = dr.assess(dr.GRR(m, 4.0), threat)
    run = run_it(dr.GRR(m, 4.0), threat, lambda reports, known, rng: np.where(reports == known, known, -1), 100_000)
    assert inside(exact.rad.value, run.rad)
    assert inside(exact.hit, run.success)
    assert inside(1 / m, run.false_hit)
    for factor in (0.7, 1.3):
        assert not inside(dr.assess(dr.GRR(m, factor * 4.0), threat).rad.value, run.rad)


def test_an_attack_object():
    class Coward:
        name = "coward"

        def play(self, reports, targets, rng):
            from dpradar.attacks.attack_protocol import BatchOutcome

            return BatchOutcome(np.zeros(targets.size, dtype=bool), np.zeros(targets.size))

    run = run_it(dr.OUE(4, 1.0), dr.Threat(SKEWED), Coward(), 1000)
    assert run.strategy == "coward"
    assert run.success.estimate == run.rad.estimate == 0.0


@pytest.mark.parametrize("strategy", ["report", "prior", lambda reports, known, rng: rng.integers(0, 4, reports.size)])
def test_never_above_the_optimum(strategy):
    threat = dr.Threat(SKEWED, dr.Knowledge.labels(list("aabb")), dr.Goal.labels(list("xyxy")))
    exact = dr.assess(dr.GRR(4, 1.0), threat)
    run = run_it(dr.GRR(4, 1.0), threat, strategy, 100_000)
    assert run.rad.low <= exact.rad.value
    assert run.success.low <= exact.success.value
