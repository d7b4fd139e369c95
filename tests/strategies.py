"""Drawn cases: priors, knowledge, goals, channels and mechanisms.

Probabilities of priors and channels are whole multiples of 1/24, so that exact scores are multiples of 1/24^3: nothing
is nearly a tie, and what the twin calls a tie dpradar must too.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import settings
from hypothesis import strategies as st

import dpradar as dr
from tests.worlds import World, exact_world, label_world, loss_world, window_world

PARTS = 24
GOALS = ("exact", "within", "loss", "labels")


def cases(share: float) -> settings:
    """A share of the profile's number of cases, for slow or for cheap properties."""
    return settings(max_examples=max(1, round(share * settings().max_examples)))


@st.composite
def laws(draw, size: int, parts: int = PARTS) -> list[Fraction]:
    """A distribution over ``size`` values in steps of 1/parts: zeros and point masses included."""
    cuts = sorted(draw(st.lists(st.integers(0, parts), min_size=size - 1, max_size=size - 1)))
    return [Fraction(high - low, parts) for low, high in zip([0, *cuts], [*cuts, parts], strict=True)]


def matrices(rows: int, columns: int):
    """A channel of fractions."""
    return st.lists(laws(columns), min_size=rows, max_size=rows)


def codes(size: int):
    """What is known: nothing, everything, or a label per value."""
    return st.one_of(
        st.just([0] * size),
        st.just(list(range(size))),
        st.lists(st.integers(0, max(1, size // 2)), min_size=size, max_size=size),
    )


def spaced(size: int):
    """Distinct numbers, unequally spaced, in any order."""
    return st.lists(st.integers(0, 3 * size), min_size=size, max_size=size, unique=True)


@st.composite
def worlds(draw, sizes=(2, 5), goals: tuple[str, ...] = GOALS) -> World:
    """A prior with knowledge and a goal."""
    size = draw(st.integers(*sizes))
    pi, kind = draw(laws(size)), draw(st.sampled_from(goals))
    if kind == "exact":
        world = exact_world(pi)
    elif kind == "within":
        values = draw(spaced(size))
        world = window_world(pi, [Fraction(v) for v in values], Fraction(draw(st.integers(0, 3 * size)), 2))
    elif kind == "loss":
        loss = draw(st.lists(st.lists(st.integers(0, 3), min_size=size, max_size=size), min_size=size, max_size=size))
        # Some guess is right for every value; the other case has its own test.
        for z in range(size):
            loss[z][draw(st.integers(0, size - 1))] = 0
        world = loss_world(pi, loss, draw(st.integers(0, 2)))
    else:
        names = draw(st.lists(st.integers(0, size - 1), min_size=size, max_size=size))
        world = label_world(pi, [f"label {name}" for name in names])
    return world.knowing(draw(codes(size)))


def on_numbers(world: World, values: list[float]) -> World:
    """The same world with numeric values, for mechanisms that need them."""
    return world if world.values is not None else replace(world, values=values)


epsilons = st.one_of(st.sampled_from([0.0, 1e-6, 30.0]), st.floats(0.05, 8.0))
scales = st.floats(0.1, 10.0)
ratios = st.fractions(1, 20, max_denominator=10)


@st.composite
def mechanisms(draw, world: World):
    """Any mechanism that fits the world; the world must have numeric values (`on_numbers`)."""
    m, epsilon, scale = world.m, draw(epsilons), draw(scales)
    clamp = draw(st.sampled_from([None, (0, 2 * m), (-3, 1)]))
    kind = draw(st.sampled_from(sorted(MECHANISMS)))
    return MECHANISMS[kind](m, epsilon, scale, clamp, draw)


MECHANISMS = {
    "grr": lambda m, epsilon, *_: dr.GRR(m, epsilon),
    "sue": lambda m, epsilon, *_: dr.SUE(m, epsilon),
    "oue": lambda m, epsilon, *_: dr.OUE(m, epsilon),
    "subset": lambda m, epsilon, *_: dr.SubsetSelection(m, epsilon),
    "exponential": lambda m, epsilon, *_: dr.Exponential(epsilon),
    "interval": lambda m, epsilon, *_: dr.Exponential(max(epsilon, 0.01), interval=(0, 3 * m)),
    "channel": lambda m, _e, _s, _c, draw: dr.Channel(draw(float_matrices(m))),
    "laplace": lambda m, _e, scale, clamp, _: dr.Laplace(scale, truncate=clamp),
    "gaussian": lambda m, _e, scale, clamp, _: dr.Gaussian(scale, truncate=clamp),
    "geometric": lambda m, _e, scale, clamp, _: dr.Geometric(scale, truncate=clamp),
    "discrete gaussian": lambda m, _e, scale, clamp, _: dr.DiscreteGaussian(scale, truncate=clamp),
    "histogram, laplace": lambda m, _e, scale, *_: dr.Laplace(scale, query=one_hot(m)),
    "histogram, gaussian": lambda m, _e, scale, *_: dr.Gaussian(scale, query=one_hot(m)),
    "line of vectors": lambda m, _e, scale, *_: dr.Gaussian(scale, query=[[i, 2.0 * i] for i in range(m)]),
    "composed": lambda m, epsilon, scale, *_: dr.Composed([dr.GRR(m, epsilon), dr.Geometric(scale)]),
}


def one_hot(m: int) -> list[list[float]]:
    return [[float(i == j) for j in range(m)] for i in range(m)]


def float_matrices(m: int):
    """A channel as lists of floats."""
    return matrices(m, 3).map(lambda rows: [[float(x) for x in row] for row in rows])
