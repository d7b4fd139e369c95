"""Every rule of the linter with an example that it finds and one that it leaves alone; planted defects in samplers."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.special import bdtrc

import dpradar as dr
from dpradar.cli.main import app
from dpradar.errors import DpradarError
from dpradar.granularity import (
    Claim,
    Facts,
    Partition,
    Pipeline,
    Practice,
    Step,
    centroid_attack,
    lint,
    lint_sampler,
    noisy_clusters,
    survey,
)
from dpradar.granularity.claims.lint_rules import RULES
from dpradar.granularity.claims.query_sensitivity import gram_counts, prefix_counts, query_change
from dpradar.granularity.claims.sampler_tests import last_bits
from dpradar.results.lint import LintReport

from . import samplers

PURE = Claim(granularity="unbounded", epsilon=1.0)
REPLACE = Claim(granularity="bounded", epsilon=1.0)
APPROX = Claim(granularity="unbounded", epsilon=1.0, delta=1e-6)
ROOT = Path(__file__).parents[2]


def step(name="counts", epsilon=1.0, granularity="unbounded", **more):
    practice = {key: more.pop(key) for key in list(more) if key in Practice.__slots__}
    return Step(name=name, epsilon=epsilon, granularity=granularity, practice=Practice(**practice), **more)


def severities(*steps, claim=PURE, **more):
    report = lint(Pipeline(steps=steps, claim=claim, **more))
    return {finding.rule: finding.severity for finding in report.findings}


# --- described pipelines


def test_a_sound_pipeline_has_no_findings():
    sound = step(noise="geometric", arithmetic="exact", noise_on="all", support="fixed", query="count", assumed=1.0)
    assert severities(sound) == {}
    assert severities(sound, Step(name="plot", reads="outputs"), Step(name="map", reads="public")) == {}


def test_noise_on_present_rows():
    assert severities(step(noise_on="present")) == {"present-rows": "refutes"}
    assert severities(step(noise_on="present"), claim=Claim(granularity="unbounded", mu=2.0)) == {
        "present-rows": "refutes"
    }
    assert severities(step(noise_on="present"), claim=APPROX) == {"present-rows": "unproven"}
    assert severities(step(noise_on="all")) == {}


def test_support_that_depends_on_the_data():
    assert severities(step(support="data", noise="exponential")) == {"data-support": "refutes"}
    assert severities(step(support="data"), claim=APPROX) == {"data-support": "unproven"}
    assert severities(step(support="fixed", noise="exponential")) == {}


def test_steps_without_budget():
    blank, public, later = Step(name="grid"), Step(name="map", reads="public"), Step(name="fit", reads="outputs")
    assert severities(step(), blank) == {"unbudgeted": "unproven"}
    assert severities(step(), public, later) == {}


def test_steps_without_randomness():
    fixed = Step(name="clusters", practice=Practice(noise="none"))
    assert severities(step(), fixed) == {"deterministic": "refutes"}
    assert severities(step(), fixed, claim=APPROX) == {"deterministic": "refutes"}
    # The number of records, where it is public, has no noise and costs nothing.
    assert severities(step(epsilon=0.0, granularity="bounded", noise="none"), claim=REPLACE) == {}


@pytest.mark.parametrize(
    ("query", "more", "granularity", "true"),
    [
        ("n-gram", {"longest": 20, "gram": 1}, "unbounded", 20.0),
        ("n-gram", {"longest": 20, "gram": 3}, "trajectory:add-remove", 18.0),
        ("n-gram", {"longest": 4}, "unbounded", 10.0),
        ("n-gram", {"longest": 20, "gram": 1}, "bounded", 40.0),
        ("prefix-tree", {"longest": 20}, "user:add-remove", 20.0),
        ("prefix-tree", {"longest": 20, "gram": 1}, "unbounded", 1.0),
        ("prefix-tree", {"longest": 20}, "bounded", 40.0),
        ("histogram", {}, "bounded", 2.0),
        ("histogram", {}, "unbounded", 1.0),
        ("count", {}, "bounded", 1.0),
    ],
)
def test_sensitivities(query, more, granularity, true):
    claim = Claim(granularity=granularity, epsilon=1.0)
    good = step(query=query, assumed=true, granularity=granularity, noise="laplace", arithmetic="exact", **more)
    assert "sensitivity" not in severities(good, claim=claim)
    if true > 1.0:
        bad = step(query=query, assumed=1.0, granularity=granularity, noise="laplace", arithmetic="exact", **more)
        report = lint(Pipeline(steps=[bad], claim=claim))
        finding = next(f for f in report.findings if f.rule == "sensitivity")
        assert finding.severity == "refutes"
        assert f"epsilon is {true:g}, not 1" in finding.why
        assert "exponential" not in finding.why
        # Other noise, or a delta: not refuted, only not shown.
        loose = step(query=query, assumed=1.0, granularity=granularity, **more)
        assert severities(loose, claim=claim)["sensitivity"] == "unproven"


def test_sensitivity_of_users_with_several_trajectories():
    one = step(query="prefix-tree", longest=5, assumed=5.0, granularity="user:add-remove", noise="laplace")
    claim = Claim(granularity="user:add-remove", epsilon=1.0)
    assert severities(one, claim=claim) == {}
    assert severities(one, claim=claim, facts=Facts(trajectories_per_user=3)) == {"sensitivity": "refutes"}


def test_gaussian_sensitivity_is_euclidean():
    def noisy(assumed):
        practice = Practice(query="histogram", assumed=assumed, noise="gaussian", arithmetic="exact")
        return Step(name="s", mu=0.5, granularity="bounded", practice=practice)

    claim = Claim(granularity="bounded", mu=0.5)
    assert severities(noisy(math.sqrt(2.0)), claim=claim) == {}
    assert severities(noisy(1.0), claim=claim) == {"sensitivity": "unproven"}


def test_known_changes_are_the_largest():
    """Against all pairs of trajectories over two places, with up to four points."""
    paths = ["".join(p) for size in range(1, 5) for p in itertools.product("AB", repeat=size)]
    for gram in (1, 2, 3, None):
        single = max(sum(gram_counts([path], gram).values()) for path in paths)
        assert query_change("n-gram", "add-remove", 4, gram).l1 == single
        change = max(
            sum(abs(gram_counts([a], gram)[k] - gram_counts([b], gram)[k]) for k in gram_counts([a, b], gram))
            for a, b in itertools.combinations(paths, 2)
        )
        assert query_change("n-gram", "replace-one", 4, gram).l1 == change
    for levels in (1, 2, 4):
        assert query_change("prefix-tree", "add-remove", 4, levels).l1 == max(
            sum(prefix_counts([p], levels).values()) for p in paths
        )
        squares = [
            math.sqrt(
                sum(
                    (prefix_counts([a], levels)[k] - prefix_counts([b], levels)[k]) ** 2
                    for k in prefix_counts([a, b], levels)
                )
            )
            for a, b in itertools.combinations(paths, 2)
        ]
        assert query_change("prefix-tree", "replace-one", 4, levels).l2 == pytest.approx(max(squares))
    with pytest.raises(dr.ParameterError, match="one of count"):
        query_change("cluster", "add-remove", 4, None)
    with pytest.raises(dr.ParameterError, match="longest must be given"):
        query_change("n-gram", "add-remove", None, 1)


def test_marginals_that_fail():
    gauss = Step(name="mean", mu=0.1, granularity="unbounded")
    assert severities(step(epsilon=0.5), gauss)["marginal"] == "refutes"
    assert "marginal" not in severities(step(epsilon=0.5), gauss, claim=APPROX)
    assert "marginal" not in severities(gauss, claim=Claim(granularity="unbounded", mu=0.1))
    # Exact Laplace noise that alone costs more than is claimed for everything.
    costly = step(epsilon=2.0, noise="laplace", arithmetic="exact", query="count", assumed=1.0)
    assert severities(costly) == {"marginal": "refutes", "total": "unproven"}
    assert severities(step(epsilon=2.0)) == {"total": "unproven"}  # nothing says that it is reached


def test_noise_in_floats():
    assert severities(step(noise="laplace", arithmetic="float")) == {"float-noise": "refutes"}
    assert severities(step(noise="laplace", arithmetic="exact")) == {}
    assert severities(step(noise="laplace", arithmetic="float"), claim=APPROX) == {"float-noise": "note"}
    practice = Practice(noise="gaussian", arithmetic="float")
    gauss = Step(name="mean", mu=0.1, granularity="unbounded", practice=practice)
    assert severities(gauss, claim=Claim(granularity="unbounded", mu=0.1)) == {"float-noise": "unproven"}
    assert severities(step(noise="geometric", arithmetic="float")) == {}


def test_parallel_composition():
    def histogram(kind, granularity, domain="common", **practice):
        claim = Claim(granularity=granularity, epsilon=0.5, composition="parallel")
        steps = [
            step(name=c, epsilon=0.5, granularity=granularity, partition="p", cell=c, domain=domain, **practice)
            for c in "abc"
        ]
        return severities(*steps, claim=claim, partitions=[Partition(name="p", kind=kind)])

    assert histogram("value", "unbounded") == {}
    assert histogram("index", "bounded", "own") == {}
    assert histogram("value", "bounded") == {"parallel-bounded": "unproven", "total": "unproven"}
    tight = {"noise": "geometric", "query": "count", "assumed": 1.0}
    assert histogram("value", "bounded", **tight) == {"parallel-bounded": "refutes", "total": "unproven"}
    assert histogram("value", "bounded", "own")["parallel-bounded"] == "unproven"


def test_parallel_composition_is_refuted_by_the_truth():
    """Two counts with geometric noise under replace-one: the loss really is the sum."""
    epsilon = 0.5
    x, y = np.meshgrid(np.arange(-9, 10), np.arange(-9, 10))
    one, other = -epsilon * (abs(x - 1) + abs(y)), -epsilon * (abs(x) + abs(y - 1))
    assert (one - other).max() == 2.0 * epsilon


def test_domains_that_fall_apart():
    vacuous = severities(step(), facts=Facts(size="public"))
    assert vacuous == {"disconnected": "unproven"}
    assert severities(step(granularity="bounded"), claim=REPLACE, facts=Facts(size="private")) == {
        "disconnected": "note"
    }
    assert severities(step(granularity="bounded"), claim=REPLACE, facts=Facts(size="public")) == {}


def test_totals_above_the_claim():
    assert severities(step(epsilon=0.6), step(name="again", epsilon=0.6)) == {"total": "unproven"}
    assert severities(step(epsilon=0.6), step(name="again", epsilon=0.4)) == {}
    assert severities(step(granularity="bounded")) == {"total": "unproven"}  # about another granularity


def test_less_than_a_person():
    claim = Claim(granularity="event", epsilon=1.0)
    assert severities(step(granularity="event"), claim=claim) == {"granularity": "note"}
    claim = Claim(granularity="user:add-remove", epsilon=1.0)
    assert severities(step(granularity="user:add-remove"), claim=claim) == {}


def test_every_rule_is_tested_here():
    text = Path(__file__).read_text(encoding="utf-8")
    assert all(f'"{rule.name}"' in text for rule in RULES)


def test_reports_read_back_and_explain_themselves():
    report = lint(Pipeline(steps=[step(noise_on="present"), Step(name="grid")], claim=PURE, title="Trips"))
    assert report.refuted
    assert report.unproven
    data = json.loads(json.dumps(report.to_dict()))
    assert data["schema"] == "dpradar/lint/2"
    assert data["refuted"] is True
    assert LintReport.from_dict(data) == report
    text = report.explain()
    assert text.startswith("REFUTED. Epsilon 1 under unbounded cannot hold.")
    for finding in report.findings:
        assert finding.fix in text
        assert finding.why in text
    with pytest.raises(dr.ParameterError, match="schema"):
        LintReport.from_dict({"schema": "x"})
    nothing = lint(Pipeline(steps=[step()], claim=PURE))
    assert "does not prove it" in nothing.explain()


# --- survey


def test_the_survey():
    rows = survey()
    assert len(rows) == 17
    wrong = [row for row in rows if row.thesis_verdict == "wrong"]
    assert len(wrong) == 10
    assert len({row.key for row in rows}) == 17
    for row in rows:
        report = lint(row.pipeline)
        assert {finding.rule for finding in report.findings} == set(row.rules)
        assert (row in wrong) == bool(report.findings)
        assert report.refuted == (row.verdict == "refuted")


# --- centroids


def test_centroids_give_a_location_away():
    """Example 3.7."""
    known = [(5.0, 2.0), (5.0, 5.0)]
    (found_one,) = centroid_attack([(5, 2), (3.5, 3.5)], known)
    assert found_one.location == (2.0, 2.0)
    assert found_one.beside == ((5.0, 5.0),)
    # Whatever partition is drawn; the centroid of P2 is (5, 5), printed as (5, 3).
    for released in ([(2, 2), (5, 3.5)], [(3.5, 2), (5, 5)]):
        assert [one.location for one in centroid_attack(released, known)] == [(2.0, 2.0)]


def test_the_attack_on_random_locations():
    rng = np.random.default_rng(5)
    right = 0
    for _ in range(60):
        places = rng.integers(0, 100, size=(6, 2)).tolist()
        released = noisy_clusters(places, 3, 1.0, rng)
        answers = centroid_attack(released, places[1:])
        assert any(np.allclose(one.location, places[0]) for one in answers)  # the truth always explains the centroids
        right += len(answers) == 1
    assert right > 50


def test_bad_clusters_are_refused():
    with pytest.raises(dr.ParameterError, match="one dimension"):
        centroid_attack([(1, 2)], [(1, 2, 3)])
    with pytest.raises(dr.ParameterError, match="no more clusters"):
        centroid_attack([(1, 2)] * 4, [(1, 2)])
    with pytest.raises(dr.ParameterError, match="list of points"):
        centroid_attack([], [(1, 2)])
    with pytest.raises(dr.ParameterError, match="no fewer than clusters"):
        noisy_clusters([(1, 2)], 2, 1.0, np.random.default_rng(1))


# --- samplers

ONE = dr.PureDP(1.0, neighbours="replace-one")
ADD = dr.PureDP(1.0, neighbours="add-remove")


def rules(sampler, claim=ONE, **more):
    more = {"domain": 2, **more} if "pairs" not in more else more
    report = lint_sampler(sampler, claim=claim, **{"trials": 12_000, "seed": 3, **more})
    return [finding.rule for finding in report.findings], report


PLANTED = {
    "float-noise": samplers.float_laplace,
    "deterministic": samplers.nothing,
    "support": samplers.narrow,
    "claim": samplers.half_noise,
}


@pytest.mark.parametrize("rule", PLANTED)
def test_planted_defects_are_found(rule):
    names, report = rules(PLANTED[rule])
    assert rule in names
    finding = next(f for f in report.findings if f.rule == rule)
    assert finding.evidence.refuted
    assert finding.evidence.epsilon_lower > 1.0
    looks = 2 if rule == "float-noise" else 1  # they share the significance
    assert finding.evidence.significance * looks == pytest.approx(0.05)
    assert "seen" in finding.witness
    assert "confidence" in report.explain()


def test_rows_that_are_released_only_where_they_are_present():
    names, report = rules(samplers.present_rows, ADD, pairs=samplers.PAIRS)
    assert "present-rows" in names
    finding = next(f for f in report.findings if f.rule == "present-rows")
    assert "'d'" in finding.witness
    assert finding.evidence.witness.never
    assert rules(samplers.private_rows, ADD, pairs=samplers.PAIRS)[0] == []


def test_one_output_that_fails_alone():
    names, report = rules(samplers.two_outputs, trials=30_000)
    assert "marginal" in names
    assert {f.where for f in report.findings if f.rule == "marginal"} == {"coordinate 1"}


@pytest.mark.parametrize("seed", range(6))
def test_low_bits_are_named_whatever_event_shows_them(seed):
    """The event may have been seen for both inputs, rarely for one of them; it is about bits, not about outputs."""
    broken, report = rules(samplers.float_laplace, trials=60_000, seed=seed)
    assert broken == ["float-noise"]
    assert report.findings[0].witness.startswith("the last bit that is set, as a power of 2: output in {-")


def test_gaussian_noise_in_floats_is_found_under_its_own_claim():
    names, _ = rules(samplers.float_gaussian, dr.GDP(1.0, neighbours="replace-one"))
    assert names == ["float-noise"]


def test_plain_mistakes_are_not_given_other_names():
    """Too little noise also shows in the low bits and in the rows, but that is not what is wrong."""
    assert rules(samplers.half_rounded)[0] == ["claim"]
    assert rules(samplers.no_noise)[0] == ["deterministic"]
    assert rules(samplers.half_rows, ADD, pairs=samplers.PAIRS)[0] == ["claim"]


@pytest.mark.contract
def test_libraries():
    """Low bits of diffprivlib's Laplace noise tell 0 from 1; its geometric noise and OpenDP's Laplace noise do not."""
    diffprivlib = pytest.importorskip("diffprivlib.mechanisms", reason="diffprivlib is not installed")
    noisy = diffprivlib.Laplace(epsilon=1.0, sensitivity=1.0)
    assert rules(lambda value: noisy.randomise(float(value)))[0] == ["float-noise"]
    whole = diffprivlib.Geometric(epsilon=1.0, sensitivity=1)
    assert rules(lambda value: whole.randomise(int(value)))[0] == []


@pytest.mark.contract
def test_opendp():
    dp = pytest.importorskip("opendp.prelude", reason="OpenDP is not installed (extra: opendp)")
    dp.enable_features("contrib")
    noisy = dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1.0)
    assert rules(lambda value: noisy(float(value)))[0] == []


def test_low_bits():
    rng = np.random.default_rng(1)
    numbers = np.concatenate([rng.normal(size=200), rng.integers(-50, 50, 50).astype(float), [0.0, 2.0**-60, -0.1]])
    for number, bit in zip(numbers.tolist(), last_bits(numbers).tolist(), strict=True):
        if number == 0.0:
            assert bit == 2_000
            continue
        whole, power = number.as_integer_ratio()
        expected = (whole & -whole).bit_length() - 1 - (power.bit_length() - 1)
        assert bit == expected


@pytest.mark.parametrize("name", ["geometric", "rounded_laplace", "randomised_response"])
def test_sound_samplers_are_left_alone(name):
    """A null test: over many seeds the share of findings is at most the significance."""
    seeds, level = 40, 0.2
    wrong = sum(
        bool(rules(getattr(samplers, name), trials=2_000, significance=level, seed=seed)[0]) for seed in range(seeds)
    )
    assert bdtrc(wrong - 1, seeds, level) > 1e-4 if wrong else True


@pytest.mark.slow
@pytest.mark.parametrize("name", ["geometric", "rounded_laplace", "randomised_response"])
def test_sound_samplers_are_left_alone_in_400_runs(name):
    seeds, level = 400, 0.05
    wrong = sum(
        bool(rules(getattr(samplers, name), trials=4_000, significance=level, seed=seed)[0]) for seed in range(seeds)
    )
    assert wrong == 0 or bdtrc(wrong - 1, seeds, level) > 1e-6


def test_the_published_clustering_is_refuted():
    pairs = [(((2, 2), (5, 2), (5, 5)), ((2, 3), (5, 2), (5, 5)))]

    def clusters(data, rng):
        return repr(noisy_clusters(data, 2, 1.0, rng))

    names, report = rules(clusters, pairs=pairs, trials=2_000)
    assert names in (["deterministic"], ["support"])
    assert report.findings[0].evidence.witness.never


def test_many_looks_share_few_trials():
    """More pairs of databases than trials for each: every look gets as many as an audit needs."""
    pairs = [((f"x{k}", "a"), ("a",)) for k in range(70)]

    def nothing_released(data, rng):
        return set()

    names, report = rules(nothing_released, ADD, pairs=pairs, trials=1_000)
    assert names == []
    assert "71 looks" in report.notes[0]


@pytest.mark.parametrize("bad", [{"noise": "Laplace"}, {"support": "fixd"}, {"longest": 0}, {"assumed": -1.0}])
def test_words_that_no_rule_knows_are_refused(bad):
    with pytest.raises(dr.ParameterError, match=f"Practice.{next(iter(bad))}"):
        Practice(**bad)


def test_samplers_that_cannot_be_tested():
    with pytest.raises(dr.ParameterError, match="a guarantee"):
        lint_sampler(samplers.geometric, claim=1.0, domain=2)
    log = dr.Samples.of([0, 1] * 100, [0, 1] * 100)
    with pytest.raises(dr.ParameterError, match="a log"):
        lint_sampler(log, claim=ONE)


# --- commands


def run(*arguments):
    return CliRunner().invoke(app, arguments, standalone_mode=False)


def test_lint_a_file(tmp_path):
    same = "granularity = 'unbounded'\nepsilon = 1.0\n"
    text = f"[claim]\n{same}[[step]]\nname = 's'\n{same}"
    cases = {"sound": ("", 0), "bad": ("noise_on = 'present'\n", 5), "blank": ("[[step]]\nname = 'grid'\n", 3)}
    for name, (more, code) in cases.items():
        path = tmp_path / f"{name}.toml"
        path.write_text(text + more)
        done = run("lint", str(path), "--json")
        assert done.return_value == code
        assert json.loads(done.output)["schema"] == "dpradar/lint/2"
    assert "REFUTED" in run("lint", str(tmp_path / "bad.toml")).output
    assert isinstance(run("lint").exception, dr.ParameterError)
    assert isinstance(run("lint", "x.toml", "--sampler", "a:b").exception, dr.ParameterError)


def test_lint_a_sampler():
    file = str(Path(samplers.__file__))
    arguments = ["--domain", "2", "--claim-epsilon", "1", "--trials", "8000", "--seed", "1"]
    done = run("lint", "--sampler", f"{file}:float_laplace", *arguments)
    assert done.return_value == 5
    assert "[float-noise]" in done.output
    data = json.loads(run("lint", "--sampler", f"{file}:geometric", *arguments, "--json").output)
    assert data["findings"] == []
    assert data["seed"] == 1
    pairs = [
        "--pairs",
        f"{file}:PAIRS",
        "--neighbours",
        "add-remove",
        "--claim-epsilon",
        "1",
        "--trials",
        "8000",
        "--seed",
        "1",
    ]
    done = run("lint", "--sampler", f"{file}:present_rows", *pairs)
    assert done.return_value == 5
    assert "[present-rows]" in done.output


def test_infinite_outputs_have_no_last_bit():
    assert last_bits(np.array([np.inf, -np.inf, np.nan, 0.0, 1.0])).tolist() == [3_000, 3_000, 3_000, 2_000, 0]


def test_a_sampler_that_fails_later_is_told_so():
    calls = []

    def tired(inputs, rng):
        calls.append(len(inputs))
        if len(calls) > 5:
            raise RuntimeError("row 42")
        return inputs + rng.laplace(size=len(inputs))

    with pytest.raises(dr.ParameterError, match="RuntimeError at a later call") as caught:
        lint_sampler(tired, claim=ONE, domain=2, trials=3_000, seed=1)
    assert "row 42" not in str(caught.value)


def test_the_survey_is_shown():
    done = run("lint", "--survey")
    assert "10 of 17 claims fail" in done.output
    data = json.loads(run("lint", "--survey", "--json").output)
    assert data["schema"] == "dpradar/survey/1"
    assert len(data["mechanisms"]) == 17


@pytest.mark.parametrize("query", ["n-gram", "prefix-tree"])
@pytest.mark.parametrize("gram", [None, 1, 2, 5, 9])
@pytest.mark.parametrize("longest", [1, 2, 6])
def test_sensitivities_are_the_counts_of_the_trajectories_that_attain_them(query, gram, longest):
    def counts(path):
        if query == "n-gram":
            return gram_counts([path], gram)
        return prefix_counts([path], longest if gram is None else gram)

    first, other = counts("A" * longest), counts("B" * longest)
    for neighbours, changes in (
        ("add-remove", list(first.values())),
        ("replace-one", [*first.values(), *other.values()]),
    ):
        change = query_change(query, neighbours, longest, gram)
        assert change.l1 == sum(changes)
        assert change.l2 == pytest.approx(math.sqrt(sum(c * c for c in changes)))


def test_long_trajectories_take_no_memory():
    """They were written out point by point, which ended in an internal error for 1e308 points."""
    assert query_change("n-gram", "add-remove", 10**9, None).l1 == 10**9 * (10**9 + 1) // 2


@pytest.mark.parametrize("line", ["longest = 1e308", f"epsilon = {'9' * 400}"])
def test_pipelines_with_numbers_beyond_measure_are_refused(line, tmp_path):
    text = f'[[step]]\nname = "counts"\ngranularity = "user:add-remove"\nquery = "n-gram"\n{line}\n'
    text += "" if line.startswith("epsilon") else "epsilon = 1.0\n"
    (tmp_path / "pipeline.toml").write_text(text)
    for command in ("lint", "account"):
        refusal = run(command, str(tmp_path / "pipeline.toml")).exception
        assert isinstance(refusal, DpradarError)


def test_an_interrupted_test_of_a_sampler_finds_nothing_and_says_so():
    batches = []

    def interrupted(inputs, rng):
        batches.append(len(inputs))
        if len(batches) == 6:
            raise KeyboardInterrupt
        return inputs + rng.laplace(0.0, 1.0, len(inputs)).round()

    claim = dr.PureDP(1.0, neighbours="replace-one")
    with pytest.raises(KeyboardInterrupt):
        lint_sampler(interrupted, claim=claim, domain=2, trials=2_000_000, seed=1)
