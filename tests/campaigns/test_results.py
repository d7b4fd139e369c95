"""The numbers of a campaign are those of the functions it stands for, whatever was computed before."""

from __future__ import annotations

import itertools
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpradar as dr
from dpradar import campaigns
from dpradar.campaigns.sharded_runs import sharded_run_of
from dpradar.campaigns.store import Store
from dpradar.learning import Candidates, Network, Training, attack_gradients, experiment

CLAIM = dr.PureDP(2.0, neighbours="replace-one")
THREAT = dr.Threat(dr.Prior.uniform(400))


def ran(text, folder, name="store.sqlite", **options):
    campaign = campaigns.parse(text, folder=folder)
    with ThreadPoolExecutor(2) as threads:
        return campaigns.run(campaign, folder / name, executor=threads, workers=2, **options)


def shards(folder, name="store.sqlite"):
    with sqlite3.connect(folder / name) as base:
        return base.execute("SELECT count(*) FROM shard").fetchone()[0]


def test_attacks_are_those_of_the_library(tmp_path):
    text = """
    [[run]]
    do = "attack"
    kind = "oue"
    m = 400
    epsilon = 3.0
    trials = 70_001
    seed = 5
    maximise = "success"
    confidence = 0.9
    [[run]]
    do = "attack"
    kind = "laplace"
    scale = 3.0
    values = "0:9"
    prior = [0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05]
    knowledge = { labels = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1] }
    goal = "within:1"
    trials = 300_000
    strategy = "prior"
    seed = 6
    """
    status = ran(text, tmp_path)
    oue = dr.OUE(m=400, epsilon=3.0)
    assert status.runs[0].result == dr.attack(oue, THREAT, trials=70_001, seed=5, maximise="success", confidence=0.9)
    prior = dr.Prior.of([0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05], list(range(10)))
    threat = dr.Threat(prior, dr.Knowledge.labels([0] * 5 + [1] * 5), dr.Goal.within(1))
    alone = dr.attack(dr.Laplace(scale=3.0), threat, trials=300_000, seed=6, strategy="prior")
    assert status.runs[1].result == alone
    assert status.runs[0].shards == 4
    assert status.runs[1].shards == 2


SAMPLER = """
import numpy as np

def leaky(inputs, rng):
    return np.where(rng.random(len(inputs)) < 0.7, inputs, rng.integers(0, 400, len(inputs)))

def words(inputs, rng):
    return ["a" if x else "b" for x in (inputs > 0) ^ (rng.random(len(inputs)) < 0.3)]
"""
AUDITS = """
[[run]]
do = "audit"
sampler = "mine.py:leaky"
kind = "grr"
m = 400
epsilon = 2.0
trials = 800_000
seed = 7
[[run]]
do = "audit"
sampler = "mine.py:leaky"
kind = "grr"
m = 400
epsilon = 2.0
trials = 500_000
test = "rad"
seed = 8
[[run]]
do = "audit"
kind = "olh"
m = 400
epsilon = 2.0
trials = 100_000
seed = 9
[[run]]
do = "audit"
sampler = "mine.py:words"
domain = 2
claim_epsilon = 0.5
trials = 4_000
seed = 10
[[run]]
do = "audit"
sampler = "mine.py:leaky"
kind = "grr"
m = 400
epsilon = 2.0
trials = 400_000
sequential = true
seed = 11
"""


def test_audits_are_those_of_the_library(tmp_path):
    (tmp_path / "mine.py").write_text(SAMPLER)
    results = [run.result for run in ran(AUDITS, tmp_path).runs]
    names: dict = {}
    exec(SAMPLER, names)  # noqa: S102 - written above
    leaky, grr, olh = names["leaky"], dr.GRR(m=400, epsilon=2.0), dr.OLH(m=400, epsilon=2.0)
    assert results[0] == dr.audit(leaky, claim=CLAIM, protocol=grr, trials=800_000, seed=7)
    assert results[0].refuted
    assert results[1] == dr.audit(leaky, claim=CLAIM, protocol=grr, threat=THREAT, trials=500_000, seed=8)
    assert results[2] == dr.audit(olh.at(None).sample, claim=CLAIM, protocol=olh, trials=100_000, seed=9)
    claim = dr.PureDP(0.5, neighbours="replace-one")
    assert results[3] == dr.audit(names["words"], claim=claim, domain=2, trials=4_000, seed=10)
    assert results[4] == dr.audit(leaky, claim=CLAIM, protocol=grr, trials=400_000, sequential=True, seed=11)
    assert results[4].trials < 400_000


