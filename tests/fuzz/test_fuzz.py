"""A short run of every family with a fixed seed, and tests that a fault would be noticed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass, replace

import pytest

import dpradar as dr
from dpradar.results import Rarest
from tests.fuzz import consistency, draws, mutations, questions, truths
from tests.fuzz.__main__ import main
from tests.fuzz.families.all import FAMILIES
from tests.fuzz.families.assessing import Assessing, outcome
from tests.fuzz.runner import ROOT, Run
from tests.fuzz.shrinking import shortest
from tests.fuzz.verdicts import FINE, Verdict, judged, judged_bound
from tests.fuzz.worker import answer
from tests.fuzz.written import Body, module_of

# A seed, and how many cases fit into a second or two.
SHORT = {
    "finite": (0, 25), "line": (0, 6), "lattice": (0, 8), "composition": (0, 6), "vectors": (0, 2),
    "continuous": (0, 1), "guarantees": (0, 12), "sensitivity": (0, 12), "calibration": (0, 4), "tables": (0, 4),
    "files": (0, 10), "answers": (0, 6), "specs": (0, 6), "stores": (0, 15), "commands": (0, 60), "requests": (0, 6),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as in a run: numbers are judged, not warnings
        yield


@pytest.mark.parametrize("name", FAMILIES)
def test_a_short_run_has_no_findings(name):
    family, (seed, cases) = FAMILIES[name], SHORT[name]
    family.prepare()
    for index in range(cases):
        verdict = family.judge(family.draw(draws.generator(name, seed, index)))
        assert not verdict.is_finding, f"--family {name} --seed {seed} --index {index}: {verdict.message}"


@pytest.mark.parametrize("name", FAMILIES)
def test_a_case_is_the_same_again(name):
    family = FAMILIES[name]
    first, again = (family.draw(draws.generator(name, 3, 1)) for _ in range(2))
    assert json.dumps(first, default=repr) == json.dumps(again, default=repr)


# A fault is noticed.


def bound(value, side, low=None, high=None):
    return dr.Bound(value=value, side=side, rule="test", low=low, high=high)


@pytest.mark.parametrize(
    ("interval", "kind"),
    [
        (bound(0.3, "upper"), "fine"),
        (bound(0.29, "upper"), "unsafe"),
        (bound(0.3, "exact"), "fine"),
        (bound(0.3001, "exact"), "unsafe"),
        (bound(0.2999, "exact"), "unsafe"),
        (bound(0.31, "lower"), "unsafe"),
        (bound(0.5, "upper"), "loose"),
        (bound(0.5, "upper", low=0.4, high=0.5), "unsafe"),
        (bound(0.3, "exact", low=0.2, high=0.29), "unsafe"),
        (bound(float("nan"), "upper"), "unsafe"),
    ],
)
def test_bounds_are_judged(interval, kind):
    assert judged_bound("rad", interval, (0.3, 0.3)).kind == kind


def test_a_bound_far_above_the_truth_is_a_finding_where_bounds_are_narrow():
    far = judged_bound("rad", bound(0.32, "upper"), (0.3, 0.301), most_above=0.01)
    assert far.kind == "too loose"
    assert far.is_finding
    assert judged_bound("rad", bound(0.31, "upper"), (0.3, 0.301), most_above=0.01).kind == "loose"
    assert judged_bound("rad", bound(0.28, "upper"), (0.3, 0.301), most_above=0.01).kind == "unsafe"


def test_a_promise_without_an_upper_end_is_judged_from_below():
    assert judged_bound("rad", bound(0.29, "upper"), (0.3, float("inf"))).kind == "unsafe"
    assert judged_bound("rad", bound(0.9, "upper"), (0.3, float("inf"))).kind == "fine"


def test_small_numbers_called_exact_are_judged_by_their_size():
    assert judged_bound("rad", bound(4e-7, "exact"), (2.9e-12, 2.9e-12)).kind == "unsafe"


@pytest.mark.parametrize(
    "change",
    [
        {"ceiling": bound(0.5, "exact")},
        {"ceiling": bound(0.6, "upper")},  # the share follows from it
        {"rarest": Rarest(tpr=bound(0.01, "upper"), odds=100.0)},
        {"rarest": Rarest(tpr=bound(1.0, "upper"), odds=1.5)},
        {"baseline": 0.4},
    ],
)
def test_a_fault_beside_the_bounds_is_noticed(change):
    question = {
        "release": {"name": "GRR", "m": 2, "epsilon": 3.0}, "knowledge": "nothing", "goal": "exact",
        "prior": {"how": "of", "weights": [0.9, 0.1], "values": None},
    }  # fmt: skip
    a = questions.run(questions.assessment(question))["a"]
    assert judged(a, truths.of_question(question)).kind == "fine"
    assert judged(replace(a, **change), truths.of_question(question)).kind == "unsafe"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (dr.ParameterError("a", "b", "c"), "refused"),
        (KeyError("x"), "internal"),
        (dr.InconsistentEvidence("x"), "internal"),
    ],
)
def test_exceptions_are_judged(error, kind):
    def ask():
        raise error

    assert outcome(ask, lambda _: FINE).kind == kind


ASSESSMENT = {
    "schema": "dpradar/assessment/2",
    "rad": {"value": 0.3, "side": "exact", "rule": "r", "low": None, "high": None},
    "success": {"value": 0.6, "side": "exact", "rule": "r", "low": None, "high": None},
    "baseline": 0.4, "hit": 0.6, "false_hit": 0.3,
}  # fmt: skip
AUDIT = {
    "schema": "dpradar/audit/2",
    "epsilon_lower": 0.2,
    "claim_epsilon": 1.0,
    "refuted": False,
    "rad": None,
    "delta": 0.0,
}


@pytest.mark.parametrize(
    "change",
    [
        {"rad": {**ASSESSMENT["rad"], "value": -5}},
        {"rad": {**ASSESSMENT["rad"], "value": float("nan")}},
        {"rad": {**ASSESSMENT["rad"], "value": True}},
        {"rad": {**ASSESSMENT["rad"], "side": "both"}},
        {"rad": {**ASSESSMENT["rad"], "low": 0.4, "high": 0.2}},
        {"rad": {**ASSESSMENT["rad"], "high": 0.1}},
        {"baseline": 0.9},
        {"baseline": 1.5},
        {"hit": 0.1},
    ],
)
def test_assessments_that_cannot_be_are_noticed(change):
    assert list(consistency.problems(ASSESSMENT)) == []
    assert list(consistency.problems({**ASSESSMENT, **change}))


@pytest.mark.parametrize("change", [{"epsilon_lower": 4.9}, {"epsilon_lower": -1}, {"refuted": "no"}, {"delta": 7}])
def test_audits_that_cannot_be_are_noticed(change):
    assert list(consistency.problems(AUDIT)) == []
    assert list(consistency.problems({**AUDIT, **change}))


def test_the_results_that_are_damaged_are_consistent_before():
    from tests.fuzz.families.files import results

    assert {name: list(consistency.problems(data)) for name, data in results().items()} == {
        name: [] for name in results()
    }


def test_mutations_change_something():
    rng = random.Random(1)
    changed = [mutations.changed_data(rng, ASSESSMENT) for _ in range(200)]
    assert sum(one != ASSESSMENT for one in changed) > 180
    assert sum(bool(list(consistency.problems(one))) for one in changed) > 60


def wrong_family() -> Assessing:
    """The twin with a fault: it takes every risk to be larger by 0.1."""

    def release(rng):
        return {"name": "GRR", "m": 3, "epsilon": rng.choice((0.5, 1.234567))}, 3, [1.0, 2.0, 5.0]

    def truth(question):
        return {"rad": tuple(x + 0.1 for x in truths.of_question(question)["rad"])}

    return Assessing("planted", release, truth)


def test_a_finding_becomes_a_short_test_that_fails(tmp_path):
    reply = answer(wrong_family(), seed=1, index=0, seconds=20.0)
    assert reply["kind"] == "unsafe"
    assert len(reply["question"]["prior"]["weights"]) == 2  # values were dropped
    assert reply["question"]["knowledge"] == "nothing"
    file = tmp_path / "test_planted.py"
    file.write_text(reply["test"], encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "1 failed" in result.stdout


def test_shrinking_keeps_the_kind_of_finding():
    @dataclass
    class Numbers:
        name = "numbers"

        def judge(self, question):
            return Verdict("unsafe") if sum(question["x"]) > 5 else FINE

        def smaller(self, question):
            return ({"x": question["x"][:i] + question["x"][i + 1 :]} for i in range(len(question["x"])))

    question, verdict = shortest(Numbers(), {"x": [1, 9, 2, 3]}, Verdict("unsafe"), lambda: True)
    assert question == {"x": [9]}
    assert verdict.kind == "unsafe"


def test_a_case_that_takes_too_long_is_abandoned():
    class Slow(Assessing):
        def judge(self, question):
            time.sleep(5)
            return FINE

    family = Slow("slow", wrong_family().release)
    assert answer(family, seed=1, index=0, seconds=0.2)["kind"] == "abandoned"


def test_the_code_of_a_question_is_the_question():
    question = {
        "release": {"name": "Laplace", "scale": 2.0}, "knowledge": ["a", "b"], "goal": {"within": 0.5},
        "prior": {"how": "of", "weights": [0.25, 0.75], "values": [0.0, 1.0]},
    }  # fmt: skip
    a = questions.run(questions.assessment(question))["a"]
    assert judged(a, truths.of_question(question)).kind == "fine"
    assert questions.literal([float("nan"), {"x": 1}]) == "[float(\"nan\"), {'x': 1}]"


def test_a_written_test_is_python():
    source = module_of("files", 1, 2, "internal", 'says """this""" \\ that', Body("assert 1 == 1"))
    compile(source, "written", "exec")
    assert "--family files --seed 1 --index 2" in source


def test_a_run_in_another_process_prints_a_table(tmp_path, capsys):
    code = main(["--minutes", "0.05", "--seed", "7", "--family", "guarantees", "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "seed 7" in printed
    assert "guarantees" in printed.splitlines()[-1 if code == 0 else -2]


def test_another_source_tree_is_asked(tmp_path):
    package = tmp_path / "src" / "dpradar"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('another tree')", encoding="utf-8")
    run = Run(1, ["finite"], source=tmp_path, out=tmp_path)
    run.turn("finite", 5.0, most=1)
    assert run.tallies["finite"].counts == {"abandoned": 1}
    assert ROOT.joinpath("tests", "fuzz").is_dir()
