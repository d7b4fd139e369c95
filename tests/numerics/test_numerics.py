"""Numerics: rounding to a side, probabilities, intervals, integrals of a maximum, range minima."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import dpradar as dr
from dpradar.bounds.exact.randomised_response import range_minimum
from dpradar.mechanisms.noise.kernels import GaussianKernel, LaplaceKernel
from dpradar.mechanisms.query import largest_distance, smallest_radius
from dpradar.numerics.confidence_intervals import empirical_bernstein
from dpradar.numerics.rounding import clip_probability, rounded


@given(value=st.floats(0.0, 1.0), digits=st.integers(1, 6))
def test_rounding_keeps_its_side(value, digits):
    """Up is never below the number as it is printed, down never above; small numbers have an exponent."""
    up, down = Decimal(rounded(value, digits, "up")), Decimal(rounded(value, digits, "down"))
    assert down <= Decimal(repr(value)) <= up
    assert up - down <= Decimal(1).scaleb(-digits)
    nearest = rounded(value, digits, "nearest")
    assert "e" in nearest if 0.0 < value < 1e-6 else len(nearest.split(".")[1]) == digits


def test_probabilities_are_clipped_only_by_a_hair():
    assert clip_probability(1.0 + 5e-10, "test") == 1.0
    assert clip_probability(-5e-10, "test") == 0.0
    for value in (1.0 + 2e-9, -2e-9, math.nan, math.inf):
        with pytest.raises(dr.NumericsError):
            clip_probability(value, "test")


@pytest.mark.parametrize("probability", [0.01, 0.3, 0.9])
def test_empirical_bernstein_covers(probability):
    """At failure 0.2, 2000 intervals miss at most as often as a binomial allows (1e-9), and are not absurdly wide."""
    rng = np.random.default_rng(1)
    missed, runs, n = 0, 2000, 400
    for _ in range(runs):
        values = (rng.random(n) < probability).astype(float)
        low, high = empirical_bernstein(values, low=0.0, high=1.0, failure=0.2)
        missed += not low <= probability <= high
    assert binom.sf(missed - 1, runs, 0.2) > 1e-9
    values = (rng.random(100_000) < probability).astype(float)
    low, high = empirical_bernstein(values, low=0.0, high=1.0, failure=1e-9)
    assert low < probability < high < low + 0.03


def test_empirical_bernstein_of_few_values_says_little():
    assert empirical_bernstein(np.array([0.5]), low=0.0, high=1.0, failure=1e-9) == (0.0, 1.0)
    assert empirical_bernstein(np.array([0.5, 0.5]), low=-1.0, high=1.0, failure=1e-9) == (-1.0, 1.0)


@given(values=st.lists(st.floats(-5, 5), min_size=1, max_size=30), data=st.data())
def test_range_minimum(values, data):
    n = len(values)
    ranges = data.draw(st.lists(st.tuples(st.integers(0, n), st.integers(0, n)), min_size=1, max_size=20))
    first, last = np.array([a for a, _ in ranges]), np.array([b for _, b in ranges])
    expected = [min(values[a:b], default=math.inf) for a, b in ranges]
    assert range_minimum(np.array(values), first, last).tolist() == expected


@pytest.mark.parametrize("kernel", [LaplaceKernel(0.7), GaussianKernel(1.3)])
def test_kernels(kernel):
    """Density, mass and the bound on the second derivative belong together."""
    x = np.linspace(-6.0, 6.0, 2001)
    assert np.trapezoid(kernel.density(x), x) == pytest.approx(float(kernel.mass(x[:1], x[-1:])[0]), abs=1e-5)
    assert np.all(kernel.density(x) == kernel.density(-x))
    low, high = np.array([-np.inf, 1.0, 40.0, -3.0]), np.array([np.inf, 2.0, np.inf, -np.inf])
    masses = kernel.mass(low[:3], high[:3])
    assert masses[0] == pytest.approx(1.0, abs=1e-15)
    assert 0.0 <= masses[2] < 1e-15
    assert float(kernel.mass(np.array([kernel.reach]), np.array([np.inf]))[0]) < 1e-18
    # Second differences inside cells that hold no kink.
    for a, b in ((0.1, 0.6), (1.0, 2.5), (-3.0, -2.0)):
        inside = np.linspace(a, b, 400)
        step = inside[1] - inside[0]
        second = np.abs(np.diff(kernel.density(inside), 2)) / step**2
        bound = float(kernel.curvature(np.array([a]), np.array([b]))[0])
        assert second.max() <= bound * (1 + 1e-3)


@given(seed=st.integers(0, 2**32 - 1))
def test_distances_and_radii(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(2, 9)), int(rng.integers(1, 4))))
    for norm in (1, 2):
        pairs = [np.linalg.norm(p - q, ord=norm) for p in points for q in points]
        assert largest_distance(points, norm) == pytest.approx(max(pairs), rel=1e-12)
        radius = smallest_radius(points, norm)
        # Any two points lie in the ball, and the box's centre is no further than the diameter away.
        assert max(pairs) / 2 - 1e-12 <= radius <= max(pairs) * points.shape[1] + 1e-12