def test_trainings_are_those_of_the_library(tmp_path):
    rng = np.random.default_rng(2)
    data = {"known_x": rng.normal(size=(30, 5)), "known_y": rng.integers(0, 2, 30)}
    data |= {"x": rng.normal(size=(3, 5)), "y": np.array([0, 1, 1])}
    np.savez(tmp_path / "records.npz", **data)
    text = """
    [[run]]
    do = "learning"
    data = "records.npz"
    network = [5, 4, 2]
    steps = 5
    clip = 0.5
    noise_multiplier = 1.0
    learning_rate = 0.3
    trials = 75
    seed = 4
    [run.grid]
    knowledge = ["nothing", "label"]
    """
    status = ran(text, tmp_path)
    training = Training(network=Network((5, 4, 2)), steps=5, clip=0.5, noise_multiplier=1.0, learning_rate=0.3)
    targets, scores = experiment(training, Candidates(**data), 75, 4)
    for run, knowledge in zip(status.runs, (dr.Knowledge.nothing(), dr.Knowledge.labels([0, 1, 1])), strict=True):
        assert run.result == attack_gradients(scores, targets, dr.Threat(dr.Prior.uniform(3), knowledge))
    assert shards(tmp_path) == 3  # what is known changes no training


def test_assessments_and_calibrations_are_those_of_the_library(tmp_path):
    text = """
    [[run]]
    do = "assess"
    kind = "dp"
    neighbours = "replace-one"
    m = 10
    grid = { epsilon = [1.0, 2.0], delta = [0.0, 1e-5] }
    [[run]]
    do = "calibrate"
    kind = "grr"
    m = 10
    limits = { rad = 0.1 }
    """
    status = ran(text, tmp_path)
    threat = dr.Threat(dr.Prior.uniform(10))
    for run, (epsilon, delta) in zip(status.runs, itertools.product((1.0, 2.0), (0.0, 1e-5)), strict=False):
        options = {"epsilon": epsilon, "neighbours": "replace-one"}
        claim = dr.PureDP(**options) if delta == 0.0 else dr.ApproxDP(delta=delta, **options)
        assert run.result.rad == dr.assess(claim, threat).rad
    assert status.runs[4].result.value == dr.calibrate(dr.GRR, dr.Limit(threat, rad=0.1), m=10).value


ATTACK = 'run = [{do = "attack", kind = "oue", m = 400, epsilon = 3.0, trials = TRIALS}]'


def test_more_trials_add_to_what_is_there(tmp_path):
    shard_counts = []
    for trials in (50_000, 130_000, 50_000, 20_000):
        result = ran(ATTACK.replace("TRIALS", str(trials)), tmp_path).runs[0].result
        alone = dr.attack(dr.OUE(m=400, epsilon=3.0), THREAT, trials=trials, seed=result.seed)
        assert result == alone
        shard_counts.append(shards(tmp_path))
    # Shards of 20,000: 2.5 of them, then 4.5 more of which the half one is another, and then none.
    assert shard_counts == [3, 3 + 5, 8, 8]


def test_a_run_that_is_added_or_moved_changes_no_other(tmp_path):
    first = 'seed = 2\n[[run]]\ndo = "attack"\nkind = "grr"\nm = 9\nepsilon = 1.0\ntrials = 1000\n'
    more = 'seed = 2\n[[run]]\ndo = "attack"\nkind = "grr"\nm = 9\ngrid = { epsilon = [2.0, 1.0] }\ntrials = 1000\n'
    one, two = ran(first, tmp_path), ran(more, tmp_path)
    assert two.runs[1].result == one.runs[0].result
    assert shards(tmp_path) == 2
    other = ran(first.replace("seed = 2", "seed = 3"), tmp_path, "other.sqlite")
    assert other.runs[0].result != one.runs[0].result


def test_a_changed_campaign_is_refused_and_told(tmp_path):
    text = 'run = [{do = "attack", kind = "grr", m = 9, epsilon = 1.0, trials = 1000, name = "mine"}]'
    ran(text, tmp_path)
    with pytest.raises(
        dr.ParameterError,
        match=r"without mine \(epsilon was 1.0, is 2.0\)\. Give changed=True \(command line: --changed\) to continue",
    ):
        ran(text.replace("1.0", "2.0"), tmp_path)
    status = ran(text.replace("1.0", "2.0"), tmp_path, changed=True)
    assert status.done
    assert shards(tmp_path) == 2  # the old one is still there
    with pytest.raises(dr.ParameterError, match=r"epsilon was 2.0, is 1.0"):
        ran(text, tmp_path)


def test_a_changed_sampler_is_refused(tmp_path):
    (tmp_path / "mine.py").write_text(SAMPLER)
    text = 'run = [{do = "audit", sampler = "mine.py:leaky", kind = "grr", m = 400, epsilon = 2.0, trials = 1000}]'
    before = ran(text, tmp_path)
    (tmp_path / "mine.py").write_text(SAMPLER.replace("0.7", "0.2"))
    with pytest.raises(dr.ParameterError, match=r"the file of sampler has changed"):
        ran(text, tmp_path)
    after = ran(text, tmp_path, changed=True)
    assert after.runs[0].result.epsilon_lower < before.runs[0].result.epsilon_lower


