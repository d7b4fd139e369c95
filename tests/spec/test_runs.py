"""What a spec answers: the numbers of assess, limits that fail closed, changes that meet them, evidence and sweeps."""

from __future__ import annotations

import dataclasses
import json
import math
import sys

import pytest

import dpradar as dr
from dpradar.results.run import SweepPoint
from dpradar.spec import parse, run
from dpradar.spec.sweep import sweep_of

GRR = '[release]\nkind = "grr"\nm = 100\nepsilon = 2.0\n'
UNIFORM = dr.Threat(dr.Prior.uniform(100))
BOTH = """
[[release]]
name = "a"
kind = "grr"
m = 5
epsilon = 1.0
[[release]]
name = "b"
kind = "oue"
m = 5
epsilon = 0.5
date = 2026-01-02
[threat]
prior = [0.4, 0.3, 0.1, 0.1, 0.1]
"""
SKEWED = dr.Threat(dr.Prior.of([0.4, 0.3, 0.1, 0.1, 0.1]))


def answered(text: str, **settings) -> dr.RunResult:
    return run(parse(text), made="2026-01-01", **settings)


def only(text: str, **settings):
    return answered(text, **settings).releases[0]


# ------------------------------------------------------------------------------------------------ the numbers of assess


def test_without_a_threat_any_is_meant():
    assessments = only(GRR).assessments
    assert [threat.assessment for threat in assessments] == [dr.assess(dr.GRR(100, 2.0))]
    assert answered(GRR).met is None


def test_composed_releases_are_assessed_together():
    result = answered(BOTH)
    expected = dr.assess(dr.Composed([dr.GRR(5, 1.0), dr.OUE(5, 0.5)]), SKEWED)
    (release,) = result.releases
    assert release.assessments[0].assessment == expected
    assert [part.text for part in release.parts] == ["a: GRR(m=5, epsilon=1.0)", "b: OUE(m=5, epsilon=0.5)"]
    assert [part.kind for part in release.parts] == ["grr", "oue"]
    assert release.dates == ("2026-01-02",)
    assert result.together == "compose"


def test_compared_releases_are_assessed_one_by_one():
    result = answered('together = "compare"\n' + BOTH)
    expected = [dr.assess(dr.GRR(5, 1.0), SKEWED), dr.assess(dr.OUE(5, 0.5), SKEWED)]
    assert [release.assessments[0].assessment for release in result.releases] == expected
    assert [release.name for release in result.releases] == ["a", "b"]


def test_the_relation_of_the_spec_is_that_of_the_question():
    text = '[release]\nkind = "laplace"\nscale = 3.0\n[threat]\nvalues = [0, 1, 5]\n'
    threat = dr.Threat(dr.Prior.uniform(3, [0, 1, 5]))
    for relation in ("add-remove", "replace-one"):
        assessment = only(f'neighbours = "{relation}"\n' + text).assessments[0].assessment
        assert assessment == dr.assess(dr.Laplace(3.0), threat, neighbours=relation)
    assert only(text + 'neighbours = "add-remove"\n').assessments[0].assessment.neighbours == "add-remove"


def test_a_threat_without_a_prior_is_about_the_records_of_the_others():
    """Alone nothing says how large a change the noise must hide; beside a threat about 0..100 it is one of 100."""
    release = '[release]\nkind = "laplace"\nscale = 100.0\n'
    alone = "[[threat]]\nmembership = 0.5\nlimits = { tpr = 0.05, fpr = 0.01 }\n"
    with pytest.raises(dr.SpecError, match="State sensitivity and neighbours"):
        only(release + alone)
    stated = 'sensitivity = 1.0\nneighbours = "add-remove"\n'
    naive = only(release + stated + alone).assessments[0]
    wide = only(release + alone + '[[threat]]\nvalues = "0:100"\n').assessments[0]
    expected = dr.assess(dr.Laplace(100.0, sensitivity=100.0, neighbours="add-remove"), dr.Threat.membership(0.5))
    assert wide.assessment.success.value == pytest.approx(expected.success.value, rel=1e-12)
    assert wide.assessment.success.value > naive.assessment.success.value + 0.1
    assert (naive.met, wide.met) == (True, True)
    assert wide.limits[0].value == pytest.approx(expected.tpr(0.01).value, rel=1e-9)
    assert wide.limits[0].value > 2.0 * naive.limits[0].value


