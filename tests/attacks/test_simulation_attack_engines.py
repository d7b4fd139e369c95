"""Every way the optimal attack is played, against the exact engine, for all kinds of knowledge and goals.

Every interval fails with probability 1e-9; the trials are as many as it takes to reject the same mechanism with 0.7 and
1.3 times its noise, and both are rejected.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import stats

import dpradar as dr
from dpradar.attacks.optimal import optimal_attack
from tests.attacks.powers import FAILURE, Measured, trials_needed
from tests.every import every
from tests.worlds import other_bound

PRIOR = dr.Prior.of([0.4, 0.3, 0.0, 0.2, 0.1], [0.0, 1.0, 2.0, 4.0, 7.0])
LOSS = np.abs(np.subtract.outer(range(5), range(5)))
LABELS, COLOURS = list("aabbb"), list("xyxyx")
THREATS = {
    "nothing": dr.Threat(PRIOR),
    "labels": dr.Threat(PRIOR, dr.Knowledge.labels(LABELS)),
    "everything": dr.Threat(PRIOR, dr.Knowledge.everything()),
    "attribute": dr.Threat(PRIOR, goal=dr.Goal.labels(COLOURS)),
    "attribute, labels": dr.Threat(PRIOR, dr.Knowledge.labels(LABELS), dr.Goal.labels(COLOURS)),
    "roughly": dr.Threat(PRIOR, dr.Knowledge.labels(LABELS), dr.Goal.within(1.0)),
    "roughly, everything": dr.Threat(PRIOR, dr.Knowledge.everything(), dr.Goal.within(2.0)),
    "loss": dr.Threat(PRIOR, goal=dr.Goal.within(1, LOSS)),
}
MECHANISMS = {
    "grr": lambda f: dr.GRR(5, 1.5 * f),
    "oue": lambda f: dr.OUE(5, 2.0 * f),
    "subset": lambda f: dr.SubsetSelection(5, 1.0 * f),
    "olh": lambda f: dr.OLH(5, 2.0 * f),
    "the": lambda f: dr.THE(5, 2.0 * f),
    "hadamard": lambda f: dr.HadamardResponse(5, 2.0 * f),
    "channel": lambda f: dr.Channel(0.5 * f * np.eye(5)[:, [1, 2, 3, 4, 0]] + (1 - 0.5 * f) / 5),
    "laplace": lambda f: dr.Laplace(1.0 / f),
    "laplace, clamped": lambda f: dr.Laplace(2.0 / f, truncate=(0.0, 6.0)),
    "gaussian": lambda f: dr.Gaussian(1.0 / f),
    "geometric": lambda f: dr.Geometric(1.5 / f, truncate=(0, 7)),
    "discrete gaussian": lambda f: dr.DiscreteGaussian(1.5 / f),
    "exponential": lambda f: dr.Exponential(4.0 * f),
    "exponential, interval": lambda f: dr.Exponential(8.0 * f, interval=(-1.0, 8.0)),
    "composed": lambda f: dr.Composed([dr.GRR(5, 1.0 * f), dr.Geometric(2.0 / f)]),
    "repeated": lambda f: dr.Repeated(dr.GRR(5, 0.7 * f), 3),
    "repeated bits": lambda f: dr.Repeated(dr.OUE(5, 0.7 * f), 2),
    "vectors on a line": lambda f: dr.Gaussian(3.0 / f, query=[[v, -v] for v in (0.0, 1.0, 2.0, 4.0, 7.0)]),
}
# A report that no target or every target could have sent is a tie of all guesses. Then the attack should be right for
# a value as often as a random guess is; these play another guess, which changes both terms of rad but not rad.
TERMS_OFF = {("the", "nothing"), ("hadamard", "nothing")}
TERMS_OFF |= {(name, "roughly, everything") for name in ("grr", "oue", "subset", "olh", "the", "hadamard")}


@cache
def assessed(name: str, who: str, factor: float) -> dr.Assessment:
    return dr.assess(MECHANISMS[name](factor), THREATS[who])


def measured_rad(exact: dr.Assessment, wrong: list[dr.Assessment]) -> Measured:
    """What is measured; where the two terms are not known, the worst they could be."""
    hit, false_hit = exact.hit, exact.false_hit
    if hit is None:
        hit, false_hit = 0.5 + exact.rad.value / 2, 0.5 - exact.rad.value / 2
    return Measured(hit, [answer.rad.value for answer in wrong], false_hit, max(exact.baseline, false_hit))


def outside(number: float, interval: dr.Estimate) -> bool:
    """Up to the error of integrals: where the chance to be right for others is constant its interval is a point."""
    return number < interval.low - 1e-9 or number > interval.high + 1e-9


@every("who", THREATS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_rad(name, who):
    exact, wrong = assessed(name, who, 1.0), [assessed(name, who, f) for f in (0.7, 1.3)]
    assert exact.rad.side == "exact"
    aim = measured_rad(exact, wrong)
    run = dr.attack(MECHANISMS[name](1.0), THREATS[who], trials=trials_needed(aim), seed=5, confidence=1 - FAILURE)
    assert run.rad.low <= exact.rad.value <= run.rad.high
    assert all(outside(number, run.rad) for number in aim.wrong)
    if exact.hit is not None and (name, who) not in TERMS_OFF:
        assert not outside(exact.hit, run.success)
        assert not outside(exact.false_hit, run.false_hit)


@pytest.mark.parametrize(("name", "who"), sorted(TERMS_OFF))
def test_terms(name, who):
    exact = assessed(name, who, 1.0)
    run = dr.attack(MECHANISMS[name](1.0), THREATS[who], trials=1_000_000, seed=5, confidence=1 - FAILURE)
    assert not outside(exact.hit, run.success)
    assert not outside(exact.false_hit, run.false_hit)


@every("who", [who for who in THREATS if "everything" not in who])
@pytest.mark.parametrize("name", MECHANISMS)
def test_success(name, who):
    exact, wrong = assessed(name, who, 1.0), [assessed(name, who, f) for f in (0.7, 1.3)]
    assert exact.success.side == "exact"
    aim = Measured(exact.success.value, [answer.success.value for answer in wrong])
    trials = min(trials_needed(aim), 300_000)
    run = dr.attack(
        MECHANISMS[name](1.0), THREATS[who], trials=trials, seed=6, maximise="success", confidence=1 - FAILURE
    )
    assert run.success.low <= exact.success.value <= run.success.high
    assert run.rad.low <= exact.rad.value
    if aim.rejects(trials):
        assert all(outside(number, run.success) for number in aim.wrong)


def test_success_has_power_almost_everywhere():
    """Where a blind guess is nearly as good as any, a changed epsilon hardly changes success: those cases, by name."""
    weak = set()
    for name in MECHANISMS:
        for who in (who for who in THREATS if "everything" not in who):
            wrong = [assessed(name, who, f).success.value for f in (0.7, 1.3)]
            if not Measured(assessed(name, who, 1.0).success.value, wrong).rejects(300_000):
                weak.add((name, who))
    assert weak == {("repeated bits", "roughly"), ("repeated bits", "loss")}


@pytest.mark.parametrize("name", MECHANISMS)
def test_success_when_everything_is_known(name):
    run = dr.attack(MECHANISMS[name](1.0), THREATS["everything"], trials=2_000, seed=7, maximise="success")
    assert run.success.estimate == 1.0


@pytest.mark.parametrize("who", ["nothing", "labels", pytest.param("everything", marks=pytest.mark.slow), "roughly"])
@pytest.mark.parametrize("name", ["she", "vectors"])
def test_bounds_from_above(name, who):
    """No exact rad is known here: what is reached lies between the bound and what the engine's own simulation found."""
    mechanism = dr.SHE(5, 3.0) if name == "she" else dr.Gaussian(1.0, query=np.eye(5))
    bound = dr.assess(mechanism, THREATS[who])
    run = dr.attack(mechanism, THREATS[who], trials=100_000, seed=8, confidence=1 - FAILURE)
    assert other_bound(bound, "simulation") <= run.rad.high
    assert run.rad.low <= bound.rad.value
    best = dr.attack(mechanism, THREATS[who], trials=100_000, seed=9, maximise="success", confidence=1 - FAILURE)
    assert best.success.low <= bound.success.value
    if bound.success.side == "exact":
        assert best.success.high >= bound.success.value


