"""What we read from dp-accounting against its own numbers.

Part of every run, because the library is among those that development installs. Grids of 1e-3 keep it fast.
"""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

import dpradar as dr
from dpradar.guarantees.epsilon import epsilon_at
from dpradar.guarantees.profile import Profile
from dpradar.mechanisms.adapters import Accounted, from_dp_accounting
from dpradar.mechanisms.adapters.accounted import SampledPair

dp = pytest.importorskip("dp_accounting", reason="dp-accounting is not installed (extra: accounting)")
PLD = dp.pld.privacy_loss_distribution
RELATIONS = {
    "add-remove": dp.NeighboringRelation.ADD_OR_REMOVE_ONE,
    "replace-one": dp.NeighboringRelation.REPLACE_ONE,
}
SMALL = np.geomspace(1e-9, 0.5, 150)
RATES = np.concatenate([[0.0], SMALL, 1.0 - SMALL, [1.0]])


def gaussian(noise, count=1):
    return dp.SelfComposedDpEvent(dp.GaussianDpEvent(noise), count)


def sampled(rate, event, count=1):
    return dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(rate, event), count)


def accountant(event, relation):
    own = dp.pld.PLDAccountant(RELATIONS[relation])
    return own.compose(event)


def implied(pld):
    """The trade-off curve that delta at every grid point implies; between, each order is linear in e^epsilon."""
    top = min(pld.get_epsilon_for_delta(1e-11 + pld.get_delta_for_epsilon(600.0)), 600.0)
    epsilon = np.arange(0, math.ceil(top / STEP) + 1) * STEP
    deltas = np.minimum(pld.get_delta_for_epsilon(epsilon), 1.0)
    rates = np.zeros_like(RATES)
    for e, d in zip(epsilon, deltas, strict=True):
        np.maximum(rates, np.maximum(1.0 - d - np.exp(e) * RATES, np.exp(-e) * (1.0 - d - RATES)), out=rates)
    return rates


BOTH = {
    "gaussian": gaussian(2.0),
    "20 gaussian": gaussian(5.0, 20),
    "sampled gaussian": sampled(0.1, dp.GaussianDpEvent(1.0)),
    "dp-sgd": sampled(0.01, dp.GaussianDpEvent(1.0), 300),
    "sampled with 1": sampled(1.0, dp.GaussianDpEvent(2.0), 3),
    "sampled with 0": sampled(0.0, dp.GaussianDpEvent(2.0), 3),
    "nothing": dp.NoOpDpEvent(),
    "several": dp.ComposedDpEvent(
        [sampled(0.02, dp.GaussianDpEvent(0.8), 50), gaussian(10.0), sampled(0.01, dp.GaussianDpEvent(1.2), 100)]
    ),
}
ADDED = {
    "laplace": dp.LaplaceDpEvent(2.0),
    "20 laplace": dp.SelfComposedDpEvent(dp.LaplaceDpEvent(5.0), 20),
    "sampled laplace": sampled(0.9, dp.LaplaceDpEvent(3.0), 10),
    "discrete laplace": dp.dp_event.DiscreteLaplaceDpEvent(0.5, 2),
    "laplace and gaussian": dp.ComposedDpEvent(
        [dp.SelfComposedDpEvent(dp.LaplaceDpEvent(5.0), 3), dp.GaussianDpEvent(3.0)]
    ),
}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", BOTH)
def test_events_under_both_relations(name, relation):
    _same(BOTH[name], relation)


@pytest.mark.parametrize("name", ADDED)
def test_events_under_add_remove(name):
    _same(ADDED[name], "add-remove")


def test_randomised_response():
    _same(dp.RandomizedResponseDpEvent(0.5, 4), "replace-one")


def _same(event, relation):
    """epsilon at 1e-5 and the total variation; both sides round up, on grids of their own."""
    guarantee = from_dp_accounting(event, relation)
    promise, theirs = guarantee.privacy(relation), accountant(event, relation)
    assert guarantee.neighbours == relation
    assert epsilon_at(promise, 1e-5) == pytest.approx(theirs.get_epsilon(1e-5), rel=1e-3, abs=1e-9)
    assert promise.tv == pytest.approx(theirs.get_delta(0.0), rel=1e-3, abs=1e-9)


def test_noise_is_relative_to_one_contribution_and_replacing_doubles_it():
    for relation, factor in (("add-remove", 1.0), ("replace-one", 2.0)):
        gauss = from_dp_accounting(dp.GaussianDpEvent(4.0), relation).privacy(relation)
        assert gauss.tv == dr.GDP(factor / 4.0, relation).privacy(relation).tv
        laplace = from_dp_accounting(dp.LaplaceDpEvent(4.0), relation).privacy(relation)
        assert laplace.epsilon == factor / 4.0


