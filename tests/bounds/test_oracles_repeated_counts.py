"""Local reports repeated about the same value: counts against every sequence of reports, in exact fractions.

e^epsilon is rational, so the twin's numbers are exact; what may differ is dpradar's own rounding, at most 1e-12.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpradar as dr
from dpradar.bounds.exact import repeated_counts as engine
from dpradar.bounds.exact.finite_channel import finite_risk
from dpradar.bounds.exact.repeated_counts import count_risk
from dpradar.bounds.question import Inapplicable
from dpradar.errors import NumericsError, ParameterError
from dpradar.mechanisms.counts import (
    CountChannel,
    CountModel,
    TooMany,
    binomial,
    count_channel,
    of_grr,
    of_subset,
    of_unary,
    subset_law,
)
from tests.every import every
from tests.strategies import cases
from tests.twin import channels, repeated
from tests.worlds import epsilon_of

F = Fraction
TOLERANCE = 1e-12
NAMES = ("grr", "oue", "sue", "ss")
PRIORS = {
    "uniform": lambda m: [F(1, m)] * m,
    "linear": lambda m: [F(2 * (i + 1), m * (m + 1)) for i in range(m)],
    "empty value": lambda m: [F(0)] + [F(1, m - 1)] * (m - 1),
    "point mass": lambda m: [F(0)] * (m - 1) + [F(1)],
}
KNOWN = {
    "nothing": lambda m: [0] * m,
    "everything": lambda m: list(range(m)),
    "pairs": lambda m: [i // 2 for i in range(m)],
}
# Few enough sequences of reports: (values, reports).
SIZES = {
    "grr": [(2, 1), (2, 4), (3, 2), (3, 3), (3, 4), (4, 3), (5, 2), (5, 4), (6, 3)],
    "oue": [(2, 1), (2, 2), (2, 4), (3, 2), (3, 3), (4, 2)],
    "sue": [(2, 1), (2, 2), (2, 4), (3, 2), (3, 3), (4, 2)],
    "ss": [(4, 3), (5, 1), (5, 2), (5, 3), (5, 4), (6, 2), (6, 3), (7, 2)],  # 4: sets of 1 value, 7: of 3
}
CASES = [(name, m, times) for name in NAMES for m, times in SIZES[name]]


def pair(name: str, m: int, ratio: Fraction):
    """The mechanism with its twin; SUE needs a rational e^(eps/2), so its epsilon is twice the logarithm."""
    if name == "sue":
        return dr.SUE(m, 2 * epsilon_of(ratio)), channels.sue(m, ratio)
    if name == "grr":
        return dr.GRR(m, epsilon_of(ratio)), channels.grr(m, ratio)
    if name == "oue":
        return dr.OUE(m, epsilon_of(ratio)), channels.oue(m, ratio)
    return dr.SubsetSelection(m, epsilon_of(ratio)), channels.subset_selection(m, ratio)


def model_of(mechanism, times: int) -> CountModel:
    if isinstance(mechanism, dr.GRR):
        return of_grr(mechanism, times)
    return of_subset(mechanism, times) if isinstance(mechanism, dr.SubsetSelection) else of_unary(mechanism, times)


def local(name: str, m: int, epsilon: float, times: int) -> CountModel:
    kinds = {"grr": dr.GRR, "oue": dr.OUE, "sue": dr.SUE, "ss": dr.SubsetSelection}
    return model_of(kinds[name](m, epsilon), times)


def cover_of(m: int, known: str = "nothing", prior: dr.Prior | None = None):
    prior = dr.Prior.uniform(m) if prior is None else prior
    return prior, dr.Threat(prior, dr.Knowledge.labels(KNOWN[known](m))).cover


def risk(model: CountModel, known: str = "nothing"):
    return count_risk(model, *cover_of(model.m, known))


def assert_holds(computed, expected: dict[str, Fraction], width: float) -> None:
    """The intervals that are given hold the twin's numbers and are at most ``width`` wide."""
    for quantity in ("rad", "success"):
        interval = getattr(computed, quantity)
        if interval is not None:
            low, high = interval
            assert low - TOLERANCE <= expected[quantity] <= high + TOLERANCE, quantity
            assert high - low <= width, quantity
    if computed.hit is not None:
        assert computed.hit == pytest.approx(float(expected["hit"]), abs=TOLERANCE)


