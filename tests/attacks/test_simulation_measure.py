"""Intervals of logged attacks hold the true numbers as often as they say, and are narrow enough to be of use.

Coverage: of 2000 simulated logs at confidence 0.9 the intervals miss no more often than chance allows (binomial tail
1e-9). Power: a log as long as the formula asks for rejects a rad that is 30 % off.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import dpradar as dr
from tests.attacks.powers import FAILURE, Measured, trials_needed

LOGS, LEVEL = 2_000, 0.9


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def independent(generator: np.random.Generator, n: int = 60) -> tuple[dict, tuple[float, float]]:
    return {"with": generator.random(n) < 0.6, "without": generator.random(n) < 0.35}, (0.6, 0.35)


def rare(generator: np.random.Generator, n: int = 200) -> tuple[dict, tuple[float, float]]:
    return {"with": generator.random(n) < 0.01, "without": generator.random(2 * n) < 0.001}, (0.01, 0.001)


def paired(generator: np.random.Generator, n: int = 60) -> tuple[dict, tuple[float, float]]:
    """Who is easy to guess is easy with and without the release."""
    easy = generator.random(n) < 0.5
    first = easy | (generator.random(n) < 0.3)
    second = easy & (generator.random(n) < 0.8)
    return {"with": first, "without": second, "paired": True}, (0.5 + 0.5 * 0.3, 0.4)


def clustered(generator: np.random.Generator, n: int = 60, models: int = 5) -> tuple[dict, tuple[float, float]]:
    """Five models for each of 60 targets, which mostly agree: 300 results, but not 300 independent ones."""
    chance = np.repeat(generator.beta(0.3, 0.3, n), models)
    other = np.repeat(generator.beta(0.3, 0.9, n), models)
    log = {"with": generator.random(n * models) < chance, "without": generator.random(n * models) < other}
    return log | {"targets": np.repeat(np.arange(n), models)}, (0.5, 0.25)


def both(generator: np.random.Generator) -> tuple[dict, tuple[float, float]]:
    log, truth = clustered(generator)
    return log | {"paired": True}, truth


KINDS = {"independent": independent, "rare": rare, "paired": paired, "clustered": clustered, "paired targets": both}


def measured(log: dict, **options) -> dr.AttackRun:
    log = dict(log)
    return dr.measure(log.pop("with"), log.pop("without"), **log, **options)


@pytest.mark.parametrize("name", KINDS)
def test_coverage(name):
    generator = rng(1)
    misses = {"success": 0, "false_hit": 0, "rad": 0}
    for _ in range(LOGS):
        log, (success, false_hit) = KINDS[name](generator)
        measurement = measured(log, confidence=LEVEL)
        for quantity, number in (("success", success), ("false_hit", false_hit), ("rad", success - false_hit)):
            interval = getattr(measurement, quantity)
            misses[quantity] += not interval.low <= number <= interval.high
    for count in misses.values():
        assert binom.sf(count - 1, LOGS, 1 - LEVEL) > FAILURE / (3 * len(KINDS))


def test_ignoring_that_results_repeat_does_not_cover():
    """The same clustered logs without targets=: the intervals are too narrow, and the test above would notice."""
    generator, misses = rng(2), 0
    for _ in range(LOGS):
        log, (success, _) = clustered(generator)
        log.pop("targets")
        measurement = measured(log, confidence=LEVEL)
        misses += not measurement.success.low <= success <= measurement.success.high
    assert binom.sf(misses - 1, LOGS, 1 - LEVEL) < FAILURE


def test_pairs_are_more_precise():
    generator = rng(3)
    log, _ = paired(generator, n=5_000)
    apart = {key: value for key, value in log.items() if key != "paired"}
    wide, narrow = measured(apart).rad, measured(log).rad
    assert narrow.estimate == pytest.approx(wide.estimate, abs=1e-12)
    assert narrow.high - narrow.low < wide.high - wide.low


@pytest.mark.parametrize("factor", [0.7, 1.3])
@pytest.mark.parametrize(("success", "false_hit"), [(0.6, 0.35), (0.3, 0.28), (0.02, 0.001)])
def test_power(success, false_hit, factor):
    """As for a run: the false hits are 0 or 1, with the largest variance that their mean allows."""
    rad = success - false_hit
    n = trials_needed(Measured(success, [factor * rad], false_hit, 1.0))
    generator = rng(4)
    measurement = dr.measure(generator.random(n) < success, generator.random(n) < false_hit, confidence=1 - FAILURE)
    assert measurement.rad.low <= rad <= measurement.rad.high
    assert not measurement.rad.low <= factor * rad <= measurement.rad.high


# What counts as right.


def test_guesses_with_truth():
    generator = rng(5)
    truth = generator.choice(["a", "b", "c"], 500)
    guesses = np.where(generator.random(500) < 0.7, truth, "a")
    blind = np.full(500, "a")
    measurement = dr.measure(guesses, blind, truth=truth)
    same = dr.measure(guesses == truth, blind == truth)
    assert (measurement.rad, measurement.success, measurement.false_hit) == (same.rad, same.success, same.false_hit)
    assert measurement.trials == 500


def test_other_people_have_their_own_truth():
    measurement = dr.measure([1, 2, 3], [1, 1], truth=[1, 2, 4], truth_without=[1, 2])
    assert measurement.success.estimate == pytest.approx(2 / 3)
    assert measurement.false_hit.estimate == 0.5


@pytest.mark.parametrize(("within", "right"), [(0.0, 1), (0.5, 2), (1.0, 3), (10.0, 4)])
def test_within(within, right):
    measurement = dr.measure([1.0, 2.5, 4.0, 9.0], [0.0] * 4, truth=[1.0, 2.0, 3.0, 4.0], within=within)
    assert measurement.success.estimate == right / 4


def test_a_missing_guess_is_not_right():
    measurement = dr.measure([np.nan, 1.0], [np.nan, np.nan], truth=[np.nan, 1.0], within=5.0)
    assert measurement.success.estimate == 0.5
    assert measurement.false_hit.estimate == 0.0


def test_averages_per_target():
    """Target a was attacked three times, b once: each counts once."""
    measurement = dr.measure([True, True, False, True], [False] * 4, targets=["a", "a", "a", "b"])
    assert measurement.success.estimate == pytest.approx((2 / 3 + 1) / 2)
    assert measurement.trials == 2
    assert measurement.notes == ("4 results about 2 targets",)


@pytest.mark.parametrize("options", [{}, {"paired": True}, {"targets": np.arange(4_000) // 2}])
def test_an_attack_that_does_worse_with_the_release(options):
    generator = rng(6)
    measurement = dr.measure(
        generator.random(4_000) < 0.2, generator.random(4_000) < 0.5, confidence=1 - FAILURE, **options
    )
    assert measurement.rad.low <= -0.3 <= measurement.rad.high < 0.0


@pytest.mark.parametrize("options", [{}, {"paired": True}, {"targets": ["a"]}])
def test_a_single_result(options):
    measurement = dr.measure([True], [False], **options)
    for interval in (measurement.rad, measurement.success, measurement.false_hit):
        assert -1.0 <= interval.low <= interval.estimate <= interval.high <= 1.0
    assert measurement.rad.low < 0.1  # one result proves nothing


def test_saved_and_loaded(tmp_path):
    measurement = dr.measure([True, False], [False, False], paired=True, name="mine")
    measurement.save(tmp_path / "log.json")
    assert dr.load(tmp_path / "log.json") == measurement
    assert measurement.strategy == "mine"
    assert measurement.explain()


BAD = {
    "nothing": (lambda: dr.measure([], []), "guesses_with must be a list"),
    "no list": (lambda: dr.measure(None, [True]), "guesses_with must be a list"),
    "a table": (lambda: dr.measure([[True]], [[True]]), "one entry per guess"),
    "numbers without truth": (lambda: dr.measure([1, 0], [0, 1]), "booleans when no truth"),
    "a word": (lambda: dr.measure("abc", "abc"), "guesses_with must be a list"),
    "short truth": (lambda: dr.measure([1, 2], [1, 2], truth=[1]), "2 entries"),
    "truth for others": (lambda: dr.measure([1, 2], [1, 2, 3], truth=[1, 2]), "3 entries"),
    "negative": (lambda: dr.measure([1], [1], truth=[1], within=-1), "at least 0"),
    "nan": (lambda: dr.measure([1], [1], truth=[1], within=float("nan")), "at least 0"),
    "words within": (lambda: dr.measure(["a"], ["b"], truth=["a"], within=1), "numbers when within"),
    "pairs": (lambda: dr.measure([True, False], [True], paired=True), "2 entries when paired"),
    "targets": (lambda: dr.measure([True, False], [True, False], targets=["a"]), "2 names"),
    "targets of one": (lambda: dr.measure([True, False], [True], targets=["a", "b"]), "names"),
    "confidence": (lambda: dr.measure([True], [True], confidence=95), "below 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    call, message = BAD[name]
    with pytest.raises(dr.ParameterError, match=message):
        call()


MISTAKES = {
    "within a word": lambda: dr.measure([1], [1], truth=[1], within="x"),
    "within nothing": lambda: dr.measure([1], [1], truth=[1], within=None),
    "guesses of different lengths": lambda: dr.measure([[1], [1, 2]], [1, 2], truth=[1, 2]),
    "truth of different lengths": lambda: dr.measure([1, 2], [1, 2], truth=[[1], [1, 2]]),
    "targets of different lengths": lambda: dr.measure([True] * 2, [True] * 2, targets=[["a"], ["b", "c"]]),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_get_a_message(name):
    with pytest.raises(dr.ParameterError):
        MISTAKES[name]()


def test_words_against_numbers():
    with pytest.raises(dr.ParameterError):
        dr.measure(["1", "2"], ["2", "1"], truth=[1, 2])
