"""The optimal attack, run, beside the exact engine: any knowledge and goal, with and without guesses that miss."""

from __future__ import annotations

import numpy as np
import pytest

import dpradar as dr

FAILURE = 1e-9
TRIALS = 20_000
KINDS = (dr.GRR, dr.OUE, dr.SUE, dr.SubsetSelection, dr.OLH, dr.THE)


def drawn(number: int) -> tuple[object, dr.Threat]:
    """Return a protocol and a threat: few labels, so that the same label stands in several fibres."""
    rng = np.random.default_rng(number)
    m = int(rng.integers(3, 9))
    weights = rng.dirichlet(np.ones(m)) if rng.random() < 0.7 else np.full(m, 1.0 / m)
    known = dr.Knowledge.labels(rng.integers(0, int(rng.integers(1, m + 1)), m).tolist())
    goals = (
        dr.Goal.exact(),
        dr.Goal.labels(rng.integers(0, int(rng.integers(2, m + 1)), m).tolist()),
        dr.Goal.within(float(rng.integers(1, 3))),
    )
    threat = dr.Threat(dr.Prior.of(weights), knowledge=known, goal=goals[int(rng.integers(0, 3))])
    return KINDS[number % len(KINDS)](m=m, epsilon=float(rng.uniform(0.3, 4.0))), threat


@pytest.mark.parametrize("number", range(60))
def test_the_attack_reaches_the_exact_value_and_no_more(number):
    mechanism, threat = drawn(number)
    exact = dr.assess(mechanism, threat)
    for goal in ("rad", "success"):
        run = dr.attack(mechanism, threat, trials=TRIALS, seed=1, maximise=goal, confidence=1 - FAILURE)
        bound, interval = getattr(exact, goal), getattr(run, goal)
        assert bound.side == "exact"
        assert interval.low <= bound.high
        assert bound.low <= interval.high
        assert run.rad.low <= exact.rad.high
        assert run.success.low <= exact.success.high


def test_a_label_that_stands_in_every_fibre_cannot_be_missed():
    """An attacker who must name a label is right for somebody; abstaining would be worth 0.42 instead of 0.35."""
    prior, known = dr.Prior.of([2 / 7, *[1 / 7] * 5]), dr.Knowledge.labels([0, 1, 0, 1, 0, 1])
    threat = dr.Threat(prior, knowledge=known, goal=dr.Goal.labels([0, 1, 2, 0, 1, 2]))
    mechanism = dr.GRR(m=6, epsilon=2.0)
    run = dr.attack(mechanism, threat, trials=200_000, seed=1, confidence=1 - FAILURE)
    assert run.rad.low <= dr.assess(mechanism, threat).rad.value <= run.rad.high < 0.4
