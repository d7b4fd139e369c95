"""Epsilons at deltas so small that composed privacy losses cannot resolve them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mpmath as mp
import numpy as np
import pytest

import dpradar as dr
from dpradar.guarantees.composition import promise_of_pairs
from dpradar.guarantees.epsilon import epsilon_at, smallest_delta
from dpradar.guarantees.pairs import GaussianPair, LaplacePair, SampledGaussianPair
from dpradar.guarantees.renyi_pairs import renyi_of_pairs


def divergence(order, p, q, edges):
    """Renyi divergence of two densities by quadrature with 30 digits."""
    with mp.workdps(30):
        moment = mp.quad(lambda x: p(x) ** order * q(x) ** (1 - order), edges)
        return float(mp.log(moment) / (order - 1))


def sampled(noise, rate, centre):
    return lambda x: (1 - rate) * mp.npdf(x, 0, noise) + rate * mp.npdf(x, centre, noise)


@pytest.mark.parametrize(("noise", "rate"), [(0.8, 0.1), (1.0, 0.01), (3.0, 0.5)])
@pytest.mark.parametrize("order", [2, 3, 9])
def test_sampled_gaussian_divergences_are_the_integral(noise, rate, order):
    edges = [centre * noise for centre in (-40, -10, -3, 0, 3, 10, 20, 40, 80)]
    present, absent = sampled(noise, rate, 1), sampled(noise, 0, 1)
    bound = float(renyi_of_pairs(((SampledGaussianPair(noise, rate, "with"), 1),)).at([order])[0])
    forward = divergence(order, present, absent, edges)
    assert forward <= bound <= forward * (1 + 1e-6)
    assert divergence(order, absent, present, edges) <= bound
    replaced = renyi_of_pairs(((SampledGaussianPair(noise, rate, "replace"), 1),)).at([order])[0]
    assert divergence(order, present, sampled(noise, rate, -1), edges) <= replaced


@pytest.mark.parametrize(("epsilon", "order"), [(0.01, 2), (1.0, 3), (5.0, 20)])
def test_laplace_divergences_are_the_integral(epsilon, order):
    def density(centre):
        return lambda x: mp.exp(-abs(x - centre)) / 2

    expected = divergence(order, density(0), density(epsilon), [-200, -20, 0, epsilon, 20 + epsilon, 200])
    bound = float(renyi_of_pairs(((LaplacePair(epsilon), 1),)).at([order])[0])
    assert expected <= bound <= expected * (1 + 1e-6) + 1e-11


def test_divergences_add_up():
    pairs = ((GaussianPair(0.5), 3), (LaplacePair(0.2), 2), (SampledGaussianPair(2.0, 0.1, "with"), 10))
    single = sum(times * renyi_of_pairs(((pair, 1),)).at([4.0])[0] for pair, times in pairs)
    assert renyi_of_pairs(pairs).at([4.0])[0] == pytest.approx(single, rel=1e-12)


def test_noise_for_a_tiny_delta_after_many_steps():
    """An independent accountant finds delta(1) = 5.5e-14 at noise 7: the limit can be kept, and never much above it."""
    limit = dr.Limit(epsilon=1, delta=1e-10, neighbours="add-remove")
    result = dr.calibrate(dr.DPSGD, limit, sample_rate=1e-3, steps=10**6, precision=1e-2)
    assert result.status == "met"
    assert result.value < 7.0
    assert result.achieved[0].rule.startswith("Renyi divergences")
    # No Gaussian mechanism of the central limit, mu = q sqrt(steps (e^(1/noise^2) - 1)), needs less noise than this.
    mu = 1e-3 * math.sqrt(1e6 * math.expm1(1 / result.value**2))
    assert epsilon_at(dr.GDP(mu, neighbours="add-remove").privacy("add-remove"), 1e-10) > 0.9


@dataclass(frozen=True)
class UnknownPair:
    """A pair of another kind: two Gaussians of whose divergences nothing is said."""

    mu: float

    def delta(self, epsilon):
        return GaussianPair(self.mu).delta(epsilon)

    @property
    def span(self):
        return GaussianPair(self.mu).span

    step = None
    infinite = 0.0

    def swapped(self):
        return self


@dataclass(frozen=True)
class ManyReleases:
    sigma: float

    def privacy(self, relation):
        return promise_of_pairs(((UnknownPair(1.0 / self.sigma), 1000),), relation, "noise")


LIMIT = dr.Limit(epsilon=1, delta=1e-15, neighbours="add-remove")


def test_an_epsilon_that_cannot_be_resolved_says_so():
    promise = ManyReleases(30.0).privacy("add-remove")
    floor = smallest_delta(promise)
    assert 1e-15 < floor < 1e-12
    assert math.isinf(epsilon_at(promise, 0.1 * floor))
    assert np.isfinite(epsilon_at(promise, 10 * floor))
    assert "cannot be resolved below delta" in LIMIT.achieved(ManyReleases(30.0))[0].rule


@pytest.mark.slow  # releases of every size are tried
def test_what_cannot_be_resolved_is_not_called_impossible():
    result = dr.calibrate(lambda sigma: ManyReleases(sigma=sigma), LIMIT, precision=0.1)
    assert result.value is None
    assert "cannot be resolved below delta" in result.reason
    assert "no value" not in result.reason
