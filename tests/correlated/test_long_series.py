"""Long series and extreme chains: steps that are left out, small probabilities and odd starts never hide a leakage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpradar import correlated as co
from dpradar.correlated import convergence, finite_models, markov
from dpradar.errors import ParameterError
from tests.correlated.strategies import transitions
from tests.twin import correlated as twin

powers = st.floats(-25.0, 0.0).map(lambda x: 10.0**x)


@st.composite
def _pairs(draw) -> np.ndarray:
    """Transitions of two states, some of them next to impossible."""
    a, b = (draw(st.one_of(st.just(0.0), powers)) for _ in range(2))
    P = np.array([[1.0 - a, a], [b, 1.0 - b]])
    return P[:, ::-1].copy() if draw(st.booleans()) else P


def _start(P: np.ndarray, draw) -> list[float] | None:
    if min(P[0, 1], P[1, 0]) > 0.0 and draw(st.booleans()):
        return None
    first = draw(st.one_of(st.floats(0.01, 0.99), powers.filter(lambda x: x < 1.0)))
    return [first, 1.0 - first]


@given(_pairs(), st.floats(-7.0, 2.5), st.integers(1, 60), st.data())
@settings(max_examples=40)
def test_extreme_chains_of_two_states(P, magnitude, length, data):
    chain = co.Chain(P, length, _start(P, data.draw))
    true = twin.two_state_worst(chain.transitions, chain.initial, length, 10.0**magnitude)
    above, computed = markov.steps(chain, 10.0**magnitude)
    assert computed * (1.0 - 1e-12) <= true * (1.0 + 1e-9) + 1e-11
    assert true <= above <= true * (1.0 + 1e-8) + 1e-8


def test_a_slow_chain_is_not_stationary_because_it_hardly_moves():
    """One step changes this start by less than 1e-9, but read backwards the chain is another one."""
    P, start = [[1.0 - 1e-10, 1e-10], [1e-10, 1.0 - 1e-10]], [0.9, 0.1]
    chain = co.Chain(P, 3, start)
    true = twin.leakage(twin.chain(P, start, 3), twin.laplace(sum, 1.0 / 30.0, range(4)))
    assert not chain.is_stationary
    assert true == pytest.approx(78.2396, abs=1e-4)  # as if it were stationary: 76.05
    assert true <= co.leakage(chain, 30.0, values=(0.0, 1.0)).leakage.value + 1e-9
    assert co.Chain(P, 3, [0.5, 0.5]).is_stationary
    assert co.Chain(P, 3).is_stationary


@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_a_state_that_dies_out(epsilon):
    """After 1,075 steps its probability is no float; who is still in it has been there all the time."""
    length = 1500
    chain = co.Chain([[0.5, 0.5], [0.0, 1.0]], length, [0.9, 0.1])
    # The last record, nothing known; outputs that favour state 0: e^(epsilon zeros).
    stays = length * epsilon
    left = [math.log(0.1)] + [math.log(0.9) + k * (epsilon - math.log(2.0)) for k in range(1, length)]
    gone = float(np.logaddexp.reduce(left)) - math.log1p(-0.9 * 0.5 ** (length - 1))
    assert stays - gone <= markov.steps(chain, epsilon)[0]
    many = co.Chain([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]], length, [0.9, 0.05, 0.05])
    assert markov.steps(many, epsilon)[0] == length * epsilon  # what holds for any dependence


def test_probabilities_that_floats_lose():
    tiny = 1e-200
    P = [[0.5, 0.5 - tiny, tiny], [0.5, 0.5 - tiny, tiny], [tiny, 0.0, 1.0 - tiny]]
    assert markov.steps(co.Chain(P, 4), 300.0)[0] == 1200.0  # followed in floats: 1199.31, the truth is 1200
    chain = co.Chain([[5e-324, 1.0], [1.0, 5e-324]], 4)
    with pytest.raises(ParameterError, match="probabilities above"):
        chain.joint()
    result = co.leakage(chain, 500.0, values=(0.0, 1.0))
    assert result.leakage.value >= 500.0
    assert "all-attackers" not in [one.rule for one in result.theorems]
    with pytest.raises(ParameterError, match="or at least 1e-290"):
        co.Joint([[0.5, 0.5 - 1e-300], [1e-300, 0.0]])


@pytest.mark.parametrize("epsilon", [50.0, 200.0, 500.0])
@pytest.mark.parametrize("P", [[[0.9, 0.1], [0.3, 0.7]], [[0.1, 0.9], [0.9, 0.1]]])
def test_noise_so_small_that_densities_vanish(P, epsilon):
    """Laplace noise on a count of four, listed in logarithms, beside 50 digits."""
    import mpmath as mp

    chain = co.Chain(P, 4)
    joint = chain.joint()
    leakage = finite_models.laplace_leakage(joint, joint.total(), 1.0 / epsilon)
    with mp.workdps(50):
        model = {k: mp.mpf(v) for k, v in twin.chain(P, chain.initial.tolist(), 4).items()}
        true = 0.0
        for target, known in twin._adversaries(4):
            for values in twin._conditionals(model, target, known):
                for place in range(5):
                    seen = [
                        sum(p * mp.exp(-epsilon * abs(place - sum(table))) for table, p in tables.items())
                        for tables in values.values()
                    ]
                    true = max(true, float(mp.log(max(seen) / min(seen))))
    assert true <= leakage == pytest.approx(true, rel=1e-11)


def test_a_stationary_law_that_floats_lose():
    P = np.eye(5)
    for i in range(4):
        P[i, i + 1], P[i + 1, i] = 1e-100, 1.0
        P[i, i] -= P[i, i + 1]
    P[1:, :] /= P[1:, :].sum(axis=1, keepdims=True)
    with pytest.raises(ParameterError, match="floats cannot hold"):
        co.Chain(P, 3)


# Where sequences end.


@given(st.sampled_from([2, 3, 4]), st.data(), st.floats(-4.0, 1.0), st.sampled_from([40, 150]))
@settings(max_examples=20)
def test_steps_that_are_left_out_add_nothing(states, data, magnitude, length):
    P = data.draw(transitions(states=states, least=0.0)) ** data.draw(st.sampled_from([1, 4]))
    P += data.draw(st.sampled_from([0.0, 10.0])) * np.eye(states) + 1e-9
    P /= P.sum(axis=1, keepdims=True)
    start = [1.0 / states] * states if data.draw(st.booleans()) else None
    chain, epsilon = co.Chain(P, length, start), 10.0**magnitude
    bounds = markov.steps(chain, epsilon)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convergence.Schedule, "due", lambda self, count: False)
        in_full = markov.steps(chain, epsilon)
    assert in_full[1] <= bounds[0] <= in_full[0] + 1e-8 * (1.0 + in_full[0])


@given(st.sampled_from([2, 3, 5]), st.data())
@settings(max_examples=50)
def test_directions_settle_at_least_as_fast_as_said(states, data):
    """Hilbert's metric: all later knowledge is within ``drift`` times the last move."""
    P = data.draw(transitions(states=states, least=0.001))
    v = np.array([data.draw(st.floats(0.01, 1.0)) for _ in range(states)])
    w = P @ v
    limit = convergence.drift(P, 1000) * float(convergence.hilbert_distance(v[None], w[None])[0])
    later = w
    for _ in range(30):
        later = P @ later
        later /= later.max()
        assert float(convergence.hilbert_distance(v[None], later[None])[0]) <= limit + 1e-12