CONTINUOUS = {
    "uniform": dr.Prior.continuous(stats.uniform(0.0, 1.0), 0.0, 1.0),
    "beta": dr.Prior.continuous(stats.beta(2.0, 5.0), 0.0, 1.0),
}
NOISE = {
    "laplace": lambda f: dr.Laplace(0.2 / f),
    "laplace, clamped": lambda f: dr.Laplace(0.2 / f, truncate=(0.0, 1.0)),
    "gaussian": lambda f: dr.Gaussian(0.2 / f),
    "exponential": lambda f: dr.Exponential(8.0 * f, interval=(0.0, 1.0)),
}


QUICK = {("laplace", "uniform", "everything"), ("exponential", "uniform", "everything")}
LINES = [
    pytest.param(name, law, known, marks=() if (name, law, known) in QUICK else pytest.mark.slow)
    for name in NOISE
    for law in CONTINUOUS
    for known in ("nothing", "everything")
]


def within_tenth(law: str, known: str) -> dr.Threat:
    return dr.Threat(CONTINUOUS[law], getattr(dr.Knowledge, known)(), dr.Goal.within(0.1))


def meets(interval: dr.Estimate, bound: dr.Bound) -> bool:
    """The exact number has an error bar of its own; without one it is a bound from above only."""
    return interval.low <= bound.value and (bound.low is None or bound.low <= interval.high)


