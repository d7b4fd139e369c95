"""Where 0 lies and which unit is used changes no risk: shifts and scalings by powers of two, in every engine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

import dpradar as dr
from tests.strategies import cases

if TYPE_CHECKING:
    from collections.abc import Callable

SHIFTS = (1.0, -3.0, 2.0**20, -(2.0**33), 2.0**40 + 1.0, -(2.0**48))  # multiples of 1/16 can be added exactly
SCALES = (2.0**-70, 2.0**-10, 2.0, 2.0**45)
QUARTERS = st.lists(st.integers(0, 160), min_size=4, max_size=5, unique=True).map(lambda v: [x / 4.0 for x in v])
PRIORS = ([0.1, 0.2, 0.3, 0.4], [0.1, 0.15, 0.2, 0.25, 0.3])
CORNERS = np.array([[0.0, 0.0], [1.0, 2.0], [2.5, 5.0], [4.0, 8.0]])  # on one line
APART = np.eye(4)[:, ::-1] * 1.5  # all equally far apart


@dataclass(frozen=True)
class Moved:
    """x becomes factor * x + shift (in units of the factor, so that it stays exact)."""

    shift: float = 0.0
    factor: float = 1.0

    def numbers(self, x) -> list:
        return (self.factor * (np.asarray(x, dtype=float) + self.shift)).tolist()

    def length(self, x: float) -> float:
        return self.factor * x

    def pair(self, ends: tuple[float, float] | None) -> tuple[float, float] | None:
        return None if ends is None else tuple(self.numbers(ends))


MOVES = [Moved(shift=s) for s in SHIFTS] + [Moved(factor=f) for f in SCALES] + [Moved(-(2.0**30), 2.0**-8)]


def agree(first: dr.Assessment, second: dr.Assessment) -> None:
    for name in ("rad", "success", "gain"):
        one, two = getattr(first, name), getattr(second, name)
        width = sum(b.value - (b.value if b.low is None else b.low) for b in (one, two))
        assert (one.side, one.rule) == (two.side, two.rule), name
        assert abs(one.value - two.value) <= width + 1e-12, name
    assert first.baseline == pytest.approx(second.baseline, abs=1e-12)


def threat(move: Moved, values: list[float], known: str, eta: float | None) -> dr.Threat:
    pi = next(p for p in PRIORS if len(p) == len(values))
    goal = dr.Goal.exact() if eta is None else dr.Goal.within(move.length(eta))
    return dr.Threat(dr.Prior.of(pi, move.numbers(values)), getattr(dr.Knowledge, known)(), goal)


LINE: dict[str, Callable] = {
    "laplace": lambda move, scale, clamp: dr.Laplace(move.length(scale), truncate=move.pair(clamp)),
    "gaussian": lambda move, scale, clamp: dr.Gaussian(move.length(scale), truncate=move.pair(clamp)),
    "exponential": lambda move, scale, _: dr.Exponential(40.0 / scale, interval=move.pair((0.0, 40.0))),
    "repeated": lambda move, scale, _: dr.Repeated(dr.Gaussian(move.length(2.0 * scale)), 3),
    "composed": lambda move, scale, _: dr.Composed([dr.Gaussian(move.length(scale)), dr.Gaussian(move.length(7.0))]),
    "mixed": lambda move, scale, _: dr.Composed([dr.Laplace(move.length(scale)), dr.Gaussian(move.length(7.0))]),
    "utility": lambda _, scale, __: dr.Exponential(5.0 / scale),
}


@pytest.mark.parametrize("kind", LINE)
@cases(0.05)
@given(
    values=QUARTERS,
    move=st.sampled_from(MOVES),
    scale=st.sampled_from([0.1387, 1.0, 6.5]),
    clamp=st.sampled_from([None, (3.0, 21.0)]),
    known=st.sampled_from(["nothing", "everything"]),
    eta=st.sampled_from([None, 5.1]),
)
def test_noise_on_a_line(kind, values, move, scale, clamp, known, eta):
    first, second = (
        dr.assess(LINE[kind](where, scale, clamp), threat(where, values, known, eta)) for where in (Moved(), move)
    )
    agree(first, second)


WHOLE: dict[str, Callable] = {
    "geometric": lambda move, clamp: dr.Geometric(2.5, truncate=move.pair(clamp)),
    "discrete-gaussian": lambda move, clamp: dr.DiscreteGaussian(2.5, truncate=move.pair(clamp)),
    "repeated": lambda *_: dr.Repeated(dr.DiscreteGaussian(4.0), 3),
    "composed": lambda *_: dr.Composed([dr.Geometric(3.0), dr.Geometric(5.0)]),
}


@pytest.mark.parametrize("kind", WHOLE)
@cases(0.05)
@given(
    values=st.lists(st.integers(0, 40), min_size=4, max_size=5, unique=True),
    shift=st.sampled_from([7.0, -(2.0**31), 2.0**51 + 1.0, 2.0**53 - 40.0, 40.0 - 2.0**53]),
    clamp=st.sampled_from([None, (3.0, 21.0)]),
    known=st.sampled_from(["nothing", "everything"]),
    eta=st.sampled_from([None, 5]),
)
def test_noise_on_whole_numbers(kind, values, shift, clamp, known, eta):
    first, second = (
        dr.assess(WHOLE[kind](where, clamp), threat(where, values, known, eta)) for where in (Moved(), Moved(shift))
    )
    agree(first, second)


VECTORS: dict[str, tuple[Callable, np.ndarray]] = {
    "collinear": (dr.Gaussian, CORNERS),
    "equidistant": (dr.Gaussian, APART),
    "cells": (dr.Laplace, np.eye(4) * 1.5),
    "any": (dr.Gaussian, np.array([[0.0, 0.0], [1.0, 0.5], [0.25, 3.0], [2.0, 2.0]])),
}


@pytest.mark.parametrize("kind", VECTORS)
@cases(0.05)
@given(
    across=st.sampled_from([(0.0, 5.0, -(2.0**40), 2.0**20), (2.0**48, -(2.0**45), 3.0, 2.0**33)]),
    factor=st.sampled_from([1.0, 2.0**-40, 2.0**30]),
    known=st.sampled_from(["nothing", "everything"]),
)
def test_noise_on_vectors(kind, across, factor, known):
    mechanism, vectors = VECTORS[kind]
    who = dr.Threat(dr.Prior.uniform(4), getattr(dr.Knowledge, known)())
    moved = factor * (vectors + np.array(across[: vectors.shape[1]]))
    agree(dr.assess(mechanism(1.25, query=vectors), who), dr.assess(mechanism(1.25 * factor, query=moved), who))


@pytest.mark.parametrize("mechanism", [dr.Laplace, dr.Gaussian])
@pytest.mark.parametrize("known", ["nothing", "everything"])
@pytest.mark.parametrize("clamp", [None, (0.25, 3.0)])
@pytest.mark.parametrize("move", [Moved(shift=-(2.0**20)), Moved(8.0, 2.0**-9)])
def test_continuous_priors(mechanism, known, clamp, move):
    def answer(where: Moved) -> dr.Assessment:
        low, high = where.numbers([0.0, 2.0])
        prior = dr.Prior.continuous(beta(2.0, 3.0, loc=low, scale=high - low), low, high)
        who = dr.Threat(prior, getattr(dr.Knowledge, known)(), dr.Goal.within(where.length(0.3)))
        return dr.assess(mechanism(where.length(0.5), truncate=where.pair(clamp)), who)

    first, second = answer(Moved()), answer(move)
    for name in ("rad", "success"):
        one, two = getattr(first, name), getattr(second, name)
        assert one.rule == two.rule
        # A distribution function far from 0 has fewer digits of its own: at 2^20 floats are 1e-10 apart.
        assert abs(one.value - two.value) <= (one.value - one.low) + (two.value - two.low) + 1e-9


def test_gaussian_noise_on_values_far_from_0():
    """rad = sum pi E[(p_z - average)_+]; all gaps are 7.2 sigma and more but one, so it is 0.8 less some 5e-5."""
    values, sigma = np.array([5.0, 7.0, 15.0, 16.0, 36.0]), 0.1387
    # Only 15 and 16 meet: near them p is 0.8 p_15 - 0.2 p_16 where positive, else its mirror image.
    edge = (1.0 + 2.0 * sigma**2 * math.log(4.0)) / 2.0 / sigma

    def below(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2.0))

    meeting = 0.8 * below(edge) - 0.2 * below(edge - 1.0 / sigma)
    expected = (3 * 0.8 + 2 * meeting) / 5
    for shift in (0.0, 2.0**52, 1e14, 1e15):
        prior = dr.Prior.uniform(5, (values + shift).tolist())
        answer = dr.assess(dr.Gaussian(sigma), dr.Threat(prior, dr.Knowledge.everything()))
        assert answer.rad.side == "exact"
        assert answer.rad.value == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("mechanism", [dr.Laplace(1.0), dr.Gaussian(1.0)])
def test_a_far_group_does_not_blur_a_near_one(mechanism):
    """Two pairs, 2^53 apart: each pair is told apart as if it were alone, and a pair from the other always."""
    values = [0.0, 1.0, 2.0**53, 2.0**53 + 2.0]
    answer = dr.assess(mechanism, dr.Threat(dr.Prior.uniform(4, values), dr.Knowledge.everything()))
    # w = pi (p_z - average): of the pair (0, 1) the average there is (p_0 + p_1)/4.
    near = dr.assess(mechanism, dr.Threat(dr.Prior.uniform(4, [0.0, 1.0, 400.0, 402.0]), dr.Knowledge.everything()))
    assert answer.rad.side == near.rad.side == "exact"
    assert answer.rad.value == pytest.approx(near.rad.value, abs=1e-9)