# All sequences of reports.


@pytest.mark.parametrize(("name", "m", "times"), CASES)
def test_against_every_sequence(name, m, times):
    mechanism, P = pair(name, m, F(5, 4) if name == "ss" or times % 2 else F(3))
    model, reports = model_of(mechanism, times), repeated.sequences(P, times)
    for known, law in itertools.product(KNOWN, PRIORS.values()):
        expected = repeated.sequence_risk(reports, law(m), KNOWN[known](m))
        prior, cover = cover_of(m, known, dr.Prior.of([float(p) for p in law(m)]))
        listed = finite_risk(count_channel(model), prior, cover)
        assert_holds(listed, expected, 0.0)
        assert listed.hit is not None
        if model.omega is not None and not prior.is_uniform and cover.blocks:
            with pytest.raises(Inapplicable):
                count_risk(model, prior, cover)
            continue
        computed = count_risk(model, prior, cover)
        # Everything known, a prior that is not uniform and counts that depend on each other: an interval only.
        narrow = model.omega is None or prior.is_uniform
        assert_holds(computed, expected, 1e-6 if narrow else 0.05)
        if prior.is_uniform and known != "pairs":
            assert computed.rad is not None
            assert computed.hit is not None


@pytest.mark.parametrize(("name", "m", "times"), [("grr", 3, 4), ("oue", 2, 4), ("sue", 3, 2), ("ss", 5, 3)])
@pytest.mark.parametrize("ratio", [F(1), F(20)])
def test_no_privacy_loss_and_much_of_it(name, m, times, ratio):
    mechanism, P = pair(name, m, ratio)
    model, reports = model_of(mechanism, times), repeated.sequences(P, times)
    for known in ("nothing", "everything"):
        expected = repeated.sequence_risk(reports, PRIORS["uniform"](m), KNOWN[known](m))
        computed = risk(model, known)
        assert_holds(computed, expected, 0.0)
        assert computed.hit is not None
        assert (computed.rad == (0.0, 0.0)) == (ratio == 1)


@pytest.mark.parametrize(
    ("name", "m", "times"), [("grr", 3, 4), ("grr", 2, 3), ("oue", 3, 2), ("sue", 2, 4), ("ss", 5, 3)]
)
def test_distance_of_two_values(name, m, times):
    for ratio in (F(1), F(5, 4), F(3)):
        mechanism, P = pair(name, m, ratio)
        expected = repeated.pair_distance(repeated.sequences(P, times))
        assert model_of(mechanism, times).pair_tv == pytest.approx(float(expected), abs=TOLERANCE)


# Larger sizes, against other formulas.


@pytest.mark.parametrize(("m", "times"), [(2, 9), (7, 12), (20, 10), (40, 6)])
def test_randomised_response_against_whole_numbers(m, times):
    for ratio in (F(11, 10), F(3), F(50)):
        expected = float(repeated.grr_success(m, times, ratio))
        computed = risk(of_grr(dr.GRR(m, epsilon_of(ratio)), times))
        assert computed.success[0] == computed.success[1] == computed.hit
        assert computed.success[1] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(("m", "times"), [(2, 9), (30, 12), (200, 5)])
