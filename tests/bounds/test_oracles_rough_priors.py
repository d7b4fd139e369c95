"""Densities with cusps, teeth and slices of little probability, beside cells of records and of outputs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

import dpradar as dr
from dpradar.bounds.exact.density_shapes import _PEAK, cdf_error, density_shape
from dpradar.threats.prior import Continuous

CELLS = 768


def cells_of(law, low, high, n, parts=16):
    """The probabilities and centroids of n equal cells, from many more."""
    x = np.linspace(low, high, n * parts + 1)
    below = law.cdf(x)
    mass = np.diff(below) / (below[-1] - below[0])
    whole = mass.reshape(n, parts).sum(axis=1)
    middle = (mass * 0.5 * (x[1:] + x[:-1])).reshape(n, parts).sum(axis=1)
    centre = 0.5 * (x[::parts][1:] + x[::parts][:-1])
    return whole, np.divide(middle, whole, out=centre, where=whole > 0.0)


def brute(law, low, high, noise, scale, half):
    """Rad and success of the best guesses on the edges of cells, for an output known up to its cell: from below."""
    mass, at = cells_of(law, low, high, CELLS)
    y = np.concatenate([[-np.inf], np.linspace(low - 9 * scale, high + 9 * scale, CELLS), [np.inf]])
    u = (y[:, None] - at) / scale
    tail = 0.5 * np.exp(-np.abs(u))
    below = ndtr(u) if noise is dr.Gaussian else np.where(u < 0.0, tail, 1.0 - tail)
    joint = np.diff(below, axis=0) * mass
    hits = np.concatenate([np.zeros((joint.shape[0], 1)), np.cumsum(joint, axis=1)], axis=1)
    cdf = np.concatenate([[0.0], np.cumsum(mass)])
    guess = np.arange(CELLS + 1)
    start, stop = np.maximum(guess - half, 0), np.minimum(guess + half, CELLS)
    right = hits[:, stop] - hits[:, start]
    gain = right - joint.sum(axis=1)[:, None] * (cdf[stop] - cdf[start])
    return gain.max(axis=1).sum(), right.max(axis=1).sum()


def answer(law, low, high, mechanism, eta):
    return dr.assess(mechanism, dr.Threat(dr.Prior.continuous(law, low, high), goal=dr.Goal.within(eta)))


def comb(teeth):
    return stats.rv_histogram((np.tile([2.0, 0.0], teeth), np.linspace(0.0, 1.0, 2 * teeth + 1)), density=True)


class Wrapped:
    """A law whose family cannot be seen."""

    def __init__(self, law):
        self.cdf, self.ppf, self.sf, self.isf = law.cdf, law.ppf, law.sf, law.isf


ROUGH = [
    # Symmetric about an edge of the cells: the averages on both sides of the peak are equal.
    (stats.gennorm(0.3), -1.0, 1.0, dr.Gaussian, 1.0, 24),
    (stats.dgamma(0.5), -1.0, 1.0, dr.Laplace, 3.0, 8),
    # Teeth that the averages over a few cells do not show.
    (comb(64), 0.0, 1.0, dr.Gaussian, 0.5, 3),
    (Wrapped(comb(64)), 0.0, 1.0, dr.Laplace, 1.0, 3),
    # Noise so wide that a share of it is not narrow beside the prior.
    (stats.norm(0.5, 0.2), 0.0, 1.0, dr.Laplace, 1e11, 72),
]


@pytest.mark.parametrize("case", range(len(ROUGH)))
def test_brute_force_is_not_above(case):
    law, low, high, noise, scale, half = ROUGH[case]
    result = answer(law, low, high, noise(scale), half * (high - low) / CELLS)
    rad, success = brute(law, low, high, noise, scale, half)
    assert rad <= result.rad.high + 1e-9
    assert success <= result.success.high + 1e-9
    assert result.rad.low <= rad + 2e-5
    assert result.success.low <= success + 2e-5


def test_a_histogram_needs_no_assumption():
    named, wrapped = (answer(law, 0.0, 1.0, dr.Gaussian(0.5), 1 / 96) for law in (comb(8), Wrapped(comb(8))))
    turns = "rises and falls"
    assert not any(turns in text for text in named.rad.assumes)
    assert any(turns in text for text in wrapped.rad.assumes)
    assert named.rad.low <= wrapped.rad.high
    assert wrapped.rad.low <= named.rad.high


def test_a_slice_with_few_digits_gets_a_wider_interval():
    """A slice that holds 4e-10 of the normal distribution is nearly uniform, but its cdf has seven digits."""
    result = answer(stats.norm(), 0.3, 0.3 + 1e-9, dr.Laplace(1e-9), 1e-10)
    uniform = answer(stats.uniform(), 0.0, 1.0, dr.Laplace(1.0), 0.1)
    assert result.rad.low <= uniform.rad.low
    assert uniform.rad.high <= result.rad.high
    assert 5e-5 < result.rad.high - result.rad.low < 1e-3


@pytest.mark.parametrize(
    ("law", "low", "high", "error"),
    [
        (stats.norm(), -9.0, 9.0, 1e-14),
        (stats.norm(), 6.0, 7.0, 1e-14),  # the survival function has its digits out there
        (stats.norm(), 0.0, 1e-9, 1e-14 * 0.5 / 3.99e-10),
        (Wrapped(stats.norm()), 6.0, 7.0, 1e-14 / 9.9e-10),
        (stats.norminvgauss(1.0, 0.5), -1.0, 1.0, 5e-8 / 0.6),  # scipy integrates its density
    ],
)
def test_errors_of_distribution_functions(law, low, high, error):
    assert cdf_error(Continuous.of(law, low, high)) == pytest.approx(error, rel=0.2)


class Atom:
    """Uniform, but one value has a probability of its own."""

    def __init__(self, at, share):
        self.at, self.share = at, share

    def cdf(self, x):
        x = np.asarray(x, dtype=float)
        return (1.0 - self.share) * np.clip(x, 0.0, 1.0) + self.share * (x >= self.at)

    def ppf(self, q):
        return np.asarray(q, dtype=float)


@pytest.mark.parametrize(
    ("law", "low", "high"),
    [
        (Atom(0.3, 0.5), 0.0, 1.0),
        (Atom(0.5, 0.01), 0.0, 1.0),
        (Atom(0.0, 0.2), -1.0, 1.0),
        (Atom(0.3, 0.5), 0.3, 1.0),  # just outside the half-open slice that a difference of the cdf sees
        (stats.poisson(3.0), 0.0, 10.5),
    ],
)
def test_jumps_of_a_distribution_function_are_refused(law, low, high):
    with pytest.raises(dr.ParameterError, match="jump"):
        dr.Prior.continuous(law, low, high)


@pytest.mark.parametrize(("a", "b"), [(0.1, 0.1), (0.05, 20.0), (20.0, 0.05)])
def test_a_density_without_limit_at_an_end_is_no_jump(a, b):
    assert dr.Prior.continuous(stats.beta(a, b), 0.0, 1.0).is_continuous


SHAPES = {"c": (0.3, 4.0), "d": (0.4, 3.0), "a": (0.3, 5.0), "b": (0.3, 5.0), "s": (0.2, 2.0), "df": (0.5, 6.0)}


class Spikes:
    """Nearly all mass in four short pieces; the best window reaches from inside the second to inside the third."""

    places = np.array([0.0, 0.001, 0.4 + 1e-7, 0.41, 0.59, 0.6 + 1e-7, 0.999, 1.0])
    below = np.cumsum([0.0, 0.3000137, 0.0, 0.2000211, 0.0, 0.2500173, 0.0, 0.2499479])

    def cdf(self, x):
        return np.interp(x, self.places, self.below)

    def ppf(self, q):
        return np.interp(q, self.below + 1e-15 * np.arange(8), self.places)


def test_the_best_window_may_lie_between_the_points_that_are_looked_at():
    """A release that says nothing leaves the best blind guess, found on a grid from below only."""
    law = Spikes()
    truth = float(law.cdf(0.6 + 1e-7) - law.cdf(0.4 + 1e-7))
    a = answer(law, 0.0, 1.0, dr.PureDP(0.0, "replace-one"), 0.1)
    assert a.baseline < truth - 1e-6
    bounds = [a.success, *(o.bound for o in a.others if o.quantity == "success" and o.bound)]
    assert all(bound.value > truth - 1e-15 for bound in bounds)
    assert a.gain.value == 0.0
    threat = dr.Threat(dr.Prior.continuous(law, 0.0, 1.0), goal=dr.Goal.within(0.1))
    assert threat.highest_blind_guess > truth - 1e-15
    assert dr.Threat(threat.prior, dr.Knowledge.everything(), threat.goal).highest_blind_guess == 1.0


@pytest.mark.parametrize("name", sorted(_PEAK))
def test_families_that_rise_and_fall(name):
    """The densities of scipy, on many points for some parameters: differences change sign at most once."""
    family = getattr(stats, name)
    parameters = [part.strip() for part in (family.shapes or "").split(",") if part.strip()]
    rng = np.random.default_rng(len(name))
    for _ in range(1 if name == "exponnorm" else 3):
        values = [rng.uniform(*SHAPES.get(part, (0.3, 3.0))) for part in parameters]
        if name in ("triang", "trapezoid"):
            values = sorted(rng.random(len(parameters)))
        if name in ("loguniform", "reciprocal", "truncnorm"):
            values = [0.5, 3.0]
        law = family(*values)
        assert density_shape(law) == "peak"
        density = law.pdf(law.ppf(np.linspace(0.001, 0.999, 151)))
        moves = np.diff(density)
        signs = np.sign(moves[np.abs(moves) > 1e-9 * density.max()])
        assert np.count_nonzero(np.diff(signs)) <= 1
        assert signs.size == 0 or signs[0] >= signs[-1]
