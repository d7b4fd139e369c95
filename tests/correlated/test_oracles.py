"""Numbers of the doctoral thesis (Chapters 2 and 6) and of our notes, each recomputed elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpradar as dr
from dpradar import correlated as co
from dpradar.correlated import finite_models, gaussian, markov
from dpradar.correlated.gaussian_lower_bound import gaussian_lower
from dpradar.correlated.leakage_theorems import SumRelease
from dpradar.correlated.model_kinds import KINDS
from dpradar.correlated.response import printed_flip, response_error, response_leakage
from dpradar.errors import ParameterError
from tests.twin import correlated as twin

PRINTED = {
    "Activity": [[0.882, 0.117], [0.305, 0.695]],
    "E70": [[0.445, 0.555], [0.149, 0.850]],
    "E80": [[0.818, 0.182], [0.371, 0.629]],
    "E90": [[0.894, 0.106], [0.478, 0.522]],
}


def _chain(name: str, length: int) -> co.Chain:
    """The printed matrix; rows that do not sum to 1 as printed are scaled."""
    P = np.array(PRINTED[name])
    return co.Chain(P / P.sum(axis=1, keepdims=True), length)


def _route(model, rule: str, release: SumRelease | None = None):
    return next(route for route in KINDS[type(model)].routes(model, release or SumRelease()) if route.rule == rule)


# Example 2.25: Alice and Bob.

FAMILY = co.Joint([[0.45, 0.05], [0.05, 0.45]])


@pytest.mark.parametrize("agree", [0.5, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_family_example_breaks_the_bound_for_independent_records(agree, epsilon):
    model = co.Joint([[agree / 2, (1 - agree) / 2], [(1 - agree) / 2, agree / 2]])
    result = co.assess(model, target=0, epsilon=epsilon)
    advantage = agree * -math.expm1(-epsilon)  # answer 1 iff the output is at least 1
    assert result.worst_gain.value == pytest.approx(advantage, abs=1e-8)
    assert result.worst_gain.side == "exact"
    assert result.rad.value == pytest.approx(advantage / 2, abs=1e-8)


def test_family_example_numbers():
    result = co.assess(FAMILY, target=0, epsilon=1.0)
    independent = dr.assess(dr.PureDP(1.0, neighbours="replace-one")).worst_gain.value
    assert round(result.worst_gain.value, 6) == 0.568909
    assert round(independent, 6) == 0.462117
    assert result.worst_gain.value > independent
    leak = finite_models.laplace_leakage(FAMILY, FAMILY.total(), 1.0)
    e = math.e
    assert leak == pytest.approx(math.log((0.9 * e**2 + 0.1 * e) / (0.1 * e + 0.9)), abs=1e-9)
    assert round(leak, 6) == 1.776137
    assert leak <= 2.0
    # What the leakage implies covers what the attack reaches.
    assert result.worst_gain.value <= dr.assess(dr.PureDP(leak, neighbours="replace-one")).worst_gain.value


def test_whoever_knows_the_other_record_meets_the_usual_bound():
    result = co.assess(FAMILY, target=0, epsilon=1.0, known={1: 1})
    assert result.worst_gain.value == pytest.approx(-math.expm1(-0.5), abs=1e-6)  # Laplace noise, one step apart


# Example 6.4: twice epsilon is reached in the limit.


@pytest.mark.parametrize(("r", "printed"), [(3, 1.457635), (10, 1.795535), (100, 1.976852), (1000, 1.997653)])
def test_general_bound_is_tight(r, printed):
    array = np.array([[1 / r**2, 1 / r**3], [(r - 1) / r**2, (r**3 - r**2 - 1) / r**3]])
    flip = 1.0 / (1.0 + math.e)
    model = twin.table_of(array)
    first = twin.leakage_of(model, lambda table: twin.responses(flip, 2)(table)[:1], 0, ())  # the answers (0, 0)
    assert round(first, 6) == printed
    answer = np.array([[1 - flip, flip], [flip, 1 - flip]])
    leak = finite_models.channel_leakage(co.Joint(array), np.kron(answer, answer))
    assert leak == pytest.approx(twin.leakage(model, twin.responses(flip, 2)), abs=1e-9)
    assert printed - 1e-6 <= leak <= 2.0


# Theorem 6.3, Proposition 6.1.


def test_general_bound_and_its_noise():
    result = co.leakage(co.Groups(size=3, records=897), epsilon=1.0, clip=(0.0, 100.0))
    assert result.leakage.value == 3.0
    assert result.chosen.epsilon == pytest.approx(1.0 / 3.0)
    assert result.chosen.error == pytest.approx(898.7197, abs=1e-3)  # ln 20 times 300
    assert result.chosen.times == pytest.approx(3.0)
    assert result.warnings == ()


@pytest.mark.parametrize(("target", "warned"), [(1.0, True), (2.94, True), (2.95, False)])
def test_no_free_lunch_is_a_warning(target, warned):
    result = co.leakage(co.Groups(size=50, records=50), epsilon=1.0, target=target, clip=(0.0, 1.0))
    assert any("no mechanism can help" in text and "off by more than 25" in text for text in result.warnings) is warned


# Gaussian groups.


@pytest.mark.parametrize(("m", "rho", "value"), [(3, 0.275, 1.853448), (2, 0.4483, 1.4483), (4, 0.2, 2.333333)])
def test_h(m, rho, value):
    assert gaussian.h(m, rho) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(("m", "rho", "value"), [(3, 0.275, 1.758621), (4, 0.2, 2.0), (2, 0.4483, 1.4483)])
def test_tighter_h(m, rho, value):
    assert gaussian.h_tight(m, rho) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("m", "rho"),
    [(2, 1.0), (3, 0.470588), (4, 0.3), (5, 0.219178), (10, 0.092784), (20, 0.042986), (100, 0.008113)],
)
def test_where_h_beats_the_general_bound(m, rho):
    limit = gaussian.rho_where_h_helps(m)
    assert limit == pytest.approx(rho, abs=1e-6)
    if m > 2:
        assert gaussian.h(m, limit * 0.999) < m < gaussian.h(m, limit * 1.001)


def test_h_refuses_strong_correlations():
    with pytest.raises(ParameterError, match=r"rho \(m - 2\) < 1"):
        gaussian.h(5, 0.4)


def test_equal_correlations():
    S = 0.275 * np.ones((3, 3)) + 0.725 * np.eye(3)
    assert gaussian.reach(S).value == pytest.approx(1.55, abs=1e-9)  # 1 + (m - 1) rho
    large = 0.1 * np.ones((40, 40)) + 0.9 * np.eye(40)
    assert gaussian.reach(large).value == pytest.approx(1.0 + 39 * 0.1, abs=1e-6)


def test_calibration_of_equation_6_42():
    m, rho, epsilon = 3, 0.275, 1.0
    tau = epsilon * 4 * (1 / rho - m + 2) / (m**2 + 4 * (1 / rho - m + 2))
    S = rho * np.ones((3, 3)) + (1 - rho) * np.eye(3)
    route = _route(co.GaussianGroups(S), "thm-6.14", SumRelease(clip=(0.0, 100.0), targets=(0.0, 100.0)))
    assert route.usable
    assert route.allowed(epsilon) == pytest.approx(tau, rel=1e-12)
    assert math.log(20.0) * 100.0 / tau == pytest.approx(555.24, abs=0.01)


@pytest.mark.parametrize(
    ("values", "leak"), [((40.0, 160.0), 1.449478), ((0.0, 200.0), 1.735), ((-100.0, 300.0), 1.999)]
)
def test_theorem_6_14_fails_for_targets_outside_the_clip_interval(values, leak):
    """The claim 1.45 is exceeded; the clipped form of the lemma and the general bound hold."""
    S = 225.0 * np.array([[1.0, 0.45], [0.45, 1.0]])
    model = co.GaussianGroups(S, means=[100.0, 100.0])
    true = twin.clipped_pair([100.0, 100.0], S, (40.0, 160.0), 120.0, values)
    assert true == pytest.approx(leak, abs=6e-4)
    result = co.leakage(model, 1.0, clip=(40.0, 160.0), targets=values)
    assert true <= result.leakage.value <= 2.0
    assert gaussian_lower(model, 1.0, (40.0, 160.0), values) == pytest.approx(true, abs=1e-5)


def test_both_numbers_are_shown_where_targets_may_be_anything():
    S = 225.0 * np.array([[1.0, 0.45], [0.45, 1.0]])
    result = co.leakage(co.GaussianGroups(S), 1.0, clip=(40.0, 160.0), targets="any")
    assert result.leakage.rule == "thm-6.3"
    assert result.leakage.value == 2.0
    printed = next(one for one in result.theorems if one.rule == "thm-6.14")
    assert not printed.usable
    assert printed.bound is None
    assert printed.claimed == pytest.approx(1.45)
    assert "within a stated interval" in printed.why
    confined = co.leakage(co.GaussianGroups(S), 1.0, clip=(40.0, 160.0))
    assert confined.leakage.value == pytest.approx(1.45)
    assert confined.any_dependence.value == 2.0
    assert any("between 40 and 160" in text for text in confined.leakage.assumes)


def test_the_authors_other_clip_for_iq():
    """Notes on section 7: theory at tail 0.05, IQ with clip 40 to 160."""
    for rule, expected in (("thm-6.3", 718.98), ("thm-6.14", 520.65)):
        S = 0.448276 * np.ones((2, 2)) + (1 - 0.448276) * np.eye(2)
        route = _route(co.GaussianGroups(S), rule, SumRelease(clip=(40.0, 160.0), targets=(40.0, 160.0)))
        assert math.log(20.0) * 120.0 / route.allowed(1.0) == pytest.approx(expected, abs=0.02)
    assert math.log(20.0) * 120.0 == pytest.approx(359.49, abs=0.01)


# Markov chains.


def test_activity_numbers():
    P = np.array([[0.882412, 0.117588], [0.304706, 0.695294]])
    assert markov.gamma(P) == pytest.approx(7.504247, abs=1e-4)  # the matrix has six digits
    assert 4 * math.log(markov.gamma(P)) == pytest.approx(8.061877, abs=2e-5)


@pytest.mark.parametrize(("name", "offset"), [("Activity", 8.080), ("E70", 6.965), ("E80", 6.011), ("E90", 8.529)])
def test_offsets_of_theorem_6_20(name, offset):
    P = np.array(PRINTED[name])
    assert 4 * math.log(markov.gamma(P)) == pytest.approx(offset, abs=5e-4)


@pytest.mark.parametrize(("name", "offset"), [("Activity", 7.604), ("E70", 5.671), ("E80", 5.486), ("E90", 7.453)])
def test_tighter_offsets(name, offset):
    row, column = markov.row_and_column_ratios(np.array(PRINTED[name]))
    assert 2 * math.log(row) + 2 * math.log(column) == pytest.approx(offset, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "epsilon", "expected"),
    [
        ("Activity", 0.5, (1.0979, 1.4627, 1.6827)),
        ("Activity", 1.0, (2.2049, 2.8837, 3.2176)),
        ("E80", 1.0, (1.9213, 2.3079, 2.4532)),
    ],
)
def test_leakage_of_counts_by_brute_force(name, epsilon, expected):
    """All adversaries, n = 3, 5, 7: three ways to the same number."""
    for length, value in zip((3, 5, 7), expected, strict=True):
        chain = _chain(name, length)
        joint = chain.joint()
        listed = finite_models.laplace_leakage(joint, joint.total(), 1.0 / epsilon)
        assert round(listed, 4) == value
        assert markov.steps(chain, epsilon)[1] == pytest.approx(listed, abs=1e-9)
        if length < 7:
            model = twin.chain(chain.transitions.tolist(), chain.initial.tolist(), length)
            places = range(length + 1)
            assert twin.leakage(model, twin.laplace(sum, 1.0 / epsilon, places)) == pytest.approx(listed, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "expected"), [("Activity", (0.3872, 1.9937, 3.4707)), ("E80", (0.2662, 1.3574, 2.5321))]
)
def test_transfer_matrices(name, expected):
    """Our notes' estimate for an attacker who knows nothing is a lower bound; knowing a record can tell more."""
    chain = _chain(name, 3000)
    for epsilon, value in zip((0.1, 0.5, 1.0), expected, strict=True):
        low = markov.counting_lower(chain, epsilon, np.array([0.0, 1.0]))
        assert round(low, 4) == value
        assert low <= markov.steps(chain, epsilon)[1] + 1e-12
    assert markov.steps(chain, 1.0)[1] > value + 0.002


