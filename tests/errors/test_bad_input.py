"""Bad input: one kind of error, which says what is wrong, what is allowed and what to do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import uniform

import dpradar as dr
from tests.every import every

INF, NAN = math.inf, math.nan
HUGE = 10**400  # a whole number that is no float
THREE = dr.Prior.uniform(3)
PEOPLE = dr.Prior.records({"age": [30, 40, 50], "ill": ["no", "yes", "no"]})
EYE = np.eye(3)


def frame(**columns: list[float]):
    import pandas as pd

    return pd.DataFrame(columns)


def assess_grr(threat: dr.Threat) -> dr.Assessment:
    return dr.assess(dr.GRR(3, 1.0), threat)


CASES = {
    # Probabilities.
    "negative probability": lambda: dr.Prior.of([1.2, -0.2]),
    "nan probability": lambda: dr.Prior.of([NAN, 1.0]),
    "infinite probability": lambda: dr.Prior.of([INF, 0.0]),
    "sum 0.9": lambda: dr.Prior.of([0.5, 0.4]),
    "sum off by 1e-8": lambda: dr.Prior.of([0.5, 0.5 + 1e-8]),
    "probabilities as a matrix": lambda: dr.Prior.of([[0.5, 0.5]]),
    "probabilities as words": lambda: dr.Prior.of(["a", "b"]),
    "a probability of 400 digits": lambda: dr.Prior.of([HUGE, 1]),
    "a contribution of 400 digits": lambda: dr.Laplace(1.0, query=[0, HUGE]),
    "a vector of 400 digits": lambda: dr.Gaussian(1.0, query=[[0, 1], [HUGE, 1]]),
    "a range of 400 digits": lambda: dr.Laplace(1.0, truncate=(0, HUGE)),
    "a matrix of 400 digits": lambda: dr.Channel([[HUGE, 1], [1, 1]]),
    "an edge of 400 digits": lambda: dr.data.prior(frame(x=[1.0, 2.0]), ["x"], bins={"x": [0, HUGE]}),
    "values of the wrong length": lambda: dr.Prior.of([0.5, 0.5], [1, 2, 3]),
    "a value twice": lambda: dr.Prior.of([0.5, 0.5], ["a", "a"]),
    "values that are lists": lambda: dr.Prior.of([0.5, 0.5], [[1], [2]]),
    "negative weight": lambda: dr.Prior.records({"age": [1, 2]}, weights=[1, -1]),
    "weights as words": lambda: dr.Prior.records({"age": [1, 2]}, weights=["x", "y"]),
    "weights of the wrong length": lambda: dr.Prior.records({"age": [1, 2]}, weights=[1, 2, 3]),
    "columns of different length": lambda: dr.Prior.records({"age": [1, 2], "ill": [1]}),
    "one record": lambda: dr.Prior.records({"age": [1, 1]}),
    "no columns": lambda: dr.Prior.records({}),
    # Sizes.
    "m = 0": lambda: dr.Prior.uniform(0),
    "m = 1": lambda: dr.Prior.uniform(1),
    "m = 2.5": lambda: dr.Prior.uniform(2.5),
    "m = -3": lambda: dr.Prior.uniform(-3),
    "m as a word": lambda: dr.Prior.uniform("ten"),
    "one probability": lambda: dr.Prior.of([1.0]),
    "no probability": lambda: dr.Prior.of([]),
    **{f"{kind.__name__} with m = {m}": lambda kind=kind, m=m: kind(m, 1.0)
       for kind in (dr.GRR, dr.SUE, dr.OUE, dr.SubsetSelection) for m in (0, 1)},
    # Epsilon and the other parameters.
    **{f"{kind.__name__} with epsilon {value}": lambda kind=kind, value=value: kind(3, value)
       for kind in (dr.GRR, dr.SUE, dr.OUE, dr.SubsetSelection) for value in (-1.0, INF, NAN, "one", None, True)},
    **{f"Exponential with epsilon {value}": lambda value=value: dr.Exponential(value) for value in (-1.0, INF, NAN)},
    **{f"PureDP with epsilon {value}": lambda value=value: dr.PureDP(value, "replace-one")
       for value in (-1.0, INF, NAN)},
    **{f"ApproxDP with delta {value}": lambda value=value: dr.ApproxDP(1.0, value, "replace-one")
       for value in (-0.1, 1.1, NAN)},
    **{f"GDP with mu {value}": lambda value=value: dr.GDP(value, "replace-one") for value in (-1.0, INF, NAN)},
    **{f"TotalVariation {value}": lambda value=value: dr.TotalVariation(value, "replace-one") for value in (-0.1, 1.1)},
    **{f"{kind.__name__} with noise {value}": lambda kind=kind, value=value: kind(value)
       for kind in (dr.Laplace, dr.Gaussian, dr.Geometric, dr.DiscreteGaussian) for value in (0.0, -1.0, INF, NAN)},
    **{f"membership {value}": lambda value=value: dr.Threat.membership(value) for value in (-0.1, 1.1, NAN)},
    **{f"baseline {value}": lambda value=value: dr.Threat.baseline(value) for value in (-0.1, 1.1, NAN)},
    # Goals and knowledge.
    "eta < 0": lambda: dr.Goal.within(-1.0),
    "eta nan": lambda: dr.Goal.within(NAN),
    "labels of the wrong length": lambda: assess_grr(dr.Threat(THREE, dr.Knowledge.labels(["a", "b"]))),
    "goal labels of the wrong length": lambda: assess_grr(dr.Threat(THREE, goal=dr.Goal.labels(["a"] * 4))),
    "labels that are lists": lambda: dr.Knowledge.labels([[1], [2], [3]]),
    "labels that are a number": lambda: dr.Knowledge.labels(5),
    "loss that is not square": lambda: dr.Goal.within(1.0, np.zeros((2, 3))),
    "loss with uneven rows": lambda: dr.Goal.within(1.0, [[0, 1], [1]]),
    "loss of the wrong size": lambda: dr.Threat(THREE, goal=dr.Goal.within(1.0, np.zeros((2, 2)))),
    "negative loss": lambda: dr.Goal.within(1.0, [[0, -1], [1, 0]]),
    "loss with nan": lambda: dr.Goal.within(1.0, [[0, NAN], [1, 0]]),
    "loss function that returns nan": lambda: dr.Threat(THREE, goal=dr.Goal.within(1.0, lambda _z, _g: NAN)),
    "within on words": lambda: dr.Threat(dr.Prior.uniform(2, ["a", "b"]), goal=dr.Goal.within(1.0)),
    "no columns known": dr.Knowledge.columns,
    "no goal columns": dr.Goal.columns,
    # Channels and queries.
    "row that sums to 0.9": lambda: dr.Channel([[0.5, 0.4], [0.5, 0.5]]),
    "row off by 1e-8": lambda: dr.Channel([[0.5, 0.5 + 1e-8], [0.5, 0.5]]),
    "negative entry": lambda: dr.Channel([[1.5, -0.5], [0.5, 0.5]]),
    "nan entry": lambda: dr.Channel([[NAN, 0.5], [0.5, 0.5]]),
    "a flat channel": lambda: dr.Channel([0.5, 0.5]),
    "a channel of one row": lambda: dr.Channel([[0.5, 0.5]]),
    "a channel with uneven rows": lambda: dr.Channel([[0.5, 0.5], [1.0]]),
    "channel of another size": lambda: dr.assess(dr.Channel(EYE), dr.Threat(dr.Prior.uniform(4))),
    "grr of another size": lambda: assess_grr(dr.Threat(dr.Prior.uniform(4))),
    "query of another size": lambda: dr.assess(dr.Laplace(1.0, query=[0, 1]), dr.Threat(THREE)),
    "query with nan": lambda: dr.Laplace(1.0, query=[0.0, NAN]),
    "query of words": lambda: dr.Gaussian(1.0, query=["a", "b"]),
    "query with uneven rows": lambda: dr.Gaussian(1.0, query=[[1, 2], [3]]),
    "a sensitivity beside a query": lambda: dr.Gaussian(1.0, query=[0, 1], sensitivity=2.0),
    "words without a query": lambda: dr.assess(dr.Laplace(1.0), dr.Threat(dr.Prior.uniform(2, ["a", "b"]))),
    "records without a query": lambda: dr.assess(dr.Laplace(1.0), dr.Threat(PEOPLE)),
    "fractions with whole noise": lambda: dr.assess(dr.Geometric(1.0, query=[0, 0.5]), dr.Threat(dr.Prior.uniform(2))),
    "vectors with whole noise": lambda: dr.assess(dr.Geometric(1.0, query=EYE), dr.Threat(THREE)),
    "clamp the wrong way round": lambda: dr.Laplace(1.0, truncate=(2, 1)),
    "clamp of one number": lambda: dr.Laplace(1.0, truncate=3),
    "clamp at fractions": lambda: dr.assess(dr.Geometric(1.0, truncate=(0, 1.5)), dr.Threat(THREE)),
    "utility with uneven rows": lambda: dr.Exponential(1.0, utility=[[0, 1], [1]]),
    "utility with nan": lambda: dr.Exponential(1.0, utility=[[0, NAN], [1, 0]]),
    "utility and interval": lambda: dr.Exponential(1.0, utility=EYE, interval=(0, 1)),
    "interval the wrong way round": lambda: dr.Exponential(1.0, interval=(1, 0)),
    "interval without end": lambda: dr.assess(dr.Exponential(1.0, interval=(0, INF)), dr.Threat(THREE)),
    "values outside the interval": lambda: dr.assess(dr.Exponential(1.0, interval=(0, 1)), dr.Threat(THREE)),
    "composed of nothing": lambda: dr.Composed([]),
    "composed of a number": lambda: dr.Composed(5),
    "composed of numbers": lambda: dr.Composed([1.0]),
    "repeated no times": lambda: dr.Repeated(dr.GRR(3, 1.0), 0),
    "DP-SGD without noise": lambda: dr.DPSGD(0.0, 0.1, 10),
    "DP-SGD with a rate above 1": lambda: dr.DPSGD(1.0, 1.5, 10),
    "DP-SGD with half a step": lambda: dr.DPSGD(1.0, 0.5, 1.5),
    "a tolerance of nothing": lambda: dr.assess(dr.GRR(3, 1.0), tolerance=0.0),
    "composed of different sizes": lambda: dr.Composed([dr.GRR(3, 1.0), dr.GRR(4, 1.0)]).at(None),
    # Curves.
    "curve of uneven length": lambda: dr.Tradeoff((0.1, 0.2), (0.5,), "replace-one"),
    "rate above 1": lambda: dr.Tradeoff((0.1,), (1.5,), "replace-one"),
    "rate of a word": lambda: dr.Tradeoff(("a",), (0.5,), "replace-one"),
    # Continuous priors.
    "interval of a prior the wrong way round": lambda: dr.Prior.continuous(uniform(), 1.0, 0.0),
    "interval of a prior as words": lambda: dr.Prior.continuous(uniform(), "a", 1.0),
    "no distribution": lambda: dr.Prior.continuous(3, 0.0, 1.0),
    "no mass on the interval": lambda: dr.Prior.continuous(uniform(), 5.0, 6.0),
    "labels with a continuous prior": lambda: dr.Threat(
        dr.Prior.continuous(uniform(), 0.0, 1.0), dr.Knowledge.labels(["a"])
    ),
    # Unknown names.
    "unknown neighbours": lambda: dr.PureDP(1.0, "swap"),
    "no neighbours": lambda: dr.GDP(1.0, None),
    "unknown neighbours in assess": lambda: dr.assess(dr.GRR(3, 1.0), neighbours="swap"),
    "unknown loss": lambda: dr.Goal.within(1.0, "squared"),
    "unknown goal column": lambda: dr.Threat(PEOPLE, goal=dr.Goal.columns("height")),
    "unknown known column": lambda: dr.Threat(PEOPLE, dr.Knowledge.columns("height")),
    "columns without records": lambda: dr.Threat(THREE, dr.Knowledge.columns("age")),
    "not a release": lambda: dr.assess("grr", dr.Threat(THREE)),
    "not a threat": lambda: dr.assess(dr.GRR(3, 1.0), THREE),
    "not a prior": lambda: dr.Threat([0.5, 0.5]),
    "not a knowledge": lambda: dr.Threat(THREE, "nothing"),
    "not a goal": lambda: dr.Threat(THREE, goal="exact"),
}  # fmt: skip


@every("name", CASES)
def test_what_is_wrong_and_what_is_allowed(name):
    with pytest.raises(dr.ParameterError) as caught:
        CASES[name]()
    error = caught.value
    assert isinstance(error, ValueError)
    assert str(error).startswith(f"{error.name} must be {error.allowed}; got {error.got}.")


@every("name", CASES)
def test_what_to_do(name):
    with pytest.raises(dr.ParameterError) as caught:
        CASES[name]()
    error = caught.value
    # A hint, or an example of what is allowed.
    assert error.hint or "such as" in error.allowed, f"no advice: {error}"
    assert str(error).endswith(error.hint)


def test_data_do_not_get_into_messages():
    """An error about a long list does not print it."""
    secret = [0.123456] * 1000
    with pytest.raises(dr.ParameterError) as caught:
        dr.Prior.of([secret])
    assert "0.123456" not in str(caught.value)
    with pytest.raises(dr.ParameterError) as caught:
        dr.Laplace(1.0, query=["private"] * 1000)
    assert len(str(caught.value)) < 300


NOT_ERRORS = {
    "epsilon = 0": lambda: dr.assess(dr.GRR(3, 0.0), dr.Threat(THREE)),
    "epsilon = 700": lambda: dr.assess(dr.OUE(3, 700.0), dr.Threat(THREE)),
    "point mass": lambda: assess_grr(dr.Threat(dr.Prior.of([0.0, 1.0, 0.0]))),
    "zero-probability values": lambda: assess_grr(dr.Threat(dr.Prior.of([0.5, 0.5, 0.0]))),
    "sum off by 1e-10": lambda: assess_grr(dr.Threat(dr.Prior.of([0.5, 0.25, 0.25 + 1e-10]))),
    "m = 100,000": lambda: dr.assess(dr.GRR(100_000, 3.0), dr.Threat(dr.Prior.uniform(100_000))),
    "half a clamp": lambda: dr.assess(dr.Laplace(1.0, truncate=(0.0, INF)), dr.Threat(THREE)),
    "half a clamp on whole numbers": lambda: dr.assess(dr.Geometric(1.0, truncate=(0, INF)), dr.Threat(THREE)),
    "whole numbers far apart": lambda: dr.assess(dr.Geometric(1.0, query=[0, 10**12]), dr.Threat(dr.Prior.uniform(2))),
    "hardly any noise on cells": lambda: dr.assess(dr.Gaussian(0.01, query=EYE), dr.Threat(THREE)),
    "hardly any Laplace noise on cells": lambda: dr.assess(dr.Laplace(0.001, query=EYE), dr.Threat(THREE)),
    "eta larger than all": lambda: assess_grr(dr.Threat(THREE, goal=dr.Goal.within(1e9))),
    "infinite loss": lambda: assess_grr(dr.Threat(THREE, goal=dr.Goal.within(1.0, np.full((3, 3), INF)))),
    "numpy numbers": lambda: dr.assess(dr.GRR(np.int64(3), np.float32(1.0)), dr.Threat(dr.Prior.uniform(np.int32(3)))),
}


@pytest.mark.parametrize("name", NOT_ERRORS)
def test_these_are_not_errors(name):
    answer = NOT_ERRORS[name]()
    assert 0.0 <= answer.rad.value <= 1.0
    assert answer.baseline - 1e-12 <= answer.success.value <= 1.0


@pytest.mark.parametrize("kind", [dr.GRR, dr.SUE, dr.OUE, dr.SubsetSelection, dr.Geometric, dr.DiscreteGaussian])
def test_a_continuous_prior_is_refused_where_it_makes_no_sense(kind):
    mechanism = kind(3, 1.0) if kind in (dr.GRR, dr.SUE, dr.OUE, dr.SubsetSelection) else kind(1.0)
    with pytest.raises(dr.UnsupportedError, match="continuous"):
        dr.assess(mechanism, dr.Threat(dr.Prior.continuous(uniform(), 0.0, 1.0)))


EXTREME = {
    "laplace, a billion times": lambda: dr.Repeated(dr.Laplace(scale=1.0), 10**9),
    "randomised response, a billion times": lambda: dr.Repeated(dr.GRR(m=3, epsilon=0.01), 10**9),
    "unary encoding, a million times": lambda: dr.Repeated(dr.OUE(m=3, epsilon=0.01), 10**6),
    "training without end": lambda: dr.DPSGD(noise_multiplier=1.0, sample_rate=0.01, steps=10**21),
    "training with hardly any noise": lambda: dr.DPSGD(noise_multiplier=1e-100, sample_rate=0.01, steps=10),
    "training with noise only": lambda: dr.DPSGD(noise_multiplier=1e100, sample_rate=0.01, steps=10),
    "no privacy, a million times": lambda: dr.Repeated(dr.GDP(1e300, neighbours="replace-one"), 10**6),
}


@pytest.mark.parametrize("name", EXTREME)
def test_extreme_releases_get_a_number_and_no_overflow(name):
    a = dr.assess(EXTREME[name](), dr.Threat(dr.Prior.uniform(3)))
    assert 0.0 <= a.rad.value <= 2 / 3 + 1e-12
    # Repeated a million times, or without noise, everything is revealed; with noise alone nothing.
    assert (a.rad.value < 1e-6) == (name == "training with noise only")


def test_what_squares_cannot_hold_is_refused():
    for noise in (1e-101, 1e300):
        with pytest.raises(dr.ParameterError, match="noise_multiplier"):
            dr.DPSGD(noise_multiplier=noise, sample_rate=0.01, steps=10)
    threat = dr.Threat(dr.Prior.uniform(2, [-1e308, 1e308]))
    with pytest.raises(dr.ParameterError, match=r"numbers from -1e\+150 to 1e\+150"):
        dr.assess(dr.Geometric(scale=1.0), threat)