def test_an_event_answers_both_relations():
    """Whatever the relation of the question: what is known is the mechanism."""
    one, other = (from_dp_accounting(BOTH["dp-sgd"], relation) for relation in RELATIONS)
    for relation in RELATIONS:
        assert one.privacy(relation).tv == other.privacy(relation).tv


def test_repeated_randomised_response_is_counted_every_time():
    """dp-accounting 0.6.0 counts it once: its PLDAccountant says epsilon 1.61 here, its own composed PLD 16.09."""
    event = dp.SelfComposedDpEvent(dp.RandomizedResponseDpEvent(0.5, 4), 10)
    truth = PLD.from_randomized_response(0.5, 4).self_compose(10)
    ours = epsilon_at(from_dp_accounting(event, "replace-one").privacy("replace-one"), 1e-5)
    assert ours == pytest.approx(truth.get_epsilon_for_delta(1e-5), rel=1e-3)
    assert ours > 16.0


def test_zcdp_events():
    one = from_dp_accounting(dp.SelfComposedDpEvent(dp.ZCDpEvent(0.1), 5), "add-remove")
    assert one.privacy("add-remove").tv == dr.ZCDP(0.5, "add-remove").privacy("add-remove").tv
    shifted = from_dp_accounting(dp.ZCDpEvent(0.5, 0.2), "add-remove").privacy("add-remove")
    order = np.array([1.5, 3.0, 20.0])
    assert np.all(shifted.renyi.at(order) >= 0.2 + 0.5 * order)
    assert shifted.renyi.at(order) == pytest.approx(0.2 + 0.5 * order, rel=1e-2)
    # Beside a mechanism without Renyi divergences both count.
    mixed = from_dp_accounting(dp.ComposedDpEvent([dp.ZCDpEvent(0.05), BOTH["dp-sgd"]]), "add-remove")
    parts = [from_dp_accounting(e, "add-remove").privacy("add-remove").tv for e in (dp.ZCDpEvent(0.05), BOTH["dp-sgd"])]
    assert max(parts) < mixed.privacy("add-remove").tv < 1.0 - (1.0 - parts[0]) * (1.0 - parts[1])


def test_several_gaussian_events_on_one_sample():
    """One sample that two Gaussian queries see is one Gaussian query with less noise."""
    pair = dp.ComposedDpEvent([dp.GaussianDpEvent(3.0), dp.GaussianDpEvent(4.0)])
    guarantee = from_dp_accounting(sampled(0.1, pair, 20), "add-remove").privacy("add-remove")
    expected = from_dp_accounting(sampled(0.1, dp.GaussianDpEvent(2.4), 20), "add-remove").privacy("add-remove")
    assert guarantee.tv == pytest.approx(expected.tv, rel=1e-6)
    with pytest.raises(dr.UnsupportedError, match="one GaussianDpEvent"):
        from_dp_accounting(sampled(0.1, pair), "replace-one")


def test_sampled_pairs_have_the_profiles_of_dp_accounting():
    theirs = PLD.from_laplace_mechanism(1.5, sampling_prob=0.3, **GRID)
    with_ = SampledPair(
        dr.Laplace(1.5, sensitivity=1.0, neighbours="add-remove").at(None).privacy("add-remove").pairs[0][0], 0.3
    )
    epsilon = np.arange(0, 600, 7) * STEP
    ours = np.maximum(with_.delta(epsilon), with_.swapped().delta(epsilon))
    assert ours == pytest.approx(theirs.get_delta_for_epsilon(epsilon), abs=1e-12)
    below = with_.delta(-epsilon)
    assert below == pytest.approx(1.0 - np.exp(-epsilon) * (1.0 - with_.swapped().delta(epsilon)), abs=1e-12)


def test_sampled_laplace_under_replace_one_goes_by_group_privacy():
    guarantee = from_dp_accounting(ADDED["sampled laplace"], "add-remove")
    once, twice = guarantee.privacy("add-remove"), guarantee.privacy("replace-one")
    assert twice.curve.fnr(RATES) == pytest.approx(once.curve.fnr(1.0 - once.curve.fnr(RATES)), abs=2e-4)
    with pytest.raises(dr.UnsupportedError, match="group privacy"):
        from_dp_accounting(ADDED["sampled laplace"], "replace-one")


