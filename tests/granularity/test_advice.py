"""Mixing times, and advice for streams."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpradar as dr
from dpradar.granularity import advise, mixing_time, transitions
from dpradar.results.advice import Advice

ACTIVITY = [[0.882412, 0.117588], [0.304706, 0.695294]]
ELECTRICITY = [[0.818, 0.182], [0.371, 0.629]]


def test_printed_mixing_times():
    assert (mixing_time(ACTIVITY, 0.25), mixing_time(ACTIVITY, 0.01)) == (2.0, 8.0)
    assert (mixing_time(ELECTRICITY, 0.25), mixing_time(ELECTRICITY, 0.01)) == (2.0, 6.0)
    assert np.linalg.eigvals(np.array(ACTIVITY)).min() == pytest.approx(0.57771, abs=5e-6)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.sampled_from([0.25, 0.05, 0.01, 1e-4]))
def test_two_states_in_closed_form(a, b, tolerance):
    """d(t) = max(w) |lambda|^t."""
    stay = abs(1.0 - a - b)
    largest = max(a, b) / (a + b)
    expected = 1 if stay == 0.0 else max(1, math.ceil(math.log(tolerance / largest) / math.log(stay) - 1e-9))
    steps = mixing_time([[1.0 - a, a], [b, 1.0 - b]], tolerance)
    at = largest * stay ** min(steps, expected)
    assert steps == expected or abs(at - tolerance) < 1e-9  # the limit itself, up to rounding


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_more_states_step_by_step(seed, count):
    rng = np.random.default_rng(seed)
    matrix = rng.random((count, count)) ** 3 + 1e-3
    matrix /= matrix.sum(axis=1, keepdims=True)
    limit = np.linalg.matrix_power(matrix, 100_000)[0]
    power, steps = matrix, 1
    while 0.5 * np.abs(power - limit).sum(axis=1).max() > 0.01:
        power, steps = power @ matrix, steps + 1
    assert mixing_time(matrix, 0.01) == steps


def test_chains_that_never_settle():
    assert mixing_time([[0.0, 1.0], [1.0, 0.0]]) == math.inf
    assert mixing_time(np.eye(3)) == math.inf
    with pytest.raises(dr.ParameterError, match="square matrix"):
        mixing_time([[0.5, 0.4], [0.5, 0.5]])
    with pytest.raises(dr.ParameterError, match="tolerance"):
        mixing_time(ACTIVITY, 0.0)


def test_transitions_are_counted_at_successive_times_only():
    matrix, states = transitions({"ann": {1: "a", 2: "b", 4: "a", 5: "a"}, "bob": {1: "b", 2: "a"}})
    assert states == ("a", "b")
    assert matrix.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    matrix, states = transitions({"ann": {1: 10, 2: 21, 3: 12}}, state=lambda value: value // 10)
    assert states == (1, 2)
    assert transitions({"ann": {1: "a", 2: "b"}})[1] == ()  # nothing follows b


def stream():
    rng = np.random.default_rng(3)
    rows = {}
    for user in range(40):
        row, here = {}, 0
        for time in range(50):
            here = int(rng.random() < ACTIVITY[here][1])
            if user < 39 or time < 7:
                row[time] = here
        rows[user] = row
    return rows


def test_advice_for_a_stream():
    advice = advise(stream(), granularity="event", epsilon=0.1, hidden="values", window=5, clusters=3)
    assert (advice.users, advice.points, advice.most_points, advice.middle_points, advice.times) == (
        40,
        1957,
        50,
        50,
        50,
    )
    assert advice.row("event").implied == 0.1
    assert advice.row("w-event:5").implied == pytest.approx(0.5)
    assert advice.row("l-trajectory:5").implied == pytest.approx(0.5)
    assert advice.row("user:replace-one").implied == pytest.approx(5.0)
    assert advice.row("element:3").implied == pytest.approx(5.0)
    assert advice.mixing_quarter == 2.0
    assert advice.mixing_hundredth in (7.0, 8.0, 9.0)
    assert any("does not exceed the time to mix" in note for note in advice.notes)
    assert any("drags 2 successive points" in note for note in advice.notes)
    text = advice.explain()
    assert "1,957 points" in text
    assert "not differentially private" in text
    longer = advise(stream(), granularity="event", epsilon=0.1, hidden="values", window=12)
    assert any("a window of 12 exceeds" in note for note in longer.notes)
    assert advise(stream(), granularity="event", epsilon=0.1).window > advice.mixing_hundredth


def test_advice_where_people_may_be_missing():
    advice = advise(stream(), granularity="user:add-remove", epsilon=1.0, hidden="people")
    assert advice.row("event").implied == advice.row("user:replace-one").implied == 2.0
    unknown = advise(stream(), granularity="user:replace-one", epsilon=1.0)
    assert unknown.row("event").implied == math.inf
    assert "Infinite under event" in unknown.explain()


def test_advice_reads_back():
    advice = advise(stream(), granularity="user:replace-one", epsilon=1.0)
    data = json.loads(json.dumps(advice.to_dict(), allow_nan=False))
    assert data["schema"] == "dpradar/advice/2"
    assert Advice.from_dict(data) == advice
    with pytest.raises(dr.ParameterError, match="schema"):
        Advice.from_dict({})
    with pytest.raises(dr.ParameterError, match="one of"):
        advice.row("edge")


def test_streams_without_memory():
    alone = advise({"ann": {1: "a"}}, granularity="event", epsilon=1.0)
    assert alone.mixing_quarter is None
    assert "no two points at successive times" in alone.notes[0]
    rhythm = advise({"ann": {t: t % 2 for t in range(10)}}, granularity="event", epsilon=1.0)
    assert any("no window is enough" in note for note in rhythm.notes)


@pytest.mark.parametrize("bad", [{}, {"ann": {}}, {"ann": {0.5: "a"}}, {"ann": [1, 2]}, [1]])
def test_other_shapes_are_refused(bad):
    with pytest.raises(dr.ParameterError, match="whole times"):
        advise(bad, granularity="event", epsilon=1.0)