def test_a_prior_from_a_table(tmp_path):
    pytest.importorskip("ibis")
    rows = ["job,town"] + [f"{k % 3},{k % 2}" for k in range(60)] + ["0,0"] * 10
    (tmp_path / "people-1.csv").write_text("\n".join(rows))
    text = """
    [[run]]
    do = "attack"
    kind = "grr"
    epsilon = 2.0
    data = "people-*.csv"
    columns = ["job", "town"]
    known = ["town"]
    trials = 5000
    [[run]]
    do = "assess"
    kind = "grr"
    epsilon = 2.0
    data = "people-*.csv"
    columns = ["job", "town"]
    known = ["town"]
    """
    runs = ran(text, tmp_path).runs
    results = [run.result for run in runs]
    assert None not in results, [run.reason for run in runs]
    assert results[0].rad.low < results[1].rad.value < results[0].rad.high
    (tmp_path / "people-2.csv").write_text("\n".join([*rows, "1,0"]))
    with pytest.raises(dr.ParameterError, match="the file of data has changed"):
        ran(text, tmp_path)


def test_other_versions_are_refused(tmp_path):
    ran(ATTACK.replace("TRIALS", "1000"), tmp_path)
    with Store(tmp_path / "store.sqlite") as store, store.writing():
        store.set_metadata(versions=store.metadata()["versions"].replace(f'"{np.__version__}"', '"1.0.0"'))
    with pytest.raises(dr.ParameterError, match=rf"got numpy 1\.0\.0 \(now {np.__version__}\)\. Numbers of different"):
        ran(ATTACK.replace("TRIALS", "2000"), tmp_path)


def test_a_run_that_raises_is_told_and_the_others_go_on(tmp_path):
    (tmp_path / "mine.py").write_text(
        "def bad(inputs, rng):\n    if len(inputs) > 100:\n        raise ValueError('secret 42')\n"
        "    return inputs + rng.integers(0, 2, len(inputs))\n"
    )
    text = """
    [[run]]
    do = "audit"
    sampler = "mine.py:bad"
    kind = "grr"
    m = 400
    epsilon = 2.0
    trials = 1000
    [[run]]
    do = "audit"
    sampler = "mine.py:none"
    domain = 2
    claim_epsilon = 1.0
    [[run]]
    do = "attack"
    kind = "grr"
    m = 4
    epsilon = 1.0
    trials = 1000
    """
    status = ran(text, tmp_path)
    assert [run.state for run in status.runs] == ["failed", "failed", "done"]
    assert "ValueError" in status.runs[0].reason
    assert status.runs[1].reason.startswith("run[2].sampler must be a name of mine.py; got 'none'")
    assert b"secret" not in (tmp_path / "store.sqlite").read_bytes()


def test_equal_runs_are_computed_once(tmp_path):
    table = '{do = "attack", kind = "grr", m = 9, epsilon = 1.0, trials = 1000, confidence = C}'
    status = ran(f"run = [{table.replace('C', '0.9')}, {table.replace('C', '0.99')}]", tmp_path)
    assert shards(tmp_path) == 1
    assert status.runs[0].result.rad.high < status.runs[1].result.rad.high


@settings(max_examples=10)
@given(order=st.permutations(range(6)), cuts=st.sets(st.integers(1, 5)), extra=st.integers(0, 3))
def test_shards_in_any_order_and_cut_give_the_same_answer(order, cuts, extra):
    text = f'run = [{{do = "attack", kind = "oue", m = 3000, epsilon = 3.0, trials = {5 * 2666 + 7}, seed = 1}}]'
    question = campaigns.parse(text).runs[0].question(None)
    ends = [0, *sorted(cuts), 6]
    parts: dict[int, bytes] = {}
    for first, last in itertools.pairwise(ends):  # every batch by a worker of its own
        job = sharded_run_of(question)
        parts |= {number: job.compute(number) for number in order[first:last]}
    parts |= {number: sharded_run_of(question).compute(number) for number in order[:extra]}  # done twice
    result = sharded_run_of(question).finish([parts[number] for number in range(6)])
    assert result == _alone()


def _alone(cache: list = []):  # noqa: B006 - computed once
    if not cache:
        threat = dr.Threat(dr.Prior.uniform(3000))
        cache.append(dr.attack(dr.OUE(m=3000, epsilon=3.0), threat, trials=5 * 2666 + 7, seed=1).to_dict())
    return cache[0]