@pytest.mark.parametrize(
    ("event", "word"),
    [
        (dp.NonPrivateDpEvent(), "not known here"),
        (dp.UnsupportedDpEvent(), "not known here"),
        (dp.SampledWithReplacementDpEvent(100, 10, dp.GaussianDpEvent(1.0)), "not known here"),
        (dp.SampledWithoutReplacementDpEvent(100, 10, dp.GaussianDpEvent(1.0)), "not known here"),
        (dp.SingleEpochTreeAggregationDpEvent(1.0, 4), "not known here"),
        (dp.dp_event.RepeatAndSelectDpEvent(dp.GaussianDpEvent(1.0), 2.0, 1.0), "not known here"),
        (dp.ComposedDpEvent([dp.GaussianDpEvent(1.0), dp.NonPrivateDpEvent()]), "NonPrivateDpEvent"),
        (dp.SelfComposedDpEvent(dp.UnsupportedDpEvent(), 0), "UnsupportedDpEvent"),
        (dp.PoissonSampledDpEvent(0.1, dp.NonPrivateDpEvent()), "NonPrivateDpEvent"),
        (dp.PoissonSampledDpEvent(0.1, dp.PoissonSampledDpEvent(0.1, dp.GaussianDpEvent(1.0))), "the sample must go"),
        (dp.PoissonSampledDpEvent(0.1, dp.SelfComposedDpEvent(dp.LaplaceDpEvent(1.0), 2)), "the sample must go"),
        (dp.PoissonSampledDpEvent(0.1, dp.ZCDpEvent(1.0)), "the sample must go"),
        (dp.GaussianDpEvent(0.0), "without noise"),
        (dp.LaplaceDpEvent(0.0), "without noise"),
        (dp.RandomizedResponseDpEvent(0.5, 4), "needs neighbours='replace-one'"),
    ],
)
def test_events_that_cannot_be_read_are_refused_by_name(event, word):
    with pytest.raises(dr.UnsupportedError, match="Supported: SelfComposedDpEvent") as caught:
        from_dp_accounting(event, "add-remove")
    assert word in str(caught.value)


def test_an_event_derived_from_a_known_one_is_not_taken_for_it():
    class GaussianDpEvent(dp.GaussianDpEvent):
        pass

    for event in (GaussianDpEvent(1.0), dp.ComposedDpEvent([dp.GaussianDpEvent(1.0), GaussianDpEvent(1.0)])):
        with pytest.raises(dr.UnsupportedError, match="not known here"):
            from_dp_accounting(event, "add-remove")


@pytest.mark.parametrize(
    "event",
    [dp.GaussianDpEvent(-1.0), dp.GaussianDpEvent(math.nan), dp.PoissonSampledDpEvent(1.5, dp.GaussianDpEvent(1.0)),
     dp.SelfComposedDpEvent(dp.GaussianDpEvent(1.0), -1), dp.ZCDpEvent(-0.1), dp.GaussianDpEvent("1")],
)  # fmt: skip
def test_events_with_impossible_numbers(event):
    with pytest.raises(dr.ParameterError):
        from_dp_accounting(event, "add-remove")


def test_the_relation_is_asked_for():
    with pytest.raises(dr.ParameterError, match="neighbours"):
        from_dp_accounting(dp.GaussianDpEvent(1.0))
    with pytest.raises(dr.ParameterError, match="DpEvent, a PrivacyLossDistribution"):
        from_dp_accounting(1.0, "add-remove")


def test_the_extra_is_named_where_the_library_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(dr.MissingExtra, match=r'pip install "dpradar\[accounting\]"'):
        from_dp_accounting(dp.GaussianDpEvent(1.0), "add-remove")


def test_accountants_know_their_relation():
    guarantee = from_dp_accounting(accountant(gaussian(2.0, 4), "replace-one"))
    assert guarantee.privacy("replace-one").tv == dr.GDP(2.0, "replace-one").privacy("replace-one").tv
    assert guarantee.neighbours == "replace-one"
    rdp = dp.rdp.RdpAccountant().compose(dp.GaussianDpEvent(2.0), 4)
    assert from_dp_accounting(rdp).privacy("add-remove").tv == dr.GDP(1.0, "add-remove").privacy("add-remove").tv
    with pytest.raises(dr.ParameterError, match="as the accountant has it"):
        from_dp_accounting(rdp, "replace-one")
    special = dp.pld.PLDAccountant(dp.NeighboringRelation.REPLACE_SPECIAL)
    with pytest.raises(dr.UnsupportedError, match="REPLACE_SPECIAL"):
        from_dp_accounting(special.compose(dp.GaussianDpEvent(2.0)))


