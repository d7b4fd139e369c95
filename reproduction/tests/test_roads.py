"""Road graphs, trips on them, and what is learned from trips."""

from __future__ import annotations

import gzip
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from dpradar.errors import MissingExtra, ParameterError
from dpradar.threats import Prior
from dpradar_reproduction import streets
from dpradar_reproduction.movement import markov, visits
from dpradar_reproduction.roads import BEIJING, PORTO, Roads, mobility_file
from dpradar_reproduction.trips import synthetic_trips, trips_geolife, trips_porto

nx = pytest.importorskip("networkx")
SHARED = Path(os.environ.get("DPRADAR_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


@pytest.fixture(scope="module")
def town():
    return Roads.synthetic(300, seed=7)


@pytest.fixture(scope="module")
def data():
    if not (SHARED / "mobility").is_dir():
        pytest.skip("the folder mobility is not in the data folder (DPRADAR_DATA, or ../shared/data)")
    return SHARED


@pytest.fixture(scope="module")
def porto(data):
    return Roads.porto(data)


@pytest.fixture(scope="module")
def beijing(data):
    return Roads.beijing(data)


def line(n):
    """A one-way line of n nodes with a way back from the end to the start."""
    edges = [[i, i + 1] for i in range(n - 1)] + [[n - 1, 0]]
    return Roads.of([[float(i), 0.0] for i in range(n)], edges, "A ring.")


# ------------------------------------------------------------------------------------------------------- distances


@pytest.mark.parametrize("seed", range(5))
def test_hops_equal_those_of_networkx(seed):
    rng = np.random.default_rng(seed)
    m = 40
    edges = rng.integers(0, m, size=(90, 2))
    roads = Roads.of(rng.random((m, 2)), edges, "Random edges.")
    graph = roads.graph()
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    expected = [[lengths[v][w] for w in range(roads.size)] for v in range(roads.size)]
    assert roads.hops.tolist() == expected
    assert roads.diameter == nx.diameter(graph)


@pytest.mark.parametrize("seed", range(5))
def test_the_largest_strong_component_is_that_of_networkx(seed):
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, 60, size=(110, 2))
    points = rng.random((60, 2))
    graph = nx.DiGraph()
    graph.add_nodes_from(range(60))
    graph.add_edges_from(edges.tolist())
    largest = max(nx.strongly_connected_components(graph), key=len)
    roads = Roads.of(points, edges, "Random edges.")
    assert {tuple(p) for p in roads.nodes} == {tuple(points[v]) for v in largest}
    assert roads.dropped == 60 - len(largest)
    assert f"{roads.dropped} of 60 nodes dropped" in roads.source
    assert len(roads.edges) == graph.subgraph(largest).number_of_edges() - nx.number_of_selfloops(
        graph.subgraph(largest)
    )


def test_distances_are_directed():
    ring = line(6)
    assert ring.hops[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert ring.hops[:, 0].tolist() == [0, 5, 4, 3, 2, 1]
    assert ring.diameter == 5


def test_groups_of_rows_give_the_same_distances(monkeypatch, town):
    monkeypatch.setattr(streets, "_CHUNK", 7)
    assert np.array_equal(streets.hop_distances(town.size, town.edges), town.hops)


def test_a_graph_cannot_be_changed(town):
    for array in (town.nodes, town.edges, town.hops):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_networkx_is_asked_for_by_name(monkeypatch, town):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtra, match=r"dpradar-reproduction\[roads\]"):
        town.graph()


def test_positions_of_the_networkx_graph_are_longitude_then_latitude():
    roads = Roads.of([[41.0, -8.0], [41.1, -8.2]], [[0, 1], [1, 0]], "Two places.", unit="degrees")
    assert roads.graph().nodes[1]["pos"] == (-8.2, 41.1)


# ------------------------------------------------------------------------------------------------- made-up streets


def test_gabriel_graph_is_its_definition():
    points = np.random.default_rng(3).random((60, 2))
    expected = []
    for v in range(60):
        for w in range(v + 1, 60):
            distance = np.linalg.norm(points - (points[v] + points[w]) / 2, axis=1)
            others = np.delete(distance, [v, w])
            if others.min() >= np.linalg.norm(points[v] - points[w]) / 2:
                expected.append([v, w])
    assert streets.gabriel(points).tolist() == expected


@pytest.mark.parametrize("m", [4, 5, 20, 50, 333])
def test_synthetic_has_exactly_m_nodes_and_loses_none(m):
    roads = Roads.synthetic(m, seed=m)
    assert roads.size == m
    assert roads.dropped == 0
    assert roads.hops.shape == (m, m)
    assert roads.source.startswith("Synthetic")


def test_synthetic_is_planar_strongly_connected_and_has_one_way_streets(town):
    graph = town.graph()
    assert nx.is_strongly_connected(graph)
    assert nx.check_planarity(graph.to_undirected())[0]
    pairs = set(map(tuple, town.edges.tolist()))
    one_way = [(v, w) for v, w in pairs if (w, v) not in pairs]
    assert 0.02 < len(one_way) / len(pairs) < 0.3


def test_synthetic_is_the_same_for_the_same_seed_only(town):
    again, other = Roads.synthetic(300, seed=7), Roads.synthetic(300, seed=8)
    assert np.array_equal(again.nodes, town.nodes)
    assert np.array_equal(again.edges, town.edges)
    assert np.array_equal(again.hops, town.hops)
    assert not np.array_equal(other.nodes, town.nodes)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("diameter", [25, 30, 40])
def test_synthetic_comes_near_the_diameter_asked_for(seed, diameter):
    assert Roads.synthetic(300, seed, diameter).diameter == pytest.approx(diameter, abs=3)


def test_synthetic_of_the_size_of_porto():
    m, diameter = PORTO
    assert Roads.synthetic(m, seed=1).diameter == pytest.approx(diameter, rel=0.15)
    assert Roads.synthetic(m, seed=1, diameter=diameter).diameter == pytest.approx(diameter, rel=0.05)


@pytest.mark.slow
def test_synthetic_of_the_size_of_beijing():
    m, diameter = BEIJING
    assert Roads.synthetic(m, seed=1).diameter == pytest.approx(diameter, rel=0.15)
    assert Roads.synthetic(m, seed=1, diameter=diameter).diameter == pytest.approx(diameter, rel=0.05)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (([[0.0, 0.0], [1.0, 0.0]], [[0, 2], [2, 0]]), "edges"),
        (([[0.0, 0.0], [1.0, 0.0]], [[0, 1]]), "edges"),
        (([[0.0, 0.0], [1.0, 0.0]], []), "edges"),
        (([[0.0, 0.0], [1.0, 0.0]], [[0, 0.5]]), "edges"),
        (([[0.0, np.nan], [1.0, 0.0]], [[0, 1], [1, 0]]), "nodes"),
        (([0.0, 1.0], [[0, 1], [1, 0]]), "nodes"),
        (([[0.0, 0.0]], [[0, 0]]), "nodes"),
        ((np.zeros((20_001, 2)), [[0, 1], [1, 0]]), "nodes"),
    ],
)
def test_bad_graphs_are_refused(arguments, name):
    with pytest.raises(ParameterError, match=f"Roads.{name}"):
        Roads.of(*arguments, "Bad.")


