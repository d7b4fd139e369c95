"""Every bound beside the leakage that brute force finds on random small models: never below it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpradar import correlated as co
from dpradar.correlated import finite_models, gaussian, markov
from dpradar.correlated.gaussian_lower_bound import gaussian_lower
from dpradar.correlated.leakage_theorems import SumRelease
from dpradar.correlated.model_kinds import KINDS
from dpradar.correlated.response import exact_flip, response_leakage
from tests.correlated.strategies import covariances, epsilons, joints, transitions
from tests.twin import correlated as twin

CLOSE = 1e-8


def _sum(table):
    return float(sum(table))


@given(joints(), epsilons)
@settings(max_examples=100)
def test_all_attackers_equal_the_definition(array, epsilon):
    model = co.Joint(array)
    span = max(size - 1 for size in array.shape)
    top = sum(size - 1 for size in array.shape)
    places = [x / 4 for x in range(-4, 4 * top + 5)]  # also between the sums and beyond them
    true = twin.leakage(twin.table_of(array), twin.laplace(_sum, span / epsilon, places))
    leakage = finite_models.laplace_leakage(model, model.total(), span / epsilon)
    assert leakage == pytest.approx(true, abs=1e-9)
    assert leakage <= array.ndim * epsilon + CLOSE  # Theorem 6.3


@given(joints(most_records=3, most_values=2), epsilons, st.integers(2, 4), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_channels_equal_the_definition_and_keep_theorem_6_3(array, epsilon, outputs, random):
    size = array.size
    matrix = np.array([[random.uniform(1.0, math.exp(epsilon)) for _ in range(outputs)] for _ in range(size)])
    matrix /= matrix.sum(axis=1, keepdims=True)
    own = max(  # the epsilon of the mechanism, replace-one
        float(np.abs(np.log(matrix[a] / matrix[b])).max())
        for a, x in enumerate(np.ndindex(array.shape))
        for b, y in enumerate(np.ndindex(array.shape))
        if sum(i != j for i, j in zip(x, y, strict=True)) == 1
    )
    rows = {table: matrix[k].tolist() for k, table in enumerate(np.ndindex(array.shape))}
    true = twin.leakage(twin.table_of(array), rows.__getitem__)
    assert finite_models.channel_leakage(co.Joint(array), matrix) == pytest.approx(true, abs=1e-9)
    assert true <= array.ndim * own + CLOSE


@given(transitions(least=0.0), epsilons, st.integers(1, 4))
@settings(max_examples=60)
def test_two_states_are_followed_exactly(P, epsilon, length):
    """The steps give the worst leakage of any epsilon-DP mechanism; a count reaches it where states last."""
    assume(P[0, 1] > 1e-3 and P[1, 0] > 1e-3)
    start = twin.stationary(P)
    model = twin.chain(P, start, length)
    above, computed = markov.steps(co.Chain(P, length), epsilon)
    worst = twin.worst_mechanism(model, epsilon)
    assert worst <= above + CLOSE
    assert computed == pytest.approx(worst, abs=1e-6)  # the linear programs are solved to about 1e-7
    counted = twin.leakage(model, twin.laplace(_sum, 1.0 / epsilon, range(length + 1)))
    assert counted <= above + CLOSE
    if np.linalg.det(P) >= 0.0:
        assert computed == pytest.approx(counted, abs=1e-9)


@given(transitions(least=0.0), st.floats(0.05, 0.95), epsilons, st.integers(1, 4))
@settings(max_examples=25)
def test_any_start_is_covered(P, first, epsilon, length):
    worst = twin.worst_mechanism(twin.chain(P, [first, 1.0 - first], length), epsilon)
    chain = co.Chain(P, length, [first, 1.0 - first])
    assert worst <= markov.steps(chain, epsilon)[0] + 1e-6
    used = [route for route in KINDS[co.Chain].routes(chain, SumRelease()) if route.usable]
    assert "thm-6.20-tight" in [route.rule for route in used] or P.min() < 1e-300
    for route in used:
        assert worst <= route.leak(epsilon) + 1e-6, route.rule


@given(transitions(states=3, least=0.0), epsilons, st.integers(1, 3), st.booleans())
@settings(max_examples=15)
def test_three_states_are_bounded(P, epsilon, length, other_start):
    assume(P.min() > 1e-3 or other_start)
    start = [0.5, 0.3, 0.2] if other_start else twin.stationary(P)
    model = co.Chain(P, length, start if other_start else None)
    worst = twin.worst_mechanism(twin.chain(P, start, length), epsilon)
    assert worst <= markov.steps(model, epsilon)[0] + 1e-6
    for route in KINDS[co.Chain].routes(model, SumRelease()):
        if route.usable:
            assert worst <= route.leak(epsilon) + 1e-6, route.rule


@given(st.sampled_from([2, 3]), st.data(), epsilons)
@settings(max_examples=60)
def test_every_usable_theorem_about_chains_holds(states, data, epsilon):
    P = data.draw(transitions(states=states, least=0.02))
    length = data.draw(st.integers(1, 5 if states == 2 else 4))
    values = [float(v) for v in data.draw(st.lists(st.integers(-3, 3), min_size=states, max_size=states))]
    assume(max(values) > min(values))
    span = max(values) - min(values)
    model = twin.chain(P, twin.stationary(P), length)
    sums = sorted({sum(values[x] for x in table) for table in model})
    true = twin.leakage(model, twin.laplace(lambda t: sum(values[x] for x in t), span / epsilon, sums))
    chain = co.Chain(P, length)
    result = co.leakage(chain, epsilon, values=values)
    for one in result.theorems:
        if one.bound is not None:
            assert true <= one.bound.value + CLOSE, one.rule
            if one.rule == "all-attackers":
                assert one.bound.value == pytest.approx(true, abs=1e-9)
    assert result.at_least.value <= true + CLOSE
    assert markov.counting_lower(chain, epsilon, np.array(values)) <= true + CLOSE


@given(transitions(least=0.02), st.floats(0.02, 0.48), st.integers(1, 5))
@settings(max_examples=40)
def test_randomised_response_reaches_the_bound(P, flip, length):
    model = twin.chain(P, twin.stationary(P), length)
    true = twin.leakage(model, twin.responses(flip, length))
    assert response_leakage(co.Chain(P, length), flip) == pytest.approx(true, abs=1e-8)


@given(transitions(least=0.02), st.floats(0.1, 6.0), st.integers(1, 5))
@settings(max_examples=40)
def test_flip_probability_keeps_the_target_and_less_does_not(P, target, length):
    chain = co.Chain(P, length)
    flip = exact_flip(chain, target)
    model = twin.chain(P, twin.stationary(P), length)
    assert twin.leakage(model, twin.responses(flip, length)) <= target + 1e-9
    assert twin.leakage(model, twin.responses(0.999 * flip, length)) > target


# Gaussian groups.


@given(covariances(), st.floats(0.3, 3.0), st.booleans())
@settings(max_examples=100)
def test_reach_is_the_largest_over_all_adversaries(S, width, capped):
    bound = gaussian.reach(S, width, capped=capped).value
    true = twin.reach(S, width, capped=capped)
    assert bound >= true * (1.0 - 1e-12)
    assert bound == pytest.approx(true, rel=1e-6)


@pytest.mark.parametrize("smallest", [1e-3, 1e-6, 1e-9])
def test_nearly_singular_covariances_are_not_understated(smallest):
    """Beside 50 digits: rounding errors of the updates grow as the covariance becomes singular."""
    import mpmath as mp

    rng = np.random.default_rng(1)
    _, v = np.linalg.eigh(np.cov(rng.normal(size=(3, 20))))
    S = (v * np.array([smallest, 0.1, 1.0])) @ v.T
    S = (S + S.T) / 2.0
    with mp.workdps(50):
        M, best = mp.matrix(S.tolist()), mp.mpf(0)
        for target, known in twin._adversaries(3):
            T = [*known, target]
            unit = mp.matrix([0] * len(known) + [1])
            y = mp.lu_solve(mp.matrix([[M[a, b] for b in T] for a in T]), unit)
            moves = [abs(sum(M[u, t] * y[k] for k, t in enumerate(T))) for u in range(3) if u not in T]
            best = max(best, 1 + sum(moves))
        bound = gaussian.reach(S).value
        assert best <= bound <= best * (1 + 1e-4)


@given(covariances())
@settings(max_examples=100)
def test_search_and_eigenvalues_bound_what_listing_finds(S):
    true = twin.reach(S) - 1.0
    assert gaussian._search_adversaries(S) == pytest.approx(true, rel=1e-6)
    assert gaussian._largest_by_classes(S) == pytest.approx(true, rel=1e-6)
    assert gaussian._spectral(S) >= true * (1.0 - 1e-9)


@given(covariances(), st.floats(0.05, 1.0))
@settings(max_examples=100)
def test_dominance_makes_ignorance_the_worst_case(S, share):
    """Where covariances with the others sum to at most the variance, whoever knows nothing learns most."""
    d = np.diag(S)
    sums = (np.abs(S).sum(axis=0) - d) / d
    T = np.diag(d) + (S - np.diag(d)) * share / max(sums.max(), share)
    assert twin.reach(T) == pytest.approx(1.0 + float(((np.abs(T).sum(axis=0) - d) / d).max()), rel=1e-9)


@given(covariances())
@settings(max_examples=100)
def test_h_bounds_the_lemma_where_variances_are_equal(S):
    R = gaussian.correlations(S)
    m, rho = len(R), gaussian.largest_correlation(R)
    assume(rho * (m - 2) < 0.999)
    true = twin.reach(R)
    assert true <= gaussian.h_tight(m, rho) * (1.0 + 1e-9)
    assert gaussian.h_tight(m, rho) <= gaussian.h(m, rho) * (1.0 + 1e-12)


@given(
    st.floats(-0.95, 0.95), st.floats(0.5, 40.0), st.floats(0.5, 40.0), st.floats(-50.0, 50.0), st.floats(0.2, 3.0),
    st.floats(0.2, 3.0),
)  # fmt: skip
@settings(max_examples=40)
def test_clipped_sums_leak_no_more_than_the_lemma(rho, sd0, sd1, shift, epsilon, width):
    """The true leakage by quadrature, for targets inside and outside the clip interval."""
    clip = (-30.0, 30.0)
    S = np.array([[sd0**2, rho * sd0 * sd1], [rho * sd0 * sd1, sd1**2]])
    means = [0.0, shift]
    values = (-30.0 * width, 30.0 * width)
    true = twin.clipped_pair(means, S, clip, 60.0 / epsilon, values)
    other = twin.clipped_pair(means[::-1], S[::-1, ::-1], clip, 60.0 / epsilon, values)  # the other record attacked
    true = max(true, other)
    model = co.GaussianGroups(S, means=means)
    result = co.leakage(model, epsilon, clip=clip, targets=values)
    for one in result.theorems:
        if one.bound is not None:
            assert true <= one.bound.value + 1e-6, one.rule
    low = gaussian_lower(model, epsilon, clip, values)
    assert low <= true + 1e-5
    if rho >= 0.0:
        assert low == pytest.approx(true, abs=1e-4)  # far outputs tell most where both move the same way
    assert result.at_least.value <= result.leakage.value


@given(covariances(most=3), st.floats(0.3, 2.0), st.floats(0.5, 2.0))
@settings(max_examples=25)
def test_three_records_leak_no_more_than_the_lemma(S, epsilon, width):
    """All targets; both other records unknown, which is where most can be lost."""
    assume(len(S) == 3)
    clip = (-4.0, 4.0)
    values = (-4.0 * width, 4.0 * width)
    result = co.leakage(co.GaussianGroups(S, means=[0.0, 0.5, -0.5]), epsilon, clip=clip, targets=values)
    true = 0.0
    for first in range(3):
        order = [first, *(j for j in range(3) if j != first)]
        means = [[0.0, 0.5, -0.5][j] for j in order]
        true = max(true, twin.clipped_trio(means, S[np.ix_(order, order)], clip, 8.0 / epsilon, values))
    for one in result.theorems:
        if one.bound is not None:
            assert true <= one.bound.value + 1e-3, one.rule


def test_lower_bound_equals_quadrature():
    S = 225.0 * np.array([[1.0, 0.45], [0.45, 1.0]])
    model = co.GaussianGroups(S, means=[100.0, 100.0])
    for values in ((40.0, 160.0), (0.0, 200.0), (-100.0, 300.0), (70.0, 140.0)):
        true = twin.clipped_pair([100.0, 100.0], S, (40.0, 160.0), 120.0, values)
        assert gaussian_lower(model, 1.0, (40.0, 160.0), values) == pytest.approx(true, abs=1e-6)


# The risk of one record.


@given(joints(most_records=3, most_values=3), st.floats(0.2, 3.0), st.data())
@settings(max_examples=25)
def test_conditional_risk_is_enclosed(array, epsilon, data):
    records = array.ndim
    target = data.draw(st.integers(0, records - 1))
    known = {j: 0 for j in range(records) if j != target and data.draw(st.booleans())}
    place = tuple(0 if j in known else slice(None) for j in range(records))
    axis = target - sum(j < target for j in known)
    mass = np.moveaxis(array[place], axis, 0).reshape(array.shape[target], -1).sum(axis=1)
    assume((mass > 0.0).sum() >= 2)
    result = co.assess(co.Joint(array), target=target, epsilon=epsilon, known=known)
    span = max(size - 1 for size in array.shape)
    rad, success = twin.risk(twin.table_of(array), _sum, span / epsilon, target, known)
    assert result.rad.low - 1e-5 <= rad <= result.rad.value + 1e-5
    assert result.success.low - 1e-5 <= success <= result.success.value + 1e-5
    assert result.rad.side == result.success.side == "exact"
    assert result.rad.value - result.rad.low < 1e-5
