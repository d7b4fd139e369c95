"""Renyi and concentrated guarantees against roots at high precision, brute force over distributions, and others."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpradar as dr
from dpradar.bounds.fano import (
    fano_success,
    gaussian_information,
    generalised_fano,
    renyi_information,
    replaced_information,
)
from dpradar.bounds.question import Case, Inapplicable
from dpradar.bounds.renyi_rules import fano_rule, renyi_rule, zcdp_rule
from dpradar.errors import ParameterError
from dpradar.guarantees.curves import approx_curve, gaussian_curve
from dpradar.guarantees.renyi import (
    RDP,
    ZCDP,
    RenyiBound,
    doubled_renyi,
    renyi_curve,
    renyi_epsilon,
    renyi_success,
    zcdp_success,
)
from dpradar.numerics.bernoulli_divergence import divergence
from tests.strategies import cases
from tests.twin import formulas
from tests.twin import renyi as twin

GRID = np.linspace(0.0, 1.0, 201)
RATES = np.concatenate([np.geomspace(1e-12, 0.01, 30), np.linspace(0.01, 0.99, 99)])
ORDERS = (1.0, 1.1, 1.5, 2.0, 3.0, 5.0, 9.0, 20.0, 60.0)


def listed(*points: tuple[float, float]) -> RenyiBound:
    return RenyiBound(tuple(t for t, _ in points), tuple(e for _, e in points))


def bound_of(pairs, orders=ORDERS) -> RenyiBound:
    """The tightest list of some orders for some pairs of finite distributions, in both directions, rounded up."""
    both = [*pairs, *((b, a) for a, b in pairs)]
    return listed(*((t, float(max(twin.divergence(t, a, b) for a, b in both)) * (1 + 1e-14)) for t in orders))


def law(rng: np.random.Generator, size: int) -> list[float]:
    weights = rng.dirichlet(np.full(size, rng.choice([0.3, 1.0, 5.0]))) + 1e-4
    return (weights / weights.sum()).tolist()


def draw_pair(seed: int, size: int = 4) -> tuple[list[float], list[float]]:
    """Two distributions, near to each other or not."""
    rng = np.random.default_rng(seed)
    first, other, mix = np.array(law(rng, size)), np.array(law(rng, size)), rng.choice([0.05, 0.3, 1.0])
    return first.tolist(), ((1 - mix) * first + mix * other).tolist()


LISTS = {
    "order 1": [(1.0, 0.4)],
    "order 2": [(2.0, 0.7)],
    "near 1": [(1.001, 0.01)],
    "high": [(50.0, 3.0)],
    "three": [(1.0, 0.4), (2.0, 0.7), (8.0, 2.0)],
    "large": [(1.5, 20.0), (3.0, 35.0)],
    "small": [(2.0, 1e-6), (30.0, 2e-5)],
}


@pytest.mark.parametrize("name", LISTS)
def test_curve_of_listed_orders(name):
    """Never above the exact curve of the orders, and hardly below it."""
    curve = renyi_curve(listed(*LISTS[name]))
    # The divergence of a pair at distance d has a slope of about d, so its rounding error becomes 1e-14/d.
    error = 1e-9 if name in ("small", "near 1") else 1e-11
    for x in (1e-9, 1e-3, 0.05, 0.2, 0.5, 0.8, 0.99, 1 - 1e-9):
        exact = twin.least_fnr(LISTS[name], x)
        assert mpmath.mpf(curve.at(x)) <= exact
        assert curve.at(x) >= exact - error
        if 1e-25 < exact < 0.5:
            assert curve.at(x) >= exact * (1 - 1e-6)  # small rates too


@pytest.mark.parametrize("rho", [1e-4, 0.01, 0.5, 3.0, 20.0])
def test_curve_of_zcdp(rho):
    """All orders, not only those of a grid."""
    curve = renyi_curve(RenyiBound(rho=rho))
    for x in (1e-6, 0.01, 0.3, 0.9):
        exact = twin.zcdp_fnr(rho, x)
        assert curve.at(x) == pytest.approx(exact, rel=1e-9, abs=1e-11)
        assert curve.at(x) <= exact + 1e-13  # the twin's own rounding


@pytest.mark.parametrize("rho", [1e-9, 1e-4, 0.01, 0.5, 1.0, 3.0, 20.0, 200.0])
def test_total_variation_of_zcdp(rho):
    """eta ln((1 + eta)/(1 - eta)) = rho, from above; nothing on a grid of the curve exceeds it."""
    curve, exact = renyi_curve(RenyiBound(rho=rho)), twin.zcdp_tv(rho)
    assert mpmath.mpf(curve.gap()) >= exact - mpmath.mpf(2) ** -53
    assert curve.gap() == pytest.approx(float(exact), rel=0, abs=1e-9 if rho < 1e-3 else 1e-12)
    assert curve.gap() >= np.max(1.0 - curve.fnr(GRID) - GRID)


@pytest.mark.parametrize(
    ("rho", "fnr", "advantage"),
    [
        # riskcal 1.5.1: get_beta_from_zcdp at 0.001, 0.01, 0.3, 0.9, and get_advantage_from_zcdp.
        (0.01, (0.999, 0.9848009486985407, 0.6361362113916409, 0.07342417738431134), 0.07065174673998598),
        (0.5, (0.9750895032599118, 0.8754047895091233, 0.22861767239115488, 0.007191906098859308), 0.47909842248318557),
        (3.0, (0.5675236702383004, 0.23155478672560426, 0.006100324089245671, 2.6141656359849514e-05), 0.9248876100110),
    ],
)
def test_against_riskcal(rho, fnr, advantage):
    """As tight or tighter, but for its tolerance of 1e-9, which is on the unsafe side; it scans 1000 orders, we all.

    At rate 0.001 and rho = 0.01 it answers 1 - x, as if nothing leaked (three of its orders, near 105, go wrong there):
    the two answers below are 0.01-zCDP and have a smaller false-negative rate.
    """
    curve = renyi_curve(RenyiBound(rho=rho))
    for x, theirs in zip((0.001, 0.01, 0.3, 0.9), fnr, strict=True):
        if theirs == 1 - x:
            p = 0.001674
            assert max(twin.answers(t, p, x) / t for t in 1 + np.geomspace(1e-3, 1e5, 400)) < rho
            assert 1 - p < theirs
            assert curve.at(x) <= 1 - p
            continue
        assert -2e-9 <= curve.at(x) - theirs <= 2e-5
    assert curve.gap() == pytest.approx(advantage, rel=0, abs=2e-9)


@pytest.mark.parametrize("mu", [0.01, 0.3, 1.0, 2.5, 6.0])
def test_gaussian_pairs_lie_above(mu):
    """N(0,1) against N(mu,1) is mu^2/2-zCDP with equality at every order, but no yes/no answer is."""
    curve, gaussian = renyi_curve(RenyiBound(rho=mu * mu / 2)), gaussian_curve(mu)
    assert np.all(curve.fnr(RATES) <= gaussian.fnr(RATES) + 1e-15)
    assert curve.gap() > gaussian.gap()
    for delta in (1e-8, 1e-3):
        exact = formulas.gdp_delta(mu, renyi_epsilon(RenyiBound(rho=mu * mu / 2), delta))
        assert exact <= delta * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, math.sqrt(2), 6.0])
def test_randomised_response_touches(epsilon):
    """It is (epsilon tanh(epsilon/2))-zCDP, and attains the total variation of that."""
    curve, exact = renyi_curve(RenyiBound(rho=epsilon * math.tanh(epsilon / 2))), approx_curve(epsilon, 0.0)
    assert np.all(curve.fnr(RATES) <= exact.fnr(RATES) + 1e-15)
    assert curve.gap() == pytest.approx(math.tanh(epsilon / 2), rel=0, abs=1e-12)
    for t in (1.0, 1.3, 4.0, 30.0):
        p = 1 / (1 + math.exp(-epsilon))
        assert twin.answers(t, p, 1 - p) <= t * epsilon * math.tanh(epsilon / 2) * (1 + 1e-14)


@cases(0.3)
@given(seed=st.integers(0, 10**6))
def test_random_pairs_lie_above(seed):
    pair = draw_pair(seed)
    curve = renyi_curve(bound_of([pair]))
    for first, second in (pair, pair[::-1]):
        assert np.all(curve.fnr(RATES) <= twin.tradeoff(first, second, RATES) + 1e-12)


@cases(0.3)
@given(p=st.floats(0.001, 0.999), x=st.floats(0.001, 0.999))
def test_answers_lie_on_the_curve(p, x):
    """No better curve: the two answers themselves keep every order, and attain it."""
    if p <= x + 1e-3:
        p, x = min(max(p, x) + 1e-3, 0.9999), min(p, x)
    bound = bound_of([([p, 1 - p], [x, 1 - x])])
    assert renyi_curve(bound).at(x) == pytest.approx(1 - p, rel=0, abs=1e-9)
    assert renyi_curve(bound).at(x) <= 1 - p


bounds = st.one_of(
    st.builds(RenyiBound, rho=st.floats(1e-3, 20.0)),
    st.lists(st.tuples(st.floats(1.0, 50.0), st.floats(1e-3, 20.0)), min_size=1, max_size=4).map(lambda p: listed(*p)),
    st.builds(lambda t, e, rho: RenyiBound((t,), (e,), rho), st.floats(1.0, 50.0), st.floats(0.01, 5), st.floats(0, 2)),
)


@cases(0.25)
@given(bound=bounds)
def test_shape(bound):
    """Convex, symmetric, not increasing, from (0, 1) to (1, 0); the largest gap is where f(x) = x."""
    curve = renyi_curve(bound)
    fnr = curve.fnr(GRID)
    assert (fnr[0], fnr[-1]) == (1.0, 0.0)
    assert np.all(np.diff(fnr) <= 1e-11)
    assert np.all((fnr >= 0.0) & (fnr <= 1.0 - GRID))
    # A bound with both a list and rho uses a grid of orders; else rounding only.
    assert np.all(fnr[:-2] + fnr[2:] - 2.0 * fnr[1:-1] >= -1e-10)
    assert curve.gap() >= np.max(1.0 - fnr - GRID)
    assert curve.at(curve.peak) == pytest.approx(curve.peak, rel=0, abs=1e-12)
    back = curve.fnr(fnr)
    inner = (fnr > 1e-6) & (fnr < 1.0)
    assert back[inner] == pytest.approx(GRID[inner], rel=0, abs=1e-6)


@cases(0.2)
@given(one=bounds, two=bounds)
def test_composition(one, two):
    """Divergences add, in any order; more leaks more."""
    both = one.plus(two)
    orders = np.array([1.0, 1.05, 1.7, 2.0, 3.3, 7.0, 40.0])
    assert both.at(orders) == pytest.approx(one.at(orders) + two.at(orders), rel=1e-12)
    assert two.plus(one).at(orders) == pytest.approx(both.at(orders), rel=1e-12)
    rates = GRID[::10]
    for part in (one, two):
        # The parts may use a finer grid of orders than the sum, by 1e-4 at most.
        assert np.all(renyi_curve(both).fnr(rates) <= renyi_curve(part).fnr(rates) + 1e-4)
    assert renyi_success(both, 0.01) >= renyi_success(one, 0.01) - 1e-4


@cases(0.2)
@given(rho=st.floats(1e-4, 30.0), more=st.floats(1.0, 3.0))
def test_monotone_in_rho(rho, more):
    small, large = renyi_curve(RenyiBound(rho=rho)), renyi_curve(RenyiBound(rho=rho * more))
    assert np.all(large.fnr(GRID[::10]) <= small.fnr(GRID[::10]) + 1e-11)
    assert zcdp_success(rho * more, 0.03) >= zcdp_success(rho, 0.03)


@cases(0.3)
@given(seed=st.integers(0, 10**6), sparse=st.lists(st.sampled_from(ORDERS), min_size=1, max_size=4, unique=True))
def test_orders_between_those_listed(seed, sparse):
    """What stands in for an order that is not listed holds for the distributions behind the list."""
    pair = draw_pair(seed)
    bound = bound_of([pair], sorted(sparse))
    for t in (1.0, 1.05, 1.3, 1.8, 2.5, 4.0, 7.0, 13.0, 40.0):
        assert float(twin.divergence(t, *pair)) <= float(bound.at(t)) * (1 + 1e-12)
    assert bound.at(max(sparse) + 1e-6) == math.inf


def test_lists_are_read_with_care():
    assert listed((4.0, 0.3), (2.0, 0.5)).epsilons == (0.3, 0.3)  # the larger order's epsilon holds for the smaller one
    assert listed((2.0, 0.5), (2.0, 0.4)).at([2.0, 1.0]).tolist() == [0.4, 0.4]
    assert RenyiBound(rho=0.5).at([0.5, 1.0, 4.0]).tolist() == [0.5, 0.5, 2.0]
    assert listed((2.0, 0.5), (9.0, 1.0)).plus(listed((4.0, 1.0))).orders == (2.0, 4.0)
    assert math.isinf(RenyiBound(rho=math.inf).plus(listed((2.0, 0.1))).at(1.0))


# Group privacy.


@cases(0.2)
@given(seed=st.integers(0, 10**6))
def test_two_steps(seed):
    """P to R to Q: the conversion holds at every order, and the curve of two steps lies below the true one."""
    rng = np.random.default_rng(seed)
    first, middle = draw_pair(seed, 3)
    mix = rng.choice([0.05, 0.3, 1.0])
    last = ((1 - mix) * np.array(middle) + mix * np.array(law(rng, 3))).tolist()
    bound = bound_of([(first, middle), (middle, last)])
    twice = doubled_renyi(bound)
    for t in (1.0, 1.02, 1.2, 1.7, 2.5, 4.0, 8.0, 20.0, 29.0):
        for a, b in ((first, last), (last, first)):
            assert float(twin.divergence(t, a, b)) <= float(twice.at(t)) * (1 + 1e-12)
    promise = RDP(bound.orders, bound.epsilons, "add-remove").privacy("replace-one")
    for a, b in ((first, last), (last, first)):
        assert np.all(promise.curve.fnr(RATES) <= twin.tradeoff(a, b, RATES) + 1e-12)
    assert promise.tv >= sum(abs(a - b) for a, b in zip(first, last, strict=True)) / 2 - 1e-12
    # Data processing first and the triangle inequality second is never worse than the other way round.
    assert np.all(promise.curve.fnr(RATES) >= renyi_curve(twice).fnr(RATES) - 1e-9)
    # zCDP: the largest D_t / t of the listed orders, which a convex function can exceed a little in between.
    rho = max(e / t for t, e in zip(bound.orders, bound.epsilons, strict=True))
    for t in ORDERS:
        assert float(twin.divergence(t, first, last)) <= 4 * rho * t * 1.2


@cases(0.5)
@given(seed=st.integers(0, 10**6), s=st.floats(1.01, 30.0), r=st.floats(1.01, 30.0))
def test_weak_triangle_inequality(seed, s, r):
    """D_t(P||Q) <= r/(r-1) D_s(P||R) + D_r(R||Q) for (1 - 1/t) = (1 - 1/r)(1 - 1/s)."""
    rng = np.random.default_rng(seed)
    first, middle, last = law(rng, 3), law(rng, 3), law(rng, 3)
    t = r * s / (r + s - 1)
    right = r / (r - 1) * twin.divergence(s, first, middle) + twin.divergence(r, middle, last)
    assert twin.divergence(t, first, last) <= right * (1 + mpmath.mpf(10) ** -12)


def test_two_steps_of_a_gaussian():
    """N(0), N(1), N(2) attain 4 rho; from a list the conversion comes within 2 per cent of that."""
    assert doubled_renyi(RenyiBound(rho=0.5)) == RenyiBound(rho=2.0)
    orders = tuple((1 + np.geomspace(0.01, 99, 80)).tolist())
    twice = doubled_renyi(RenyiBound(orders, tuple(0.5 * t for t in orders)))
    for t in (1.5, 2.0, 5.0, 20.0):
        assert 2.0 * t <= float(twice.at(t)) <= 2.0 * t * 1.02
    # Mironov 2017, Proposition 2: 3 epsilon at half the order, when that is at least 2; ours is smaller.
    for order in (4.0, 16.0, 100.0):
        best = order / (order - 1) + 1 if order == 4.0 else 3.0
        assert float(doubled_renyi(listed((order, 1.0))).at(order / 2)) <= best + 1e-9
    # Order 1 alone has no triangle inequality, but the curve still doubles.
    alone = RDP((1.0,), (0.2,), "add-remove").privacy("replace-one")
    assert alone.renyi is None
    assert alone.tv == pytest.approx(1 - 2 * renyi_curve(listed((1.0, 0.2))).at(0.5), rel=0, abs=1e-12)


# Success and epsilon.


def test_success_at_the_census():
    """The state level of the 2020 census, rho = 1: 73 percentage points, as published."""
    base = np.linspace(1e-4, 0.9999, 20_001)
    assert np.max(zcdp_success(1.0, base) - base) == pytest.approx(0.7304, rel=1e-3)


@given(rho=st.floats(0.01, 5.0), base=st.floats(1e-9, 1.0))
def test_success_is_the_best_order(rho, base):
    orders = 1 + np.geomspace(1e-4, 1e4, 4001)
    scanned = min(1.0, float(np.min((base * np.exp(np.minimum(rho * orders, 700.0))) ** (1 - 1 / orders))))
    assert zcdp_success(rho, base) == pytest.approx(scanned, rel=1e-4)
    assert zcdp_success(rho, base) <= scanned + 1e-12
    assert renyi_success(RenyiBound(rho=rho), base) == zcdp_success(rho, base)


@cases(0.3)
@given(bound=bounds, base=st.floats(1e-9, 1.0))
def test_the_curve_is_tighter_than_the_success_bound(bound, base):
    assert 1.0 - renyi_curve(bound).at(base) <= renyi_success(bound, base) + 1e-9
    assert renyi_success(bound, np.array([base, base])) == pytest.approx([renyi_success(bound, base)] * 2, rel=1e-12)


def test_success_of_one_order():
    assert renyi_success(listed((2.0, 1.0)), 0.01) == pytest.approx(math.sqrt(0.01 * math.e), rel=1e-12)
    assert renyi_success(listed((1.0, 1.0)), 0.01) == 1.0  # order 1 says nothing here
    assert renyi_success(listed((2.0, 1.0)), 0.0) == 0.0
    assert renyi_success(RenyiBound(rho=math.inf), 0.01) == 1.0


@pytest.mark.parametrize(
    "bound",
    [
        RenyiBound(rho=1e-3),
        RenyiBound(rho=0.5),
        RenyiBound(rho=8.0),
        listed((2.0, 0.5)),
        listed((1.0, 0.1)),
        listed((1.5, 0.3), (20.0, 4.0)),
        RenyiBound((1.5, 30.0), (0.3, 2.0), 0.1),
    ],
    ids=str,
)
@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.02])
def test_epsilon(bound, delta):
    """Every pair of rates keeps it, some pair attains it, and no published conversion is smaller."""
    epsilon = renyi_epsilon(bound, delta)
    if epsilon == 0.0:
        assert renyi_curve(bound).gap() <= delta
        return
    curve, rates = renyi_curve(bound), np.geomspace(1e-9, 0.5, 2000)  # 1 - f has an error of 2e-16
    for _ in range(3):
        ratio = (1.0 - curve.fnr(rates) - delta) / rates
        assert np.all(ratio <= math.exp(min(epsilon, 700.0)) * (1 + 1e-6))
        k = int(np.argmax(ratio))
        inner = 0 < k < rates.size - 1
        rates = np.geomspace(rates[max(k - 1, 0)], rates[min(k + 1, rates.size - 1)], 400)
    if inner:
        assert epsilon == pytest.approx(math.log(np.max(ratio)), rel=0, abs=1e-5)
    simple = twin.cks_epsilon(lambda t: float(bound.at(t)), delta)
    # A list with rho goes by a grid of orders.
    assert epsilon <= simple + (1e-3 if bound.orders and bound.rho else 1e-6)


def test_epsilon_at_the_ends():
    half = RenyiBound(rho=0.5)
    assert renyi_epsilon(half, 0.0) == math.inf
    assert renyi_epsilon(half, 1.0) == renyi_epsilon(half, 0.4792) == 0.0
    assert 0.0 < renyi_epsilon(half, 0.479) < 1e-3
    assert renyi_epsilon(RenyiBound(), 1e-9) == 0.0
    assert renyi_epsilon(RenyiBound(rho=math.inf), 0.1) == math.inf
    for rho in (1e3, 1e6):  # where only the published conversion is used
        assert rho < renyi_epsilon(RenyiBound(rho=rho), 1e-5) <= rho + 2 * math.sqrt(rho * math.log(1e5))
    # Below e^-700 nothing underflows: the tail bound of zCDP, and not much less.
    tail = 0.5 + 2 * math.sqrt(0.5 * 300 * math.log(10))
    assert tail - 0.5 < renyi_epsilon(half, 1e-300) < tail


# Rounding and ends.


@given(data=st.data())
def test_rounding_error_of_the_divergence(data):
    x = data.draw(st.one_of(st.floats(1e-12, 0.99), st.floats(-60.0, -1.0).map(math.exp)))
    p = data.draw(
        st.one_of(
            st.floats(0.0, 1.0).map(lambda u: x + u * (1 - x)),
            st.floats(0.0, 30.0).map(lambda u: x * (1 + math.exp(-u))),
        )
    )
    order = data.draw(st.one_of(st.just(1.0), st.floats(-8.0, 14.0).map(lambda u: 1 + math.exp(u))))
    if not x < p < 1.0:
        return
    logs = tuple(np.array([v]) for v in (math.log(p), math.log1p(-p), math.log(x), math.log1p(-x)))
    value, _, noise = divergence(np.array([order]), logs)
    with mpmath.workdps(50):
        exact = twin.divergence(order, [p, 1 - mpmath.mpf(p)], [x, 1 - mpmath.mpf(x)])
        assert abs(exact - mpmath.mpf(float(value[0]))) <= mpmath.mpf(float(noise[0])) / 2


@pytest.mark.parametrize("bound", [RenyiBound(rho=r) for r in (1e-300, 1e-12, 1.0, 500.0)], ids=str)
def test_extreme_rates(bound):
    rates = np.array([0.0, 5e-324, 1e-300, 1e-17, 0.5, 1 - 1e-15, 1 - 2.0**-53, 1.0])
    fnr = renyi_curve(bound).fnr(rates)
    assert (fnr[0], fnr[-1]) == (1.0, 0.0)
    assert np.all(np.diff(fnr) <= 0.0)
    assert np.all(fnr <= 1.0 - rates)


def test_ends_of_the_parameters():
    nothing, everything = renyi_curve(RenyiBound()), renyi_curve(RenyiBound(rho=1e5))
    assert nothing.fnr(GRID) == pytest.approx(1.0 - GRID, abs=0)
    assert renyi_curve(listed((2.0, 3.0), (5.0, 0.0))).gap() == 0.0  # no divergence at any order
    assert everything.gap() == 1.0
    assert renyi_curve(RenyiBound(rho=math.inf)).at(1e-9) == 0.0
    assert doubled_renyi(RenyiBound((2.0,), (1.0,), math.inf)) is None  # and not an empty list, which would be safe
    many = GRID.reshape(1, -1)
    assert renyi_curve(RenyiBound(rho=1.0)).fnr(many).shape == many.shape


# Guarantees and rules.


def test_guarantees():
    promise = ZCDP(rho=1.0, neighbours="replace-one").privacy("replace-one")
    assert promise.renyi == RenyiBound(rho=1.0)
    assert promise.epsilon is None
    assert promise.tv == pytest.approx(0.6479182290, rel=0, abs=1e-9)
    assert ZCDP(rho=1.0, neighbours="replace-one").privacy("add-remove") is None
    assert ZCDP(rho=1.0, neighbours="add-remove").privacy("reference") is None
    twice = ZCDP(rho=1.0, neighbours="add-remove").privacy("replace-one")
    assert twice.renyi == RenyiBound(rho=4.0)
    assert twice.tv == pytest.approx(1 - 2 * twin.zcdp_fnr(1.0, 0.5), rel=0, abs=1e-9)
    assert twice.tv < float(twin.zcdp_tv(4.0))
    given_list = RDP(orders=np.array([2, 8]), epsilons=[0.5, 2.0], neighbours="add-remove")
    assert given_list.orders == (2.0, 8.0)
    assert given_list.privacy("add-remove").renyi == listed((2.0, 0.5), (8.0, 2.0))
    assert hash(given_list) == hash(RDP((2.0, 8.0), (0.5, 2.0), "add-remove"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: ZCDP(rho=-1.0, neighbours="replace-one"),
        lambda: ZCDP(rho=math.inf, neighbours="replace-one"),
        lambda: ZCDP(rho=1.0, neighbours="both"),
        lambda: RDP(orders=(), epsilons=(), neighbours="replace-one"),
        lambda: RDP(orders=(2.0,), epsilons=(1.0, 2.0), neighbours="replace-one"),
        lambda: RDP(orders=(0.5,), epsilons=(1.0,), neighbours="replace-one"),
        lambda: RDP(orders=(2.0,), epsilons=(-1.0,), neighbours="replace-one"),
        lambda: RDP(orders=(2.0,), epsilons=(math.inf,), neighbours="replace-one"),
        lambda: RDP(orders=(2.0,), epsilons=("much",), neighbours="replace-one"),
        lambda: RDP(orders=(2.0,), epsilons=(1.0,), neighbours=None),
        lambda: RenyiBound(rho=math.nan),
    ],
)
def test_bad_input(make):
    with pytest.raises(ParameterError, match=r"must be .*; got .*\. \w+"):
        make()


def rule_value(rule, what, threat) -> float:
    (finding,) = rule(Case(what, threat))
    assert finding.quantity == "success"
    assert finding.assumes
    return finding.value


def test_rules():
    prior = [0.5, 0.3, 0.1, 0.1]
    threat = dr.Threat(dr.Prior.of(prior), dr.Knowledge.labels([0, 0, 1, 1]))
    what = ZCDP(rho=0.1, neighbours="add-remove")
    # Per fibre: the best blind guesses are 5/8 with weight 0.8 and 1/2 with weight 0.2.
    expected = 0.8 * zcdp_success(0.1, 0.625) + 0.2 * zcdp_success(0.1, 0.5)
    assert rule_value(zcdp_rule, what, threat) == pytest.approx(expected, rel=1e-12)
    assert rule_value(renyi_rule, what, threat) == pytest.approx(expected, rel=1e-12)
    two = RDP((2.0,), (0.3,), "replace-one")
    assert rule_value(renyi_rule, two, dr.Threat.baseline(0.2)) == pytest.approx(math.sqrt(0.2 * math.exp(0.3)))
    peaked = dr.Threat(dr.Prior.of(prior))
    information = replaced_information(prior, 0.3)
    assert rule_value(fano_rule, two, peaked) == pytest.approx(
        min(fano_success(prior, information), generalised_fano(0.5, information)), rel=1e-12
    )
    added = min(fano_success(prior, 0.1), generalised_fano(0.5, 0.1))
    assert rule_value(fano_rule, what, peaked) == pytest.approx(added, rel=1e-12)
    for rule, guarantee, other_threat in (
        (zcdp_rule, two, peaked),
        (renyi_rule, dr.PureDP(1.0, "replace-one"), peaked),
        (fano_rule, what, threat),
        (fano_rule, what, dr.Threat(dr.Prior.of(prior, values=[1, 2, 3, 4]), goal=dr.Goal.within(1))),
        (fano_rule, what, dr.Threat.baseline(0.5)),
        (renyi_rule, what, dr.Threat.worst()),
    ):
        with pytest.raises(Inapplicable):
            rule(Case(guarantee, other_threat))


# Fano.


@given(seed=st.integers(0, 10**6), information=st.floats(0.0, 3.0))
def test_fano(seed, information):
    rng = np.random.default_rng(seed)
    prior = law(rng, int(rng.integers(2, 8)))
    success = fano_success(prior, information)
    exact = twin.fano_success(prior, information)
    assert exact <= success <= exact + 1e-6  # next to err = 1 - 1/k the error of the entropy is magnified to its root
    uniform = [1 / len(prior)] * len(prior)
    assert fano_success(uniform, information) == pytest.approx(
        generalised_fano(1 / len(prior), information), rel=0, abs=1e-6
    )
    general = generalised_fano(max(prior), information)
    if general < 1.0 and information > 1e-6:
        assert float(twin.divergence(1.0, [general, 1 - general], [max(prior), 1 - max(prior)])) >= information - 1e-12
        smaller = general - 1e-7 * (general - max(prior)) - 1e-9
        assert float(twin.divergence(1.0, [smaller, 1 - smaller], [max(prior), 1 - max(prior)])) <= information


@cases(0.5)
@given(seed=st.integers(0, 10**6))
def test_fano_over_channels(seed):
    """The best attack on a random channel keeps both, with the information it has or the one its divergences allow."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 6))
    sharp = rng.choice([0.02, 0.3, 1.0])
    matrix = (1 - sharp) * np.array(law(rng, 4)) + sharp * np.array([law(rng, 4) for _ in range(m)])
    prior = np.array(law(rng, m))
    success, information = twin.bayes_success(matrix, prior), twin.mutual_information(matrix, prior)
    closest = max(float(twin.divergence(1.0, a, b)) for a in matrix.tolist() for b in matrix.tolist())
    allowed = replaced_information(prior, closest)
    terms = [p * math.log(p + (1 - p) * math.exp(-closest)) for p in prior]
    assert allowed == pytest.approx(-sum(terms), rel=0, abs=1e-12)
    assert information <= allowed + 1e-12
    assert allowed <= min(closest, -float(prior @ np.log(prior))) + 1e-12
    reference = matrix.mean(axis=0).tolist()
    bound = listed((1.0, max(float(twin.divergence(1.0, row, reference)) for row in matrix.tolist())))
    assert information <= renyi_information(bound) + 1e-12
    for amount in (information, allowed):
        assert success <= fano_success(prior, amount) + 1e-12
        assert success <= generalised_fano(float(prior.max()), amount) + 1e-12


def test_neither_fano_implies_the_other():
    peaked, spread = [0.9, *[0.1 / 99] * 99], [0.4, 0.4, 0.1, 0.05, 0.05]
    assert fano_success(peaked, 0.01) + 0.03 < generalised_fano(0.9, 0.01)
    assert fano_success(spread, 0.01) > generalised_fano(0.4, 0.01) + 0.03


def test_fano_at_the_ends():
    assert fano_success([1.0], 0.0) == fano_success([0.5, 0.5, 0.0], 0.7) == generalised_fano(1.0, 0.1) == 1.0
    assert fano_success([0.5, 0.5, 0.0], 0.0) == pytest.approx(0.5, rel=0, abs=1e-6)
    assert generalised_fano(0.3, 0.0) == 0.3
    assert generalised_fano(0.0, 1.0) == 0.0
    assert generalised_fano(0.3, -math.log(0.3)) == 1.0
    assert gaussian_information(3.0) == renyi_information(RenyiBound(rho=4.5)) == 4.5
