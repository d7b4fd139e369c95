"""The exponential mechanism on an interval, and noise on a record from an interval."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import beta, uniform

import dpradar as dr
from tests.twin import brute, continuous, lines
from tests.worlds import World, exact_world, found_by, window_world

SHAPES = [(1.0, 1.0), (0.1, 0.1), (0.5, 2.0), (2.0, 3.0)]
# The twin's extrapolated values move by less than this when its grid is halved (its docstring).
TWIN_ERROR = 1e-6


def beta_prior(a: float, b: float) -> dr.Prior:
    return dr.Prior.continuous(uniform() if a == b == 1.0 else beta(a, b), 0.0, 1.0)


def assert_inside(bound: dr.Bound, value: float, error: float) -> None:
    assert bound.low - error <= value <= bound.high + error
    assert bound.value == bound.high


def compare(shape, epsilon, eta, known) -> dr.Assessment:
    knowledge = dr.Knowledge.everything() if known else dr.Knowledge.nothing()
    threat = dr.Threat(beta_prior(*shape), knowledge, dr.Goal.within(eta))
    answer = dr.assess(dr.Exponential(epsilon, interval=(0.0, 1.0)), threat)
    limit = continuous.converged(*shape, epsilon, eta, known=known).limit
    assert answer.rad.rule == "exact-continuous"
    assert_inside(answer.rad, limit.rad, TWIN_ERROR)
    # The engine's own interval; the baseline plus rad may be a little below its upper end.
    assert_inside(found_by(answer, "exact-continuous", "success"), limit.success, TWIN_ERROR)
    assert answer.success.value >= limit.success - TWIN_ERROR
    assert answer.baseline == pytest.approx(limit.baseline, rel=0, abs=TWIN_ERROR)
    return answer


SETTINGS = [
    (shape, epsilon, eta, known)
    for shape in SHAPES
    for epsilon in (2.0, 20.0)
    for eta, known in ((0.04, False), (0.2, False), (0.6, False), (0.2, True))
]
ABOVE_ONE = [((0.1, 0.1), 10.0, 0.6, False), ((0.1, 0.1), 20.0, 0.6, False)]


@pytest.mark.parametrize(("shape", "epsilon", "eta", "known"), ABOVE_ONE)
def test_success_of_all_but_one(shape, epsilon, eta, known):
    compare(shape, epsilon, eta, known)


@pytest.mark.parametrize(("shape", "epsilon", "eta", "known"), [s for s in SETTINGS if s not in ABOVE_ONE])
def test_continuous_prior(shape, epsilon, eta, known):
    rad = compare(shape, epsilon, eta, known).rad
    assert rad.high - rad.low <= 1e-4


@pytest.mark.parametrize("epsilon", [2.0, 10.0])
def test_known_record_that_some_guess_cannot_miss(epsilon):
    """eta above half of the interval: records in the middle are within eta of every guess, so nothing is gained."""
    rad = compare((0.5, 2.0), epsilon, 0.6, known=True).rad
    assert rad.high - rad.low <= 1e-4


def test_continuous_prior_with_the_exact_goal():
    """No atom, so nothing can be named exactly; with the record known, eta does not matter below the diameter."""
    mechanism, prior = dr.Exponential(5.0, interval=(0.0, 1.0)), beta_prior(2.0, 3.0)
    blind = dr.assess(mechanism, dr.Threat(prior))
    assert blind.rad.value == blind.success.value == blind.baseline == 0.0
    known = dr.assess(mechanism, dr.Threat(prior, dr.Knowledge.everything()))
    limit = continuous.converged(2.0, 3.0, 5.0, 0.0, known=True).limit
    assert_inside(known.rad, limit.rad, TWIN_ERROR)
    wide = dr.assess(mechanism, dr.Threat(prior, goal=dr.Goal.within(1.0)))
    assert wide.rad.value == pytest.approx(0.0, abs=1e-8)
    assert wide.success.value == wide.baseline == 1.0


DISCRETISED = [
    (dr.Laplace(0.3), lines.laplace(0.3), None),
    (dr.Gaussian(0.3), lines.gaussian(0.3), None),
    (dr.Laplace(0.3, truncate=(0.0, 1.0)), lines.laplace(0.3), (0.0, 1.0)),
    (dr.Gaussian(0.3, truncate=(0.2, 0.7)), lines.gaussian(0.3), (0.2, 0.7)),
    (dr.Laplace(0.3, truncate=(-0.4, 1.7)), lines.laplace(0.3), (-0.4, 1.7)),
]


@pytest.mark.parametrize("case", range(len(DISCRETISED)))
def test_noise_on_a_continuous_record(case):
    """Against the midpoints of n cells with windows of whole cells.

    The midpoint rule errs by O(1/n^2) and the guesses by O(1/n) times the slope at the best guess, which is 0: both are
    seen by comparing n = 50 with n = 100, whose difference is about three times the error of the latter.
    """
    mechanism, noise, clamp = DISCRETISED[case]
    threat = dr.Threat(dr.Prior.continuous(uniform(), 0.0, 1.0), goal=dr.Goal.within(0.2))
    answer = dr.assess(mechanism, threat)

    def cells(n: int) -> tuple[float, float]:
        values, S = (np.arange(n) + 0.5) / n, windows_on_cells(n, 0.2)
        return lines.risks_by_sum(noise, values, [1 / n] * n, brute.nothing(n), S, clamp, 4000)

    coarse, fine = cells(50), cells(100)
    success = found_by(answer, "exact-continuous", "success")
    for bound, x, y in ((answer.rad, coarse[0], fine[0]), (success, coarse[1], fine[1])):
        assert abs(y - x) < 3e-3
        assert_inside(bound, y, abs(y - x) + 1e-6)


def windows_on_cells(n: int, eta: float) -> list[frozenset[int]]:
    """Guesses between n cells of [0, 1]: windows of whole cells, shorter at the ends."""
    width = round(2 * eta * n)
    return [frozenset(range(max(s, 0), min(s + width, n))) for s in range(-width // 2, n - width // 2 + 1)]


@pytest.mark.parametrize("interval", [(-1.0, 2.0), (0.0, 1.5), (-20.0, 20.0)])
@pytest.mark.parametrize("known", [False, True])
def test_an_interval_wider_than_the_prior(interval, known):
    """Outputs beyond the records count too: U(0, 1) as n cells, the output as 4000 (second order in both)."""
    epsilon, eta = 12.0, 0.2
    knowledge = dr.Knowledge.everything() if known else dr.Knowledge.nothing()
    threat = dr.Threat(beta_prior(1.0, 1.0), knowledge, dr.Goal.within(eta))
    answer = dr.assess(dr.Exponential(epsilon, interval=interval), threat)

    def cells(n: int) -> tuple[float, float]:
        z, scale = (np.arange(n) + 0.5) / n, 2 * (interval[1] - interval[0]) / epsilon
        edges = np.unique(np.concatenate([np.linspace(*interval, 4001), [0.0, 1.0]]))
        outputs, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
        likelihood = np.exp(-np.abs(outputs[None, :] - z[:, None]) / scale) * widths
        likelihood /= likelihood.sum(axis=1, keepdims=True)
        joint = likelihood / n
        gain = joint - joint.sum(axis=0) / n
        if known:
            return float(np.maximum(gain, 0.0).sum()), 1.0
        S = windows_on_cells(n, eta)
        sums = [np.array([t[sorted(right)].sum(axis=0) for right in S]).max(axis=0).sum() for t in (gain, joint)]
        return float(sums[0]), float(sums[1])

    coarse, fine = cells(50), cells(100)
    success = found_by(answer, "exact-continuous", "success")
    for bound, x, y in ((answer.rad, coarse[0], fine[0]), (success, coarse[1], fine[1])):
        assert abs(y - x) < 3e-3
        assert_inside(bound, y, abs(y - x) + 1e-5)
    assert answer.success.value >= answer.baseline - 1e-9


def interval_risk(world: World, scale: float, low: float, high: float) -> tuple[float, float]:
    """(rad, success) of a renormalised Laplace density: the twin's clamped integral without its atoms."""
    noise, values = lines.laplace(scale), np.array(world.values, dtype=float)
    mass = np.array([2.0 - math.exp(-(v - low) / scale) - math.exp(-(high - v) / scale) for v in values]) / 2.0
    totals = [mpmath.mpf(0), mpmath.mpf(0)]
    with mpmath.workdps(lines.DIGITS):
        ends = [[noise.cdf(low - v) for v in values], [noise.cdf(v - high) for v in values]]
        for fibre in brute.fibres(world.a):
            for i, advantage in enumerate((True, False)):
                weights = lines._weights([float(p) for p in world.pi], fibre, world.S, advantage) / mass
                totals[i] += lines._maximum(noise, values, weights, (low, high), 0.01)
                totals[i] -= sum(max(mpmath.fdot([float(w) for w in row], end) for row in weights) for end in ends)
    return float(totals[0]), float(totals[1])