STEP = 1e-3
GRID = {"value_discretization_interval": STEP}
DISTRIBUTIONS = {
    "gaussian": lambda: PLD.from_gaussian_mechanism(1.0, **GRID),
    "dp-sgd": lambda: PLD.from_gaussian_mechanism(1.0, sampling_prob=0.01, **GRID).self_compose(1000),
    "sampled laplace": lambda: PLD.from_laplace_mechanism(3.0, sampling_prob=0.9, **GRID).self_compose(10),
    "randomised response": lambda: PLD.from_randomized_response(0.5, 4, **GRID),
    "epsilon, delta": lambda: PLD.from_privacy_parameters(
        dp.pld.common.DifferentialPrivacyParameters(1.0, 1e-4), **GRID
    ),
    "identity": lambda: PLD.identity(STEP),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions(name):
    """The curve of a distribution is what delta(epsilon) implies, a little below it and never above.

    riskcal 1.5.1 is above it for the sampled Laplace mechanism: by up to 0.003, at rate 0.048.
    """
    pld = DISTRIBUTIONS[name]()
    guarantee = from_dp_accounting(pld, "add-remove")
    promise, exact = guarantee.privacy("add-remove"), implied(pld)
    assert isinstance(guarantee, Profile)
    gap = exact - promise.curve.fnr(RATES)
    assert gap.min() > (-1e-5 if name == "sampled laplace" else -1e-9)  # its two orders cross between grid points
    assert gap.max() < 1e-4
    assert promise.tv == pytest.approx(min(pld.get_delta_for_epsilon(0.0), 1.0), abs=1e-9)
    theirs = pld.get_epsilon_for_delta(1e-5)
    assert epsilon_at(promise, 1e-5) == pytest.approx(theirs, rel=2e-3, abs=1e-6)
    assert epsilon_at(promise, 1e-5) >= theirs - 1e-6


def test_losses_wholly_above_zero():
    """DP-SGD with hardly any noise: riskcal 1.5.1 reports a true-positive rate of 0.01 at 0.01, where it is 1."""
    pld = PLD.from_gaussian_mechanism(0.5, sampling_prob=0.9, value_discretization_interval=1e-2).self_compose(100)
    guarantee = from_dp_accounting(pld, "add-remove")
    assert 1.0 - guarantee.privacy("add-remove").curve.at(0.01) > 1.0 - 1e-9
    assert dr.assess(guarantee).tpr(0.01).value > 1.0 - 1e-9
    assert guarantee.privacy("add-remove").tv == 1.0  # not 1.000004, which delta(0) is here


def test_distributions_compose():
    """Ten times the distribution of one release, composed here, against dp-accounting's own composition."""
    one = PLD.from_laplace_mechanism(3.0, **GRID)
    ours = dr.Repeated(from_dp_accounting(one, "add-remove"), 10).at(None).privacy("add-remove")
    theirs = one.self_compose(10)
    assert ours.tv == pytest.approx(theirs.get_delta_for_epsilon(0.0), rel=5e-3)
    assert epsilon_at(ours, 1e-5) == pytest.approx(theirs.get_epsilon_for_delta(1e-5), rel=5e-3)
    assert np.all(ours.curve.fnr(RATES) <= implied(theirs) + 1e-9)


def test_in_assess_composed_and_calibrate():
    event = from_dp_accounting(BOTH["several"], "add-remove")
    assert repr(event).startswith("Accounted(dp-accounting: DPSGD(noise_multiplier=0.8, sample_rate=0.02, steps=50) + ")
    risk = dr.assess(event, dr.Threat(dr.Prior.uniform(10)))
    assert 0.0 < risk.rad.value < dr.assess(dr.Composed([event, event]), dr.Threat(dr.Prior.uniform(10))).rad.value
    limit = dr.Limit(dr.Threat(dr.Prior.uniform(10)), rad=0.1)
    calibration = dr.calibrate(lambda noise: from_dp_accounting(gaussian(noise, 10), "add-remove"), limit)
    expected = dr.calibrate(lambda noise: dr.GDP(math.sqrt(10) / noise, "add-remove"), limit)
    assert calibration.value == pytest.approx(expected.value, rel=1e-4)


@pytest.mark.slow
def test_events_read_through_the_accountant():
    """Truncated batches have no closed form: dp-accounting takes seconds to compute one, and minutes for mixtures."""
    event = dp.TruncatedSubsampledGaussianDpEvent(1000, 0.01, 15, 1.0)
    theirs = accountant(event, "add-remove")
    guarantee = from_dp_accounting(event, "add-remove")
    assert isinstance(guarantee, Accounted)
    promise = guarantee.privacy("add-remove")
    assert promise.tv == pytest.approx(theirs.get_delta(0.0), rel=1e-9)
    assert theirs.get_epsilon(1e-5) <= epsilon_at(promise, 1e-5) <= 1.01 * theirs.get_epsilon(1e-5)
