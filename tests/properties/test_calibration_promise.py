"""Every calibration keeps its limits, at the value and at noisier ones, and with less noise one of them breaks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpradar as dr

UTILITY = np.array([[0.0, -1.0, -2.0], [-1.0, 0.0, -1.0], [-2.0, -1.0, 0.0]])
REPLACE = {"neighbours": "replace-one"}

# name: (class or function, fixed parameters, size of the prior, whether it is monotone)
FAMILIES = {
    "GRR": (dr.GRR, {"m": 5}, 5, True),
    "SUE": (dr.SUE, {"m": 5}, 5, True),
    "OUE": (dr.OUE, {"m": 5}, 5, True),
    "SubsetSelection": (dr.SubsetSelection, {"m": 5}, 5, False),
    "Laplace": (dr.Laplace, {}, 5, True),
    "Gaussian": (dr.Gaussian, {}, 5, True),
    "Geometric": (dr.Geometric, {}, 5, True),
    "DiscreteGaussian": (dr.DiscreteGaussian, {}, 5, False),
    "Exponential": (dr.Exponential, {"utility": UTILITY}, 3, True),
    "PureDP": (dr.PureDP, REPLACE, 5, True),
    "ApproxDP": (dr.ApproxDP, {"delta": 1e-6, **REPLACE}, 5, True),
    "GDP": (dr.GDP, {"neighbours": "add-remove"}, 5, True),
    "ZCDP": (dr.ZCDP, REPLACE, 5, True),
    "TotalVariation": (dr.TotalVariation, REPLACE, 5, True),
    "repeated Gaussian": (lambda sigma: dr.Repeated(dr.Gaussian(sigma), 7), {}, 5, True),
    "repeated GRR": (lambda epsilon: dr.Repeated(dr.GRR(m=4, epsilon=epsilon), 3), {}, 4, True),
    "composed": (lambda s: dr.Composed([dr.Laplace(s), dr.PureDP(0.01, "replace-one")]), {}, 5, True),
    "sawtooth": (lambda s: dr.GDP(1.0 / (s * (1.0 + 0.3 * math.sin(9.0 * math.log(s)))), "replace-one"), {}, 5, False),
    "jump": (lambda s: dr.GDP(1.0 / (s if s < 3.0 else s / 2.0), "replace-one"), {}, 5, False),
}


def limits(name, threat):
    """Limits that some noise keeps and no noise at all breaks."""
    quantities = ["rad", "success", "gain", "worst_gain", "tpr"]
    quantity = st.sampled_from(quantities)
    share = st.floats(0.02, 0.6)

    def limit(quantity, share):
        base = threat.best_blind_guess
        if quantity == "success":
            return dr.Limit(threat, success=base + share * (1.0 - base))
        if quantity == "tpr":
            return dr.Limit(tpr=0.05 + share * 0.6, fpr=0.05, neighbours="replace-one")
        if quantity == "worst_gain":
            return dr.Limit(worst_gain=share, neighbours="replace-one")
        return dr.Limit(threat, **{quantity: share * (1.0 - base)})

    return st.lists(st.builds(limit, quantity, share), min_size=1, max_size=2)


SLOW = ("DiscreteGaussian", "ZCDP", "Gaussian", "Laplace", "repeated Gaussian", "composed", "Exponential")


def kept(what, wanted, prior):
    """Re-assess from scratch, one limit at a time."""
    if all(limit.threat is None for limit in wanted):
        prior = None
    for limit in wanted:
        threat = limit.threat or dr.Threat.worst()
        # A limit without a prior is about the same records as the others.
        about = what if threat.prior is not None or not hasattr(what, "at") else Bound(what, prior)
        result = dr.assess(about, threat, neighbours=limit.neighbours)
        for quantity in ("rad", "success", "gain", "worst_gain"):
            most = getattr(limit, quantity)
            if most is not None and getattr(result, quantity).value > most:
                return False
        if limit.tpr is not None and result.tpr(limit.fpr).value > limit.tpr:
            return False
    return True


class Bound:
    """A mechanism tied to the records of a prior."""

    def __init__(self, what, prior):
        self.what, self.prior = what, prior

    def at(self, _):
        return self.what.at(self.prior)


def noisier(found, factor):
    return found.value * factor if found.more_private == "up" else found.value / factor


@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=3, deadline=None)
@given(st.data())
def test_promise(name, data):
    family, fixed, size, monotone = FAMILIES[name]
    prior = dr.Prior.uniform(size)
    threat = dr.Threat(prior, data.draw(st.sampled_from([dr.Knowledge.nothing(), dr.Knowledge.everything()])))
    if threat.best_blind_guess == 1.0:
        wanted = [dr.Limit(threat, rad=data.draw(st.floats(0.02, 0.6)) * (1.0 - 1.0 / size))]
    else:
        wanted = data.draw(limits(name, threat))
    found = dr.calibrate(family, wanted, **fixed)
    assert found.status in ("met", "free"), found.reason
    build = (lambda x: family(**{found.parameter: x, **fixed})) if isinstance(family, type) else family
    assert kept(build(found.value), wanted, prior)
    assert all(one.margin >= 0.0 for one in found.achieved)
    for factor in np.geomspace(1.0005, 10.0, 8 if name in SLOW else 200):
        x = noisier(found, float(factor))
        if not (isinstance(family, type) and found.parameter in ("tv", "delta") and x > 1.0):
            assert kept(build(x), wanted, prior), factor
    if monotone and found.status == "met":
        assert not kept(build(noisier(found, 0.99)), wanted, prior)


def test_dpsgd_keeps_its_promise():
    wanted = dr.Limit(tpr=0.2, fpr=0.05, neighbours="add-remove")
    found = dr.calibrate(dr.DPSGD, wanted, sample_rate=0.05, steps=200)
    for factor, kept_here in ((0.99, False), (1.0, True), (1.001, True), (1.1, True), (3.0, True)):
        run = dr.DPSGD(noise_multiplier=found.value * factor, sample_rate=0.05, steps=200)
        assert (dr.assess(run, neighbours="add-remove").tpr(0.05).value <= 0.2) == kept_here


def test_several_threats_and_which_one_binds():
    prior = dr.Prior.uniform(10)
    threats = [dr.Limit(dr.Threat(prior), rad=0.1), dr.Limit(dr.Threat.baseline(0.1), gain=0.2)]
    both = dr.calibrate(lambda sigma: dr.Repeated(dr.Gaussian(sigma=sigma), 40), threats)
    alone = [dr.calibrate(lambda sigma: dr.Repeated(dr.Gaussian(sigma=sigma), 40), limit) for limit in threats[:1]]
    assert both.value >= alone[0].value
    assert both.binding == "gain <= 0.2, Threat.baseline(0.1)"
    assert [one.quantity for one in both.achieved] == ["rad", "gain"]


def test_from_accuracy_to_risk():
    threat = dr.Threat(dr.Prior.uniform(10))
    found = dr.calibrate(dr.Laplace, dr.Limit(threat, error=8.9))
    assert found.cost["error"] <= 8.9 < dr.Laplace(found.value * 1.001).cost()["error"]
    risk = next(one for one in found.achieved if one.quantity == "rad")
    assert risk.value == dr.assess(dr.Laplace(found.value), threat).rad.value
    assert risk.limit is None


def test_nothing_meets_it_and_nothing_is_needed():
    threat = dr.Threat(dr.Prior.uniform(2))
    unmet = dr.calibrate(dr.Laplace, dr.Limit(threat, rad=0.0))
    assert (unmet.value, unmet.status) == (None, "unmet")
    assert "no value of scale" in unmet.reason
    assert dr.calibrate(dr.Laplace, dr.Limit(threat, rad=0.6)).status == "free"
    unreachable = dr.calibrate(dr.DPSGD, dr.Limit(worst_gain=0.9, neighbours="add-remove"), sample_rate=0.01, steps=100)
    assert unreachable.status == "free"
    assert unreachable.achieved[0].value == pytest.approx(1.0 - 0.99**100, rel=1e-3)
    conflict = dr.calibrate(dr.Laplace, dr.Limit(dr.Threat(dr.Prior.uniform(10)), rad=0.1, error=1.0))
    assert conflict.status == "unmet"
    assert "more than 1" in conflict.reason


@pytest.mark.parametrize("calls", [3, 6, 40])
def test_interruption_returns_what_is_valid(calls):
    """Ctrl-C in the middle: the best value so far, or the interruption itself when there is none."""
    count = 0

    def family(sigma):
        nonlocal count
        count += 1
        if count > calls + 6:  # the direction is found out first
            raise KeyboardInterrupt
        return dr.Gaussian(sigma)

    limit = dr.Limit(dr.Threat(dr.Prior.uniform(5)), rad=0.05)
    try:
        found = dr.calibrate(family, limit)
    except KeyboardInterrupt:
        return
    assert found.status in ("stopped", "met")
    assert dr.assess(dr.Gaussian(found.value), limit.threat).rad.value <= 0.05


def test_whole_numbers():
    limit = dr.Limit(dr.Threat.baseline(0.1), gain=0.2)
    most = dr.calibrate(dr.Repeated, limit, mechanism=dr.Laplace(scale=5.0))
    assert (most.parameter, most.value) == ("times", 15)


BAD = {
    "no limits": (lambda: dr.calibrate(dr.Laplace, []), "a Limit or a list"),
    "nothing limited": (lambda: dr.Limit(dr.Threat.worst()), "something to limit"),
    "rate without its false positives": (lambda: dr.Limit(tpr=0.1), "together with fpr"),
    "epsilon without delta": (lambda: dr.Limit(epsilon=1.0), "together with delta"),
    "advantage of membership": (lambda: dr.Limit(dr.Threat.membership(0.5), rad=0.1), "membership"),
    "success of nobody": (lambda: dr.Limit(success=0.1), "without a threat"),
    "a limit above 1": (lambda: dr.Limit(rad=1.5), "at most 1"),
    "not a number": (lambda: dr.Limit(rad=math.nan), "at least 0"),
    "a word as threat": (lambda: dr.Limit("worst", rad=0.1), "a Threat"),
    "two free parameters": (
        lambda: dr.calibrate(dr.DPSGD, dr.Limit(worst_gain=0.1), steps=10),
        "exactly one parameter",
    ),
    "a missing parameter": (lambda: dr.calibrate(dr.GRR, dr.Limit(rad=0.1)), "no m"),
    "an unknown parameter": (lambda: dr.calibrate(dr.GRR, dr.Limit(rad=0.1), m=3, k=2), "arguments it takes"),
    "a function of two": (lambda: dr.calibrate(lambda a, b: dr.GRR(a, b + 1), dr.Limit(rad=0.1)), "of one number"),
    "a mechanism": (lambda: dr.calibrate(dr.GRR(3, 1.0), dr.Limit(rad=0.1)), "a mechanism or guarantee class"),
    "an unknown cost": (lambda: dr.calibrate(dr.GRR, dr.Limit(error=1.0), m=3), "a cost that the mechanism knows"),
    "too precise": (lambda: dr.calibrate(dr.GRR, dr.Limit(rad=0.1), m=3, precision=0.0), "precision"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    call, part = BAD[name]
    with pytest.raises(dr.ParameterError) as caught:
        call()
    assert part in str(caught.value)
    assert caught.value.hint
