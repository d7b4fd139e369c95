"""Set-valued reports about hundreds of values: drawn by the definition, and attacked by the optimal attack."""

from __future__ import annotations

import numpy as np

import dpradar as dr
from tests.every import every
from tests.twin import set_reports as twin

DRAWS = 10_000


def drawn_risk(name, epsilon, pi, known, right, rng):
    """Rad and success as averages over reports that are drawn, each with its standard error.

    A report of one record scores the best guess by the posterior, so the record itself is not looked at again.
    """
    m, rads, successes = pi.size, [], []
    size = max(1, int(m / (np.exp(epsilon) + 1.0)))
    for _ in range(DRAWS // 2000):
        target = rng.choice(m, 2000, p=pi)
        if name == "SubsetSelection":
            inside = rng.random(2000) < size * np.exp(epsilon) / (size * np.exp(epsilon) + m - size)
            order = rng.random((2000, m))
            order[np.arange(2000), target] = np.where(inside, -1.0, 2.0)
            bits = order.argsort(axis=1).argsort(axis=1) < size
            odds = np.exp(epsilon)
        else:
            own, other = twin.coins(name, epsilon)
            bits = rng.random((2000, m)) < other
            bits[np.arange(2000), target] = rng.random(2000) < own
            odds = own * (1.0 - other) / (other * (1.0 - own))
        joint = np.where(bits, odds, 1.0) * pi
        posterior = joint / joint.sum(axis=1, keepdims=True)
        rad = success = 0.0
        for x in sorted(set(known.tolist())):
            inside = known == x
            hits = right[:, inside].astype(float)
            rad = rad + ((posterior - pi)[:, inside] @ hits.T).max(axis=1)
            success = success + (posterior[:, inside] @ hits.T).max(axis=1)
        rads.append(rad)
        successes.append(success)
    samples = [np.concatenate(rads), np.concatenate(successes)]
    return [(float(s.mean()), float(s.std() / np.sqrt(s.size))) for s in samples]


def question(kind, m, rng):
    """Prior, what is known, labels wanted."""
    place = np.arange(m)
    if kind == "column":  # each label once in every fibre, of any probability
        return rng.dirichlet(np.ones(m)), place // 20, place % 20
    if kind == "cells":
        return np.full(m, 1.0 / m), np.zeros(m, dtype=int), place // 20
    if kind == "cells in fibres":
        return np.full(m, 1.0 / m), place // 100, place // 10 % 10
    return np.full(m, 1.0 / m), place // 100, place // 10  # a guess may be wrong for everyone in the fibre


@every("name", ["OUE", "SubsetSelection", "BLH"])
@every("kind", ["column", "cells", "cells in fibres", "free cells"])
def test_hundreds_of_values(kind, name):
    rng = np.random.default_rng(3)
    m, epsilon = 300, 2.0
    pi, known, wanted = question(kind, m, rng)
    prior = dr.Prior.of(pi)
    threat = dr.Threat(prior, dr.Knowledge.labels(known.tolist()), dr.Goal.labels(wanted.tolist()))
    mechanism = getattr(dr, name)(m=m, epsilon=epsilon)
    answer = dr.assess(mechanism, threat)
    assert answer.rad.side == answer.success.side == "exact"
    (rad, rad_error), (success, success_error) = drawn_risk(name, epsilon, pi, known, twin.cells(wanted), rng)
    assert rad_error < 0.015 * rad
    assert abs(rad - answer.rad.value) < 4.5 * rad_error
    assert abs(success - answer.success.value) < 4.5 * success_error


@every("name", ["OUE", "SubsetSelection"])
def test_windows_on_hundreds_of_values(name):
    m, epsilon, eta = 301, 2.0, 2
    threat = dr.Threat(dr.Prior.uniform(m), goal=dr.Goal.within(eta))
    mechanism = getattr(dr, name)(m=m, epsilon=epsilon)
    answer = dr.assess(mechanism, threat)
    pi, known = threat.prior.probabilities, np.zeros(m, dtype=int)
    drawn = drawn_risk(name, epsilon, pi, known, twin.windows(m, eta), np.random.default_rng(6))
    for (value, error), exact in zip(drawn, (answer.rad, answer.success), strict=True):
        assert exact.side == "exact"
        assert abs(value - exact.value) < 4.5 * error
        assert error < 0.01 * value
    for maximise, exact in (("rad", answer.rad), ("success", answer.success)):
        run = dr.attack(mechanism, threat, trials=20_000, seed=7, maximise=maximise, confidence=0.9999)
        reached = run.rad if maximise == "rad" else run.success
        assert reached.low <= exact.value <= reached.high


@every("maximise", ["rad", "success"])
@every("name", ["OUE", "SubsetSelection"])
@every("kind", ["column", "cells", "cells in fibres", "free cells"])
def test_the_optimal_attack_reaches_the_exact_values(kind, name, maximise):
    m = 200
    pi, known, wanted = question(kind, m, np.random.default_rng(4))
    threat = dr.Threat(dr.Prior.of(pi), dr.Knowledge.labels(known.tolist()), dr.Goal.labels(wanted.tolist()))
    mechanism = getattr(dr, name)(m=m, epsilon=3.0)
    answer = dr.assess(mechanism, threat)
    run = dr.attack(mechanism, threat, trials=20_000, seed=5, maximise=maximise, confidence=0.9999)
    reached, exact = (run.rad, answer.rad) if maximise == "rad" else (run.success, answer.success)
    assert reached.low <= exact.value <= reached.high
    assert reached.high - reached.low < 0.06
    if maximise == "rad" and answer.hit is not None:
        assert run.success.low <= answer.hit <= run.success.high