def test_of_several_priors_the_worst_counts():
    text = '[release]\nkind = "laplace"\nscale = 10.0\n[[threat]]\nworst = true\n'
    both = only(text + "[[threat]]\nvalues = [0, 1]\n[[threat]]\nvalues = [0, 30]\n").assessments[0].assessment
    other = only(text + "[[threat]]\nvalues = [0, 30]\n[[threat]]\nvalues = [0, 1]\n").assessments[0].assessment
    expected = dr.assess(dr.Laplace(10.0, query=[0.0, 30.0]), dr.Threat.worst(), neighbours="replace-one")
    for assessment in (both, other):
        assert assessment.worst_gain.value == pytest.approx(expected.worst_gain.value, rel=1e-12)
        assert assessment.rad.value == pytest.approx(expected.rad.value, rel=1e-12)


# -------------------------------------------------------------------------------------------------------------- limits


def test_a_limit_is_met_up_to_itself():
    value = dr.assess(dr.GRR(100, 2.0), UNIFORM).rad.value
    for limit, met in ((value, True), (math.nextafter(value, 0.0), False)):
        result = answered(GRR + f"[threat]\nlimits = {{ rad = {limit!r} }}\n")
        assert result.met is met
        assert result.releases[0].assessments[0].limits[0].value == value


def test_what_is_not_known_meets_no_limit():
    """A local report promises nothing under add/remove, so no epsilon is known there."""
    text = GRR + '[threat]\nneighbours = "add-remove"\nlimits = { epsilon = 5.0, delta = 1e-5, rad = 0.5 }\n'
    limits = {limit.quantity: limit for limit in only(text).assessments[0].limits}
    assert limits["rad"].met
    assert (limits["epsilon"].met, limits["epsilon"].value) == (False, None)
    assert limits["epsilon"].reason == "no finite value is promised"
    assert answered(text).met is False


def test_every_quantity_can_be_limited():
    text = '[release]\nkind = "gaussian"\nsigma = 3.0\n[threat]\nvalues = [0, 1, 2]\nlimit_source = "board"\n'
    limits = "rad = 0.9, success = 0.9, gain = 0.9, worst_gain = 0.9, tpr = 0.9, fpr = 0.1, epsilon = 9.0, delta = 1e-5"
    (threat,) = only(text + f"limits = {{ {limits} }}\n").assessments
    a = dr.assess(dr.Gaussian(3.0), dr.Threat(dr.Prior.uniform(3, [0, 1, 2])))
    values = {limit.quantity: limit.value for limit in threat.limits}
    assert [values[q] for q in ("rad", "success", "gain", "worst_gain")] == [b.value for b in a.bounds.values()]
    assert values["tpr"] == a.tpr(0.1).value
    (epsilon,) = dr.Limit(dr.Threat(dr.Prior.uniform(3, [0, 1, 2])), epsilon=9.0, delta=1e-5).achieved(dr.Gaussian(3.0))
    assert values["epsilon"] == epsilon.value
    assert {limit.source for limit in threat.limits} == {"board"}
    assert [limit.label for limit in threat.limits][-2:] == ["tpr at fpr 0.1 <= 0.9", "epsilon at delta 1e-05 <= 9"]


def test_errors_are_limits_too():
    text = '[release]\nkind = "laplace"\nscale = 2.0\n[threat]\nvalues = [0, 1]\n[utility]\nerror = '
    cost = math.log(20.0) * 2.0
    assert answered(text + f"{cost + 1e-9}\n").met is True
    bad = only(text + "5.0\n")
    assert (bad.met, bad.utility[0].value) == (False, pytest.approx(cost))
    assert bad.change.value == pytest.approx(5.0 / math.log(20.0), rel=1e-3)  # less noise


def test_frequencies_from_many_reports():
    text = GRR + "[utility]\nreports = 10000\nfrequency_error = "
    utility = only(text + "0.1\n").utility[0]
    single = only(text.replace("10000", "1") + "100.0\n").utility[0]
    assert utility.value == pytest.approx(single.value / 100.0)
    assert single.value == dr.GRR(100, 2.0).cost()["frequency_error"]
    assert (utility.at, single.at) == (10000, 1)


