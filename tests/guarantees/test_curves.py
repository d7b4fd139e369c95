"""Trade-off curves and what guarantees and mechanisms promise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpradar as dr
from dpradar.bounds.success import bayes_success
from dpradar.guarantees.approx import doubled_approx, tv_of_approx
from dpradar.guarantees.curves import (
    approx_curve,
    gaussian_curve,
    laplace_curve,
    likelihood_curve,
    piecewise_curve,
)
from tests.strategies import cases, laws, matrices
from tests.twin import brute, formulas
from tests.worlds import floats

F = Fraction
GRID = np.linspace(0.0, 1.0, 1001)
CURVES = {
    "gaussian 0": (gaussian_curve(0.0), 0.0),
    "gaussian 0.3": (gaussian_curve(0.3), formulas.gdp_tv(0.3)),
    "gaussian 4": (gaussian_curve(4.0), formulas.gdp_tv(4.0)),
    "gaussian 60": (gaussian_curve(60.0), 1.0),
    "pure 0": (approx_curve(0.0, 0.0), 0.0),
    "pure 1": (approx_curve(1.0, 0.0), math.tanh(0.5)),
    "approx": (approx_curve(1.0, 0.1), (math.e - 1 + 0.2) / (math.e + 1)),
    "delta only": (approx_curve(0.0, 0.3), 0.3),
    "pure 800": (approx_curve(800.0, 0.0), 1.0),
    "laplace 0.5": (laplace_curve(0.5), -math.expm1(-0.25)),
    "laplace 9": (laplace_curve(9.0), -math.expm1(-4.5)),
    "laplace 900": (laplace_curve(900.0), 1.0),
    "piecewise": (piecewise_curve([0.1, 0.4], [0.4, 0.1]), 0.5),
    "pair": (likelihood_curve([0.5, 0.3, 0.2], [0.1, 0.3, 0.6]), 0.4),
}


@pytest.mark.parametrize("name", CURVES)
def test_shape(name):
    """Convex, decreasing, between 0 and 1 - x; the largest gap is the total variation."""
    curve, tv = CURVES[name]
    fnr = np.array([curve.at(x) for x in GRID])
    assert np.all(np.diff(fnr) <= 1e-12)
    assert np.all(fnr <= 1.0 - GRID + 1e-12)
    assert np.all(fnr >= 0.0)
    assert np.all(fnr[:-2] + fnr[2:] - 2.0 * fnr[1:-1] >= -1e-12)
    assert curve.gap() == pytest.approx(tv, rel=0, abs=1e-12)
    assert curve.gap() >= np.max(1.0 - fnr - GRID) - 1e-12


@pytest.mark.parametrize("name", CURVES)
@cases(0.1)
@given(ends=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)).map(sorted))
def test_gap_over_an_interval(name, ends):
    """The maximum of a concave function, found without a grid: never below what a grid finds."""
    curve, _ = CURVES[name]
    low, high = ends
    inside = np.linspace(low, high, 101)
    gap = max(1.0 - curve.at(x) - x for x in inside)
    assert curve.gap(low, high) >= gap - 1e-12
    peak = min(max(curve.peak, low), high)
    assert curve.gap(low, high) == pytest.approx(max(0.0, 1.0 - curve.at(peak) - peak), rel=0, abs=1e-15)


@pytest.mark.parametrize("name", ["gaussian 0.3", "gaussian 4", "pure 1", "approx", "laplace 0.5", "laplace 9"])
def test_symmetric_curves_are_their_own_inverse(name):
    """They hold in both orders of the neighbours."""
    curve, _ = CURVES[name]
    for x in np.linspace(0.01, 0.99, 99):
        y = curve.at(x)
        if y > 1e-9:
            assert curve.at(y) == pytest.approx(x, rel=0, abs=1e-6)


def test_against_the_twin():
    for x in np.linspace(0.001, 0.999, 200):
        assert gaussian_curve(1.3).at(x) == pytest.approx(formulas.gdp_curve(1.3)(x), rel=0, abs=1e-14)
        assert laplace_curve(2.0).at(x) == pytest.approx(formulas.laplace_curve(2.0)(x), rel=0, abs=1e-14)


@given(null=laws(5), alternative=laws(5))
def test_likelihood_curve(null, alternative):
    """Neyman and Pearson: the lower envelope over all 2^5 tests, and the hockey-stick divergences as its conjugate."""
    curve = likelihood_curve([float(p) for p in null], [float(p) for p in alternative])
    points = []
    for code in range(32):
        reject = [i for i in range(5) if code >> i & 1]
        points.append((float(sum(null[i] for i in reject)), float(1 - sum(alternative[i] for i in reject))))
    for fpr, fnr in points:
        assert curve.at(fpr) <= fnr + 1e-12
    tv = float(sum(abs(a - b) for a, b in zip(null, alternative, strict=True))) / 2
    assert curve.gap() == pytest.approx(tv, rel=0, abs=1e-12)
    # sup over tests of power - r fpr: attained at a vertex of the curve.
    for ratio in (F(1, 3), F(1), F(5, 2)):
        delta = float(sum(max(b - ratio * a, F(0)) for a, b in zip(null, alternative, strict=True)))
        reached = max(1.0 - curve.at(x) - float(ratio) * x for x in [*{fpr for fpr, _ in points}, 0.0, 1.0])
        assert reached == pytest.approx(delta, rel=0, abs=1e-12)


MECHANISMS = {
    "grr": dr.GRR(4, 1.2),
    "grr, two values": dr.GRR(2, 0.7),
    "sue": dr.SUE(4, 1.2),
    "oue": dr.OUE(4, 1.2),
    "subset": dr.SubsetSelection(6, 0.6),
    "exponential": dr.Exponential(2.0, utility=-np.abs(np.subtract.outer(np.arange(4), np.arange(4)))),
    "geometric": dr.Geometric(1.5, query=[0, 1, 3]),
    "geometric, constant": dr.Geometric(1.5, query=[2, 2]),
    "discrete gaussian": dr.DiscreteGaussian(1.2, query=[0, 1, 3]),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_promise_of_a_finite_mechanism(name):
    """Epsilon, total variation and the curve are those of the listed channel."""
    release = MECHANISMS[name].at(None)
    matrix = np.hstack(list(release.finite.chunks(1 << 16)))
    assert matrix.sum(axis=1) == pytest.approx(np.ones(len(matrix)), rel=0, abs=1e-12)
    promise = release.privacy("replace-one")
    assert promise.tv == pytest.approx(brute.total_variation(matrix.tolist()), rel=0, abs=1e-12)
    if promise.epsilon is not None:
        assert promise.epsilon == pytest.approx(brute.epsilon(matrix.tolist()), rel=0, abs=1e-12)
    # A channel without structure is only given the curve of its epsilon.
    gap = promise.curve.gap()
    assert gap >= promise.tv - 1e-12 if name == "exponential" else gap == pytest.approx(promise.tv, rel=0, abs=1e-12)
    for row in matrix:
        for other in matrix:
            exact = likelihood_curve(row, other)
            below = [promise.curve.at(x) <= exact.at(x) + 1e-12 for x in np.linspace(0, 1, 101)]
            assert all(below)


@cases(0.5)
@given(data=st.data())
def test_promise_of_a_given_channel(data):
    P = data.draw(matrices(3, 4))
    promise = dr.Channel(floats(P)).at(None).privacy("replace-one")
    assert promise.tv == pytest.approx(float(brute.total_variation(P)), rel=0, abs=1e-12)
    ratio = brute.max_ratio(P)
    if ratio == math.inf:
        assert promise.epsilon is None
    else:
        assert promise.epsilon == pytest.approx(math.log(ratio), rel=0, abs=1e-12)
        assert promise.curve.gap() == pytest.approx(math.tanh(promise.epsilon / 2), rel=0, abs=1e-12)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove", "reference"])
def test_promise_of_noise(relation):
    query = [[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]]
    distance = {"replace-one": 7.0, "add-remove": 4.0}
    laplace = dr.Laplace(2.0, query=query).at(None).privacy(relation)
    gaussian = dr.Gaussian(2.0, query=query).at(None).privacy(relation)
    if relation == "reference":
        # Some ball that holds all contributions; the smallest has radius 3.5 (L1) or 2.5 (L2).
        assert laplace.epsilon >= 3.5 / 2 - 1e-12
        assert gaussian.tv >= formulas.gdp_tv(2.5 / 2) - 1e-12
    else:
        assert laplace.epsilon == pytest.approx(distance[relation] / 2, rel=1e-12)
        reach = 5.0 if relation == "replace-one" else 4.0
        assert gaussian.tv == pytest.approx(formulas.gdp_tv(reach / 2), rel=1e-12)


def test_conversions():
    assert doubled_approx(1.0, 0.0) == (2.0, 0.0)
    assert doubled_approx(1.0, 0.01) == pytest.approx((2.0, (1 + math.e) * 0.01))
    assert doubled_approx(800.0, 1e-300) == (1600.0, 1.0)
    assert tv_of_approx(0.0, 0.3) == pytest.approx(0.3)
    assert tv_of_approx(700.0, 0.0) == 1.0
    assert dr.GDP(1.0, "add-remove").privacy("replace-one").tv == pytest.approx(formulas.gdp_tv(2.0), rel=1e-12)
    assert dr.TotalVariation(0.7, "add-remove").privacy("replace-one").tv == 1.0
    assert dr.ApproxDP(1.0, 1e-3, "add-remove").privacy("replace-one").delta == pytest.approx((1 + math.e) * 1e-3)


def test_composition_adds_up():
    """Epsilons and deltas add, what stays common multiplies; Gaussian noise composes as one Gaussian."""
    parts = [dr.GRR(3, 1.0), dr.OUE(3, 0.5), dr.GRR(3, 0.2)]
    promise = dr.Composed(parts).at(None).privacy("replace-one")
    assert promise.epsilon == pytest.approx(1.7)
    tvs = [part.at(None).privacy("replace-one").tv for part in parts]
    assert promise.tv <= 1 - math.prod(1 - tv for tv in tvs) + 1e-12
    noise = dr.Composed([dr.Gaussian(1.0, query=[0, 3]), dr.Gaussian(1.0, query=[0, 4])]).at(None)
    assert noise.privacy("replace-one").tv == pytest.approx(formulas.gdp_tv(5.0), rel=1e-12)


@given(prior=st.floats(0.0, 1.0), epsilon=st.floats(0.0, 8.0), delta=st.floats(0.0, 0.5))
def test_best_guess_between_in_and_out(prior, epsilon, delta):
    """The curve is piecewise linear: the least error is at one of its vertices."""
    peak = (1.0 - delta) / (1.0 + math.exp(epsilon))
    errors = [prior * (1 - delta), (1 - prior) * (1 - delta), (1 - prior) * peak + prior * peak]
    expected = 1.0 - min(errors)
    assert bayes_success(approx_curve(epsilon, delta), prior) == pytest.approx(expected, rel=0, abs=2e-12)
