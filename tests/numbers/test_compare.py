"""How changes of numbers are judged: the kinds of differences, what CHANGELOG says, and what is refused."""

from __future__ import annotations

import json

import pytest

from tests.numbers import __main__ as numbers
from tests.numbers import asking, corpus, texts
from tests.numbers.changelog import Named, idle, judge, read_changelog
from tests.numbers.compare import classify, differences, same


def bound(value, side="upper", low=None, high=None, rule="thm-4.2", **more):
    return {"value": value, "side": side, "rule": rule, "low": low, "high": high, **more}


CHANGES = {
    # old, new, kind
    "nothing": (bound(0.2), bound(0.2), None),
    "the eleventh digit": (bound(0.2), bound(0.2 * (1 + 1e-11)), None),
    "the ninth digit": (bound(0.2), bound(0.2 * (1 + 1e-9)), "looser"),
    "0 and what rounding leaves of it": (bound(0.0, "exact"), bound(1e-16, "exact"), None),
    "0 and a small number": (bound(0.0, "exact"), bound(1e-9, "exact"), "corrected"),
    "an upper bound goes down": (bound(0.2), bound(0.1), "tighter"),
    "an upper bound goes up": (bound(0.1), bound(0.2), "looser"),
    "an upper bound goes down to its lower end": (bound(0.2, low=0.1), bound(0.1), "tighter"),
    "an upper bound goes down below its lower end": (bound(0.2, low=0.1), bound(0.05), "corrected"),
    "an upper bound was below the exact value": (bound(0.1967), bound(0.3161, "exact"), "corrected"),
    "an upper bound was below a lower end": (bound(0.1967), bound(0.4, low=0.3), "corrected"),
    "an upper bound becomes exact": (bound(0.2), bound(0.2, "exact", low=0.2 - 1e-9), "tighter"),
    "an upper bound becomes exact and smaller": (bound(0.2), bound(0.15, "exact"), "tighter"),
    "a vacuous bound becomes one": (bound(1.0, rule="trivial"), bound(0.4), "tighter"),
    "an exact value was wrong": (bound(0.793039, "exact"), bound(0.799951, "exact"), "corrected"),
    "exact was too much to say": (bound(4e-7, "exact", low=0.0), bound(4e-7, low=0.0), "looser"),
    "an exact interval shrinks": (bound(0.2, "exact", low=0.19), bound(0.2, "exact", low=0.195), "tighter"),
    "an exact interval widens": (bound(0.2, "exact", low=0.19), bound(0.2, "exact", low=0.1), "looser"),
    "a lower end is gone": (bound(0.2, low=0.1), bound(0.2), "looser"),
    "a lower bound goes up": (bound(0.2, "lower"), bound(0.3, "lower"), "tighter"),
    "a lower bound goes down": (bound(0.3, "lower"), bound(0.2, "lower"), "looser"),
    "a lower bound was above an upper one": (bound(0.3, "lower"), bound(0.2), "corrected"),
    "an infinite bound becomes finite": (bound("inf"), bound(3.0), "tighter"),
    "another rule": (bound(0.2), bound(0.2, rule="prop-5.3"), "relabelled"),
    "another assumption": (bound(0.2), bound(0.2, assumes=["Poisson sampling"]), "relabelled"),
    "another draw": (bound(0.2, "simulated"), bound(0.21, "simulated"), "redrawn"),
    "another interval of the same draw": (bound(0.2, "simulated", 0.1), bound(0.2, "simulated", 0.15), "redrawn"),
    "an exit code": (bound(0, "fact"), bound(3, "fact"), "corrected"),
    "a verdict": (bound(True, "fact"), bound(False, "fact"), "corrected"),
    "true is not 1": (bound(True, "fact"), bound(1, "fact"), "corrected"),
    "no value and one": (bound(None, "fact"), bound(2.0), "corrected"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_the_kind_of_a_change(name):
    old, new, kind = CHANGES[name]
    assert classify(old, new) == kind


def test_numbers_are_compared_to_ten_digits():
    assert same(0.1234567890, 0.12345678901)
    assert not same(0.1234567890, 0.1234567892)
    assert not same(2.87e-12, 2.9e-12)
    assert same(1, 1.0)
    assert not same(1, "1")


def kinds(old, new):
    return {(one.name, one.kind) for one in differences(old, new)}


def test_hits_may_be_those_of_another_best_attack():
    def answer(hit, rad=0.1):
        return {"a": {"threat-0/hit": bound(hit, "fact"), "rad": bound(rad, "exact")}}

    assert differences(answer(0.3), answer(0.3 + 5e-7)) == []
    assert kinds(answer(0.3), answer(0.3 + 5e-6)) == {("a:threat-0/hit", "corrected")}
    assert kinds(answer(0.3), answer(0.3 + 5e-7, rad=0.1 + 5e-7)) == {("a:rad", "corrected")}


def test_quantities_and_questions_that_come_and_go():
    old = {"a": {"rad": bound(0.2), "hit": bound(0.3, "fact")}, "gone": {"rad": bound(0.2)}}
    new = {"a": {"rad": bound(0.2), "ceiling": bound(0.5)}, "asked first": {"rad": bound(0.2)}}
    assert kinds(old, new) == {("a:hit", "removed"), ("a:ceiling", "added"), ("gone:*", "removed")}


def test_an_error_instead_of_numbers_is_one_difference():
    error = {"error": bound("ParameterError", "fact"), "exit": bound(2, "fact")}
    number = {"rad": bound(0.2), "gain": bound(0.1)}
    assert kinds({"a": number}, {"a": error}) == {("a:error", "looser")}
    assert kinds({"a": error}, {"a": number}) == {("a:error", "tighter")}
    other = {**error, "error": bound("AttributeError", "fact")}
    assert kinds({"a": error}, {"a": other}) == {("a:error", "corrected")}


def test_what_a_question_is_about_is_no_number():
    assert not kinds({"a": {"about": {"release": ["GRR"]}}}, {"a": {"about": {"release": ["OUE"]}}})


LOG = """# Changelog

## [Unreleased]

### Fixed

- corrected: `not/here` because this is another section.

### Numbers

- corrected: `repro/within/*` because eta grew with the
  largest value.
- tighter: `engine/line/*`, `rule/*:rad` because grids are placed by quantiles.

## [0.1.0]

### Numbers

- looser: `old/*` because it was released.
"""


def test_the_changelog_is_read():
    named, problems = read_changelog(LOG)
    assert not problems
    assert [(one.kind, one.patterns) for one in named] == [
        ("corrected", ("repro/within/*",)),
        ("tighter", ("engine/line/*", "rule/*:rad")),
    ]
    assert named[0].why == "eta grew with the largest value."
    assert read_changelog("# Changelog\n\n## [Unreleased]\n\n### Added\n\n- x\n") == ([], [])


@pytest.mark.parametrize(
    "line",
    [
        "- better: `a/*` because we can.",
        "- corrected: a/* because we can.",
        "- corrected: `a/*`.",
        "- corrected: because `a/*`.",
        "- `a/*` corrected because of that.",
    ],
)
def test_a_line_that_says_too_little_is_a_problem(line):
    named, problems = read_changelog(LOG.replace("- tighter: `engine", line + "\n- tighter: `engine"))
    assert len(named) == 2
    assert len(problems) == 1
    assert line in problems[0]


def problem(kind, quantity, *lines):
    old = {"a/b": {quantity: CHANGES[kind][0]}}
    new = {"a/b": {quantity: CHANGES[kind][1]}}
    named = [Named(word, (pattern,), "so") for word, pattern in lines]
    (one,) = judge(differences(old, new), named)
    return one.problem


WRONG = "an exact value was wrong"


def test_a_difference_must_be_named_as_what_it_is():
    assert problem(WRONG, "rad") == "not named"
    assert problem(WRONG, "rad", ("corrected", "a/*")) == ""
    assert problem(WRONG, "rad", ("corrected", "a/b:rad")) == ""
    assert problem(WRONG, "rad", ("corrected", "a/b:success")) == "not named"
    assert problem(WRONG, "rad", ("looser", "a/*")) == "named as looser"
    assert problem(WRONG, "rad", ("relabelled", "*"), ("corrected", "a/*")) == ""


def test_whether_a_bound_that_grew_was_false_is_for_people_to_say():
    assert problem("an upper bound goes up", "rad", ("corrected", "a/*")) == ""
    assert problem("an upper bound goes up", "rad", ("looser", "a/*")) == ""
    assert problem("an upper bound goes up", "rad", ("tighter", "a/*")) == "named as tighter"


def test_a_pattern_that_names_nothing_is_found():
    named = [Named("corrected", ("a/*", "b/*", "a/b:rad", "a/b:rads"), "so")]
    assert idle(named, [("a/b", "rad")]) == ["b/*", "a/b:rads"]


# ---------------------------------------------------------------------------------------------------- the command


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a project of two questions whose answers are in its corpus, and a function that runs the command."""
    import tests.numbers.questions as all_questions

    values = {"a/one": bound(0.2), "a/two": bound(0.5, "exact")}
    monkeypatch.setattr(all_questions, "QUESTIONS", {name: lambda name=name: {"rad": values[name]} for name in values})
    monkeypatch.setattr(asking, "ROOT", tmp_path)
    monkeypatch.setattr(texts, "commands", list)
    monkeypatch.setattr(texts, "FILE", tmp_path / "texts.txt")
    path = tmp_path / "corpus.json"
    monkeypatch.setattr(corpus, "CORPUS", path)
    monkeypatch.setattr(corpus.read_corpus, "__defaults__", (path,))
    path.write_text(corpus.text_of({name: {"rad": record} for name, record in values.items()}), encoding="utf-8")

    def run(*arguments, numbers_section=""):
        log = f"## [Unreleased]\n\n### Numbers\n\n{numbers_section}\n"
        (tmp_path / "CHANGELOG.md").write_text(log, encoding="utf-8")
        return numbers.main(list(arguments))

    return values, path, run


def test_nothing_changed(project, capsys):
    _, _, run = project
    assert run() == 0
    assert "2 questions, 0 of them new; 0 differences" in capsys.readouterr().out


def test_a_change_that_is_not_named_fails_and_is_not_accepted(project, capsys):
    values, path, run = project
    before = path.read_text(encoding="utf-8")
    values["a/two"] = bound(0.6, "exact")
    assert run() == 1
    assert run("--accept") == 1
    assert run("--accept", numbers_section="- looser: `a/two` because so.") == 1
    assert run("--accept", numbers_section="- corrected: `a/three` because so.") == 1
    assert path.read_text(encoding="utf-8") == before
    shown = capsys.readouterr().out
    assert "0.5 exact thm-4.2 -> 0.6 exact thm-4.2  <- not named" in shown
    assert "no question is named `a/three`" in shown


def test_a_change_that_is_named_passes_and_is_accepted(project):
    values, path, run = project
    values["a/two"] = bound(0.6, "exact")
    line = "- corrected: `a/two` because so."
    assert run(numbers_section=line) == 0
    assert json.loads(path.read_text(encoding="utf-8"))["a/two"]["rad"]["value"] == 0.5
    assert run("--accept", numbers_section=line) == 0
    assert json.loads(path.read_text(encoding="utf-8"))["a/two"]["rad"]["value"] == 0.6
    assert run() == 0


def test_accepting_keeps_the_digits_of_what_did_not_change(project):
    values, path, run = project
    before = path.read_text(encoding="utf-8")
    values["a/one"] = bound(0.2 * (1 + 1e-14))
    assert run("--accept") == 0
    assert path.read_text(encoding="utf-8") == before


def test_some_questions_alone(project):
    values, path, run = project
    values["a/two"] = bound(0.6, "exact")
    assert run("--only", "a/one") == 0
    assert run("--accept", "--only", "a/two", numbers_section="- corrected: `a/two` because so.") == 0
    assert set(json.loads(path.read_text(encoding="utf-8"))) == {"a/one", "a/two"}


def test_an_error_is_an_answer():
    def fails():
        raise KeyError

    assert asking.ask(fails) == {
        "error": {"value": "KeyError", "side": "fact"},
        "exit": {"value": 1, "side": "fact"},
    }
