"""Priors, knowledge and goals: the blind guesses and what a threat looks like."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, norm, uniform

import dpradar as dr
from tests.strategies import worlds
from tests.twin import brute


@given(world=worlds(sizes=(2, 7)))
def test_blind_guesses(world):
    """kappa_pi, kappa- and kappa+ of every goal: the prior's own, whatever is known."""
    kappas = brute.kappas(world.pi, world.S)
    threat = world.threat
    assert threat.kappa == pytest.approx(float(kappas.kappa), rel=0, abs=1e-14)
    assert threat.kappa_plus == pytest.approx(float(kappas.plus), rel=0, abs=1e-14)
    assert threat.kappa_minus == pytest.approx(float(kappas.minus), rel=0, abs=1e-14)
    expected = brute.baseline(world.pi, world.a, world.S)
    assert threat.best_blind_guess == pytest.approx(float(expected), rel=0, abs=1e-14)


@given(world=worlds(sizes=(2, 7)))
def test_baseline_of_each_fibre(world):
    weight, base = world.threat.fibre_baselines
    pi = [float(p) for p in world.pi]
    expected = []
    for fibre in brute.fibres(world.a):
        mass = sum(pi[z] for z in fibre)
        if mass > 0:
            expected.append((mass, max(sum(pi[z] for z in fibre if z in right) for right in world.S) / mass))
    fibres = sorted(zip(weight, base, strict=True))
    assert np.ravel(fibres) == pytest.approx(np.ravel(sorted(expected)), rel=0, abs=1e-12)


def test_order_of_the_values_does_not_matter_for_blind_guesses():
    labels = dr.Threat(dr.Prior.of([0.1, 0.2, 0.7]), goal=dr.Goal.labels(["a", "b", "a"]))
    assert (labels.kappa_minus, labels.kappa_plus) == pytest.approx((0.2, 0.8))
    windows = dr.Threat(dr.Prior.of([0.1, 0.2, 0.7], [9.0, 0.0, 8.0]), goal=dr.Goal.within(1.0))
    assert (windows.kappa_minus, windows.kappa_plus) == pytest.approx((0.2, 0.8))


def test_no_square_matrix_for_absolute_loss():
    """100,000 values with a window: the kappas are those of a running sum; a matrix would need 80 GB."""
    m, eta = 100_000, 500
    pi = 1.0 / np.arange(1, m + 1)
    pi /= pi.sum()
    threat = dr.Threat(dr.Prior.of(pi), goal=dr.Goal.within(eta))
    running = np.r_[0.0, np.cumsum(pi)]
    low, high = np.maximum(np.arange(m) - eta, 0), np.minimum(np.arange(m) + eta + 1, m)
    masses = running[high] - running[low]
    assert threat.kappa_plus == pytest.approx(masses.max(), rel=1e-12)
    assert threat.kappa_minus == pytest.approx(masses.min(), rel=1e-9)
    answer = dr.assess(dr.GRR(m, 5.0), threat)
    assert answer.baseline - 1e-12 <= answer.success.value <= 1.0


def test_rounding_does_not_decide_who_is_within_eta():
    """0.9 is within 0.2 of 0.7 although 0.7 + 0.2 < 0.9 in floating point."""
    values = [0.1, 0.3, 0.5, 0.7, 0.9]
    threat = dr.Threat(dr.Prior.uniform(5, values), goal=dr.Goal.within(0.2))
    assert threat.kappa_plus == pytest.approx(0.6)
    assert threat.kappa_minus == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("law", "low", "high"), [(uniform(), 0.0, 1.0), (beta(0.1, 0.1), 0.0, 1.0), (norm(0.3, 0.2), 0.0, 1.0)]
)
@pytest.mark.parametrize("eta", [0.05, 0.3, 0.7])
def test_continuous_blind_guesses(law, low, high, eta):
    """On a grid of 200,001 guesses; the prior is cut to the interval and scaled back to 1."""
    prior = dr.Prior.continuous(law, low, high)
    threat = dr.Threat(prior, goal=dr.Goal.within(eta))
    guess = np.linspace(low, high, 200_001)
    inside = law.cdf(high) - law.cdf(low)
    mass = (law.cdf(np.minimum(guess + eta, high)) - law.cdf(np.maximum(guess - eta, low))) / inside
    assert threat.kappa_plus >= mass.max() - 1e-12
    assert threat.kappa_minus <= mass.min() + 1e-12
    # Not only on the right side, but close: dpradar's own grid has 20,001 points in value and in probability.
    assert threat.kappa_plus == pytest.approx(mass.max(), rel=0, abs=5e-4)
    assert threat.kappa_minus == pytest.approx(mass.min(), rel=0, abs=5e-4)
    assert threat.kappa == 0.0


def test_records_are_merged_and_weighted():
    prior = dr.Prior.records({"age": [30, 40, 30], "ill": ["no", "no", "no"]}, weights=[1, 2, 5])
    assert prior.size == 2
    assert prior.probabilities.tolist() == [0.75, 0.25]
    assert prior.record(0) == {"age": 30, "ill": "no"}
    ages = prior.numbers("test") if len(prior.columns) == 1 else None
    assert ages is None


def test_digest_tells_priors_apart_without_showing_them():
    first, second = dr.Prior.of([0.5, 0.5], ["a", "b"]), dr.Prior.of([0.5, 0.5], ["a", "c"])
    assert first.digest != second.digest
    assert first.digest == dr.Prior.of([0.5, 0.5], ["a", "b"]).digest
    answer = dr.assess(dr.GRR(2, 1.0), dr.Threat(dr.Prior.of([0.123456, 0.876544], ["secret", "word"])))
    text = repr(answer.to_dict())
    assert "secret" not in text
    assert "0.123456" not in text


@given(labels=st.lists(st.sampled_from("abc"), min_size=2, max_size=6))
def test_labels_and_columns_say_the_same(labels):
    rows = {"label": labels, "id": list(range(len(labels)))}
    prior = dr.Prior.records(rows)
    by_column = dr.Threat(prior, dr.Knowledge.columns("label"), dr.Goal.columns("id"))
    by_label = dr.Threat(prior, dr.Knowledge.labels(labels), dr.Goal.exact())
    assert by_column.best_blind_guess == pytest.approx(by_label.best_blind_guess, rel=0, abs=1e-15)
    assert (by_column.codes == by_label.codes).all()


def test_special_threats():
    assert dr.Threat.membership(0.3).best_blind_guess == pytest.approx(0.7)
    assert dr.Threat.baseline(0.1).best_blind_guess == 0.1
    assert dr.assess(dr.PureDP(1.0, "replace-one"), dr.Threat.worst()).baseline is None