def test_noise_that_hides_everything_meets_no_error():
    text = GRR.replace("2.0", "0.0") + "[threat]\n[utility]\nfrequency_error = 1000.0\n"
    one = only(text)
    assert (one.utility[0].met, one.utility[0].value) == (False, None)
    assert one.cost == {"frequency_error": math.inf}
    result = answered(text)
    written = json.dumps(result.to_dict(), allow_nan=False)
    assert dr.RunResult.from_dict(json.loads(written)) == result


# ------------------------------------------------------------------------------------------------------------- changes


@pytest.mark.parametrize(
    ("release", "threat", "limits"),
    [
        ('kind = "grr"\nm = 100\nepsilon = 5.0', "", "rad = 0.1"),
        ('kind = "laplace"\nscale = 1.0', 'values = "0:9"', "rad = 0.1, success = 0.5"),
        ('kind = "dp"\nepsilon = 3.0\ndelta = 1e-6\nneighbours = "replace-one"', "m = 10", "rad = 0.2"),
        ('kind = "dpsgd"\nnoise_multiplier = 1.0\nsample_rate = 1.0\nsteps = 100', "m = 10", "rad = 0.3"),
        ('kind = "gdp"\nmu = 3.0\nneighbours = "add-remove"\ntimes = 4', "", "tpr = 0.1, fpr = 0.01"),
    ],
)
def test_the_change_meets_the_limits_and_less_does_not(release, threat, limits):
    def result_with(value: float | None = None) -> dr.RunResult:
        text = f"[release]\n{release}\n[threat]\n{threat}\nlimits = {{ {limits} }}\n[report]\nnoise_table = false\n"
        spec = parse(text)
        if value is not None:
            first = spec.releases[0]
            changed = dataclasses.replace(first, options={**first.options, change.parameter: value})
            spec = dataclasses.replace(spec, releases=(changed,))
        return run(spec, made="")

    before = result_with()
    change = before.releases[0].change
    assert before.met is False
    assert before.releases[0].assessments[0].change == change
    assert before.releases[0].assessments[0].smallest_change == str(change)
    assert result_with(change.value).met is True
    less = change.value * (0.99 if change.more_private == "up" else 1.01)
    assert result_with(less).met is False
    assert result_with(change.value).releases[0].change is None


def test_no_change_meets_what_cannot_be_met():
    result = only(GRR + "[threat]\nlimits = { rad = 0.0 }\n")
    assert result.change.value is None
    assert "rad is still" in result.change.reason
    assert str(result.change) == result.change.reason


def test_noise_that_errors_do_not_allow():
    text = '[release]\nkind = "laplace"\nscale = 1.0\n[threat]\nvalues = "0:9"\nlimits = { rad = 0.1 }\n'
    text += "[utility]\nerror = 5.0\n"
    assert "error is" in only(text).change.reason


def test_composed_releases_have_no_single_change():
    assert only(BOTH + "limits = { rad = 0.001 }\n").change is None
    assert answered(BOTH + "limits = { rad = 0.001 }\n").met is False


def test_the_change_knows_the_records_of_threats_without_limits():
    """Else the membership limit would be met for a sensitivity of 1 instead of 50."""
    text = '[release]\nkind = "gaussian"\nsigma = 10.0\n[[threat]]\nmembership = 0.5\nlimits = { gain = 0.05 }\n'
    result = only(text + "[[threat]]\nvalues = [0, 50]\n")
    again = only(text.replace("10.0", repr(result.change.value)) + "[[threat]]\nvalues = [0, 50]\n")
    assert again.met is True
    assert result.change.value > 100.0


# ---------------------------------------------------------------------------------------------------- other noise, cost


def test_half_and_twice_the_noise():
    costs = only(GRR + "[threat]\n").neighbours_cost
    assert [(one.factor, one.value) for one in costs] == [(0.5, 4.0), (2.0, 1.0)]
    for one in costs:
        expected = dr.assess(dr.GRR(100, one.value), UNIFORM)
        assert one.assessments[0].rad == expected.rad
    scale = only('[release]\nkind = "laplace"\nscale = 8.0\n[threat]\nvalues = [0, 1]\n').neighbours_cost
    assert [one.value for one in scale] == [4.0, 16.0]
    assert [one.cost["error"] for one in scale] == pytest.approx([math.log(20) * 4, math.log(20) * 16])


