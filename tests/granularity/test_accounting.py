"""The printed examples and corollaries of the doctoral thesis, and what the accountant says of its own."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

import dpradar as dr
from dpradar.granularity import (
    Claim,
    Facts,
    Granularity,
    Graph,
    Partition,
    Pipeline,
    Step,
    account,
    guarantee,
    loss_between,
    worst_pair,
)
from dpradar.granularity.graphs import clique_bound, cliques_through
from dpradar.granularity.worst_change import gaussian_of_pure
from dpradar.results.accounting import Accounting

from . import databases

VALUE = Partition(name="p", kind="value")
OTHER = Partition(name="p", kind="value", cells=["x"])
APPROX = dr.ApproxDP(1.0, 1e-5, neighbours="replace-one")
budgets = st.lists(st.floats(0.0, 5.0), min_size=2, max_size=8)


def cells(losses, granularity="bounded", domain="common", **more):
    return [
        Step(name=f"s{k}", granularity=granularity, partition="p", cell=f"c{k}", domain=domain, **{**more, kind: loss})
        for k, (kind, loss) in enumerate(losses)
    ]


def total(steps, target, partition=VALUE, **more):
    partitions = [partition] if any(step.partition for step in steps) else []
    return account(Pipeline(steps=steps, partitions=partitions, targets=[target], **more)).total(target)


# -------------------------------------------------------------------------------------------------------- printed rules


@given(budgets)
def test_sequential_composition_adds_up(losses):
    for text in ("bounded", "unbounded", "event", "edge", "user:add-remove"):
        steps = [Step(name=f"s{k}", epsilon=loss, granularity=text) for k, loss in enumerate(losses)]
        cost = total(steps, text)
        assert cost.epsilon == math.fsum(losses) == cost.sequential_epsilon
        assert cost.mu is None
    gauss = total([Step(name=f"s{k}", mu=loss, granularity="bounded") for k, loss in enumerate(losses)], "bounded")
    assert gauss.mu == pytest.approx(math.sqrt(sum(loss * loss for loss in losses)), rel=1e-12)


@given(budgets)
def test_parallel_composition_of_unbounded_dp(losses):
    for domain in ("own", "common"):
        steps = cells([("epsilon", loss) for loss in losses], "unbounded", domain)
        assert total(steps, "unbounded").epsilon == max(losses)
        steps = cells([("mu", loss) for loss in losses], "unbounded", domain)
        assert total(steps, "unbounded").mu == pytest.approx(max(losses), rel=1e-12)


@given(budgets)
def test_value_partitions_under_bounded_dp(losses):
    """Corollaries 4.12 and 4.23."""
    pairs = list(itertools.combinations(losses, 2))
    steps = cells([("epsilon", loss) for loss in losses])
    assert total(steps, "bounded").epsilon == pytest.approx(max(a + b for a, b in pairs), rel=1e-12, abs=1e-140)
    steps = cells([("mu", loss) for loss in losses])
    expected = max(math.hypot(a, b) for a, b in pairs)
    assert total(steps, "bounded").mu == pytest.approx(expected, rel=1e-12, abs=1e-140)


def test_one_cell_costs_what_it_costs():
    assert total(cells([("epsilon", 0.7)]), "bounded").epsilon == 0.7


@given(budgets)
def test_partitions_by_index_under_bounded_dp(losses):
    """Proposition 4.7."""
    index = Partition(name="p", kind="index")
    for domain in ("own", "common"):
        steps = cells([("epsilon", loss) for loss in losses], "bounded", domain)
        cost = total(steps, "bounded", index)
        assert cost.epsilon == max(losses)
        assert "4.6" in cost.steps[0].rule or "4.11" in cost.steps[0].rule


def test_sizes_of_cells_under_bounded_dp_are_not_private():
    """Example 2.16: each size is bounded 0-DP, all of them together are not DP at all."""
    steps = cells([("epsilon", 0.0)] * 3, "bounded", "own")
    cost = total(steps, "bounded")
    assert cost.epsilon == math.inf
    assert cost.sequential_epsilon == 0.0  # what adding up would say
    assert "2.16" in cost.steps[0].rule
    assert "partition by value" in cost.reason
    # The sizes themselves: of two neighbours they tell which is which.
    near = Granularity.bounded().on(databases.tables("abc", range(3))).pairs()
    sizes = [
        Step(
            name=v,
            epsilon=0.0,
            granularity="bounded",
            partition="p",
            cell=v,
            function=lambda t, v=v: [x for x in t if x == v],
        )
        for v in "abc"
    ]
    assert worst_pair(Pipeline(steps=sizes, partitions=[VALUE]), near).epsilon == math.inf
    # Gaussian steps alike.
    assert total(cells([("mu", 0.0)] * 3, "bounded", "own"), "bounded").mu == math.inf


def test_a_histogram_costs_twice_under_bounded_dp():
    for k in (2, 5, 40):
        steps = cells([("epsilon", 0.5)] * k)
        cost = total(steps, "bounded")
        assert cost.epsilon == 1.0
        assert cost.sequential_epsilon == 0.5 * k
    sigma = 2.0
    noisy = dr.Gaussian(sigma=sigma, sensitivity=1.0, neighbours="replace-one")
    steps = [
        Step(name=v, mechanism=noisy, granularity="bounded", partition="p", cell=v, domain="common") for v in "abc"
    ]
    assert total(steps, "bounded").mu == pytest.approx(math.sqrt(2.0) / sigma, rel=1e-12)
    # Replacing one person moves two counts by one.
    exact = dr.Gaussian(sigma=sigma, query=np.eye(3)).at(None).privacy("replace-one")
    assert total(steps, "bounded").mu == pytest.approx(dr.GDP(math.sqrt(2.0) / sigma, neighbours="replace-one").mu)
    assert exact.tv == pytest.approx(2.0 * ndtr(math.sqrt(2.0) / sigma / 2.0) - 1.0, rel=1e-12)


def test_degrees_of_a_graph():
    """Example 4.3: noisy degrees cost 2 epsilon together, not n epsilon."""
    n, epsilon = 10, 0.5
    degrees = Partition(name="degrees", kind="custom", changes={"edge": 2})
    steps = [
        Step(
            name=f"degree of {v}",
            epsilon=epsilon,
            granularity="edge",
            partition="degrees",
            cell=str(v),
            domain="common",
        )
        for v in range(n)
    ]
    cost = account(Pipeline(steps=steps, partitions=[degrees])).total("edge")
    assert cost.epsilon == 2.0 * epsilon
    assert cost.sequential_epsilon == n * epsilon

    def degree(v):
        return Step(
            name=f"degree of {v}",
            epsilon=epsilon,
            granularity="edge",
            function=lambda graph: graph.degree(v),
            distance=lambda a, b: float(abs(a - b)),
        )

    small = Pipeline(steps=[degree(v) for v in range(4)])
    near = Granularity.edge().on(databases.graphs(4, fixed=True)).pairs()
    assert worst_pair(small, near).epsilon == 2.0 * epsilon
    # Moving one end of an edge is two steps, but changes only two degrees: "=" is "<=".
    one, other = Graph.of([(1, 3)], range(4)), Graph.of([(1, 2)], range(4))
    assert Granularity.edge().distance(one, other) == 2.0
    assert loss_between(small, one, other) == (2.0 * epsilon, 0.0)


def test_clique_counts():
    """Example 4.4: 2^(r-2) - 1, if every clique through the edge lies in one of r vertices."""
    assert [clique_bound(r) for r in (2, 3, 4, 5)] == [0, 1, 3, 7]
    five = Graph.of(itertools.combinations(range(5), 2))
    edge = (0, 1)
    assert sum(cliques_through(five, edge, 5).values()) == 7
    # The largest clique through the edge is still unique, yet the counts change by 8.
    more = Graph.of([*itertools.combinations(range(5), 2), (0, 9), (1, 9)])
    assert sum(cliques_through(more, edge, 5).values()) == 8
    assert sum(cliques_through(Graph.of([edge]), edge, 5).values()) == 0

    def count(graph, size):
        return sum(
            all(frozenset(pair) in graph.edges for pair in itertools.combinations(some, 2))
            for some in itertools.combinations(sorted(graph.vertices), size)
        )

    for graph in (five, more):
        without = Graph(graph.vertices, graph.edges - {frozenset(edge)})
        steps = [
            Step(
                name=f"{size}-cliques",
                epsilon=1.0,
                granularity="edge",
                function=lambda g, size=size: count(g, size),
                distance=lambda a, b: float(abs(a - b)),
            )
            for size in (3, 4, 5)
        ]
        changed = cliques_through(graph, edge, 5)
        assert all(count(graph, size) - count(without, size) == changed[size] for size in (3, 4, 5))
        assert loss_between(Pipeline(steps=steps), graph, without)[0] == sum(changed.values())


def test_cliques_through_an_edge_by_counting():
    rng = np.random.default_rng(4)
    for _ in range(20):
        pairs = [pair for pair in itertools.combinations(range(7), 2) if rng.random() < 0.7]
        graph = Graph.of([*pairs, (0, 1)], range(7))
        cliques = cliques_through(graph, (0, 1), 6)
        for size, count in cliques.items():
            true = sum(
                {0, 1} <= set(some) and all(frozenset(p) in graph.edges for p in itertools.combinations(some, 2))
                for some in itertools.combinations(range(7), size)
            )
            assert count == true


def test_gaussian_parallel_composition_beats_the_maximum_for_larger_changes():
    """Example 4.20: two records in different cells, unit budgets: root 2, not 2."""
    steps = [
        Step(
            name=v,
            mu=1.0,
            granularity="unbounded",
            partition="p",
            cell=v,
            function=lambda t, v=v: [x for x in t if x == v],
        )
        for v in "ab"
    ]
    pipeline = Pipeline(steps=steps, partitions=[VALUE])
    assert loss_between(pipeline, "", "ab")[1] == math.sqrt(2.0)
    assert Granularity.unbounded().distance("", "ab") == 2.0
    assert account(pipeline).total("unbounded").mu == 1.0
    assert loss_between(pipeline, "", "aa")[1] == 2.0  # in one cell nothing is gained


@given(st.floats(0.01, 3.0), st.floats(0.01, 3.0), st.floats(1e-6, 1.0 - 1e-6))
def test_group_privacy_of_gaussian_dp(mu, nu, x):
    """G_mu(1 - G_nu(x)) = G_(mu + nu)(x), on which Theorem 4.15 rests."""

    def curve(m, fpr):
        return ndtr(-ndtri(fpr) - m)

    assert curve(mu, 1.0 - curve(nu, x)) == pytest.approx(curve(mu + nu, x), abs=1e-9)


@given(st.floats(1e-4, 20.0))
def test_pure_dp_read_as_gaussian(epsilon):
    """The Gaussian curve lies below that of epsilon-DP, and one with a little less mu does not."""
    mu = gaussian_of_pure(epsilon)
    bend = 1.0 / (1.0 + math.exp(epsilon))
    x = np.concatenate([np.linspace(0.0, 1.0, 101), bend * np.linspace(0.5, 2.0, 31)])
    x = x[(x > 0.0) & (x < 1.0)]
    pure = np.maximum(0.0, np.maximum(1.0 - math.exp(epsilon) * x, math.exp(-epsilon) * (1.0 - x)))
    assert (ndtr(-ndtri(x) - mu) <= pure + 1e-12).all()
    assert ndtr(-ndtri(bend) - 0.999 * mu) > bend


# ---------------------------------------------------------------------------------------------------- parts of the data


def test_a_bounded_mechanism_that_reads_a_part_protects_who_takes_part():
    """Corollary A.14, tightened: unread records make up for different sizes."""
    steps = cells([("epsilon", 0.5), ("epsilon", 0.3)])
    assert total(steps, "unbounded").epsilon == 0.5
    assert total(steps, "unbounded", facts=Facts(size="public")).epsilon == math.inf
    assert total([Step(name="all", epsilon=0.5, granularity="bounded")], "unbounded").epsilon == math.inf
    some = databases.tables("ab", range(5))
    read = [
        Step(
            name=v,
            epsilon=1.0,
            granularity="bounded",
            partition="p",
            cell=v,
            domain="common",
            function=lambda t, v=v: [x for x in t if x == v],
        )
        for v in "ab"
    ]
    near = [(a, b) for a, b in Granularity.unbounded().on(databases.tables("ab", range(3))).pairs()]
    assert worst_pair(Pipeline(steps=read, partitions=[VALUE]), near, some).epsilon == 1.0


def test_windows_of_a_stream():
    """w-event DP: the largest sum of budgets in a window."""
    spent = [0.1, 0.5, 0.2, 0.0, 0.9, 0.1, 0.1, 0.7]
    times = Partition(name="t", kind="time", cells=[str(k) for k in range(len(spent))])
    steps = [
        Step(name=f"t{k}", epsilon=e, granularity="event", partition="t", cell=str(k)) for k, e in enumerate(spent)
    ]
    accounting = account(
        Pipeline(
            steps=steps,
            partitions=[times],
            facts=Facts(times=8, points_per_user=2, users=9, hidden="values"),
            targets=["w-event:1", "w-event:3", "w-event:20", "l-trajectory:2", "user:replace-one"],
        )
    )
    assert accounting.total("event").epsilon == accounting.total("w-event:1").epsilon == 0.9
    assert accounting.total("w-event:3").epsilon == pytest.approx(max(sum(spent[k : k + 3]) for k in range(6)))
    assert accounting.total("w-event:20").epsilon == pytest.approx(sum(spent))
    assert (
        accounting.total("l-trajectory:2").epsilon == accounting.total("user:replace-one").epsilon == pytest.approx(1.6)
    )
    assert "in a row" in accounting.total("w-event:3").steps[0].rule


def test_several_partitions_and_steps_add_up():
    age, place = Partition(name="age", kind="value"), Partition(name="place", kind="index")
    steps = [
        Step(name="young", epsilon=0.5, granularity="bounded", partition="age", cell="young", domain="common"),
        Step(name="old", epsilon=0.2, granularity="bounded", partition="age", cell="old", domain="common"),
        Step(name="again", epsilon=0.1, granularity="bounded", partition="age", cell="old", domain="common"),
        Step(name="first half", epsilon=0.4, granularity="bounded", partition="place", cell="1"),
        Step(name="second half", epsilon=0.3, granularity="bounded", partition="place", cell="2"),
        Step(name="all", epsilon=0.05, granularity="bounded", times=4),
        Step(name="table", reads="outputs"),
        Step(name="map", reads="public"),
    ]
    cost = account(Pipeline(steps=steps, partitions=[age, place])).total("bounded")
    assert cost.epsilon == pytest.approx(0.5 + 0.2 + 0.1 + 0.4 + 0.2)
    assert [step.counted for step in cost.steps] == [True, True, True, True, False, True, False, False]
    assert cost.steps[5].loss == pytest.approx(0.2)


def test_preprocessing_multiplies():
    """Proposition A.3."""
    assert total([Step(name="s", epsilon=0.5, granularity="unbounded", sensitivity=3.0)], "unbounded").epsilon == 1.5
    assert total([Step(name="s", mu=0.5, granularity="unbounded", sensitivity=0.5)], "bounded").mu == 0.5


def test_a_step_without_budget_costs_everything():
    steps = [Step(name="noisy", epsilon=0.1, granularity="bounded"), Step(name="cluster")]
    accounting = account(Pipeline(steps=steps, claim=Claim(granularity="bounded", epsilon=9.0)))
    assert accounting.total("bounded").epsilon == math.inf
    assert accounting.total("bounded").reason == "cluster reads data and states no cost"
    assert accounting.met is False
    assert accounting.vacuous
    assert any("states no cost" in warning for warning in accounting.warnings)
    assert guarantee(accounting, "bounded") == dr.TotalVariation(1.0, neighbours="replace-one")


def test_custom_partitions_say_only_what_they_say():
    custom = Partition(name="p", kind="custom", changes={"edge": 2}, moves=1.0)
    steps = cells([("epsilon", e) for e in (0.3, 0.2, 0.1)], "edge", "own")
    assert total(steps, "edge", custom).epsilon == 0.5
    assert total(steps, "node:replace-one", custom, facts=Facts(vertices=5)).epsilon == 4 * 0.5
    blank = Partition(name="p", kind="custom", changes={"edge": 2})
    assert total(steps, "edge", blank).epsilon == math.inf
    assert total(steps, "bounded", custom).epsilon == math.inf


def test_the_smallest_route_is_taken():
    """Composed under unbounded and then converted: the maximum first, not the sum of converted budgets."""
    steps = cells([("epsilon", e) for e in (0.5, 0.4, 0.3)], "unbounded", "own")
    facts = Facts(points_per_user=10)
    assert total(steps, "user:add-remove", facts=facts).epsilon == 5.0
    assert total(steps, "user:replace-one", facts=facts).epsilon == 10.0


# ------------------------------------------------------------------------------------------------ claims and guarantees


def test_the_total_feeds_assess():
    steps = [Step(name="a", epsilon=0.3, granularity="unbounded"), Step(name="b", epsilon=0.7, granularity="unbounded")]
    accounting = account(Pipeline(steps=steps, targets=["bounded"]))
    threat = dr.Threat(dr.Prior.uniform(10))
    assert guarantee(accounting, "unbounded") == dr.PureDP(1.0, neighbours="add-remove")
    assert guarantee(accounting, "bounded") == dr.PureDP(2.0, neighbours="replace-one")
    direct = dr.assess(dr.PureDP(1.0, neighbours="add-remove"), threat)
    assert dr.assess(guarantee(accounting, "unbounded"), threat).rad.value == direct.rad.value
    mixed = account(Pipeline(steps=[*steps, Step(name="c", mu=0.5, granularity="unbounded")]))
    both = dr.assess(guarantee(mixed, "unbounded"), neighbours="add-remove").worst_gain.value
    assert direct.worst_gain.value < both <= math.tanh(0.5) + (2 * ndtr(0.25) - 1)
    read = guarantee(mixed, "unbounded", reading="all")
    assert isinstance(read, dr.GDP)
    assert read.mu == pytest.approx(
        math.sqrt(0.5**2 + gaussian_of_pure(0.3) ** 2 + gaussian_of_pure(0.7) ** 2), rel=1e-9
    )


def test_many_small_pure_steps_are_better_read_as_gaussian():
    accounting = account(Pipeline(steps=[Step(name="s", epsilon=0.01, granularity="bounded", times=1000)]))
    pure = dr.assess(guarantee(accounting, "bounded")).worst_gain.value
    read = dr.assess(guarantee(accounting, "bounded", reading="all")).worst_gain.value
    assert read < 0.2
    assert pure > 0.99


def test_granularities_without_a_unit_make_no_guarantee():
    mine = Granularity.listed("mine", range(3), [(0, 1), (1, 2)])
    accounting = account(Pipeline(steps=[Step(name="s", epsilon=1.0, granularity=mine)]))
    assert accounting.total(mine).epsilon == 1.0
    with pytest.raises(dr.ParameterError, match="with a unit"):
        guarantee(accounting, mine)


@pytest.mark.parametrize(
    ("claim", "met"),
    [
        ({"epsilon": 1.0}, True),
        ({"epsilon": 0.99}, False),
        ({"mu": 1.3}, True),
        ({"mu": 0.39}, False),
        ({"epsilon": 0.9, "delta": 0.2}, True),
    ],
)
def test_claims_about_pure_steps(claim, met):
    steps = [Step(name=f"s{k}", epsilon=0.1, granularity="bounded") for k in range(10)]
    accounting = account(Pipeline(steps=steps, claim=Claim(granularity="bounded", **claim)))
    assert accounting.met is met


@pytest.mark.parametrize(
    ("claim", "met"),
    [
        ({"epsilon": 4.38, "delta": 1e-5}, True),
        ({"epsilon": 4.37, "delta": 1e-5}, False),
        ({"epsilon": 99.0}, False),
        ({"mu": 1.0}, True),
    ],
)
def test_claims_about_gaussian_steps(claim, met):
    steps = [Step(name=f"s{k}", mu=0.5, granularity="bounded") for k in range(4)]
    assert account(Pipeline(steps=steps, claim=Claim(granularity="bounded", **claim))).met is met


def test_mixed_claims():
    steps = [Step(name="a", mu=0.5, granularity="bounded"), Step(name="b", epsilon=0.2, granularity="bounded")]
    assert account(Pipeline(steps=steps, claim=Claim(granularity="bounded", epsilon=2.4, delta=1e-5))).met
    assert not account(Pipeline(steps=steps, claim=Claim(granularity="bounded", epsilon=2.0, delta=1e-5))).met
    assert not account(Pipeline(steps=steps, claim=Claim(granularity="bounded", epsilon=99.0))).met


def test_what_is_hidden_decides():
    steps = [Step(name="s", epsilon=0.1, granularity="event")]
    epsilons = {
        mode: total(steps, "user:replace-one", facts=Facts(points_per_user=20, times=96, hidden=mode)).epsilon
        for mode in ("values", "points", None)
    }
    assert epsilons == {"values": pytest.approx(2.0), "points": pytest.approx(4.0), None: pytest.approx(4.0)}
    assert total(steps, "user:add-remove", facts=Facts(points_per_user=20, times=96)).epsilon == pytest.approx(2.0)
    assert total(steps, "user:replace-one").epsilon == math.inf


# -------------------------------------------------------------------------------------------------------------- results


def pipeline():
    return Pipeline(
        title="Ages and visits",
        steps=[
            *cells([("epsilon", 0.5), ("epsilon", 0.25)]),
            Step(name="mean", mu=0.1, granularity="bounded", times=3),
            Step(name="clusters"),
        ],
        partitions=[VALUE],
        claim=Claim(granularity="bounded", epsilon=1.0),
        facts=Facts(size="private"),
    )


def test_results_are_read_back():
    accounting = account(pipeline())
    data = json.loads(json.dumps(accounting.to_dict(), allow_nan=False))
    assert data["schema"] == "dpradar/accounting/2"
    assert Accounting.from_dict(data) == accounting
    assert hash(accounting) == hash(Accounting.from_dict(data))
    assert data["totals"][0]["epsilon"] == "inf"
    with pytest.raises(dr.ParameterError, match="schema"):
        Accounting.from_dict({"schema": "dpradar/audit/2"})
    with pytest.raises(dr.ParameterError, match="one of bounded"):
        accounting.total("edge")


def test_results_explain_themselves():
    text = account(pipeline()).explain()
    assert "CLAIM REFUTED. Epsilon 1 under bounded cannot hold" in text
    assert "Infinite under bounded: clusters reads data and states no cost." in text
    assert "the number of records is not protected" in text
    good = account(
        Pipeline(
            steps=[Step(name="s", epsilon=0.1 + 0.2, granularity="bounded")],
            claim=Claim(granularity="bounded", epsilon=0.3),
        )
    )
    assert "CLAIM FOLLOWS. Epsilon 0.3 under bounded" in good.explain()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Step(name="s", epsilon=1.0), "granularity must be given"),
        (lambda: Step(name="s", epsilon=-1.0, granularity="bounded"), "at least 0"),
        (lambda: Step(name="s", epsilon=1.0, mu=1.0, granularity="bounded"), "epsilon and mu"),
        (lambda: Step(name="s", epsilon={}, granularity=None), "at least one number"),
        (lambda: Step(name="s", epsilon={"bounded": 1.0}, granularity="bounded"), "left out"),
        (lambda: Step(name="s", epsilon=1.0, granularity="bounded", cell="x"), "together with partition"),
        (lambda: Step(name="s", epsilon=1.0, granularity="bounded", reads="all"), "'data', 'outputs' or 'public'"),
        (lambda: Step(name="s", epsilon=1.0, granularity="bounded", domain="both"), "'own' or 'common'"),
        (lambda: Step(name="s", mechanism=APPROX, granularity="bounded"), "pure or Gaussian"),
        (lambda: Step(name="s", mechanism=3.0, granularity="bounded"), "a mechanism or a guarantee"),
        (lambda: Step(name="s", mechanism=dr.GRR(m=3, epsilon=1.0), granularity="unbounded"), "under unbounded"),
        (lambda: Partition(name="p", kind="values"), "'value', 'index'"),
        (lambda: Partition(name="p", kind="custom"), "custom partition"),
        (lambda: Partition(name="p", kind="value", changes={"edge": 2}), "custom partition"),
        (lambda: Partition(name="p", kind="value", cells=["a", "a"]), "different names"),
        (lambda: Pipeline(steps=[]), "at least one step"),
        (lambda: Pipeline(steps=cells([("epsilon", 1.0)])), "one of the partitions"),
        (lambda: Pipeline(steps=cells([("epsilon", 1.0)]), partitions=[OTHER]), "a cell of p"),
        (lambda: Pipeline(steps=cells([("epsilon", 1.0)]), partitions=[VALUE, VALUE]), "different names"),
        (lambda: Claim(granularity="bounded"), "neither"),
        (lambda: Claim(granularity="bounded", mu=1.0, delta=0.1), "left out with mu"),
        (lambda: Facts(times=0), "at least 1"),
        (lambda: Facts(hidden="all"), "'values', 'points' or 'people'"),
    ],
)  # fmt: skip
def test_bad_descriptions(make, message):
    with pytest.raises(dr.ParameterError, match=message):
        make()


def test_mechanisms_of_the_library():
    assert (
        Step(
            name="s", mechanism=dr.Laplace(2.0, sensitivity=3.0, neighbours="add-remove"), granularity="unbounded"
        ).losses[0][1]
        == 1.5
    )
    assert Step(name="s", mechanism=dr.GRR(m=3, epsilon=1.5), granularity="bounded").losses[0][1] == pytest.approx(1.5)
    assert (
        Step(name="s", mechanism=dr.PureDP(0.5, neighbours="add-remove"), granularity="user:replace-one").losses[0][1]
        == 1.0
    )


# --------------------------------------------------------------------------- the rules against the definition, exactly


LISTED = databases.tables("abcdef", range(4))
NEAR = {
    target: Granularity.parse(target).on(databases.tables("abcdef", range(3))).pairs()
    for target in ("bounded", "unbounded")
}


@settings(max_examples=12)
@given(st.lists(st.floats(0.0, 3.0), min_size=3, max_size=3), st.sampled_from(["own", "common"]), st.booleans())
def test_totals_are_the_listed_maximum(losses, domain, gaussian):
    """Metrics only: every mechanism takes all that its distance allows."""
    kind = "mu" if gaussian else "epsilon"
    for stated in ("bounded", "unbounded"):
        steps = [
            Step(
                name=cell,
                granularity=stated,
                partition="p",
                cell=cell,
                domain=domain,
                function=lambda table, cell=cell: tuple(x for x in table if x in cell),
                **{kind: loss},
            )
            for cell, loss in zip(("ab", "cd", "ef"), losses, strict=True)
        ]
        pipeline = Pipeline(steps=steps, partitions=[VALUE], targets=["bounded", "unbounded"])
        accounting = account(pipeline)
        for target in ("bounded", "unbounded"):
            worst = getattr(worst_pair(pipeline, NEAR[target], LISTED), kind)
            assert getattr(accounting.total(target), kind) == pytest.approx(worst, rel=1e-9, abs=1e-140)