@pytest.mark.parametrize("epsilon", [0.4, 3.0, 25.0])
@pytest.mark.parametrize("known", [[0, 0, 0, 0], [0, 1, 2, 3], [0, 0, 1, 1]])
@pytest.mark.parametrize("eta", [0.0, 1.5])
def test_finite_values_on_an_interval(epsilon, known, eta):
    values, pi = [0.0, 1.0, 2.5, 4.0], [0.4, 0.3, 0.0, 0.3]
    world = (window_world(pi, values, eta) if eta else exact_world(pi, values)).knowing(known)
    answer = dr.assess(dr.Exponential(epsilon, interval=(-1.0, 5.0)), world.threat)
    rad, success = interval_risk(world, 2 * 6.0 / epsilon, -1.0, 5.0)
    assert answer.rad.side == answer.success.side == "exact"
    assert_inside(answer.rad, rad, 1e-11)
    assert_inside(answer.success, success, 1e-11)
    assert answer.rad.high - answer.rad.low <= 1e-8


@pytest.mark.parametrize("knowledge", [dr.Knowledge.nothing(), dr.Knowledge.everything()])
def test_epsilon_zero_on_an_interval_says_nothing(knowledge):
    threat = dr.Threat(dr.Prior.uniform(4), knowledge)
    answer = dr.assess(dr.Exponential(0.0, interval=(0.0, 3.0)), threat)
    assert answer.rad.value == pytest.approx(0.0, abs=1e-9)
    assert answer.success.value == pytest.approx(answer.baseline, rel=0, abs=1e-9)
