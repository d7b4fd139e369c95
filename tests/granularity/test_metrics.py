"""Every canonical metric against breadth-first search over the plain definition of its neighbours."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpradar as dr
from dpradar.granularity import Domain, Granularity, Graph
from dpradar.granularity.metrics import part_replaced

from . import databases

# Definitions of neighbours, written down without distances.


def replaced(a, b):
    return any(
        sorted([*a[:i], *a[i + 1 :]]) == sorted([*b[:j], *b[j + 1 :]]) for i in range(len(a)) for j in range(len(b))
    )


def added(a, b):
    return any(sorted(a) == sorted([*b[:j], *b[j + 1 :]]) for j in range(len(b)))


def cells(a, b):
    users = a.keys() | b.keys()
    times = {t for s in (a, b) for row in s.values() for t in row}
    return [(u, t) for u in users for t in times if a.get(u, {}).get(t) != b.get(u, {}).get(t)]


def event(a, b):
    return len(cells(a, b)) == 1


def w_event(w):
    def near(a, b):
        changed = cells(a, b)
        times = [t for _, t in changed]
        return bool(changed) and len(set(times)) == len(times) and max(times) - min(times) < w

    return near


def l_trajectory(length):
    def near(a, b):
        changed = cells(a, b)
        if len({u for u, _ in changed}) != 1 or any(a[u].keys() != b[u].keys() for u in a):
            return False
        order = sorted(a[changed[0][0]])
        places = [order.index(t) for _, t in changed]
        return max(places) - min(places) < length

    return near


def user_replaced(a, b):
    return a.keys() == b.keys() and sum(a[u] != b[u] for u in a) == 1


def user_added(a, b):
    more = set(b) - set(a)
    return len(more) == 1 and set(a) < set(b) and all(a[u] == b[u] for u in a)


def element(cluster):
    def near(a, b):
        if a.keys() != b.keys():
            return False
        changed = [u for u in a if Counter(a[u].values()) != Counter(b[u].values())]
        if len(changed) != 1:
            return False
        one, two = Counter(a[changed[0]].values()), Counter(b[changed[0]].values())
        return len({cluster(v) for v in one.keys() | two.keys() if one[v] != two[v]}) == 1

    return near


def node_replaced(a, b):
    return a.vertices == b.vertices and any(
        {e for e in a.edges if v not in e} == {e for e in b.edges if v not in e} for v in a.vertices
    )


def node_added(a, b):
    more = b.vertices - a.vertices
    return len(more) == 1 and a.vertices < b.vertices and {e for e in b.edges if not e & more} == set(a.edges)


OPEN = databases.streams(2, 2, 2, 2)
FIXED = databases.fixed_streams({0: [0, 1, 3, 4], 1: [2, 3]}, 2)
CASES = {
    "bounded": (Granularity.bounded(), databases.tables("abc", range(4)), replaced),
    "unbounded": (Granularity.unbounded(), databases.tables("abc", range(4)), added),
    "event": (Granularity.event(), OPEN, event),
    "event, at most one point": (Granularity.event(), databases.streams(2, 3, 1, 1), event),
    "1-event": (Granularity.w_event(1), OPEN, w_event(1)),
    "2-event": (Granularity.w_event(2), databases.streams(2, 3, 1, 3), w_event(2)),
    "2-event, one user": (Granularity.w_event(2), databases.streams(1, 5, 1, 5), w_event(2)),
    "3-event, at most two points": (Granularity.w_event(3), databases.streams(1, 5, 1, 2), w_event(3)),
    "1-trajectory": (Granularity.l_trajectory(1), FIXED, l_trajectory(1)),
    "2-trajectory": (Granularity.l_trajectory(2), FIXED, l_trajectory(2)),
    "3-trajectory": (
        Granularity.l_trajectory(3),
        databases.fixed_streams({0: [0, 2, 5, 6, 9, 11]}, 2),
        l_trajectory(3),
    ),
    "user, replaced": (Granularity.user("replace-one"), OPEN, user_replaced),
    "user, added": (Granularity.user("add-remove"), databases.joining(databases.streams(2, 2, 1, 2)), user_added),
    "edge": (Granularity.edge(), databases.graphs(4, fixed=True), lambda a, b: len(a.edges ^ b.edges) == 1),
    "node, replaced": (Granularity.node("replace-one"), databases.graphs(4, fixed=True), node_replaced),
    "node, added": (Granularity.node("add-remove"), databases.graphs(3, fixed=False), node_added),
    "free lunch": (Granularity.free_lunch(), range(6), lambda a, b: True),
}


@pytest.mark.parametrize("name", CASES)
def test_metric_is_the_shortest_path(name):
    granularity, some, near = CASES[name]
    domain = Domain(some, near)
    assert not domain.vacuous
    for first, other in itertools.combinations(domain.databases, 2):
        assert granularity.distance(first, other) == domain.distance(first, other) == granularity.distance(other, first)


def test_ordered_tables_by_position():
    some = databases.ordered_tables("abc", 3)
    domain = Domain(some, lambda a, b: sum(x != y for x, y in zip(a, b, strict=True)) == 1)
    granularity = Granularity.bounded(ordered=True)
    assert all(granularity.distance(a, b) == domain.distance(a, b) for a, b in itertools.combinations(some, 2))
    assert granularity.distance("ab", "abc") == math.inf


def test_elements_are_the_shortest_path_where_order_does_not_matter():
    # Two orders of the same values are the same data of a user, so each multiset is listed once.
    cluster = {0: "x", 1: "x", 2: "y"}.get
    each = [list(some) for size in range(3) for some in itertools.combinations_with_replacement(range(3), size)]
    some = [{0: one, 1: two} for one in each for two in each]
    granularity = Granularity.element(2, cluster)
    near = element(cluster)
    domain = Domain(some, lambda a, b: near(*({u: dict(enumerate(d)) for u, d in s.items()} for s in (a, b))))
    assert all(granularity.distance(a, b) == domain.distance(a, b) for a, b in itertools.combinations(some, 2))


def test_trajectories_are_the_shortest_path():
    each = [list(some) for size in range(3) for some in itertools.combinations_with_replacement("xyz", size)]
    some = [{0: one, 1: two} for one in each for two in each]

    def one_user(near):
        return lambda a, b: sum(a[u] != b[u] for u in a) == 1 and any(near(a[u], b[u]) for u in a if a[u] != b[u])

    for neighbours, near in (("replace-one", replaced), ("add-remove", added)):
        domain = Domain(some, one_user(near))
        granularity = Granularity.trajectory(neighbours)
        assert all(granularity.distance(a, b) == domain.distance(a, b) for a, b in itertools.combinations(some, 2))


@given(st.data())
def test_metrics_on_random_relations(data):
    """A relation of one's own: symmetric, with the triangle inequality, 1 exactly for neighbours."""
    count = data.draw(st.integers(2, 7))
    pairs = data.draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=12))
    granularity = Granularity.listed("mine", range(count), pairs)
    near = {frozenset(pair) for pair in pairs if pair[0] != pair[1]}
    far = [
        [0.0 if a == b else 1.0 if frozenset((a, b)) in near else math.inf for b in range(count)] for a in range(count)
    ]
    for k, i, j in itertools.product(range(count), repeat=3):  # Floyd and Warshall, an independent way
        far[i][j] = min(far[i][j], far[i][k] + far[k][j])
    for a, b in itertools.product(range(count), repeat=2):
        assert granularity.distance(a, b) == far[a][b]
        assert granularity.are_neighbours(a, b) == (frozenset((a, b)) in near)