def test_unary_encoding_against_whole_numbers(m, times):
    for ratio in (F(11, 10), F(3), F(50)):
        oue = repeated.unary_success(m, times, F(1, 2), 1 / (ratio + 1))
        sue = repeated.unary_success(m, times, ratio / (ratio + 1), 1 / (ratio + 1))
        assert risk(of_unary(dr.OUE(m, epsilon_of(ratio)), times)).success[1] == pytest.approx(float(oue), rel=1e-13)
        assert risk(of_unary(dr.SUE(m, 2 * epsilon_of(ratio)), times)).success[1] == pytest.approx(
            float(sue), rel=1e-13
        )


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize(
    ("name", "m", "times"), [("grr", 6, 8), ("oue", 4, 6), ("sue", 5, 4), ("ss", 7, 4), ("ss", 9, 2)]
)
def test_against_the_listed_counts(name, m, times, known):
    model = local(name, m, 0.9, times)
    prior, cover = cover_of(m, known)
    listed, computed = finite_risk(count_channel(model), prior, cover), count_risk(model, prior, cover)
    assert computed.success == pytest.approx(listed.success, abs=TOLERANCE)
    if known != "pairs":
        assert computed.rad == pytest.approx(listed.rad, abs=TOLERANCE)
        assert computed.hit == pytest.approx(listed.hit, abs=TOLERANCE)


@pytest.mark.parametrize("name", ["oue", "sue"])
@pytest.mark.parametrize("known", ["nothing", "pairs"])
def test_bits_with_any_prior(name, known):
    model = local(name, 6, 1.3, 4)
    rng = np.random.default_rng(5)
    for concentration in (0.1, 1.0, 10.0):
        prior, cover = cover_of(6, known, dr.Prior.of(rng.dirichlet(np.full(6, concentration))))
        expected = finite_risk(count_channel(model), prior, cover).success
        assert count_risk(model, prior, cover).success == pytest.approx(expected, abs=TOLERANCE)


@every("name", NAMES)
@every("known", KNOWN)
@every("m", [2, 7, 300])
def test_one_report_is_the_engine_there_was(name, known, m):
    kinds = {"grr": dr.GRR, "oue": dr.OUE, "sue": dr.SUE, "ss": dr.SubsetSelection}
    for epsilon in (0.05, 1.0, 6.0):
        mechanism = kinds[name](m, epsilon)
        prior, cover = cover_of(m, known)
        before = dr.assess(mechanism, dr.Threat(prior, dr.Knowledge.labels(KNOWN[known](m))))
        computed = count_risk(model_of(mechanism, 1), prior, cover)
        assert computed.success == pytest.approx((before.success.value,) * 2, abs=TOLERANCE)
        if computed.rad is not None:
            low, high = computed.rad  # rounding is part of it where it is not negligible beside the value
            assert low - TOLERANCE <= before.rad.value <= high + TOLERANCE
            assert high - low <= 2.0 * TOLERANCE
            assert computed.hit == pytest.approx(before.hit, abs=1e-11)
        assert (computed.rad is None) == (known == "pairs" and m > 2)


def test_known_record_and_a_goal_that_is_easy_for_some_values():
    """Within 2 of 0, 1, 2, 3, 4: every guess is right for the middle value, which adds nothing."""
    prior = dr.Prior.uniform(5)
    cover = dr.Threat(prior, dr.Knowledge.everything(), dr.Goal.within(2.0)).cover
    for name in NAMES:
        model = local(name, 5, 1.1, 3)
        listed, computed = finite_risk(count_channel(model), prior, cover), count_risk(model, prior, cover)
        assert computed.rad == pytest.approx(listed.rad, abs=TOLERANCE)
        assert computed.hit == pytest.approx(listed.hit, abs=TOLERANCE)


# Where counts are too many: the intervals.


@pytest.fixture
def nothing_listed(monkeypatch):
    """No enumeration is allowed, so that only the intervals are left."""
    for name in ("_CELLS", "_STEPS", "_WORK"):
        monkeypatch.setattr(engine, name, 0)

    def refuse(*_args):
        raise TooMany

    monkeypatch.setattr(engine, "subset_law", refuse)