def test_noise_that_does_not_exist_is_left_out():
    text = '[release]\nkind = "tv"\ntv = 0.7\nneighbours = "add-remove"\n[threat]\nm = 3\n'
    assert [one.factor for one in only(text).neighbours_cost] == [2.0]
    assert only(text + "[report]\nnoise_table = false\n").neighbours_cost == ()
    assert only(BOTH).neighbours_cost == ()


# ------------------------------------------------------------------------------------------------------------- evidence


def test_attacks_are_run_where_there_is_a_prior():
    text = GRR + "[[threat]]\n[[threat]]\nbaseline = 0.2\n[evidence]\nattack = { trials = 2000, seed = 3 }\n"
    (evidence,) = only(text).evidence
    assert evidence == dr.attack(dr.GRR(100, 2.0), UNIFORM, trials=2000, seed=3)
    assert only(text, attack=False).evidence == ()


def test_an_attack_that_cannot_be_run_is_an_error():
    text = '[release]\nkind = "laplace"\nscale = 9.0\ntimes = 500\n[threat]\nvalues = [0, 1]\n[evidence]\nattack = {}\n'
    with pytest.raises(dr.UnsupportedError):
        only(text)


def test_an_attack_above_a_bound_is_an_error(monkeypatch):
    def understated(*_, **__):
        a = dr.assess(dr.GRR(100, 2.0), UNIFORM)
        return dataclasses.replace(a, rad=dataclasses.replace(a.rad, value=0.001))

    text = (
        GRR.replace("2.0", "6.0") + "[threat]\n[evidence]\nattack = { trials = 10000 }\n[report]\nnoise_table = false\n"
    )
    assert len(only(text).evidence) == 1
    monkeypatch.setattr(sys.modules["dpradar.spec.run"], "assessed", understated)
    with pytest.raises(dr.InconsistentEvidence, match="by an attack of 10000 trials but at most"):
        only(text)


def test_saved_evidence_is_shown(tmp_path):
    threat = dr.Threat(dr.Prior.uniform(3))
    saved = dr.attack(dr.GRR(3, 1.0), threat, trials=100, seed=1)
    saved.save(tmp_path / "attack.json")
    text = GRR + '[evidence]\nresults = ["attack.json"]\n'
    result = run(parse(text, folder=tmp_path), made="")
    assert result.releases[0].evidence == (saved,)


# --------------------------------------------------------------------------------------------------------------- sweeps


def test_a_sweep_varies_one_parameter():
    (sweep,) = answered(GRR + "[threat]\n", sweep="epsilon=0.5:8:5").sweeps
    assert sweep.parameter == "epsilon"
    assert [point.value for point in sweep.points] == pytest.approx([0.5, 1.0, 2.0, 4.0, 8.0])
    for point in sweep.points:
        expected = dr.assess(dr.GRR(100, point.value), UNIFORM)
        assert point.bounds[0]["rad"].value == expected.rad.value
        assert point.baselines == (expected.baseline,)
        assert SweepPoint.from_dict(json.loads(json.dumps(point.to_dict()))) == point


def test_sweeps_of_size_and_of_repetitions():
    (sizes,) = answered(GRR + "[threat]\n", sweep="m=2:32:5").sweeps
    assert [point.value for point in sizes.points] == [2, 4, 8, 16, 32]
    assert sizes.points[1].bounds[0]["rad"].value == dr.assess(dr.GRR(4, 2.0), dr.Threat(dr.Prior.uniform(4))).rad.value
    (times,) = answered(GRR + "[threat]\n", sweep="times=1,2,3").sweeps
    expected = dr.assess(dr.Repeated(dr.GRR(100, 2.0), 3), UNIFORM)
    assert times.points[2].bounds[0]["rad"].value == expected.rad.value


