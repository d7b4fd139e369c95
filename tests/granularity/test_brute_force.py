"""The accountant against brute force: random finite mechanisms, composed, over every pair of neighbours.

The privacy loss of each step is measured on its own databases, so that it is exactly what is stated; the loss of the
composition is measured on the whole ones. Some mechanisms are constant where their granularity connects databases and
arbitrary elsewhere: their stated loss is 0, which must not be mistaken for privacy.
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from dpradar.granularity import Facts, Granularity, Partition, Pipeline, Step, account
from dpradar.granularity.finite_domain import freeze

from . import databases

STYLES = ("free", "constant", "far")


# ------------------------------------------------------------------------------------------------------------ machinery


class World:
    """Databases, facts, and the parts that cells of a partition read."""

    def __init__(self, some, facts, parts):
        self.databases, self.facts, self.parts = some, facts, parts

    @cache  # noqa: B019 (worlds live as long as the tests)
    def distances(self, text, cell=None):
        """Return all distances of the databases, or of what a cell holds."""
        some = self.databases if cell is None else self.read(cell)[0]
        granularity = Granularity.element(2, lambda value: value) if text == "element:2" else Granularity.parse(text)
        if granularity.name == "trajectory":
            some = [databases.slots(one, 2) for one in some]
        return np.array([[granularity.distance(a, b) for b in some] for a in some])

    @cache  # noqa: B019
    def read(self, cell):
        """Return the different contents of a cell, and for each database the number of its content."""
        parts, number = {}, []
        for database in self.databases:
            part = self.parts[cell](database)
            number.append(parts.setdefault(freeze(part), (len(parts), part))[0])
        return [part for _, part in parts.values()], np.array(number)


def random_logs(distances, style, rng):
    """Return log-probabilities of three outputs for each database."""
    count = len(distances)
    if style == "free":
        logs = rng.normal(size=(count, 3))
    elif style == "constant":
        _, label = connected_components(csr_array(distances == 1.0), directed=False)
        logs = (3.0 * rng.normal(size=(count, 3)))[label]
    else:
        anchors = rng.integers(0, count, size=3)
        far = np.where(np.isfinite(distances[:, anchors]), distances[:, anchors], 9.0 * rng.random(3))
        logs = -rng.choice([0.3, 1.0]) * far
    return logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))


def loss_on(logs, near):
    """Return the largest log-ratio over neighbours."""
    first, other = np.nonzero(near)
    return max(0.0, float((logs[first] - logs[other]).max(initial=0.0)))


def drawn_step(world, cell, text, domain, style, rng):
    """Return a mechanism that reads a cell (or everything), its stated step, and its log-probabilities by database."""
    if cell is None:
        logs = random_logs(world.distances(text), style, rng)
        budget = loss_on(logs, world.distances(text) == 1.0)
        return Step(name="all", epsilon=budget, granularity=text), logs
    _, number = world.read(cell)
    own = world.distances(text, cell)
    logs = random_logs(own, style, rng)
    budget = loss_on(logs, own == 1.0) if domain == "own" else loss_on(logs[number], world.distances(text) == 1.0)
    step = Step(name=cell, epsilon=budget, granularity=text, partition="p", cell=cell, domain=domain)
    return step, logs[number]


def check(world, kind, stated, targets, domain, seed, *, whole=False):
    """Return stated total and true loss for each target."""
    rng = np.random.default_rng(seed)
    cells = list(world.parts)
    drawn = [drawn_step(world, c, rng.choice(stated), domain, rng.choice(STYLES), rng) for c in cells]
    if whole:
        drawn.append(drawn_step(world, None, rng.choice(stated), domain, rng.choice(STYLES), rng))
    partition = Partition(name="p", kind=kind, cells=cells)
    pipeline = Pipeline(steps=[s for s, _ in drawn], partitions=[partition], facts=world.facts, targets=targets)
    accounting = account(pipeline)
    joint = []
    for text in targets:
        first, other = np.nonzero(world.distances(text) == 1.0)
        true = sum((logs[first] - logs[other]).max(axis=1) for _, logs in drawn).max(initial=0.0)
        joint.append((text, accounting.total(text).epsilon, float(true)))
    return joint


def table_part(values):
    return lambda table: tuple(v for v in table if v in values)


TABLES = World(
    databases.tables("abcd", range(4)), Facts(), {"a": table_part("a"), "bc": table_part("bc"), "d": table_part("d")}
)
PARTIAL = World(databases.tables("abc", range(4)), Facts(), {"a": table_part("a"), "b": table_part("b")})
ORDERED = World(databases.ordered_tables("abc", 3), Facts(size="public"), {"1": lambda t: t[:1], "2": lambda t: t[1:]})


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["own", "common"]), st.booleans())
def test_tables_by_value(seed, domain, whole):
    for world in (TABLES, PARTIAL):
        for _, stated, true in check(
            world, "value", ["bounded", "unbounded"], ["bounded", "unbounded"], domain, seed, whole=whole
        ):
            assert true <= stated + 1e-9


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["own", "common"]), st.booleans())
def test_tables_by_index(seed, domain, whole):
    """Ordered tables: the metric of bounded DP is that of positions."""
    rng = np.random.default_rng(seed)
    near = np.array(
        [[sum(x != y for x, y in zip(a, b, strict=True)) for b in ORDERED.databases] for a in ORDERED.databases]
    )
    steps, logs = [], []
    for cell in ORDERED.parts:
        contents, number = ORDERED.read(cell)
        own = np.array([[float(sum(x != y for x, y in zip(a, b, strict=True))) for b in contents] for a in contents])
        drawn = random_logs(own, rng.choice(STYLES), rng)
        budget = loss_on(drawn, own == 1.0) if domain == "own" else loss_on(drawn[number], near == 1)
        steps.append(Step(name=cell, epsilon=budget, granularity="bounded", partition="p", cell=cell, domain=domain))
        logs.append(drawn[number])
    if whole:
        drawn = random_logs(near.astype(float), rng.choice(STYLES), rng)
        steps.append(Step(name="all", epsilon=loss_on(drawn, near == 1), granularity="bounded"))
        logs.append(drawn)
    partition = Partition(name="p", kind="index", cells=list(ORDERED.parts))
    total = account(Pipeline(steps=steps, partitions=[partition], facts=ORDERED.facts)).total("bounded").epsilon
    first, other = np.nonzero(near == 1)
    assert sum((one[first] - one[other]).max(axis=1) for one in logs).max() <= total + 1e-9
    if not whole:
        assert total == max(step.losses[0][1] for step in steps)


# -------------------------------------------------------------------------------------------------------------- streams


def region(values):
    """Read the points with these values; whoever has none is not there."""

    def part(stream):
        stream_part = {u: {t: v for t, v in row.items() if v in values} for u, row in stream.items()}
        return {u: row for u, row in stream_part.items() if row}

    return part


def moment(times):
    def part(stream):
        stream_part = {u: {t: v for t, v in row.items() if t in times} for u, row in stream.items()}
        return {u: row for u, row in stream_part.items() if row}

    return part


def person(users):
    return lambda stream: {u: row for u, row in stream.items() if u in users}


PARTS = {
    "value": {"0": region([0]), "1": region([1])},
    "time": {"0": moment([0]), "1": moment([1]), "2": moment([2])},
    "user": {"0": person([0]), "1": person([1])},
}
DAYS = {"trajectories_per_user": 2, "points_per_trajectory": 2}
FIXED = (
    databases.fixed_streams({0: [0, 1, 2], 1: [1, 2]}, 2),
    Facts(points_per_user=3, times=3, users=2, hidden="values", **DAYS),
)
OPEN = (databases.streams(2, 3, 1, 2), Facts(points_per_user=2, times=3, users=2, hidden="points", **DAYS))
OPEN_VALUES = (databases.streams(2, 2, 2, 2), Facts(points_per_user=2, times=2, users=2, hidden="points", **DAYS))
PEOPLE = (
    databases.joining(databases.streams(2, 2, 2, 2)),
    Facts(points_per_user=2, times=2, users=2, hidden="people", **DAYS),
)
STREAMS = {
    "values": [World(*FIXED, PARTS[kind]) for kind in PARTS],
    "points": [World(*OPEN, PARTS["time"]), World(*OPEN, PARTS["user"]), World(*OPEN_VALUES, PARTS["value"])],
    "people": [
        World(*PEOPLE, PARTS["value"]),
        World(*PEOPLE, {"0": moment([0]), "1": moment([1])}),
        World(*PEOPLE, PARTS["user"]),
    ],
}
KINDS = {"values": ["value", "time", "user"], "points": ["time", "user", "value"], "people": ["value", "time", "user"]}
ALWAYS = ["event", "w-event:2", "l-trajectory:2", "user:replace-one", "element:2", "trajectory:replace-one"]
RELATIONS = {
    "values": ALWAYS,
    "points": [*ALWAYS, "trajectory:add-remove"],
    "people": [*ALWAYS, "trajectory:add-remove", "user:add-remove"],
}


@pytest.mark.parametrize("hidden", STREAMS)
@pytest.mark.parametrize("domain", ["own", "common"])
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), whole=st.booleans())
def test_streams(hidden, domain, seed, whole):
    texts = RELATIONS[hidden]
    for world, kind in zip(STREAMS[hidden], KINDS[hidden], strict=True):
        for text, stated, true in check(world, kind, texts, texts, domain, seed, whole=whole):
            assert true <= stated + 1e-9, (kind, text)


UNKNOWN = [
    World(some, Facts(points_per_user=facts.points_per_user, times=facts.times, users=2), PARTS["user"])
    for some, facts in (FIXED, OPEN, PEOPLE)
]


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_streams_with_unknown_secrets(seed):
    """Where it is not said what is hidden, the number holds for every case."""
    text = ("event", "w-event:2")[seed % 2]
    for world in UNKNOWN:
        for _, stated, true in check(world, "user", [text], ["event", "w-event:2", "user:replace-one"], "own", seed):
            assert true <= stated + 1e-9


# ------------------------------------------------------------------------------------------------------------- Gaussian


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), domain=st.sampled_from(["own", "common"]))
def test_gaussian_steps(seed, domain):
    """Unit noise on vectors: mu of the composition is the distance of the joined vectors."""
    rng = np.random.default_rng(seed)
    world = TABLES
    steps, vectors = [], []
    for cell in world.parts:
        contents, number = world.read(cell)
        text = str(rng.choice(["bounded", "unbounded"]))
        own = world.distances(text, cell)
        drawn = rng.normal(size=(len(contents), 2))
        if rng.random() < 0.5:  # constant where databases are connected
            drawn = drawn[connected_components(csr_array(own == 1.0), directed=False)[1]]
        gaps = np.linalg.norm(drawn[:, None] - drawn[None], axis=2)
        wide = gaps[np.ix_(number, number)]
        near = own == 1.0 if domain == "own" else world.distances(text) == 1.0
        mu = float((gaps if domain == "own" else wide)[near].max(initial=0.0))
        steps.append(Step(name=cell, mu=mu, granularity=text, partition="p", cell=cell, domain=domain))
        vectors.append(wide)
    partition = Partition(name="p", kind="value", cells=list(world.parts))
    accounting = account(Pipeline(steps=steps, partitions=[partition], targets=["bounded", "unbounded"]))
    for text in ("bounded", "unbounded"):
        true = np.sqrt(sum(gap**2 for gap in vectors))[world.distances(text) == 1.0].max()
        assert true <= accounting.total(text).mu + 1e-9
        assert accounting.total(text).mu == accounting.total(text).mu_all


# ---------------------------------------------------------------------------------------------------------------- power


def test_the_harness_notices_a_rule_that_is_too_small():
    """Parallel composition under bounded DP, as it is often used, fails in this harness."""
    broken = defaultdict(int)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        for domain in ("own", "common"):
            drawn = [drawn_step(TABLES, c, "bounded", domain, rng.choice(STYLES), rng) for c in TABLES.parts]
            claimed = max(step.losses[0][1] for step, _ in drawn)  # the maximum, as for unbounded DP
            first, other = np.nonzero(TABLES.distances("bounded") == 1.0)
            true = sum((logs[first] - logs[other]).max(axis=1) for _, logs in drawn).max()
            broken[domain] += true > claimed + 1e-9
    assert broken["own"] > 50
    assert broken["common"] > 20


def test_finite_numbers_are_common():
    """A harness in which everything is infinite would show nothing."""
    finite = 0
    for seed in range(40):
        for hidden, worlds in STREAMS.items():
            texts = RELATIONS[hidden]
            for world, kind in zip(worlds, KINDS[hidden], strict=True):
                finite += sum(
                    math.isfinite(stated) and true > 0
                    for _, stated, true in check(world, kind, texts, texts, "common", seed)
                )
    assert finite > 300
