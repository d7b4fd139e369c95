"""A calibration keeps its limits, at the answer and at everything noisier, and takes no more noise than it must."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpradar as dr
from dpradar.guarantees.epsilon import epsilon_at
from tests.every import every
from tests.strategies import cases

if TYPE_CHECKING:
    from collections.abc import Callable

M = 5
PRIOR = dr.Prior.uniform(M)
SKEWED = dr.Prior.of([0.5, 0.2, 0.2, 0.1, 0.0], [0, 1, 2, 3, 4])
UTILITY = [[1, 0, 0, 0.5, 0], [0, 1, 0.5, 0, 0.2], [0, 0.2, 1, 0, 0], [0.3, 0, 0, 1, 0], [0, 0, 0.1, 0, 1]]
ADD, REPLACE = "add-remove", "replace-one"


@dataclass(frozen=True)
class Case:
    """A family, the release at a number, and whether less noise always means more risk."""

    family: Any
    build: Callable[[float], Any]
    fixed: dict[str, Any] = field(default_factory=dict)
    monotone: bool = True
    noises: int = 100
    whole: bool = False


def of_class(kind, parameter, *, monotone=True, noises=100, whole=False, **fixed):
    return Case(kind, lambda x: kind(**{parameter: x}, **fixed), fixed, monotone, noises, whole)


def of_function(function, *, monotone=True, noises=100):
    return Case(function, function, {}, monotone, noises)


FAST = {
    "GRR": of_class(dr.GRR, "epsilon", m=M),
    "SUE": of_class(dr.SUE, "epsilon", m=M),
    "OUE": of_class(dr.OUE, "epsilon", m=M),
    "SubsetSelection": of_class(dr.SubsetSelection, "epsilon", m=M, monotone=False, noises=40),
    "Geometric": of_class(dr.Geometric, "scale"),
    "Exponential": of_class(dr.Exponential, "epsilon", noises=40),
    "Exponential, utility": of_class(dr.Exponential, "epsilon", utility=UTILITY, noises=40),
    "PureDP": of_class(dr.PureDP, "epsilon", neighbours=ADD),
    "ApproxDP": of_class(dr.ApproxDP, "epsilon", delta=1e-6, neighbours=REPLACE, noises=40),
    "ApproxDP, delta": of_class(dr.ApproxDP, "delta", epsilon=0.05, neighbours=REPLACE, noises=40),
    "GDP": of_class(dr.GDP, "mu", neighbours=REPLACE),
    "TotalVariation": of_class(dr.TotalVariation, "tv", neighbours=ADD),
    "function of epsilon": of_function(lambda epsilon: dr.Repeated(dr.GRR(M, epsilon), 3), noises=20),
    "whole times": of_class(dr.Repeated, "times", mechanism=dr.Gaussian(6.0), whole=True, noises=20),
}
SLOW = {
    "Laplace": of_class(dr.Laplace, "scale", noises=20),
    "Gaussian": of_class(dr.Gaussian, "sigma", noises=20),
    "Laplace, clamped": of_class(dr.Laplace, "scale", truncate=(0, 4), monotone=False, noises=20),
    "Exponential, interval": of_class(dr.Exponential, "epsilon", interval=(0, 4), noises=20),
    "ZCDP": of_class(dr.ZCDP, "rho", neighbours=REPLACE, noises=5),
    "function of sigma": of_function(lambda sigma: dr.Repeated(dr.Gaussian(sigma), 40), noises=20),
    "mixed": of_function(lambda b: dr.Composed([dr.Gaussian(b), dr.GRR(M, 1.0 / b)]), noises=5),
}


@st.composite
def limits(draw) -> dr.Limit:
    """One to three limits of different quantities about the same threat."""
    prior = draw(st.sampled_from([PRIOR, SKEWED]))
    knowledge = draw(st.sampled_from([dr.Knowledge.nothing(), dr.Knowledge.labels([0, 0, 1, 1, 1])]))
    threat = dr.Threat(prior, knowledge)
    level = draw(st.floats(0.02, 0.4))
    names = draw(st.lists(st.sampled_from(QUANTITIES), min_size=1, max_size=3, unique=True))
    given_: dict[str, float] = {}
    for name in names:
        given_ |= {
            "rad": {"rad": level},
            "success": {"success": min(threat.best_blind_guess + level, 1.0)},
            "gain": {"gain": level},
            "worst_gain": {"worst_gain": level},
            "tpr": {"tpr": min(0.05 + level, 1.0), "fpr": 0.05},
            "epsilon": {"epsilon": 5 * level, "delta": 1e-3},
        }[name]
    return dr.Limit(threat, neighbours=REPLACE, **given_)


QUANTITIES = ("rad", "success", "gain", "worst_gain", "tpr", "epsilon")


def excess(limit: dr.Limit, release: Any) -> float:
    """How far the worst quantity lies above its limit, from a plain assessment."""
    a = dr.assess(release, limit.threat, neighbours=limit.neighbours)
    excesses = [getattr(a, name).value - most for name, most in limit.risks.items() if name not in ("tpr", "epsilon")]
    if limit.tpr is not None:
        excesses.append(a.tpr(limit.fpr).value - limit.tpr)
    if limit.epsilon is not None:
        source = release if not hasattr(release, "at") else release.at(limit.who.prior)
        excesses.append(epsilon_at(source.privacy(REPLACE), limit.delta) - limit.epsilon)
        # What (epsilon, delta) means: no test finds more than e^epsilon fpr + delta.
        rates = np.geomspace(1e-4, 0.5, 6)
        excesses.append(max(a.tpr(x).value - math.exp(limit.epsilon) * x - limit.delta for x in rates) - 1e-9)
    return max(excesses)


def check(case: Case, limit: dr.Limit) -> dr.Calibration:
    c = dr.calibrate(case.family, limit, **case.fixed)
    if c.status == "unmet":
        assert c.value is None
        assert "no value of" in c.reason
        return c
    assert c.status in ("met", "free")
    assert c.met
    assert all(one.value <= one.limit for one in c.achieved)
    assert excess(limit, case.build(c.value)) <= 0.0
    assert excess(limit, c.mechanism) <= 0.0
    up = c.more_private == "up"
    factors = np.exp(np.random.default_rng(1).uniform(0.0, 3.0, case.noises))
    for f in factors.tolist():
        noisier = c.value * f if up else c.value / f
        if case.whole:
            noisier = max(1, math.floor(noisier))
        assert excess(limit, case.build(noisier)) <= 1e-9, f"{f} times the noise breaks a limit"
    if c.status == "met" and case.whole:
        assert excess(limit, case.build(c.value + 1)) > 0.0
    elif c.status == "met" and case.monotone:
        assert excess(limit, case.build(0.99 * c.value if up else c.value / 0.99)) > 0.0
        assert c.binding is not None
    return c


@pytest.mark.parametrize("case", FAST.values(), ids=FAST)
@cases(0.01)
@given(limit=limits())
def test_limits_hold_at_the_answer_and_above_and_not_below(case, limit):
    check(case, limit)


@pytest.mark.parametrize("case", SLOW.values(), ids=SLOW)
@cases(0.005)
@given(limit=limits())
def test_limits_hold_at_the_answer_and_above_and_not_below_for_slow_families(case, limit):
    check(case, limit)


def test_limits_hold_for_discrete_gaussian_noise():
    case = of_class(dr.DiscreteGaussian, "sigma", noises=20)
    check(case, dr.Limit(dr.Threat(dr.Prior.uniform(2)), rad=0.2, worst_gain=0.45, neighbours=REPLACE))


@pytest.mark.parametrize(
    ("limit", "fixed", "whole"),
    [
        (dr.Limit(worst_gain=0.3, neighbours=ADD), {"sample_rate": 0.2, "steps": 10}, False),
        (dr.Limit(dr.Threat(PRIOR), rad=0.1), {"sample_rate": 0.5, "steps": 5}, False),
        (dr.Limit(tpr=0.1, fpr=0.02, neighbours=ADD), {"noise_multiplier": 1.0, "steps": 20}, False),
        (dr.Limit(worst_gain=0.3, neighbours=ADD), {"noise_multiplier": 1.0, "sample_rate": 0.1}, True),
    ],
)
def test_a_training_run_is_calibrated_in_every_parameter(limit, fixed, whole):
    c = dr.calibrate(dr.DPSGD, limit, **fixed)
    assert c.status == "met"

    def value(x):
        a = dr.assess(dr.DPSGD(**fixed, **{c.parameter: x}), limit.threat, neighbours=limit.neighbours)
        bound = a.tpr(limit.fpr) if limit.tpr is not None else a.rad if limit.rad is not None else a.worst_gain
        return bound.value - next(iter(limit.risks.values()))

    up = c.more_private == "up"
    assert c.parameter not in fixed
    assert value(c.value) <= 0.0
    for f in (1.003, 1.03, 1.3, 2.0):
        noisier = c.value * f if up else c.value / f
        assert value(math.floor(noisier) if whole else noisier) <= 0.0
    assert value(c.value + 1 if whole else 0.99 * c.value if up else c.value / 0.99) > 0.0
    assert isinstance(c.mechanism, dr.DPSGD)


# ----------------------------------------------------------------------------------------- not monotone, not continuous


UNIT = {"sensitivity": 1.0, "neighbours": "replace-one"}


def wave(sigma):
    return dr.Gaussian(sigma * (1 + 0.2 * math.sin(20 * math.log(sigma))), **UNIT)


def jump(sigma):
    return dr.Gaussian(sigma if sigma < 3 else sigma / 2, **UNIT)


def gap(sigma):
    if 2.0 < sigma < 2.5:
        raise dr.ParameterError("gap", "outside (2, 2.5)", sigma)
    return dr.Gaussian(sigma, **UNIT)


@pytest.mark.parametrize("family", [wave, jump, gap], ids=lambda f: f.__name__)
@pytest.mark.parametrize("level", [0.05, 0.14, 0.17, 0.3, 0.6])
def test_nothing_noisier_breaks_a_limit_even_on_a_wave_or_a_jump(family, level):
    c = dr.calibrate(family, dr.Limit(worst_gain=level))
    assert c.status == "met"
    needed = 0.1
    while math.erf(1 / (needed * math.sqrt(8))) > level:  # sigma of a Gaussian with this total variation
        needed *= 1.001
    assert c.mechanism.sigma >= 0.999 * needed
    for f in np.exp(np.linspace(0.0, 4.0, 301)).tolist():
        try:
            noisier = family(c.value * f)
        except dr.ParameterError:
            continue
        assert dr.assess(noisier).worst_gain.value <= level * (1 + 1e-9), f


@pytest.mark.parametrize(("m", "level"), [(20, 0.05), (3052, 0.1)])
def test_teeth_of_subset_selection(m, level):
    threat = dr.Threat(dr.Prior.uniform(m))
    c = dr.calibrate(dr.SubsetSelection, dr.Limit(threat, rad=level), m=m)
    noisier = c.value * np.exp(-np.linspace(0.0, 2.3, 201))
    assert max(dr.assess(dr.SubsetSelection(m, e), threat).rad.value for e in noisier.tolist()) <= level
    teeth = [
        dr.assess(dr.SubsetSelection(m, e), threat).rad.value for e in (c.value * np.linspace(1.0, 1.1, 21)).tolist()
    ]
    assert max(teeth) > level


def test_a_jump_right_at_the_answer_is_taken_on_the_safe_side():
    def cliff(sigma):
        return dr.Gaussian(1.0 if sigma < 2.0 else 10.0, **UNIT)

    c = dr.calibrate(cliff, dr.Limit(worst_gain=0.1), precision=1e-6)
    assert c.status == "met"
    assert 2.0 <= c.value <= 2.0 * (1 + 2e-6)


# --------------------------------------------------------------------------------------------------------- known values


@pytest.mark.parametrize(("m", "epsilon"), [(2, 0.405465), (100, 2.504379)])
def test_randomised_response_of_the_thesis(m, epsilon):
    c = dr.calibrate(dr.GRR, dr.Limit(dr.Threat(dr.Prior.uniform(m)), rad=0.1), m=m)
    assert c.value == pytest.approx(epsilon, rel=2e-5)
    assert c.value <= epsilon + 5e-7
    assert c.parameter == "epsilon"
    assert c.binding.startswith("rad <= 0.1")


@pytest.mark.parametrize(("level", "epsilon"), [(0.05, 1.028851), (0.1, 2.120095), (0.2, 4.523660), (0.5, 14.596744)])
def test_laplace_noise_of_the_thesis(level, epsilon):
    c = dr.calibrate(dr.Laplace, dr.Limit(dr.Threat(dr.Prior.uniform(10)), rad=level))
    assert 9.0 / c.value == pytest.approx(epsilon, rel=2e-5)
    assert c.value >= 9.0 / (epsilon + 5e-7)
    assert c.cost["error"] == pytest.approx(math.log(20.0) / epsilon * 9.0, rel=2e-5)


THESIS = [  # section 13 of the thesis' notes, doubled for replace-one: T, m, level, Thm 5.1, Thm 4.2
    (100, 10, 0.1, 43.8664, 71.5766),
    (100, 8, 0.1, 48.1474, 69.5752),
    (100, 8, 0.2, 27.0454, 34.4226),
    (100, 8, 0.5, 12.2436, 12.6320),
    (100, 2, 0.1, 39.4716, 39.4716),
    (100, 100, 0.1, 18.1500, 78.7790),
    (1000, 10, 0.05, 249.7664, 453.7966),
]


def _by_rule(result: dr.Assessment) -> dict[str, float]:
    by_rule = {o.rule: o.bound.value for o in result.others if o.quantity == "rad" and o.bound is not None}
    return {**by_rule, result.rad.rule: result.rad.value}


@pytest.mark.parametrize(("steps", "m", "level", "first", "second"), THESIS)
def test_noise_that_single_theorems_ask_of_a_training_run(steps, m, level, first, second):
    threat = dr.Threat(dr.Prior.uniform(m))
    at_first = _by_rule(dr.assess(dr.DPSGD(first, 1.0, steps), threat))
    assert min(at_first["thm-5.1-interval"], at_first["thm-5.1-scaled"]) == pytest.approx(level, rel=2e-5)
    at_second = _by_rule(dr.assess(dr.DPSGD(second, 1.0, steps), threat))
    assert at_second["thm-4.2"] == pytest.approx(level, rel=2e-5)
    # The calibration takes whichever theorem needs least.
    c = dr.calibrate(dr.DPSGD, dr.Limit(threat, rad=level), sample_rate=1.0, steps=steps)
    assert c.value <= min(first, second) * (1 + 1e-4)
    if (steps, m) == (100, 10):
        assert c.value == pytest.approx(22.73, abs=0.005)
        assert c.achieved[0].rule == "hayes-minus-blind"


def test_queries_that_a_limit_allows():
    c = dr.calibrate(dr.Repeated, dr.Limit(dr.Threat.baseline(0.1), gain=0.2), mechanism=dr.Laplace(5.0, **UNIT))
    assert (c.parameter, c.value, c.status) == ("times", 15, "met")
    assert isinstance(c.value, int)
    c = dr.calibrate(dr.Repeated, dr.Limit(dr.Threat.baseline(0.1), gain=1e-3), mechanism=dr.Laplace(5.0, **UNIT))
    assert c.status == "unmet"


# ------------------------------------------------------------------------------------------------------------- statuses


def test_free_when_no_noise_is_needed():
    c = dr.calibrate(dr.OUE, dr.Limit(dr.Threat(PRIOR), rad=0.5), m=M)  # at most 0.4, whatever epsilon
    assert (c.status, c.met, c.binding) == ("free", True, None)
    assert c.value > 100.0
    assert "even the least noise" in c.reason


def test_unmet_when_the_limit_is_0():
    for family, fixed in [(dr.GRR, {"m": M}), (dr.Laplace, {}), (dr.GDP, {"neighbours": REPLACE})]:
        c = dr.calibrate(family, dr.Limit(dr.Threat(PRIOR), rad=0.0), **fixed)
        assert (c.status, c.value, c.met, c.mechanism) == ("unmet", None, False, None)
        assert "rad is still" in c.reason
        assert dr.Calibration.from_dict(c.to_dict()) == c


def test_zero_is_kept_where_nothing_can_be_learnt():
    sure = dr.Threat(dr.Prior.of([1.0, 0.0]))
    assert dr.calibrate(dr.Laplace, dr.Limit(sure, rad=0.0)).status == "free"


def test_unmet_when_accuracy_and_risk_conflict():
    threat = dr.Threat(dr.Prior.uniform(10))
    c = dr.calibrate(dr.Laplace, [dr.Limit(threat, rad=0.1), dr.Limit(error=5.0)])
    assert (c.status, c.value) == ("unmet", None)
    assert "error is 12.72, more than 5" in c.reason
    assert "relax" in c.reason
    c = dr.calibrate(dr.Laplace, [dr.Limit(threat, rad=0.1), dr.Limit(error=13.0)])
    assert c.status == "met"
    assert [one.quantity for one in c.achieved] == ["rad", "error"]
    assert all(one.margin >= 0.0 for one in c.achieved)


@pytest.mark.parametrize(
    ("family", "limit", "fixed", "most"),
    [
        (dr.Laplace, {"error": 5.0}, {}, 5.0 / math.log(20.0)),
        (dr.Laplace, {"variance": 8.0}, {}, 2.0),
        (dr.Gaussian, {"variance": 9.0}, {}, 3.0),
        (dr.Gaussian, {"error": 1.959963984540054}, {}, 1.0),
        (lambda s: dr.Repeated(dr.Gaussian(s), 10), {"variance": 9.0}, {}, 3.0),
    ],
)
def test_accuracy_alone_gives_the_most_noise(family, limit, fixed, most):
    c = dr.calibrate(family, dr.Limit(**limit), **fixed)
    assert c.status == "met"
    assert most * (1 - 3e-5) <= c.value <= most


def test_accuracy_alone_tells_the_risk_that_comes_with_it():
    threat = dr.Threat(dr.Prior.uniform(10))
    c = dr.calibrate(dr.Laplace, dr.Limit(threat, error=5.0))
    rads = [one for one in c.achieved if one.quantity == "rad"]
    assert rads[0].limit is None
    assert rads[0].value == pytest.approx(dr.assess(dr.Laplace(c.value), threat).rad.value, rel=1e-12)
    c = dr.calibrate(dr.GRR, dr.Limit(frequency_error=5.0), m=M)
    assert c.more_private == "down"
    assert dr.GRR(M, c.value).cost()["frequency_error"] <= 5.0
    assert dr.GRR(M, 0.99 * c.value).cost()["frequency_error"] > 5.0


def test_the_binding_limit_is_named_and_all_are_kept():
    tight, loose = dr.Limit(dr.Threat(PRIOR), rad=0.01), dr.Limit(dr.Threat(PRIOR), success=0.9)
    c = dr.calibrate(dr.GRR, [loose, tight], m=M)
    assert c.binding.startswith("rad <= 0.01")
    assert [one.quantity for one in c.achieved] == ["success", "rad"]
    assert c.value == dr.calibrate(dr.GRR, [tight, loose], m=M).value


def test_a_limit_without_a_prior_is_about_the_records_of_the_others():
    near, far = dr.Prior.uniform(2, [0, 1]), dr.Prior.uniform(2, [0, 7])
    c = dr.calibrate(
        dr.Laplace, [dr.Limit(dr.Threat(near), rad=0.4), dr.Limit(worst_gain=0.2), dr.Limit(dr.Threat(far), rad=0.45)]
    )
    worst = [one.value for one in c.achieved if one.quantity == "worst_gain"]
    assert len(worst) == 2
    assert max(worst) == pytest.approx(1 - math.exp(-7 / (2 * c.value)), rel=1e-9)
    assert max(worst) == pytest.approx(0.2, rel=1e-4)


# ------------------------------------------------------------------------------------------------------------ direction


@pytest.mark.parametrize(
    ("family", "direction"),
    [
        (lambda sigma: dr.Gaussian(sigma=sigma), "up"),
        (lambda b: dr.Laplace(b, truncate=(0, 4)), "up"),
        (lambda epsilon: dr.GRR(M, epsilon), "down"),
        (lambda epsilon: dr.SubsetSelection(M, epsilon), "down"),
        (lambda epsilon: dr.Exponential(epsilon=epsilon), "down"),
        (lambda epsilon: dr.Laplace(1.0 / epsilon), "down"),
        (lambda epsilon: dr.Composed([dr.GRR(M, epsilon), dr.OUE(M, epsilon)]), "down"),
        (lambda mu: dr.GDP(mu, REPLACE), "down"),
    ],
)
def test_a_function_tells_its_direction(family, direction):
    c = dr.calibrate(family, dr.Limit(dr.Threat(PRIOR), rad=0.1))
    assert (c.status, c.more_private) == ("met", direction)
    assert excess(dr.Limit(dr.Threat(PRIOR), rad=0.1), family(c.value)) <= 0.0


def test_the_direction_of_a_function_that_starts_flat():
    far = dr.Threat(dr.Prior.uniform(2, [0, 1000]))
    limit = dr.Limit(far, rad=0.1)
    by_class = dr.calibrate(dr.Gaussian, limit, truncate=(0, 1000))
    by_function = dr.calibrate(lambda sigma: dr.Gaussian(sigma, truncate=(0, 1000)), limit)
    assert by_function.status == "met"
    assert by_function.value == pytest.approx(by_class.value, rel=1e-4)


# ---------------------------------------------------------------------------------------------------- stopped, progress


def stopping(build, calls):
    """A family that is interrupted by the user at a call."""
    seen = 0

    def family(sigma):
        nonlocal seen
        seen += 1
        if seen > calls:
            raise KeyboardInterrupt
        return build(sigma)

    return family


@pytest.mark.parametrize(
    "build", [dr.Gaussian, lambda s: dr.Gaussian(s, truncate=(0, 4)), wave], ids=["ordered", "looked at again", "wave"]
)
def test_interrupting_returns_the_best_valid_answer_or_raises(build):
    limit = dr.Limit(dr.Threat(PRIOR), rad=0.05)
    whole = dr.calibrate(build, limit)
    outcomes = set()
    for calls in (0, 3, 6, 9, 12, 15, 18, 60):
        try:
            c = dr.calibrate(stopping(build, calls), limit)
        except KeyboardInterrupt:
            outcomes.add("raised")
            continue
        outcomes.add(c.status)
        assert excess(limit, build(c.value)) <= 0.0
        if c.status == "stopped":
            assert "stopped before" in c.reason
            assert c.achieved
        else:
            assert c.value == pytest.approx(whole.value, rel=1e-9)
    assert {"raised", "stopped"} <= outcomes


def test_progress_is_told_after_a_second_only(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    lines: list[str] = []
    limit = dr.Limit(dr.Threat(PRIOR), rad=0.1)
    dr.calibrate(dr.GRR, limit, m=M, progress=lines.append)
    assert lines == []

    def tick():
        now[0] += 0.3
        return now[0]

    monkeypatch.setattr(time, "monotonic", tick)
    c = dr.calibrate(dr.GRR, limit, m=M, progress=lines.append)
    assert 0 < len(lines) <= c.tried - 3  # three values are tried in the first second
    assert all(line.startswith("epsilon ") and line.endswith(" the limits") for line in lines)
    assert {line.split(": ")[1].split()[0] for line in lines} <= {"keeps", "breaks"}


def test_interrupting_from_the_progress_callback(monkeypatch):
    times = iter(range(0, 100_000, 10))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(times)))
    limit = dr.Limit(dr.Threat(PRIOR), rad=0.1)
    calls = 0

    def stop_at(count):
        def progress(_):
            nonlocal calls
            calls += 1
            if calls == count:
                raise KeyboardInterrupt

        return progress

    with pytest.raises(KeyboardInterrupt):
        dr.calibrate(dr.GRR, limit, m=M, progress=stop_at(1))
    calls = 0
    c = dr.calibrate(dr.GRR, limit, m=M, progress=stop_at(4))
    assert c.status == "stopped"
    assert dr.assess(dr.GRR(M, c.value), limit.threat).rad.value <= 0.1


# ------------------------------------------------------------------------------------------------------------ bad input

THREAT = dr.Threat(PRIOR)
LIMIT = dr.Limit(THREAT, rad=0.1)


def never(sigma):
    raise dr.ParameterError("never.sigma", "something else", sigma)


BAD = {
    "no limits": (lambda: dr.calibrate(dr.Laplace, []), ["calibrate.limits", "a Limit or a list"]),
    "limits missing": (lambda: dr.calibrate(dr.Laplace, None), ["calibrate.limits"]),
    "a number as limit": (lambda: dr.calibrate(dr.Laplace, 0.1), ["calibrate.limits", "0.1", "Such as"]),
    "a list with a number": (lambda: dr.calibrate(dr.Laplace, [LIMIT, 0.1]), ["calibrate.limits"]),
    "missing m": (lambda: dr.calibrate(dr.GRR, LIMIT), ["GRR", "no m", "Add m="]),
    "missing neighbours": (lambda: dr.calibrate(dr.PureDP, LIMIT), ["PureDP", "neighbours"]),
    "two free parameters": (
        lambda: dr.calibrate(dr.DPSGD, LIMIT, steps=10),
        ["exactly one parameter to choose", "noise_multiplier, sample_rate"],
    ),
    "no free parameter": (lambda: dr.calibrate(dr.GRR, LIMIT, m=M, epsilon=1.0), ["exactly one parameter", "none"]),
    "unknown keyword": (lambda: dr.calibrate(dr.Laplace, LIMIT, colour="red"), ["Laplace", "colour"]),
    "bad fixed parameter": (lambda: dr.calibrate(dr.GRR, LIMIT, m=1), ["GRR.m", "at least 2"]),
    "m of another prior": (lambda: dr.calibrate(dr.GRR, LIMIT, m=7), ["7 inputs", "5 values"]),
    "empty limit": (dr.Limit, ["given something to limit", "rad", "nothing"]),
    "empty limit with a threat": (lambda: dr.Limit(THREAT), ["given something to limit"]),
    "tpr without fpr": (lambda: dr.Limit(tpr=0.1), ["Limit.tpr", "together with fpr", "Add fpr="]),
    "fpr without tpr": (lambda: dr.Limit(fpr=0.1), ["Limit.tpr", "together with fpr"]),
    "epsilon without delta": (lambda: dr.Limit(epsilon=0.1), ["Limit.epsilon", "together with delta"]),
    "delta without epsilon": (lambda: dr.Limit(delta=0.1), ["Limit.epsilon", "together with delta"]),
    "rad for membership": (lambda: dr.Limit(dr.Threat.membership(0.5), rad=0.1), ["Limit.rad", "membership"]),
    "success without a threat": (lambda: dr.Limit(success=0.1), ["Limit.success", "without a threat"]),
    "a limit given by position": (lambda: dr.Limit(0.1), ["Limit.threat", "a Threat"]),
    "wrong neighbours": (lambda: dr.Limit(worst_gain=0.1, neighbours="both"), ["Limit.neighbours", "add-remove"]),
    **{
        f"{name} {value}": (lambda name=name, value=value: dr.Limit(THREAT, **{name: value}), [f"Limit.{name}"])
        for name in ("rad", "success", "gain", "worst_gain")
        for value in (-0.1, 1.1, math.nan, math.inf, "low", True)
    },
    "negative epsilon": (lambda: dr.Limit(epsilon=-1.0, delta=0.1), ["Limit.epsilon"]),
    "delta over 1": (lambda: dr.Limit(epsilon=1.0, delta=1.1), ["Limit.delta"]),
    "fpr over 1": (lambda: dr.Limit(tpr=0.1, fpr=1.1), ["Limit.fpr"]),
    "nan error": (lambda: dr.Limit(error=math.nan), ["Limit.error"]),
    "negative variance": (lambda: dr.Limit(variance=-1.0), ["Limit.variance"]),
    "not callable": (lambda: dr.calibrate("grr", LIMIT), ["calibrate.family", "a mechanism or guarantee class"]),
    "a mechanism, not its class": (lambda: dr.calibrate(dr.GRR(M, 1.0), LIMIT), ["calibrate.family", "GRR(m=5"]),
    "a class of something else": (lambda: dr.calibrate(int, LIMIT), ["calibrate.family", "int"]),
    "a class without noise": (lambda: dr.calibrate(dr.Channel, LIMIT), ["calibrate.family"]),
    "a function of two": (lambda: dr.calibrate(lambda a, b: dr.Laplace(a + b), LIMIT), ["a function of one number"]),
    "a function of none": (lambda: dr.calibrate(lambda: dr.Laplace(1.0), LIMIT), ["a function of one number"]),
    "a function and a keyword": (lambda: dr.calibrate(lambda b: dr.Laplace(scale=b), LIMIT, m=3), ["no further", "m"]),
    "a function that never works": (lambda: dr.calibrate(never, LIMIT), ["calibrate.family", "Tried sigma"]),
    "a function of nothing known": (lambda: dr.calibrate(lambda x: x, LIMIT), ["a mechanism", "a guarantee"]),
    "precision 0": (lambda: dr.calibrate(dr.Laplace, LIMIT, precision=0.0), ["calibrate.precision"]),
    "precision 1": (lambda: dr.calibrate(dr.Laplace, LIMIT, precision=1.0), ["calibrate.precision"]),
    "a cost that is not known": (
        lambda: dr.calibrate(dr.PureDP, dr.Limit(error=1.0), neighbours=REPLACE),
        ["Limit.error", "a cost that the mechanism knows"],
    ),
    "a quantity that is not known": (
        lambda: dr.calibrate(dr.GRR, dr.Limit(worst_gain=0.1, neighbours=ADD), m=M),
        ["Limit.worst_gain", "known here"],
    ),
}  # fmt: skip


@every(("call", "parts"), BAD.values(), ids=BAD)
def test_bad_input_says_what_is_wrong(call, parts):
    with pytest.raises(dr.ParameterError) as error:
        call()
    for part in parts:
        assert part in str(error.value)


def test_a_function_of_a_keyword_is_called_or_refused():
    try:
        c = dr.calibrate(lambda *, scale: dr.Laplace(scale), LIMIT)
    except dr.ParameterError as error:
        assert "one number" in str(error)  # noqa: PT017 - either answer is fine
    else:
        assert c.status == "met"


# ----------------------------------------------------------------------------------------------------------- the result


def test_a_calibration_is_saved_and_read_again(tmp_path):
    c = dr.calibrate(dr.GRR, dr.Limit(THREAT, rad=0.1, success=0.5), m=M)
    c.save(tmp_path / "c.json")
    data = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert {"schema", "parameter", "value", "status", "achieved", "binding", "cost"} <= set(data)
    again = dr.Calibration.from_dict(data)
    assert again == c
    assert again.mechanism is None
    with pytest.raises(dr.ParameterError, match="dpradar/calibration"):
        dr.Calibration.from_dict({**data, "schema": "other"})
    assert f"{c.value:.3f}"[:4] in c.explain()
    assert "keeps every limit" in c.explain()


def test_shown_noise_is_rounded_to_more_noise():
    down = dr.calibrate(dr.GRR, dr.Limit(THREAT, rad=0.1), m=M)
    up = dr.calibrate(dr.Laplace, dr.Limit(THREAT, rad=0.1))
    shown = [float(c.explain().split(" keeps ")[0].split()[-1]) for c in (down, up)]
    assert down.value - 1e-4 < shown[0] <= down.value
    assert up.value <= shown[1] < up.value + 1e-4
    assert dr.assess(dr.GRR(M, shown[0]), THREAT).rad.value <= 0.1
    assert dr.assess(dr.Laplace(shown[1]), THREAT).rad.value <= 0.1


def test_the_same_calibration_twice_is_the_same_number():
    limit = dr.Limit(dr.Threat.baseline(0.2), gain=0.1)
    values = {dr.calibrate(lambda b: dr.Repeated(dr.Laplace(b, **UNIT), 7), limit).value for _ in range(2)}
    assert len(values) == 1


@pytest.mark.parametrize("precision", [0.1, 1e-3, 1e-7])
def test_precision_is_how_close_the_answer_is(precision):
    c = dr.calibrate(dr.GRR, LIMIT, m=M, precision=precision)
    low, high = 0.01, 10.0
    for _ in range(100):
        exact = (low + high) / 2
        p = (math.exp(exact) - 1) / (math.exp(exact) + M - 1) * (1 - 1 / M)
        low, high = (exact, high) if p <= 0.1 else (low, exact)
    assert exact * (1 - 1.01 * precision) <= c.value <= exact * (1 + 1e-12)


def test_limits_that_nothing_keeps_are_told_at_once():
    """Success below the best blind guess, true positives below false ones: nothing is tried."""
    never = dr.Limit(dr.Threat.membership(0.83), success=0.5)
    both = [dr.Limit(dr.Threat.baseline(0.1), gain=0.5), never]
    for limits in (never, both, dr.Limit(tpr=0.01, fpr=0.05)):
        c = dr.calibrate(dr.DPSGD, limits, sample_rate=0.01, steps=1000)
        assert (c.status, c.value, c.tried) == ("unmet", None, 0)
    assert "0.83 without any release" in dr.calibrate(dr.GDP, never, neighbours="add-remove").reason
    # At the blind guess itself there is something to try.
    assert dr.calibrate(dr.GRR, dr.Limit(dr.Threat(dr.Prior.uniform(10)), success=0.1), m=10).tried > 0
