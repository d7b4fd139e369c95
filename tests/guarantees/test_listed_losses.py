"""Losses of finite pairs together, one by one: beside sums over all outcomes in exact arithmetic."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpradar.guarantees import losses
from dpradar.guarantees.losses import list_losses
from dpradar.guarantees.pairs import AtomPair, approx_pair


def _everything(pairs):
    """Return P of every sum of losses, from all outcomes of all uses."""
    uses = [list(zip(pair.losses, pair.masses, strict=True)) for pair, times in pairs for _ in range(times)]
    masses: defaultdict[float, Fraction] = defaultdict(Fraction)
    for outcome in product(*uses):
        total = math.fsum(loss for loss, _ in outcome)
        masses[round(total, 9)] += math.prod((Fraction(mass) for _, mass in outcome), start=Fraction(1))
    return masses


def _same(pairs):
    listed, expected = list_losses(pairs), _everything(pairs)
    assert listed is not None
    at, masses = zip(*sorted(expected.items()), strict=True)
    np.testing.assert_allclose(listed.at, at, atol=2e-9)
    np.testing.assert_allclose(listed.masses, [float(mass) for mass in masses], rtol=1e-13)
    clear = math.prod(1.0 - pair.infinite for pair, times in pairs for _ in range(times))
    assert listed.infinite == pytest.approx(1.0 - clear, abs=1e-14)


EQUAL = AtomPair((-0.5, 0.0, 0.5), (0.2, 0.3, 0.4), 0.1)
WITH_A_HOLE = AtomPair((-0.75, -0.25, 1.25), (0.5, 0.25, 0.25))
UNEVEN = AtomPair((-1.0, 0.1, math.sqrt(2.0)), (0.3, 0.5, 0.2))
SINGLE = AtomPair((0.25,), (0.9,), 0.1)


@pytest.mark.parametrize(
    "pairs",
    [
        [(EQUAL, 7)],
        [(WITH_A_HOLE, 6)],
        [(UNEVEN, 6)],
        [(SINGLE, 5)],
        [(EQUAL, 3), (UNEVEN, 2), (SINGLE, 2)],
        [(EQUAL, 3), (EQUAL, 4)],
        [(UNEVEN, 1), (approx_pair(0.7, 0.01), 6)],
    ],
)
def test_beside_all_outcomes(pairs):
    _same(pairs)


@given(
    st.floats(-2.0, 0.0),
    st.floats(0.01, 2.0),
    st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=4),
    st.integers(1, 5),
)
def test_beside_all_outcomes_on_random_lattices(first, step, weights, times):
    masses = np.array(weights) / sum(weights)
    at = first + step * np.arange(masses.size)
    _same([(AtomPair(tuple(at.tolist()), tuple(masses.tolist())), times)])


def test_small_masses_are_as_exact_as_large_ones():
    times, epsilon = 1500, 0.3
    listed = list_losses([(approx_pair(epsilon, 0.0), times)])
    large = 1.0 / (1.0 + math.exp(-epsilon))
    k = np.arange(times + 1)
    logs = [math.lgamma(times + 1) - math.lgamma(i + 1) - math.lgamma(times - i + 1) for i in k]
    exact = logs + k * math.log(large) + (times - k) * math.log1p(-large)
    place = np.rint((listed.at / epsilon + times) / 2.0).astype(int)
    normal = exact[place] > -700.0  # smaller ones are no normal numbers
    assert exact[place][normal].min() < -690.0
    assert normal.sum() == (exact > -700.0).sum()
    np.testing.assert_allclose(np.log(listed.masses[normal]), exact[place][normal], rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(listed.at, (2 * place - times) * epsilon, atol=1e-11)


def test_losses_that_are_equal_or_infinitely_near_are_summed_one_by_one():
    for at in ([0.0, 0.0, 1.0], [0.0, 5e-324, 1.0]):
        assert losses._equidistant(np.array(at), np.full(3, 1.0 / 3.0), 2) is None


@pytest.mark.parametrize("nudge", [1e-12, -1e-12])
def test_losses_that_are_only_nearly_equidistant_are_summed_one_by_one(nudge):
    pair = AtomPair((-0.5, nudge, 0.5), (0.2, 0.4, 0.4))
    assert losses._equidistant(np.array(pair.losses), np.array(pair.masses), 4) is None
    _same([(pair, 4)])


def test_no_loss_is_taken_for_a_smaller_one():
    for step in (0.1, 0.3, 1.0 / 3.0, 0.7):
        at = np.array([-step, 0.0, step, np.nextafter(2.0 * step, 9.0)])
        places, _ = losses._equidistant(at, np.full(4, 0.25), 1)
        assert np.all(places >= at - 1e-16)


def test_too_many_are_refused_at_once(monkeypatch):
    def merged(*_):
        raise AssertionError

    monkeypatch.setattr(losses, "_merge_equal", merged)
    assert list_losses([(EQUAL, 10_000)]) is None
    assert list_losses([(UNEVEN, 10_000)]) is None
