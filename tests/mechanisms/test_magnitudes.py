"""Numbers so large that differences or squares are no floats are refused: they would count as infinite or as 0."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import stats

import dpradar as dr
from dpradar.mechanisms.noise.whole_number_laws import DiscreteGaussianLaw, SummedLaw

PAIR = dr.Prior.uniform(2, values=[0.0, 1e308])

TOO_LARGE = {
    "query": lambda: dr.Laplace(scale=1.0, query=[1e308, -1e308]),
    "vectors": lambda: dr.Gaussian(sigma=1.0, query=[[1e308, 1e308], [0.0, 0.0]]),
    "values": lambda: dr.assess(dr.Laplace(scale=1.0), dr.Threat(PAIR)),
    "values of utilities": lambda: dr.assess(dr.Exponential(epsilon=1.0), dr.Threat(PAIR)),
    "utility": lambda: dr.Exponential(epsilon=1.0, utility=[[1e308, -1e308], [0.0, 0.0]]),
    "interval": lambda: dr.assess(
        dr.Exponential(epsilon=1.0, interval=(0.0, 1e308)), dr.Threat(dr.Prior.uniform(2, values=[0.0, 1.0]))
    ),
    "continuous": lambda: dr.Prior.continuous(stats.uniform(), -1e308, 1e308),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_numbers_that_overflow_are_refused(name):
    """The exponential mechanism came out at rad 0 where the truth is 0.12; Laplace noise in an internal error."""
    with pytest.raises(dr.ParameterError, match=r"must be numbers from -1e\+150 to 1e\+150"):
        TOO_LARGE[name]()


def test_large_numbers_in_another_unit_are_the_same_question():
    small, large = (
        dr.assess(dr.Exponential(epsilon=1.0), dr.Threat(dr.Prior.uniform(2, values=[0.0, value])))
        for value in (1.0, 1e150)
    )
    assert large.rad.value == pytest.approx(small.rad.value)


def test_losses_beyond_whole_floats_are_no_internal_error():
    promise = dr.Repeated(dr.PureDP(1e-320, neighbours="replace-one"), 10**50)
    assert 0.0 <= dr.assess(promise).rad.value < 1e-200


@pytest.mark.parametrize("columns", [{"a": [[1], 2]}, {"a": 5}, 5, None, "ab"])
def test_records_that_are_no_table_of_labels(columns):
    with pytest.raises(dr.ParameterError, match=r"Prior\.records must be"):
        dr.Prior.records(columns)


def test_draws_of_many_releases_are_not_kept_at_once():
    """A thousand releases of 100,000 draws each took 800 MB."""
    law = SummedLaw(DiscreteGaussianLaw(2.0), 40)
    tracemalloc.start()
    total = law.sample(50_000, np.random.default_rng(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * total.nbytes
    draws = np.random.default_rng(1)
    assert np.array_equal(total, np.sum([law.law.sample(50_000, draws) for _ in range(40)], axis=0))