@pytest.mark.parametrize("arguments", [(3, 1), (20_001, 1), (50.5, 1), (50, -1), (50, 1, 0)])
def test_bad_towns_are_refused(arguments):
    with pytest.raises(ParameterError, match=r"Roads\.synthetic"):
        Roads.synthetic(*arguments)


# ----------------------------------------------------------------------------------------------------------- trips


def test_nearest_node_and_circle(town):
    points = np.random.default_rng(1).uniform(-1.2, 1.2, size=(500, 2)) * town.radius_metres
    node, inside = town.nearest(points)
    distance = np.linalg.norm(points[:, None, :] - town.nodes[None, :, :], axis=2)
    assert np.array_equal(node, distance.argmin(axis=1))
    assert np.array_equal(inside, np.linalg.norm(points, axis=1) <= town.radius_metres)


def test_projection_agrees_with_the_great_circle():
    centre = (41.1474557, -8.5870079)
    rng = np.random.default_rng(2)
    points = np.array(centre) + rng.uniform(-0.04, 0.04, size=(50, 2))
    flat = np.linalg.norm(streets.project(points, centre), axis=1)
    a, b = np.radians(points), np.radians(centre)
    half = np.sin((a[:, 0] - b[0]) / 2) ** 2 + np.cos(a[:, 0]) * np.cos(b[0]) * np.sin((a[:, 1] - b[1]) / 2) ** 2
    assert flat == pytest.approx(2 * 6_371_008.8 * np.arcsin(np.sqrt(half)), rel=1e-3)


def test_synthetic_trips_stay_on_the_streets(town):
    trips = synthetic_trips(town, count=200, length=30, seed=3)
    steps = np.concatenate([town.hops[trip[:-1], trip[1:]] for trip in trips])
    assert len(trips) == 200
    assert set(np.unique(steps)) == {0, 1}
    assert (steps == 0).mean() == pytest.approx(0.4, abs=0.03)
    again = synthetic_trips(town, count=200, length=30, seed=3)
    assert np.array_equal(np.array(trips), np.array(again))


def test_synthetic_trips_start_where_the_prior_says(town):
    certain = np.zeros(town.size)
    certain[[5, 9]] = 0.25, 0.75
    starts = Counter(trip[0] for trip in synthetic_trips(town, 2000, 2, 1, prior=Prior.of(certain)))
    assert set(starts) == {5, 9}
    assert starts[9] == pytest.approx(1500, abs=120)


def test_inertia_takes_trips_farther(town):
    def distance(inertia):
        trips = synthetic_trips(town, 500, 15, 1, stay=0.0, inertia=inertia)
        ends = np.array([(trip[0], trip[-1]) for trip in trips])
        return float(np.linalg.norm(town.metres[ends[:, 0]] - town.metres[ends[:, 1]], axis=1).mean())

    assert distance(3.0) > 1.3 * distance(0.0)