def test_sweeps_of_several_releases():
    compared = answered('together = "compare"\n' + BOTH, sweep="epsilon=1:2:2").sweeps
    assert [sweep.release for sweep in compared] == ["a", "b"]
    (composed,) = answered(BOTH, sweep="b.epsilon=0.5,1").sweeps
    expected = dr.assess(dr.Composed([dr.GRR(5, 1.0), dr.OUE(5, 1.0)]), SKEWED)
    assert composed.points[1].bounds[0]["rad"].value == expected.rad.value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epsilon", "--sweep must be NAME=LOW:HIGH:COUNT or NAME=a,b,c; got 'epsilon'. Such as epsilon=0.1:10:50."),
        ("=1:2:3", "--sweep must be NAME=LOW:HIGH:COUNT or NAME=a,b,c; got '=1:2:3'. Such as epsilon=0.1:10:50."),
        ("epsilom=1:2:3", "--sweep must be about one of epsilon, m, times; got 'epsilom'. Did you mean 'epsilon'?"),
        ("a.epsilon=1:2", "--sweep must be NAME=LOW:HIGH:COUNT or NAME=a,b,c; got '1:2'."),
        (
            "a.epsilon=2:1:9",
            "--sweep must be LOW:HIGH:COUNT with LOW below HIGH and COUNT from 2 to 1000; got '2:1:9'.",
        ),
        (
            "a.epsilon=1:2:5000",
            "--sweep must be LOW:HIGH:COUNT with LOW below HIGH and COUNT from 2 to 1000; got '1:2:5000'.",
        ),
        ("a.epsilon=1:2:2.5", "--sweep COUNT must be a whole number; got '2.5'. '2.5' is not a whole number."),
        (
            "a.epsilon=0,1:2:3",
            "--sweep must be made of numbers; got '0,1'. '0,1' has a decimal comma. Write it with a point: 0.1.",
        ),
        (
            "a.epsilon=-1:2:3",
            "--sweep.epsilon must be a number at least 0; got -1.0. "
            "It is the privacy-loss bound of differential privacy.",
        ),
        ("c.epsilon=1:2:3", "--sweep must be about a release of the spec (a, b); got 'c'."),
        (
            "epsilon=1:2:3",
            "--sweep must be about one release where several are composed; got 2 of them. "
            "Name the release: RELEASE.epsilon=...",
        ),
    ],
)  # fmt: skip
def test_sweeps_that_make_no_sense(text, message):
    with pytest.raises(dr.ParameterError) as caught:
        sweep_of(text, parse(BOTH))
    assert str(caught.value) == message


# ------------------------------------------------------------------------------------------------------------ the whole


def test_a_run_survives_saving(tmp_path):
    text = (
        BOTH
        + 'limits = { rad = 0.9 }\n[decision]\nby = "x"\ndate = 2026-01-02\n[evidence]\nattack = { trials = 500 }\n'
    )
    result = answered('together = "compare"\n' + text, sweep="epsilon=1:2:2")
    result.save(tmp_path / "run.json")
    assert dr.load(tmp_path / "run.json") == result
    assert json.loads((tmp_path / "run.json").read_text())["schema"] == "dpradar/run/2"
    assert result.decision == {"by": "x", "date": "2026-01-02"}
    assert (result.made, result.version) == ("2026-01-01", dr.__version__)
    assert repr(result).startswith("RunResult(limits met; GRR(m=5, epsilon=1.0), OUE(")


def test_the_hash_is_of_the_question():
    one, same, other = answered(GRR), answered("# a comment\n" + GRR), answered(GRR.replace("2.0", "2.1"))
    assert one.spec_hash == same.spec_hash != other.spec_hash


def test_descriptions_that_do_not_go_together_are_told_at_once():
    text = (
        'together = "compare"\n[[release]]\nkind = "laplace"\nscale = 1.0\n'
        '[[release]]\nkind = "gaussian"\nsigma = 1.0\n'
        '[threat]\nrecords = { a = ["x", "y"], b = [1, 2] }\n'
    )
    with pytest.raises(dr.SpecError) as caught:
        answered(text)
    assert [problem.path for problem in caught.value.problems] == ["release[1]", "release[2]"]
    assert all("query=" in problem.hint for problem in caught.value.problems)


def test_progress_is_told():
    lines: list[str] = []
    answered(GRR + "[threat]\nlimits = { rad = 0.01 }\n", progress=lines.append, sweep="epsilon=1,2")
    assert lines[0] == "assess GRR(m=100, epsilon=2.0)"
    assert "look for the smallest change that meets the limits" in lines
    assert lines[-1] == "sweep epsilon 2, summary of the bounds"