def test_a_move_that_is_not_settled_is_not_certified():
    """A state that only just begins to matter: its share grows by half in each step, from 1e-20."""
    before, now = np.array([[1.0, 1e-20]]), np.array([[1.0, 1.5e-20]])
    assert np.abs(now - before).max() < 1e-15
    assert float(convergence.hilbert_distance(before, now)[0]) == pytest.approx(math.log(1.5))
    assert convergence.change_bound(1.0, 1.0) == math.inf


# Transfer matrices.


@given(st.sampled_from([2, 3]), st.data(), st.floats(-3.0, 1.0), st.sampled_from([2, 50, 800]))
@settings(max_examples=30)
def test_transfer_matrices_of_slow_chains(states, data, magnitude, length):
    """Beside the same sums in 50 digits, no step left out: never above, and next to it."""
    import mpmath as mp

    P = np.array([[data.draw(powers) for _ in range(states)] for _ in range(states)])
    P += data.draw(st.sampled_from([0.0, 1.0])) * np.eye(states)
    P /= P.sum(axis=1, keepdims=True)
    start = np.array([data.draw(powers) for _ in range(states)])
    start /= start.sum()
    assume(P.min() > 0.0 and start.min() > 1e-24)
    epsilon, values = 10.0**magnitude, np.arange(states, dtype=float)
    chain = co.Chain(P, length, start)
    lower = markov.counting_lower(chain, epsilon, values)
    with mp.workdps(50):
        T = mp.matrix(chain.transitions.tolist())
        best = mp.mpf(0)
        for sign in (1, -1):
            tilt = [mp.exp(sign * mp.mpf(epsilon) * int(v) / (states - 1)) for v in values]
            after, past, laws = [mp.matrix([1] * states)], [mp.matrix(chain.initial.tolist())], []
            laws.append(past[0])
            for _ in range(length - 1):
                after.append(T * mp.matrix([tilt[x] * after[-1][x] for x in range(states)]))
                past.append(T.T * mp.matrix([tilt[x] * past[-1][x] for x in range(states)]))
                laws.append(T.T * laws[-1])
            for i in range(length):
                given_x = [after[length - 1 - i][x] * past[i][x] * tilt[x] / laws[i][x] for x in range(states)]
                best = max(best, mp.log(max(given_x) / min(given_x)))
        true = float(best)
    assert lower <= true
    assert lower >= true * (1.0 - 1e-8) - 1e-8