@pytest.mark.parametrize(
    ("name", "ratio", "length", "target", "printed", "general"),
    [
        ("Activity", 7.54, 17568, 10.0, 1.561, 5262.9),
        ("Activity", 7.54, 17568, 20.0, 0.2513, 2631.5),
        ("E80", 4.49, 731, 10.0, 0.7503, 218.99),
    ],
)
def test_accuracy_rows(name, ratio, length, target, printed, general):
    """Errors at tail 0.05 with the ratios of Table 6.2; those of the printed matrices differ in the third digit."""
    assert math.log(20.0) / (target - 4 * math.log(ratio)) == pytest.approx(printed, abs=6e-4)
    chain = _chain(name, length)
    result = co.leakage(chain, target, values=(0.0, 1.0))
    errors = {one.rule: one.error for one in result.theorems}
    assert errors["thm-6.3"] == pytest.approx(general, rel=1e-4)
    assert errors["thm-6.20"] == pytest.approx(printed, rel=2e-3)  # rows that do not sum to 1 are scaled here
    assert math.log(20.0) / target < errors["chain-steps"] < errors["thm-6.20-tight"] < errors["thm-6.20"]


@pytest.mark.parametrize(("name", "quarter", "hundredth"), [("Activity", 2, 8), ("E80", 2, 6)])
def test_mixing_times(name, quarter, hundredth):
    P = np.asarray(_chain(name, 2).transitions)
    assert (markov.mixing_time(P, 0.25), markov.mixing_time(P, 0.01)) == (quarter, hundredth)
    second = float(np.linalg.eigvals(P).real.min())
    w = np.asarray(_chain(name, 2).stationary)
    for time in (quarter, hundredth):  # two states: the distance after t steps is max(w) |lambda|^t
        distance = 0.5 * np.abs(np.linalg.matrix_power(P, time) - w).sum(axis=1).max()
        assert distance == pytest.approx(max(w) * abs(second) ** time, rel=1e-9)