@given(
    st.lists(st.sampled_from("abcd"), max_size=5),
    st.lists(st.sampled_from("abcd"), max_size=5),
    st.sampled_from(["a", "ab", "abc"]),
)
def test_part_replaced_is_the_least_distance_over_tables_with_the_same_part(first, other, part):
    """Proposition A.16 for f(D) = records in the part, by looking at tables padded with all other records."""
    parts = [[v for v in table if v in part] for table in (first, other)]
    unread = [v for v in "abcd" if v not in part]
    pads = [list(pad) for size in range(6) for pad in itertools.combinations_with_replacement(unread[:2], size)]
    bounded = Granularity.bounded()
    least = min(bounded.distance(parts[0] + one, parts[1] + two) for one in pads for two in pads)
    assert part_replaced(*parts) == least
    printed = min(bounded.distance(first, other), Granularity.unbounded().distance(*parts))
    assert least <= printed  # Corollary A.14 claims equality


def test_corollary_a14_is_not_an_equality():
    first, other = ["a", "a", "c"], ["b", "b"]  # only a and b are read
    assert part_replaced("aa", "bb") == 2.0
    assert min(Granularity.bounded().distance(first, other), Granularity.unbounded().distance("aa", "bb")) == 4.0


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=4), st.integers(1, 6))
def test_windows_are_the_fewest(columns, width):
    """The greedy cover against a linear program over all windows."""
    from scipy.optimize import linprog

    needed = Counter(t for column in columns for t in set(column))
    one = {u: dict.fromkeys(set(column), 1) for u, column in enumerate(columns)}
    distance = Granularity.w_event(width).distance(one, {})
    rows = [[-1.0 if s <= t < s + width else 0.0 for s in range(-width, 10)] for t in range(10)]
    program = linprog([1.0] * (width + 10), A_ub=rows, b_ub=[-float(needed[t]) for t in range(10)])
    assert abs(distance - program.fun) < 1e-6  # interval matrices have whole solutions