EXACT = {
    (name, m, times, epsilon): (
        risk(local(name, m, epsilon, times)),
        risk(local(name, m, epsilon, times), "everything"),
    )
    for name, m, times, epsilon in [
        ("grr", 3, 5, 1.0),
        ("grr", 10, 12, 0.4),
        ("grr", 50, 20, 2.0),
        ("ss", 6, 3, 0.3),
        ("ss", 12, 6, 1.0),
        ("ss", 40, 4, 0.7),
        ("oue", 4, 5, 0.5),
        ("oue", 30, 3, 2.0),
        ("sue", 8, 6, 1.5),
        ("sue", 3, 9, 0.1),
    ]
}


@pytest.mark.usefixtures("nothing_listed")
@pytest.mark.parametrize("case", EXACT, ids=str)
def test_intervals_hold_the_exact_value(case):
    name, m, times, epsilon = case
    model = local(name, m, epsilon, times)
    for known, exact in zip(("nothing", "everything"), EXACT[case], strict=True):
        computed = risk(model, known)
        for interval, (value, _) in ((computed.rad, exact.rad), (computed.success, exact.success)):
            assert interval[0] - 1e-11 <= value <= interval[1] + 1e-11
        if model.omega is not None:
            assert exact.rad[0] - computed.rad[0] <= 0.08
            assert computed.rad[1] - exact.rad[0] <= (0.05 if known == "nothing" else 0.02)
            assert computed.hit is None
        elif known == "everything":
            assert 0.0 < computed.rad[1] - computed.rad[0] <= 1e-6


@pytest.mark.parametrize("name", ["oue", "sue"])
@pytest.mark.parametrize("pi", [[0.5, 0.2, 0.1, 0.1, 0.1], [0.0, 0.7, 0.3], [0.4, 0.3, 0.2, 0.1]])
def test_known_record_under_another_prior(name, pi):
    prior, cover = cover_of(len(pi), "everything", dr.Prior.of(pi))
    model = local(name, len(pi), 1.0, 3)
    expected = finite_risk(count_channel(model), prior, cover).rad[0]
    low, high = count_risk(model, prior, cover).rad
    assert low - 1e-11 <= expected <= high + 1e-11
    assert high - low <= 1e-6


def test_large_subsets_stay_between_their_bounds():
    """3 reports of about 1440 of 5356 values: the programme against the interval, which knows nothing of it."""
    model = local("ss", 5356, 1.0, 3)
    exact = risk(model).success[0]
    own, blank = model.own, model.blank
    low = sum(own[n] * engine._win_chance(blank, n, 5356) for n in range(4))
    high = sum(own[n] * engine._win_chance(model.others(n), n, 5356) for n in range(4))
    assert low < exact < high < 1.002 * low


def test_thousands_of_values_and_hundreds_of_reports():
    """The same numbers as independent counts give up to 1 part in 1000, on the right side."""
    model = local("grr", 5356, 8.0, 400)
    computed = risk(model)
    assert computed.success[0] == computed.success[1]
    chances = [engine._win_chance(model.others(n), n, 5356) for n in range(401)]
    assert computed.success[1] <= float(model.own @ chances) <= computed.success[1] * 1.001


# Shape.


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("known", ["nothing", "everything"])
def test_more_reports_never_hurt_the_attacker(name, known):
    for m, epsilon in ((3, 0.5), (9, 1.0), (9, 4.0)):
        rads = [risk(local(name, m, epsilon, times), known).rad for times in (1, 2, 3, 4, 5, 8)]
        assert all(after[1] >= before[0] - TOLERANCE for before, after in itertools.pairwise(rads))
        assert rads[-1][1] > rads[0][1] + 0.01


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("known", ["nothing", "everything"])
def test_limits(name, known):
    for m in (2, 5):
        assert risk(local(name, m, 0.0, 7), known).rad == (0.0, 0.0)
        assert risk(local(name, m, 2.0, 400), known).rad[1] == pytest.approx(1 - 1 / m, abs=1e-9)
        for epsilon in (50.0, 690.0, 700.0, 1e4):
            computed = risk(local(name, m, epsilon, 3), known)
            # OUE keeps the true bit in one of two reports only.
            silent = 0.5**3 if name == "oue" else 0.0
            assert computed.rad[1] == pytest.approx((1 - silent) * (1 - 1 / m), abs=1e-9)