def test_bad_trips_are_refused(town):
    with pytest.raises(ParameterError, match="prior must be over 300 nodes"):
        synthetic_trips(town, 1, 2, 1, prior=Prior.uniform(5))
    with pytest.raises(ParameterError, match="stay"):
        synthetic_trips(town, 1, 2, 1, stay=1.0)
    with pytest.raises(ParameterError, match="count"):
        synthetic_trips(town, 0, 2, 1)


def write_sample(folder, porto, geolife):
    (folder / "mobility").mkdir()
    for name, text in (("porto-taxi-matched.txt.gz", porto), ("geolife-sample.txt.gz", geolife)):
        with gzip.open(folder / "mobility" / name, "wt") as stream:
            stream.write(text)


@pytest.fixture
def corner():
    """Three places, 111 m apart, on a meridian."""
    nodes = [[41.000, -8.0], [41.001, -8.0], [41.002, -8.0]]
    return Roads.of(nodes, [[0, 1], [1, 2], [2, 1], [1, 0]], "Three places.", unit="degrees", radius_metres=150.0)


def test_taxi_trips_keep_all_points_and_are_cut_outside(tmp_path, corner):
    trip = "1 41.0001 -8.0 7\n2 41.0002 -8.0 7\n3 41.0011 -8.0 7\n4 41.5 -8.0 7\n5 41.0019 -8.0 7\n-1\n"
    write_sample(tmp_path, trip + "9 41.0010 -8.0001 7\n-2\n9 45.0 -8.0 7\n-3\n", "")
    assert [t.tolist() for t in trips_porto(tmp_path, corner)] == [[0, 0, 1], [2], [1]]


def test_geolife_trips_are_cut_between_users_and_after_a_silence(tmp_path, corner):
    rows = [
        "lat,lng,datetime,uid",
        "41.0011,-8.0,2008-10-23 05:10:00,002",
        "41.0001,-8.0,2008-10-23 05:00:00,001",
        "41.0019,-8.0,2008-10-23 05:41:00,001",
        "41.0011,-8.0,2008-10-23 05:20:00,001",
    ]
    write_sample(tmp_path, "", "\n".join(rows) + "\n")
    assert [t.tolist() for t in trips_geolife(tmp_path, corner)] == [[0, 1], [2], [1]]


def test_unreadable_data_are_named_but_not_shown(tmp_path, corner):
    write_sample(tmp_path, "1 41.0001 -8.0 7\n1 secret -8.0 7\n", "lat,lng,datetime,uid\nsecret\n")
    for read in (trips_porto, trips_geolife):
        with pytest.raises(ParameterError, match="line 2") as raised:
            read(tmp_path, corner)
        assert "secret" not in str(raised.value)


def test_the_data_folder_is_an_argument_or_a_variable(tmp_path, monkeypatch, corner):
    write_sample(tmp_path, "9 41.0010 -8.0001 7\n-2\n", "")
    monkeypatch.setenv("DPRADAR_DATA", str(tmp_path))
    assert mobility_file(None, "porto-taxi-matched.txt.gz").parent == tmp_path / "mobility"
    assert len(trips_porto(None, corner)) == 1
    monkeypatch.delenv("DPRADAR_DATA")
    with pytest.raises(ParameterError, match="got none"):
        Roads.porto()


# ------------------------------------------------------------------------------------------------------- real data


@pytest.mark.data
def test_porto_has_the_nodes_of_the_circle_and_says_that_its_edges_stand_in(porto):
    assert porto.size == 2899
    assert porto.dropped == 0
    assert "stand-ins" in porto.source
    assert porto.diameter == pytest.approx(88, rel=0.1)
    assert np.linalg.norm(porto.metres, axis=1).max() <= 2688.0


@pytest.mark.data
def test_taxi_trips_of_porto(data, porto):
    trips = trips_porto(data, porto)
    prior = visits(trips, porto.size)
    assert (len(trips), sum(map(len, trips))) == (241, 7370)
    assert prior.probabilities.max() == pytest.approx(187 / 7370)
    assert prior.collision == pytest.approx(0.004326, abs=1e-6)


@pytest.mark.data
def test_beijing_is_one_strong_component_that_respects_one_way_streets(beijing):
    graph = beijing.graph()
    assert nx.is_strongly_connected(graph)
    assert beijing.size + beijing.dropped == 1552
    assert "934 of 1,552 nodes dropped" in beijing.source
    assert any(not graph.has_edge(w, v) for v, w in graph.edges)
    assert beijing.diameter == nx.diameter(graph) == 116


@pytest.mark.data
def test_geolife_trips_of_beijing(data, beijing):
    trips = trips_geolife(data, beijing)
    prior = visits(trips, beijing.size)
    assert (len(trips), sum(map(len, trips))) == (295, 125661)
    assert prior.probabilities.max() == pytest.approx(0.13947, abs=1e-5)
    assert prior.collision == pytest.approx(0.061427, abs=1e-6)
    model = markov(trips, beijing)
    assert model.sum(axis=1) == pytest.approx(np.ones(beijing.size), abs=1e-12)