def test_vertex_cover_on_larger_graphs():
    cycle = Graph.of([(k, (k + 1) % 31) for k in range(31)])
    empty = Graph.of([], range(31))
    assert Granularity.node("replace-one").distance(cycle, empty) == 16.0
    assert Granularity.node("add-remove").distance(cycle, empty) == 32.0


def test_domains_tell_what_is_not_protected():
    fixed = databases.tables("ab", range(3, 4))
    assert Granularity.unbounded().on(fixed).vacuous  # Example A.5
    assert Granularity.bounded().on(fixed).connected
    every = Granularity.bounded().on(databases.tables("ab", range(4)))
    assert len(every.components) == 4
    assert not every.connected
    assert not every.vacuous


def test_a_part_of_a_domain_has_its_own_metric():
    # Remark A.6: without the table in the middle two tables are further apart.
    unbounded = Granularity.unbounded()
    assert unbounded.distance("a", "b") == 2.0
    assert unbounded.on(["a", "b", "ab", "aab", "abb"]).distance("aab", "abb") == 2.0
    assert unbounded.on(["a", "b", "aab", "abb"]).distance("aab", "abb") == math.inf


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bonded", "Did you mean 'bounded'"),
        ("user", "user:replace-one or user:add-remove"),
        ("w-event", "w-event: and a whole number"),
        ("w-event:0", "w-event: and a whole number"),
        ("bounded:3", "bounded alone"),
    ],
)
def test_names_that_are_wrong(text, message):
    with pytest.raises(dr.ParameterError, match=message):
        Granularity.parse(text)


@pytest.mark.parametrize(
    "text",
    ["bounded", "unbounded", "free-lunch", "event", "edge", "w-event:3", "l-trajectory:4", "element:2"]
    + [f"{name}:{kind}" for name in ("user", "trajectory", "node") for kind in ("replace-one", "add-remove")],
)
def test_names_read_back(text):
    granularity = Granularity.parse(text)
    assert str(granularity) == text
    assert granularity == Granularity.parse(text)
    assert granularity.unit


def test_bad_descriptions_are_refused():
    with pytest.raises(dr.ParameterError, match="cluster"):
        Granularity.element(3).distance({}, {})
    with pytest.raises(dr.ParameterError, match="different databases"):
        Domain(["a", "a"], [])
    with pytest.raises(dr.ParameterError, match="of its list"):
        Domain(["a", "b"], []).distance("a", "c")
    with pytest.raises(dr.ParameterError, match="name of its own"):
        Granularity.listed("event", [1, 2], [])
    with pytest.raises(dr.ParameterError, match="two different vertices"):
        Graph.of([(1, 1)])