@cases(0.5)
@given(
    st.sampled_from(NAMES),
    st.integers(2, 12),
    st.floats(0.0, 8.0),
    st.integers(1, 9),
    st.sampled_from(["nothing", "everything"]),
)
def test_never_above_composition(name, m, epsilon, times, known):
    model = local(name, m, epsilon, times)
    low, high = risk(model, known).rad
    one = local(name, m, epsilon, 1).pair_tv
    assert 0.0 <= low <= high <= (1 - 1 / m) * (1 - (1 - one) ** times) + 1e-9
    assert low <= (1 - 1 / m) * model.pair_tv + 1e-9
    assert model.pair_tv <= 1 - (1 - one) ** times + TOLERANCE
    assert high >= risk(local(name, m, epsilon, 1), known).rad[0] - 1e-9


# Simulation.


def simulated_hits(name: str, m: int, epsilon: float, times: int, draws: int, seed: int) -> int:
    """Right guesses of the value reported most often, ties broken at random, drawn without dpradar."""
    rng = np.random.default_rng(seed)
    p, q = 0.5, 1.0 / (math.exp(epsilon) + 1.0)
    hits = 0
    for _ in range(draws // 1000):
        if name == "grr":
            keep = math.exp(epsilon) / (math.exp(epsilon) + m - 1)
            own = rng.binomial(times, keep, 1000)
            others = rng.multinomial(times - own, np.full(m - 1, 1.0 / (m - 1)))
        else:
            own, others = rng.binomial(times, p, 1000), rng.binomial(times, q, (1000, m - 1))
        table = np.column_stack([own, others]) + 0.5 * rng.random((1000, m))
        hits += int((table.argmax(axis=1) == 0).sum())
    return hits


@pytest.mark.parametrize(("name", "m", "times"), [("grr", 30, 25), ("oue", 40, 12)])
def test_simulation_agrees_and_would_notice(name, m, times):
    """Hoeffding: off by more than sqrt(ln(2e9) / 2n) with probability at most 1e-9."""
    draws, epsilon = 60_000, 1.6
    rate = simulated_hits(name, m, epsilon, times, draws, seed=3) / draws
    slack = math.sqrt(math.log(2e9) / (2 * draws))
    assert abs(risk(local(name, m, epsilon, times)).success[1] - rate) <= slack
    for factor in (0.7, 1.3):
        assert abs(risk(local(name, m, factor * epsilon, times)).success[1] - rate) > slack


# The pieces.


@every("name", NAMES)
@every(("m", "times"), [(2, 3), (5, 1), (6, 3)])
@every("columns", [1, 7, 10_000])
def test_channel_is_what_it_says(name, m, times, columns):
    channel = CountChannel(local(name, m, 0.4, times))
    blocks = list(channel.chunks(columns))
    assert max(block.shape[1] for block in blocks) <= columns
    table = np.hstack(blocks)
    assert table.shape == (channel.inputs, channel.outputs) == (m, channel.outputs)
    assert table.sum(axis=1) == pytest.approx(np.ones(m), abs=TOLERANCE)


def test_channels_too_large_to_list():
    assert count_channel(local("grr", 5356, 1.0, 300)).outputs == 1 << 62
    assert count_channel(local("oue", 5356, 1.0, 300)).outputs == 1 << 62
    assert count_channel(local("ss", 5356, 1.0, 2)) is None
    assert count_channel(local("ss", 60, 1.0, 2)) is None
    assert count_channel(local("ss", 60, 9.0, 2)).outputs == 60 * 61 // 2  # sets of one value: randomised response


@pytest.mark.parametrize(("n", "p"), [(1, 0.5), (10, 0.3), (500, 0.01), (500, 0.999)])
def test_binomial_law(n, p):
    law = binomial(n, math.log(p / (1 - p)))
    exact = [float(mpmath.binomial(n, j) * mpmath.mpf(p) ** j * (1 - mpmath.mpf(p)) ** (n - j)) for j in range(n + 1)]
    assert law == pytest.approx(np.array(exact), rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("sizes", [[2, 2, 2], [1, 3, 2, 3], [4, 4]])
def test_histograms_of_subsets(sizes):
    """Against all sequences of subsets; then only how many values reach the top is compared."""
    m, top = 5, 2
    seen: dict[tuple[int, ...], int] = {}
    for sequence in itertools.product(*(list(itertools.combinations(range(m), size)) for size in sizes)):
        tally = np.bincount(np.concatenate([np.array(s) for s in sequence]), minlength=m)
        key = tuple(np.bincount(tally, minlength=len(sizes) + 1).tolist())
        seen[key] = seen.get(key, 0) + 1
    total = sum(seen.values())
    states, weights = subset_law(sizes, m, 0, len(sizes), 0)
    law = {tuple(row[1:]): weight for row, weight in zip(states.tolist(), weights.tolist(), strict=True)}
    assert law == pytest.approx({key: count / total for key, count in seen.items()}, abs=TOLERANCE)

    states, weights = subset_law(sizes, m, 0, top, top)
    reach = {row[1]: weight for row, weight in zip(states.tolist(), weights.tolist(), strict=True)}
    expected: dict[int, float] = {}
    for key, count in seen.items():
        if not any(key[top + 1 :]):
            expected[key[top]] = expected.get(key[top], 0.0) + count / total
    assert reach == pytest.approx(expected, abs=TOLERANCE)


def test_a_wrong_total_is_noticed(monkeypatch):
    monkeypatch.setattr(engine, "_win_chances", lambda _model, counts, _size: [0.5] * len(counts))
    with pytest.raises(NumericsError, match="to win add up to"):
        risk(local("grr", 4, 1.0, 3))
    monkeypatch.setattr(engine, "_partitions", lambda m, times: (np.eye(times + 1, dtype=int) * m, np.zeros(times + 1)))
    with pytest.raises(NumericsError, match="histograms of counts add up to"):
        risk(local("grr", 4, 1.0, 3), "everything")


def test_what_does_not_apply_says_so():
    model = local("grr", 4, 1.0, 3)
    skewed = dr.Prior.of([0.4, 0.3, 0.2, 0.1])
    with pytest.raises(Inapplicable, match="uniform prior, or independent bits"):
        count_risk(model, *cover_of(4, "nothing", skewed))
    with pytest.raises(Inapplicable, match="4 values"):
        count_risk(model, *cover_of(5))
    with pytest.raises(Inapplicable, match="separates"):
        count_risk(model, skewed, dr.Threat(skewed, goal=dr.Goal.within(1.0)).cover)
    with pytest.raises(Inapplicable, match="at most 2000 reports"):
        risk(local("grr", 4, 1.0, 20_000))


@pytest.mark.parametrize(
    "numbers",
    [
        (1, 2, 0.1, 0.0, 1, None),
        (3, 0, 0.1, 0.0, 1, None),
        (3, 2, 0.1, 0.0, 3, None),
        (3, 2, 0.1, 0.0, None, 1.0),
        (3, 2, 0.1, 0.0, None, None),
        (3, 2, 0.1, 0.0, 1, 0.5),
        (3, 2, 0.0, 0.1, 1, None),
        (3, 2, math.inf, 0.1, 1, None),
    ],
)
def test_models_that_make_no_sense(numbers):
    with pytest.raises(ParameterError, match="CountModel must be about"):
        CountModel(*numbers)
