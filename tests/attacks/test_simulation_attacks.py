"""The optimal attack, run, reaches what the exact engine says: nine protocols, and enough trials to notice a wrong one.

Every interval fails with probability 1e-9. Each case works out from exact numbers how many trials it takes to reject
epsilon times 0.7 and 1.3, runs them, and rejects both. Where even 2 10^7 trials reject one of them with a power below
0.99, the case is in LISTED and, with its power, in attack_power.md; there a short run
only has to hold the value.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dpradar as dr
from tests.attacks.powers import FAILURE, Measured, trials_needed

KINDS = {
    kind.__name__: kind
    for kind in (dr.GRR, dr.SubsetSelection, dr.SUE, dr.OUE, dr.BLH, dr.OLH, dr.SHE, dr.THE, dr.HadamardResponse)
}
LARGE = 3052
SIZES = (2, 10, LARGE)
EPSILONS = (1, 2, 4, 8)
PRIORS = ("uniform", "skewed")
GOALS = ("rad", "success")
MOST_TRIALS = 20_000_000
# Reports of 3052 values that a case without power may draw; those of SHE are 3052 noisy numbers each.
AFFORDABLE = {"SHE": 1_000, "SubsetSelection": 6_000, "SUE": 10_000, "OUE": 10_000, "THE": 10_000, "OLH": 20_000}
# (m, prior, goal, epsilon) that take too many trials. Coins of 1/2 hide what a large epsilon gives away; a rare value
# is hit rarely; and where the likeliest value is the best guess anyway, success does not depend on epsilon.
HALF = {(m, prior, goal, 8) for m in (2, 10) for prior in PRIORS for goal in GOALS}
BLIND = {(LARGE, "uniform", goal, epsilon) for goal in GOALS for epsilon in EPSILONS}
BLIND |= {(LARGE, "skewed", goal, 8) for goal in GOALS}
LISTED = {
    "GRR": {(2, "skewed", "rad", 8), (LARGE, "skewed", "success", 1), (LARGE, "skewed", "success", 2)},
    "SubsetSelection": {(2, "skewed", "rad", 8)},
    "OUE": HALF,
    "BLH": HALF | BLIND,
    "OLH": HALF,
    "HadamardResponse": HALF | BLIND,
}
# More than about two seconds, of the run or of the exact number; with 3052 values and epsilon 1 some minutes.
RARE = {(LARGE, "uniform", goal, epsilon) for goal in GOALS for epsilon in (1, 2)}
SLOW = {
    "SubsetSelection": {*RARE, *((LARGE, "skewed", goal, 1) for goal in GOALS)},
    "SUE": {*RARE, *((LARGE, "uniform", goal, 4) for goal in GOALS), (LARGE, "skewed", "success", 1)},
    "OUE": {*RARE, (LARGE, "skewed", "success", 1)},
    "BLH": {(LARGE, "skewed", goal, 4) for goal in GOALS},
    "OLH": {*RARE, (LARGE, "skewed", "success", 1)},
    "SHE": {(LARGE, prior, goal, epsilon) for prior in PRIORS for goal in GOALS for epsilon in EPSILONS},
    "THE": {*RARE, *((LARGE, "uniform", goal, 4) for goal in GOALS), (LARGE, "skewed", "success", 1)},
    "HadamardResponse": {(LARGE, prior, goal, epsilon) for prior in PRIORS for goal in GOALS for epsilon in EPSILONS},
}
ALL = [(m, prior, goal, epsilon) for m in SIZES for prior in PRIORS for goal in GOALS for epsilon in EPSILONS]


def cases(*, listed: bool):
    """The cases, marked slow where they are."""
    for name in KINDS:
        for case in ALL:
            if (case in LISTED.get(name, ())) == listed:
                slow = case in SLOW.get(name, ())
                yield pytest.param(name, *case, marks=[pytest.mark.slow] if slow else [])


@cache
def threat_of(m: int, prior: str) -> dr.Threat:
    if prior == "uniform":
        return dr.Threat(dr.Prior.uniform(m))
    weights = np.array([0.7, 0.3]) if m == 2 else 1 / np.arange(1, m + 1)
    return dr.Threat(dr.Prior.of(weights / weights.sum()))


@cache
def assessed(name: str, m: int, prior: str, epsilon: float) -> dr.Assessment:
    return dr.assess(KINDS[name](m, epsilon), threat_of(m, prior))


def measured(name: str, m: int, prior: str, goal: str, epsilon: float) -> Measured | None:
    """What is measured and what it must be told from; None where no exact number is known."""
    exact = assessed(name, m, prior, epsilon)
    wrong = [assessed(name, m, prior, factor * epsilon) for factor in (0.7, 1.3)]
    if goal == "success":
        return Measured(exact.success.value, [answer.success.value for answer in wrong])
    if exact.rad.side != "exact":
        return None
    largest = None if prior == "uniform" else float(threat_of(m, prior).prior.probabilities.max())
    return Measured(exact.hit, [answer.rad.value for answer in wrong], exact.false_hit, largest)


@cache
def run(name: str, m: int, prior: str, goal: str, epsilon: float, trials: int) -> dr.AttackRun:
    if prior == "uniform" and goal == "success":  # the same attack as for rad
        return run(name, m, prior, "rad", epsilon, trials)
    mechanism, threat = KINDS[name](m, epsilon), threat_of(m, prior)
    return dr.attack(mechanism, threat, trials=trials, seed=20, maximise=goal, confidence=1 - FAILURE)


def holds(interval: dr.Estimate, bound: dr.Bound) -> bool:
    """Whether an interval holds an exact number, which may itself be known up to a rounding error only."""
    return interval.low <= bound.high and bound.low <= interval.high


def check_agreement(result: dr.AttackRun, exact: dr.Assessment, goal: str) -> None:
    """The interval of the goal holds the exact number; nothing that is measured exceeds what is possible."""
    assert result.success.low <= exact.success.high
    assert result.rad.low <= exact.rad.value
    if goal == "success":
        assert holds(result.success, exact.success)
    elif exact.rad.side == "exact":
        assert holds(result.rad, exact.rad)


def check_terms(result: dr.AttackRun, exact: dr.Assessment) -> None:
    """The two terms of rad, ties at random; those of the integral for SHE are good to 2e-10."""
    assert result.success.low - 2e-10 <= exact.hit <= result.success.high + 2e-10
    assert result.false_hit.low - 2e-10 <= exact.false_hit <= result.false_hit.high + 2e-10


@pytest.mark.parametrize(("name", "m", "prior", "goal", "epsilon"), list(cases(listed=False)))
def test_run_agrees_with_the_exact_engine(name, m, prior, goal, epsilon):
    aim, exact = measured(name, m, prior, goal, epsilon), assessed(name, m, prior, epsilon)
    if aim is None:  # histogram encoding with a skewed prior: rad is known from above only
        assert name == "SHE"
        check_agreement(run(name, m, prior, goal, epsilon, 200_000 * 10 // (10 + m)), exact, goal)
        return
    trials = trials_needed(aim)
    assert trials <= MOST_TRIALS
    result = run(name, m, prior, goal, epsilon, trials)
    check_agreement(result, exact, goal)
    if goal == "rad" and (prior == "uniform" or name == "GRR"):
        check_terms(result, exact)
    interval = getattr(result, goal)
    for wrong in aim.wrong:
        assert wrong < interval.low or wrong > interval.high


@pytest.mark.parametrize(("name", "m", "prior", "goal", "epsilon"), list(cases(listed=True)))
def test_too_many_trials_for_power(name, m, prior, goal, epsilon):
    aim = measured(name, m, prior, goal, epsilon)
    assert aim.power(MOST_TRIALS) < 0.99
    affordable = AFFORDABLE.get(name, 100_000) if m == LARGE else 100_000
    check_agreement(run(name, m, prior, goal, epsilon, affordable), assessed(name, m, prior, epsilon), goal)


def test_the_page_lists_the_cases_without_power():
    """Every listed case stands on the page with its power; power numbers are computed, not copied."""
    page = Path(__file__).with_name("attack_power.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| protocol")]
    assert rows == [line for line in power_table() if not line.startswith(("| protocol", "|---"))]


def power_table() -> list[str]:
    """The rows of that page: which cases, how many trials they would need, what 2 10^7 can do."""
    lines = ["| protocol | values | prior | number | epsilon | trials needed | power of 20 million |", "|---" * 7 + "|"]
    for name, listed in LISTED.items():
        for case in ALL:
            if case in listed:
                aim = measured(name, *case)
                power = f"{math.floor(1000 * aim.power(MOST_TRIALS)) / 1000:.3f}"
                m, prior, goal, epsilon = case
                needed = f"{trials_needed(aim):.0e}".replace("e+0", "e").replace("e+", "e")
                lines.append(f"| {name} | {m:,} | {prior} | {goal} | {epsilon} | {needed} | {power} |")
    return lines


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_histogram_of_two_values(epsilon):
    """With two values rad is 2 pi_1 pi_2 tv, whatever the prior is: an exact number for histogram encoding."""
    tv = 1 - np.exp(-epsilon / 2) * (2 + epsilon / 2) / 2
    result = run("SHE", 2, "skewed", "rad", epsilon, 500_000)
    assert result.rad.low <= 2 * 0.7 * 0.3 * tv <= result.rad.high
    assert result.rad.high - result.rad.low < 0.02


@pytest.mark.parametrize("name", ["SubsetSelection", "SUE", "OUE", "BLH", "OLH", "THE", "HadamardResponse"])
def test_terms_with_a_skewed_prior(name):
    check_terms(run(name, 2, "skewed", "rad", 2, 500_000), assessed(name, 2, "skewed", 2))
