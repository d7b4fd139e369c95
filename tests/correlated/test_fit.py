"""Models from data: estimates, missing values, and checks that find what is wrong and leave the rest alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpradar import correlated as co
from dpradar.errors import ParameterError

RUNS = 200


def _check(fit: co.Fit, name: str):
    return next(one for one in fit.checks if one.name == name)


def _families(rng, groups=300, rho=0.4, sd=(3.0, 2.0), shape=None):
    S = np.array([[sd[0] ** 2, rho * sd[0] * sd[1]], [rho * sd[0] * sd[1], sd[1] ** 2]])
    return rng.multivariate_normal([170.0, 165.0], S, size=groups) if shape is None else shape(rng, groups)


def _table(rows):
    return {"a": rows[:, 0].tolist(), "b": rows[:, 1].tolist()}


def _long(rows):
    n = len(rows)
    return {
        "family": [k for k in range(n) for _ in range(2)],
        "height": rows.ravel().tolist(),
        "role": ["a", "b"] * n,
    }


def _series(P, n, rng, first=0):
    states = [first]
    for u in rng.random(n - 1):
        states.append(int(np.searchsorted(np.cumsum(P[states[-1]]), u)))
    return states


# Groups.


def test_wide_and_long_tables_give_the_same_model():
    rows = _families(np.random.default_rng(1))
    wide = co.fit(_table(rows), columns=["a", "b"], clip=(100.0, 220.0))
    long = co.fit(_long(rows), group="family", value="height", role="role", clip=(100.0, 220.0))
    assert np.allclose(wide.model.covariances[0], np.cov(rows.T), rtol=1e-12)
    assert np.allclose(long.model.covariances[0], np.cov(rows.T), rtol=1e-12)
    one, two = (co.leakage(fit, 1.0) for fit in (wide, long))
    assert one.leakage.value == pytest.approx(two.leakage.value, rel=1e-12)
    assert one.leakage.rule == "lemma-6.10"
    assert wide.answer == pytest.approx(np.clip(rows, 100.0, 220.0).sum())


def test_records_of_one_kind():
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 5, size=400)
    family = np.repeat(np.arange(400), sizes)
    values = 3.0 * math.sqrt(0.3) * rng.normal(size=400)[family] + 3.0 * math.sqrt(0.7) * rng.normal(size=family.size)
    fit = co.fit({"g": family.tolist(), "v": values.tolist()}, group="g", value="v", clip=(-15.0, 15.0))
    (S,) = fit.model.covariances
    assert S.shape == (4, 4)
    assert S[0, 1] / S[0, 0] == pytest.approx(0.3, abs=0.1)
    assert len({float(x) for x in np.diag(S)}) == 1
    result = co.leakage(fit, 1.0)
    usable = {one.rule for one in result.theorems if one.usable}
    assert usable == {"thm-6.3", "lemma-6.10", "lemma-6.10-clipped", "thm-6.14", "thm-6.14-tight"}
    assert "all records of a group are of one kind" in result.leakage.assumes


def test_smaller_kinds_of_groups_are_left_out_and_leak_less():
    rows = {
        "g": ["x", "x", "x", "y", "y", "z", "z", "w"],
        "v": [1.0, 2.5, 3.0, 4.0, 1.5, 2.0, 2.6, 3.5],
        "k": ["p", "p", "c", "p", "p", "p", "c", "c"],
    }
    fit = co.fit(rows, group="g", value="v", role="k", model="gaussian")
    assert [S.shape for S in fit.model.covariances] == [(3, 3)]
    S = fit.model.covariances[0]
    from dpradar.correlated.gaussian import reach

    for part in ([0, 1], [0, 2], [1, 2]):
        assert reach(S[np.ix_(part, part)]).value <= reach(S).value + 1e-12


def test_missing_values_are_said():
    rows = _families(np.random.default_rng(3), groups=50)
    table = _table(rows)
    table["a"][4], table["b"][7], table["b"][8] = None, "NA", ""
    fit = co.fit(table, columns=["a", "b"])
    assert "3 of 50 rows have a missing value and are left out" in fit.notes
    assert fit.model.records == 94
    long = _long(rows)
    long["height"][10], long["family"][3] = math.nan, ""
    fit = co.fit(long, group="family", value="height", role="role")
    assert "2 of 100 rows have no value or no group and are left out" in fit.notes
    assert fit.model.records == 98


def test_values_that_are_not_normal_are_noticed_and_the_model_is_not_used():
    rng = np.random.default_rng(4)
    rows = rng.exponential(size=(300, 2)) + rng.exponential(size=(300, 1))
    fit = co.fit(_table(rows), columns=["a", "b"], clip=(0.0, 10.0))
    assert _check(fit, "normal").holds is False
    result = co.leakage(fit, 1.0)
    assert result.leakage.rule == "thm-6.3"
    assert result.leakage.value == 2.0
    assert result.at_least is None
    assert result.model == "groups of at most 2 records"
    lemma = next(one for one in result.theorems if one.rule == "lemma-6.10")
    assert not lemma.usable
    assert lemma.claimed > 1.0
    assert "the data speak against the model (check normal)" in lemma.why
    named = co.leakage(co.fit(_table(rows), columns=["a", "b"], clip=(0.0, 10.0), model="gaussian"), 1.0)
    assert named.leakage.rule in ("lemma-6.10", "lemma-6.10-clipped")
    assert any("although the data speak against it" in text for text in named.leakage.assumes)


def test_normal_values_are_seldom_refused():
    """At significance 0.01; 200 tables, so more than 9 refusals have probability below 1e-4."""
    rng = np.random.default_rng(5)
    refused = sum(
        _check(co.fit(_table(_families(rng, groups=150)), columns=["a", "b"]), "normal").holds is False
        for _ in range(RUNS)
    )
    assert refused <= 9


@pytest.mark.parametrize("n", [20, 55, 400])
def test_scores_of_normality_are_those_of_scipy(n):
    from scipy import stats

    from dpradar.correlated.hypothesis_checks import _kurtosis_score, _skew_score

    for power in (1, 3):
        x = np.random.default_rng(n).normal(size=n) ** power
        z = (x - x.mean()) / x.std()
        assert _skew_score(float((z**3).mean()), n) == pytest.approx(stats.skewtest(x).statistic, rel=1e-9)
        assert _kurtosis_score(float((z**4).mean()) - 3.0, n) == pytest.approx(
            stats.kurtosistest(x).statistic, rel=1e-9
        )


def test_variances_and_correlations_are_checked():
    rows = _families(np.random.default_rng(6), sd=(4.0, 2.0))
    fit = co.fit(_table(rows), columns=["a", "b"])
    assert _check(fit, "equal-variances").holds is False
    assert _check(fit, "rho(m-2)<1").holds is True
    assert _check(fit, "positive-definite").holds is True
    alike = co.fit(_table(_families(np.random.default_rng(6), sd=(2.0, 2.0))), columns=["a", "b"])
    assert _check(alike, "equal-variances").holds is None
    strong = np.random.default_rng(7).normal(size=(300, 1)) + 0.3 * np.random.default_rng(8).normal(size=(300, 4))
    table = {name: strong[:, k].tolist() for k, name in enumerate("abcd")}
    fit = co.fit(table, columns=list("abcd"), clip=(-5.0, 5.0), model="gaussian")
    assert _check(fit, "rho(m-2)<1").holds is False
    printed = next(one for one in co.leakage(fit, 1.0).theorems if one.rule == "thm-6.14")
    assert not printed.usable


def test_sorted_groups_are_noticed():
    rows = _families(np.random.default_rng(9))
    plain = _check(co.fit(_table(rows), columns=["a", "b"]), "independent-groups")
    assert plain.holds is None
    assert "no sign" in plain.text
    ordered = rows[np.argsort(rows.sum(axis=1))]
    assert "sorted" in _check(co.fit(_table(ordered), columns=["a", "b"]), "independent-groups").text


def test_targets_cover_the_data():
    rows = _families(np.random.default_rng(10))
    clip = (float(np.quantile(rows, 0.05)), float(np.quantile(rows, 0.95)))
    fit = co.fit(_table(rows), columns=["a", "b"], clip=clip)
    assert _check(fit, "within-clip").holds is False
    wide, narrow = co.leakage(fit, 1.0), co.leakage(fit, 1.0, targets=clip)
    assert wide.leakage.value > narrow.leakage.value
    assert f"between {rows.min():g} and {rows.max():g}" in wide.leakage.assumes[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["a"]}, "at least 2 different columns"),
        ({"columns": ["a", "nope"]}, "a column: a, b"),
        ({}, "either group and value, or columns"),
        ({"columns": ["a", "b"], "model": "normal"}, '"groups" or "gaussian"'),
    ],
)
def test_bad_tables(options, message):
    with pytest.raises(ParameterError, match=message):
        co.fit({"a": [1.0, 2.0, 3.0], "b": [2.0, 1.0, 4.0]}, **options)


def test_messages_do_not_show_the_data():
    with pytest.raises(ParameterError) as caught:
        co.fit({"a": [1.0, "secret17"], "b": [2.0, 1.0]}, columns=["a", "b"])
    assert "secret17" not in str(caught.value)


def test_a_model_is_not_asked_for():
    rows = _families(np.random.default_rng(11))
    fit = co.fit(_table(rows), columns=["a", "b"], model="groups")
    assert isinstance(fit.model, co.Groups)
    assert co.leakage(fit, 2.0).leakage.value == 4.0


# Series.

LAZY = np.array([[0.9, 0.1], [0.3, 0.7]])


def test_transition_probabilities_and_gaps():
    series = [0, 0, 1, 1, None, 1, 0, 0, math.nan, "NA", 0, 1]
    fit = co.fit(series)
    assert np.allclose(fit.model.transitions, [[0.5, 0.5], [0.5, 0.5]])  # no transition across a gap
    assert fit.model.length == 12
    assert fit.notes == ("3 missing entries in 2 gaps interrupt the series", "9 records")
    joined = co.fit(series, missing="drop")
    assert joined.model.length == 9
    assert np.allclose(joined.model.transitions, [[3 / 5, 2 / 5], [1 / 3, 2 / 3]])
    with pytest.raises(ParameterError, match="without missing entries"):
        co.fit(series, missing="refuse")


def test_a_chain_is_found_again():
    series = _series(LAZY, 20_000, np.random.default_rng(1))
    fit = co.fit(series)
    assert np.abs(fit.model.transitions - LAZY).max() < 0.02
    assert fit.doubts == ()
    assert fit.values == (0.0, 1.0)
    assert fit.answer == sum(series)


def test_chains_are_seldom_doubted():
    """Two tests at significance 0.01: of 200 chains more than 14 doubted have probability below 1e-4."""
    rng = np.random.default_rng(2)
    assert sum(bool(co.fit(_series(LAZY, 600, rng)).doubts) for _ in range(RUNS)) <= 14


def test_longer_memory_is_noticed():
    rng = np.random.default_rng(3)
    series = [0, 0]
    for u in rng.random(4000):
        series.append(int(u < (0.8 if series[-2] else 0.2)))
    fit = co.fit(series)
    assert "one-step-memory" in [check.name for check in fit.doubts]
    assert co.leakage(fit, 1.0).leakage.rule == "thm-6.3"  # which needs no model
    claimed = co.leakage(co.fit(series, model="markov"), 1.0)
    assert claimed.leakage.rule == "chain-steps"
    assert any("depends on more than the one before" in text for text in claimed.leakage.assumes)


def test_change_over_time_is_noticed():
    rng = np.random.default_rng(4)
    series = _series(LAZY, 2000, rng) + _series(LAZY[::-1, ::-1], 2000, rng)
    assert "stationary" in [check.name for check in co.fit(series).doubts]
    day = [x for k in range(40) for x in _series(LAZY if k % 2 else LAZY[::-1, ::-1], 50, rng)]
    assert "same-all-day" in [check.name for check in co.fit(day, period=100).doubts]


def test_rare_states():
    with pytest.raises(ParameterError, match="every state is followed"):
        co.fit([0, 0, 1, 0, 2])
    with pytest.raises(ParameterError, match="at least 2 different states"):
        co.fit([1, 1, 1])
    with pytest.raises(ParameterError, match="at most 50 states"):
        co.fit(list(range(60)) * 2)
    fit = co.fit([0, 0, 1, 0, 0, 1, 0])  # 1 is never followed by 1
    assert _check(fit, "positive").holds is False
    result = co.leakage(fit, 1.0)
    assert {one.rule for one in result.theorems if not one.usable} == {"thm-6.20", "thm-6.20-tight"}
    assert result.leakage.rule == "all-attackers"  # few enough records
    # Ones come apart, so that a count gives less away than some other mechanism would.
    assert result.leakage.value < next(one.bound.value for one in result.theorems if one.rule == "chain-steps")


def test_words_as_states():
    fit = co.fit(["walk", "rest", "rest", "walk", "run", "run", "walk", "rest", "run", "rest"])
    assert fit.model.states == 3
    assert fit.values is None
    assert "any mechanism" in co.leakage(fit, 1.0).release
