"""What is learned from trips: how often each node is visited, and what comes after it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from dpradar.errors import ParameterError
from dpradar_reproduction.movement import markov, skewed, visits
from dpradar_reproduction.roads import Roads
from dpradar_reproduction.trips import synthetic_trips


@pytest.fixture(scope="module")
def town():
    return Roads.synthetic(300, seed=7)


def line(n):
    """A one-way line of n nodes with a way back from the end to the start."""
    edges = [[i, i + 1] for i in range(n - 1)] + [[n - 1, 0]]
    return Roads.of([[float(i), 0.0] for i in range(n)], edges, "A ring.")


def walks(roads, rng, count=40, length=25):
    neighbours = {v: [w for s, w in roads.edges.tolist() if s == v] for v in range(roads.size)}
    trips = []
    for _ in range(count):
        trip = [int(rng.integers(roads.size))]
        for _ in range(int(rng.integers(length))):
            trip.append(int(rng.choice([trip[-1], *neighbours[trip[-1]]])))
        trips.append(np.array(trip))
    return trips


def test_visits_are_counts(town):
    trips = walks(town, np.random.default_rng(4))
    counts = Counter(int(v) for trip in trips for v in trip)
    total = sum(counts.values())
    assert visits(trips, 300).probabilities.tolist() == pytest.approx([counts[v] / total for v in range(300)])
    smooth = visits(trips, 300, smoothing=0.5).probabilities
    assert smooth.tolist() == pytest.approx([(counts[v] + 0.5) / (total + 150) for v in range(300)])
    assert visits([], 4, smoothing=1.0).is_uniform


def test_markov_rows_are_brute_force_counts(town):
    trips = [*walks(town, np.random.default_rng(5)), np.empty(0, dtype=np.int64), np.array([3])]
    steps = Counter((int(v), int(w)) for trip in trips for v, w in pairwise(trip))
    leaving = Counter(v for v, _ in steps.elements())
    model = markov(trips, town).toarray()
    assert model.sum(axis=1) == pytest.approx(np.ones(300), abs=1e-12)
    assert any(v not in leaving for v in range(300))
    for v in range(300):
        if v in leaving:
            expected = [steps[v, w] / leaving[v] for w in range(300)]
        else:
            options = {v, *(w for s, w in town.edges.tolist() if s == v)}
            expected = [(w in options) / len(options) for w in range(300)]
        assert model[v].tolist() == pytest.approx(expected, abs=1e-12)


def test_markov_without_trips_is_the_roads_alone():
    assert markov([], line(3)).toarray().tolist() == [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]]


def test_markov_learns_the_walk_it_is_given(town):
    trips = synthetic_trips(town, count=4000, length=50, seed=1, stay=0.25, inertia=0.0)
    model = markov(trips, town).toarray()
    degree = np.bincount(town.edges[:, 0], minlength=300)
    expected = 0.25 * np.eye(300)
    expected[town.edges[:, 0], town.edges[:, 1]] = 0.75 / degree[town.edges[:, 0]]
    assert np.abs(model - expected).mean(axis=1).max() * 300 < 0.35
    assert np.array_equal(model > 0, expected > 0)


@pytest.mark.parametrize("trips", [[np.array([0, 3])], [np.array([-1, 0])], [np.array([0.5, 1.0])]])
def test_points_off_the_graph_are_refused(trips):
    with pytest.raises(ParameterError, match=r"visits\.trips"):
        visits(trips, 3)
    with pytest.raises(ParameterError, match=r"markov\.trips"):
        markov(trips, line(3))


def test_no_points_are_no_prior():
    with pytest.raises(ParameterError, match="at least one point"):
        visits([], 3)


@pytest.mark.parametrize(
    ("m", "collision", "largest"),
    [
        (3052, 0.03, 0.10),
        (5356, 0.05, 0.15),
        (2, 0.5, 0.5),
        (2, 0.82, 0.9),
        (10, 0.1, 0.1),
        (4, 1.0, 1.0),
        (50, 0.25 + 0.25 / 49, 0.5),
        (50, 0.49999, 0.5),
        (50, 0.5, 0.5),
        (1000, 0.0999, 0.1),
        (100, 0.34, 0.4),
        (100, 0.3599999, 0.4),
    ],
)
def test_skewed_priors_meet_both_numbers(m, collision, largest):
    prior = skewed(m, collision, largest)
    assert prior.size == m
    assert prior.collision == pytest.approx(collision, abs=1e-9)
    assert prior.probabilities.max() == pytest.approx(largest, abs=1e-9)
    assert np.all(np.diff(prior.probabilities) <= 1e-15)


@pytest.mark.parametrize(
    ("m", "collision", "largest", "name"),
    [(10, 0.5, 0.4, "collision"), (10, 0.1, 0.4, "collision"), (10, 0.1, 0.05, "largest"), (1, 1.0, 1.0, "m")],
)
def test_numbers_no_prior_can_have_are_refused(m, collision, largest, name):
    with pytest.raises(ParameterError, match=rf"skewed\.{name}"):
        skewed(m, collision, largest)
