"""The rad of publishing the record itself, beside closed forms and an average over quantiles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, lognorm, norm, uniform

import dpradar as dr
from dpradar.threats.ceiling import raw_data

CASES = [
    (beta(0.1, 0.1), 0.0, 1.0, 0.1),
    (beta(0.05, 20.0), 0.0, 1.0, 0.01),
    (beta(0.5, 2.0), 0.0, 1.0, 0.6),
    (norm(0.5, 1e-3), 0.0, 1.0, 1e-3),
    (norm(), -3.0, 3.0, 1e-9),
    (lognorm(s=1.0, scale=3e4), 0.0, 1e6, 500.0),
]


def interval(law, low, high, eta, knowledge=None):
    threat = dr.Threat(dr.Prior.continuous(law, low, high), knowledge or dr.Knowledge.nothing(), dr.Goal.within(eta))
    return raw_data(threat).rad


def by_quantiles(law, low, high, eta, n=4_000, guesses=401):
    """1 - the average over n equally likely x of the lightest of the windows around some guesses within eta of x."""
    start, stop = law.cdf(low), law.cdf(high)
    x = law.ppf(start + (np.arange(n) + 0.5) / n * (stop - start))
    lightest = np.ones(n)
    for share in np.linspace(-1.0, 1.0, guesses):
        g = np.clip(x + share * eta, low, high)
        window = law.cdf(np.minimum(g + eta, high)) - law.cdf(np.maximum(g - eta, low))
        lightest = np.minimum(lightest, window / (stop - start))
    return 1.0 - lightest.mean()


@pytest.mark.parametrize("case", range(len(CASES)))
def test_average_over_quantiles(case):
    low, high = interval(*CASES[case])
    assert high - low < 1e-4
    assert low - 1e-3 <= by_quantiles(*CASES[case]) <= high + 1e-5  # too few guesses make it too small


@pytest.mark.parametrize("eta", [0.05, 0.1, 0.25])
def test_closed_form_of_the_uniform_prior(eta):
    low, high = interval(uniform(), 0.0, 1.0, eta)
    assert low <= 1 - (2 * eta - 3 * eta**2) <= high < low + 1e-4


@pytest.mark.parametrize(("eta", "rad"), [(0.0, 1.0), (0.3, 1.0), (0.75, 0.5), (1.0, 0.0), (7.0, 0.0)])
def test_everything_known(eta, rad):
    """Records within eta of both ends cannot be missed; all others can be told from everybody else."""
    low, high = interval(uniform(), 0.0, 1.0, eta, dr.Knowledge.everything())
    assert low <= rad <= high <= low + 1e-11


def test_extreme_goals():
    assert interval(uniform(), 0.0, 1.0, 0.0) == (1.0, 1.0)
    assert interval(uniform(), 0.0, 1.0, 1.0) == (0.0, 0.0)
