"""Audits by canaries: no more than the significance of true claims is refuted, and leaks are found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import dpradar as dr
from dpradar.guarantees.epsilon import epsilon_at
from dpradar.learning.canaries import canary_audit, one_run_p_value

SEEDS, SIGNIFICANCE = 400, 0.1
# A test that errs with probability SIGNIFICANCE errs more often than this once in a million times.
MOST = int(stats.binom.ppf(1.0 - 1e-6, SEEDS, SIGNIFICANCE))


def pure(epsilon):
    return dr.PureDP(epsilon, neighbours="add-remove")


def randomised_response(rng, canaries, epsilon):
    """Return scores of canaries in and out when each coin is revealed, wrongly with probability 1/(1+e^eps)."""
    inside = rng.random(canaries) < 0.5
    coins = np.where(rng.random(canaries) < 1.0 / (1.0 + math.exp(-epsilon)), inside, ~inside)
    return coins[inside].astype(float), coins[~inside].astype(float)


def gaussian(rng, canaries, mu):
    inside = rng.random(canaries) < 0.5
    scores = rng.normal(size=canaries) + mu * inside
    return scores[inside], scores[~inside]


# ------------------------------------------------------------------------------------------------------- the bound


def test_the_p_value_is_the_binomial_tail_of_randomised_response():
    for epsilon in (0.0, 0.7, 3.0):
        for right in (0, 1, 40, 99, 100):
            exact = stats.binom.sf(right - 1, 100, 1.0 / (1.0 + math.exp(-epsilon)))
            assert one_run_p_value(epsilon, 0.0, canaries=300, guesses=100, right=right) == pytest.approx(exact)


@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.05])
@pytest.mark.parametrize(("canaries", "guesses", "right"), [(10, 10, 9), (200, 50, 48), (1000, 1000, 640)])
def test_the_p_value_against_a_slow_sum(delta, canaries, guesses, right):
    for epsilon in (0.0, 0.5, 2.5):
        law = stats.binom(guesses, 1.0 / (1.0 + math.exp(-epsilon)))
        mass = [float(one) for one in law.pmf(np.arange(right))]
        steepest = max(math.fsum(mass[right - i :]) / i for i in range(1, right + 1))
        slow = min(1.0, law.sf(right - 1) + 2.0 * canaries * delta * steepest)
        p_value = one_run_p_value(epsilon, delta, canaries=canaries, guesses=guesses, right=right)
        assert p_value == pytest.approx(slow, rel=1e-9)


def test_the_p_value_bounds_a_mechanism_that_fails_with_probability_delta():
    """All coins are revealed with probability delta, else by randomised response: (epsilon, delta)-DP."""
    canaries, epsilon, delta = 60, 1.0, 0.01
    law = stats.binom(canaries, 1.0 / (1.0 + math.exp(-epsilon)))
    for right in range(1, canaries + 1):
        true = delta + (1.0 - delta) * law.sf(right - 1)
        bound = one_run_p_value(epsilon, delta, canaries=canaries, guesses=canaries, right=right)
        assert true <= bound + 1e-12


def test_bad_counts():
    with pytest.raises(dr.ParameterError, match="right <= guesses"):
        one_run_p_value(1.0, 0.0, canaries=10, guesses=11, right=3)


# -------------------------------------------------------------------------------------------------------- one run


@pytest.mark.parametrize("guesses", [None, 200])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.0])
def test_true_claims_survive_one_run(epsilon, guesses):
    rng = np.random.default_rng(1)
    refuted = above = 0
    for seed in range(SEEDS):
        result = canary_audit(
            *randomised_response(rng, 200, epsilon),
            pure(epsilon),
            mode="one-run",
            guesses=guesses,
            significance=SIGNIFICANCE,
            seed=seed,
        )
        refuted += result.refuted
        above += result.epsilon_lower > epsilon
    assert refuted <= MOST
    assert above <= MOST


def test_the_bound_for_one_run_is_tight():
    """With all canaries guessed, randomised response is the worst case: about the significance is refuted."""
    rng = np.random.default_rng(2)
    refuted = 0
    for seed in range(SEEDS):
        scores = gaussian(rng, 1000, 0.0)
        result = canary_audit(*scores, pure(0.0), mode="one-run", guesses=1000, significance=SIGNIFICANCE, seed=seed)
        refuted += result.refuted
    assert 0.4 * SIGNIFICANCE * SEEDS < refuted <= MOST


@pytest.mark.parametrize("mode", ["models", "one-run"])
def test_true_claims_about_gaussian_noise_survive(mode):
    """Claims of a curve, of epsilon at delta, and of the mechanism itself."""
    mu = 1.5
    curve = dr.GDP(mu, neighbours="add-remove")
    claims = [curve, dr.ApproxDP(4.1, 0.01, neighbours="add-remove"), dr.DPSGD(1.0 / mu, 1.0, 1)]
    assert epsilon_at(curve.privacy("add-remove"), 0.01) <= 4.1
    rng = np.random.default_rng(3)
    refuted = np.zeros(len(claims))
    for seed in range(100):
        scores = gaussian(rng, 400, mu)
        refuted += [canary_audit(*scores, one, mode=mode, significance=0.1, seed=seed).refuted for one in claims]
    assert np.all(refuted <= stats.binom.ppf(1.0 - 1e-6, 100, 0.1))


@pytest.mark.parametrize("mode", ["models", "one-run"])
def test_equal_scores_say_nothing(mode):
    """Their order must not know who was in."""
    rng = np.random.default_rng(9)
    refuted = 0
    for seed in range(SEEDS):
        inside = rng.binomial(300, 0.5)
        scores = np.zeros(inside), np.zeros(300 - inside)
        refuted += canary_audit(*scores, pure(0.0), mode=mode, significance=SIGNIFICANCE, seed=seed).refuted
    assert refuted <= MOST


def test_one_run_finds_leaks():
    rng = np.random.default_rng(4)
    inside, outside = randomised_response(rng, 1000, 4.0)
    result = canary_audit(inside, outside, pure(3.0), mode="one-run", seed=1)
    assert result.refuted
    assert 3.0 < result.epsilon_lower < 4.0
    assert result.method.startswith("canaries of one run")
    assert "fair coin" in result.explain()
    scores = gaussian(rng, 4000, 2.0)
    assert canary_audit(*scores, dr.GDP(0.5, neighbours="add-remove"), mode="one-run", seed=1).refuted
    assert canary_audit(*scores, dr.DPSGD(2.0, 1.0, 1), mode="one-run", seed=1).refuted
    few = canary_audit(*scores, pure(1.0), mode="one-run", guesses=200, seed=1)
    assert few.refuted
    assert few.witness.drawn_first == few.witness.drawn_other == 100


def test_delta_costs_in_one_run():
    scores = gaussian(np.random.default_rng(5), 1000, 3.0)
    lower = [
        canary_audit(*scores, dr.GDP(9.0, neighbours="add-remove"), mode="one-run", delta=delta, seed=1).epsilon_lower
        for delta in (0.0, 1e-5, 1e-3)
    ]
    assert lower[0] > lower[1] > lower[2]


# ---------------------------------------------------------------------------------------------- a model for each


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_true_claims_survive_many_models(epsilon):
    rng = np.random.default_rng(6)
    refuted = above = 0
    for seed in range(SEEDS):
        scores = randomised_response(rng, 300, epsilon)
        result = canary_audit(*scores, pure(epsilon), significance=SIGNIFICANCE, seed=seed)
        refuted += result.refuted
        above += result.epsilon_lower > epsilon
    assert refuted <= MOST
    assert above <= MOST


def test_thresholds_are_not_tested_on_the_scores_that_chose_them():
    """Scores that say nothing: at most half of 400 audits may refute; with one half for both about 300 would."""
    rng = np.random.default_rng(8)
    claim = dr.PureDP(0.0, neighbours="add-remove")
    refuted = sum(
        canary_audit(rng.normal(size=400), rng.normal(size=400), claim, significance=0.5, seed=seed).refuted
        for seed in range(400)
    )
    assert refuted <= 200 + 3.5 * 10


@pytest.mark.parametrize("most", [np.inf, 1e300])
def test_scores_may_be_infinite(most):
    claim = dr.PureDP(1.0, neighbours="add-remove")
    result = canary_audit(np.full(100, most), np.full(100, -np.inf), claim, seed=1)
    assert result.epsilon_lower == canary_audit(np.full(100, 2.0), np.full(100, 1.0), claim, seed=1).epsilon_lower > 2.0


def test_many_models_find_leaks():
    rng = np.random.default_rng(7)
    scores = rng.normal(1.0, 1.0, 2000), rng.normal(0.0, 1.0, 2000)
    result = canary_audit(*scores, dr.GDP(0.7, neighbours="add-remove"), seed=1)
    assert result.refuted
    assert not canary_audit(*scores, dr.GDP(1.0, neighbours="add-remove"), seed=1).refuted
    assert result.witness.seen_first > result.witness.seen_other
    assert dr.AuditResult.from_dict(result.to_dict()) == result


def test_scores_of_one_model_are_not_independent():
    """A mechanism that reveals all coins with probability 0.2 and nothing otherwise is (0, 0.2)-DP.

    Read as if each canary had a model of its own, one run of it in five seems to refute that.
    """
    rng = np.random.default_rng(8)
    claim = dr.ApproxDP(0.0, 0.2, neighbours="add-remove")
    refuted = {"models": 0, "one-run": 0}
    for seed in range(100):
        inside, outside = gaussian(rng, 400, 9.0 if rng.random() < 0.2 else 0.0)
        for mode in refuted:
            refuted[mode] += canary_audit(inside, outside, claim, mode=mode, significance=0.01, seed=seed).refuted
    assert refuted["models"] > 8
    assert refuted["one-run"] <= 5


# ------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"in_scores": [1.0] * 5}, "at least 20"),
        ({"in_scores": [np.nan] * 30}, "one number for each canary"),
        ({"in_scores": [[1.0], [2.0]]}, "one number for each canary"),
        ({"out_scores": []}, "one number for each canary"),
        ({"mode": "two-run"}, "'models' or 'one-run'"),
        ({"guesses": 10}, "left out"),
        ({"mode": "one-run", "guesses": 101}, "from 2 to 100"),
        ({"mode": "one-run", "in_scores": [1.0]}, "fair coins"),
        ({"significance": 0.0}, "significance"),
        ({"delta": 0.1}, "delta of the claim"),
        ({"seed": -1}, "seed"),
        ({"claim": 1.0}, "a guarantee or a mechanism"),
    ],
)
def test_bad_input(changed, text):
    options = {"in_scores": [1.0] * 50, "out_scores": [0.0] * 50, "claim": pure(1.0), **changed}
    with pytest.raises(dr.ParameterError, match=text):
        canary_audit(options.pop("in_scores"), options.pop("out_scores"), options.pop("claim"), **options)