@pytest.mark.parametrize(("name", "law", "known"), LINES)
def test_continuous_priors(name, law, known):
    threat = within_tenth(law, known)
    exact, *wrong = (dr.assess(NOISE[name](f), threat) for f in (1.0, 0.7, 1.3))
    if known == "everything":  # hits and hits about others are counted, so both have the spread of a share
        aim = Measured(exact.hit or 0.6, [answer.rad.value for answer in wrong], exact.false_hit or 0.4, 1.0)
    else:
        aim = Measured(exact.success.value, [answer.success.value for answer in wrong])
    goal = "rad" if known == "everything" else "success"
    run = dr.attack(NOISE[name](1.0), threat, trials=trials_needed(aim), seed=10, maximise=goal, confidence=1 - FAILURE)
    assert meets(getattr(run, goal), getattr(exact, goal))
    assert all(outside(number, getattr(run, goal)) for number in aim.wrong)


@pytest.mark.parametrize("goal", ["rad", "success"])
def test_window(goal):
    threat = within_tenth("uniform", "nothing")
    exact = dr.assess(NOISE["laplace"](1.0), threat)
    run = dr.attack(NOISE["laplace"](1.0), threat, trials=5_000, seed=11, maximise=goal, confidence=1 - FAILURE)
    assert meets(getattr(run, goal), getattr(exact, goal))


@pytest.mark.parametrize("name", NOISE)
def test_likelihoods_are_densities(name):
    """Guesses are nearly right with a wrong density, so it is looked at itself: its integral is 1."""
    density = optimal_attack(NOISE[name](1.0), within_tenth("uniform", "nothing")).inner._log_density
    clamped, inside = name == "laplace, clamped", name in ("laplace, clamped", "exponential")
    edges = np.linspace(0.0, 1.0, 20_001) if inside else np.linspace(-6.0, 7.0, 260_001)
    middles, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    for record in (0.0, 0.23, 1.0):
        total = np.exp(density(middles, np.full(middles.size, record))).sum() * width
        ends = np.exp(density(np.array([0.0, 1.0]), np.full(2, record))).sum() if clamped else 0.0
        assert total + ends == pytest.approx(1.0, abs=1e-6)


def test_engines_are_used():
    """The quick ways are taken where they apply, so that this file tests them."""
    uniform = dr.Threat(dr.Prior.uniform(5))
    engines = {
        type(optimal_attack(mechanism, threat, goal).inner).__name__
        for mechanism, threat, goal in (
            (dr.GRR(5, 1.0), THREATS["labels"], "rad"),
            (dr.OUE(5, 1.0), uniform, "rad"),
            (dr.OUE(5, 1.0), THREATS["nothing"], "rad"),
            (dr.OUE(5, 1.0), THREATS["everything"], "rad"),
            (dr.OUE(5, 1.0), THREATS["labels"], "rad"),
            (dr.SHE(5, 1.0), uniform, "rad"),
            (dr.OUE(5, 1.0), THREATS["labels"], "success"),
            (dr.Laplace(1.0), dr.Threat(CONTINUOUS["beta"], goal=dr.Goal.within(0.1)), "rad"),
        )
    }
    assert engines == {
        "ReportedValue",
        "SomeMember",
        "LikeliestMember",
        "KnownMember",
        "MemberOfFibre",
        "LikeliestValue",
        "PosteriorAttack",
        "ContinuousAttack",
    }