def test_mixing_time_of_a_chain_that_never_forgets():
    assert markov.mixing_time(np.array([[0.0, 1.0], [1.0, 0.0]]), 0.01, most=1000) is None


# Randomised response.


def test_printed_formula_of_randomised_response():
    assert printed_flip(0.3, 4.0) == pytest.approx(0.13821, abs=1e-5)
    assert response_error(500, 250, printed_flip(0.3, 4.0)) == pytest.approx(20.7, abs=0.05)
    assert response_error(700, 350, printed_flip(0.27, 6.0)) == pytest.approx(9.60, abs=0.005)
    assert math.log(20.0) / (4.0 - 4.0 * math.log(0.7 / 0.3)) == pytest.approx(4.9045, abs=1e-4)
    assert math.log(20.0) / (6.0 - 4.0 * math.log(0.73 / 0.27)) == pytest.approx(1.4819, abs=1e-4)


def test_neither_reading_of_the_printed_formula_is_right():
    plain = co.Chain([[0.5, 0.5], [0.5, 0.5]], 7)
    assert printed_flip(0.5, 1.0) == pytest.approx(0.398, abs=5e-4)
    assert response_leakage(plain, printed_flip(0.5, 1.0)) == pytest.approx(0.415, abs=5e-4)  # far too much noise
    assert printed_flip(1.0, 1.0) == pytest.approx(1.0 / (1.0 + math.e), abs=1e-12)
    changing = co.Chain([[0.7, 0.3], [0.3, 0.7]], 7)
    leak = response_leakage(changing, printed_flip(0.6, 1.0))
    assert leak == pytest.approx(1.134, abs=5e-4)  # more than the epsilon it is for
    model = twin.chain([[0.7, 0.3], [0.3, 0.7]], [0.5, 0.5], 5)
    flip = printed_flip(0.6, 1.0)
    assert twin.leakage(model, twin.responses(flip, 5)) > 1.0
    assert co.Chain([[0.7, 0.3], [0.3, 0.7]], 5).is_stationary


def test_two_binomials_by_enumeration():
    n, ones, flip = 6, 2, 0.2
    truth = [1] * ones + [0] * (n - ones)
    law = {}
    for answers in np.ndindex((2,) * n):
        p = math.prod(1 - flip if a == x else flip for a, x in zip(answers, truth, strict=True))
        estimate = (sum(answers) - n * flip) / (1 - 2 * flip)
        law[estimate] = law.get(estimate, 0.0) + p
    from dpradar.correlated.response import response_tail

    for error in (0.1, 0.9, 1.7, 2.4, 5.0):
        expected = sum(p for estimate, p in law.items() if abs(estimate - ones) >= error)
        assert response_tail(n, ones, flip, error) == pytest.approx(expected, abs=1e-12)
    bound = response_error(n, ones, flip, tail=0.1)
    assert sum(p for estimate, p in law.items() if abs(estimate - ones) > bound + 1e-9) <= 0.1
    assert sum(p for estimate, p in law.items() if abs(estimate - ones) >= bound - 1e-9) > 0.1
