"""One description for the command line, for TOML, for Python and for the web: the same numbers from each."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

import dpradar as dr
from dpradar.spec import FLAGS, KINDS, PLAIN, command, inside, parse, python, release_of, threat_of, toml
from dpradar.spec.model import ReleaseSpec, Spec, ThreatSpec
from dpradar.spec.question import THREAT, threat_call
from tests.cli.test_assess import run as run_cli
from tests.saved import without_names

RELATION = {"neighbours": "add-remove"}
QUESTIONS = {
    "grr": {"kind": "grr", "m": 3, "epsilon": 2.0, "prior": [0.5, 0.3, 0.2], "knowledge": {"labels": ["a", "a", "b"]}},
    "labels with commas": {"kind": "oue", "m": 3, "epsilon": 1.0, "goal": {"labels": ["a", "b, c", "b, c"]}},
    "labels that are numbers": {"kind": "sue", "m": 3, "epsilon": 1.0, "knowledge": {"labels": [1, 1, 2]}},
    "subsets, twice": {"kind": "ss", "m": 4, "epsilon": 1.0, "times": 2},
    "hashing": {"kind": "olh", "m": 4, "epsilon": 1.0, "knowledge": "everything"},
    "laplace": {
        "kind": "laplace", "scale": 2.0, "values": "0:10:2.5", "prior": "uniform", "goal": {"within": 2.5},
        "truncate": [0.0, 10.0],
    },
    "negative values": {"kind": "laplace", "scale": 2.0, "values": "-3:3", "goal": "within:1"},
    "continuous": {
        "kind": "laplace", "scale": 0.5, "values": [0, 1], "prior": "continuous:beta:2,3", "goal": "within:0.1",
        "truncate": "0:1",
    },
    "vectors": {"kind": "gaussian", "sigma": 1.5, "query": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]},
    "sensitivity": {
        "kind": "gaussian", "sigma": 3.0, "sensitivity": 2.0, "neighbours": "add-remove", "membership": 0.4,
    },
    "not negative": {
        "kind": "gaussian", "sigma": 3.0, "sensitivity": 2.0, "neighbours": "add-remove", "nonnegative": True,
        "baseline": 0.2,
    },
    "geometric": {"kind": "geometric", "scale": 2.0, "m": 4, "neighbours": "add-remove"},
    "discrete": {"kind": "discrete-gaussian", "sigma": 2.0, "query": [0, 1, 2]},
    "exponential": {"kind": "exponential", "epsilon": 2.0, "utility": [[1.0, 0.0], [0.0, 1.0]], "m": 2},
    "interval": {"kind": "exponential", "epsilon": 2.0, "interval": [0.0, 9.0], "m": 10},
    "matrix": {"kind": "channel", "matrix": [[0.9, 0.1], [0.2, 0.8]], "prior": [0.25, 0.75]},
    "pure": {"kind": "dp", "epsilon": 1.0, "neighbours": "replace-one", "m": 10},
    "approximate": {"kind": "dp", "epsilon": 1.0, "delta": 1e-5, "baseline": 0.1, **RELATION},
    "gdp": {"kind": "gdp", "mu": 0.5, "membership": 0.5, **RELATION},
    "zcdp": {"kind": "zcdp", "rho": 0.1, "m": 5, **RELATION},
    "rdp": {"kind": "rdp", "orders": [2.0, 4.0], "epsilons": [0.2, 0.4], "baseline": 0.2, **RELATION},
    "tv": {"kind": "tv", "tv": 0.2, "worst": True, **RELATION},
    "dpsgd": {"kind": "dpsgd", "noise_multiplier": 10.0, "sample_rate": 1.0, "steps": 100, "m": 5},
    "records": {
        "kind": "grr", "m": 2, "epsilon": 1.0, "records": {"age": [30, 40], "ill": ["no", "yes, a bit"], "n": [3, 1]},
        "weights": "n", "goal": {"columns": ["ill"]},
    },
}  # fmt: skip


def answer(question: dict, where=PLAIN) -> dr.Assessment:
    threat = threat_of(question, where)
    return dr.assess(release_of(question, where), threat, neighbours=question.get("neighbours"))


def spec_of(question: dict) -> Spec:
    """Return the question as a spec."""
    kind = KINDS[question["kind"]]
    own = {name: question[name] for name in kind.names if name in question and name != "neighbours"}
    relation = {"neighbours": question["neighbours"]} if "neighbours" in question else {}
    guarantee = "neighbours" in kind.names
    release = ReleaseSpec(
        kind=question["kind"], options=own | (relation if guarantee else {}), times=question.get("times", 1)
    )
    threat = {name: question[name] for name in THREAT if name in question and name not in own}
    return Spec(
        releases=(release,), threats=(ThreatSpec(options=threat | ({} if guarantee else relation)),), noise_table=False
    )


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_command_line_gives_the_same_numbers(name):
    question = QUESTIONS[name]
    words = shlex.split(command(question))
    assert words[0] == "dpradar"
    done = run_cli(*words[1:], "--json")
    assert done.returncode == 0, done.stderr
    assert without_names(json.loads(done.stdout)) == without_names(json.loads(json.dumps(answer(question).to_dict())))


@pytest.mark.parametrize("name", QUESTIONS)
def test_python_gives_the_same_numbers(name, capsys):
    space: dict = {}
    exec(python(QUESTIONS[name]), space)  # noqa: S102 - the code is ours
    expected = answer(QUESTIONS[name])
    assert without_names(space["result"].to_dict()) == without_names(expected.to_dict())
    assert capsys.readouterr().out == expected.explain() + "\n"


@pytest.mark.parametrize("name", QUESTIONS)
def test_toml_gives_the_same_numbers(name):
    question = QUESTIONS[name]
    spec = parse(toml(spec_of(question)))
    assert spec == spec_of(question)
    result = dr.spec.run(spec, made="")
    assert without_names(result.releases[0].assessments[0].assessment.to_dict()) == without_names(
        answer(question).to_dict()
    )
    assert command(spec.question(0, 0)) == command(question)


def test_every_kind_is_asked_about():
    assert {question["kind"] for question in QUESTIONS.values()} == set(KINDS) - {
        "tradeoff", "register", "blh", "she", "the", "hadamard",
    }  # fmt: skip


def test_words_and_data_say_the_same():
    texts = {"kind": "laplace", "scale": "2.0", "truncate": "0:3", "times": "2", "m": "4", "goal": "within:1"}
    data = {"kind": "laplace", "scale": 2.0, "truncate": [0, 3], "times": 2, "m": 4, "goal": {"within": 1}}
    as_json = {**texts, "truncate": "[0, 3]", "goal": '{"within": 1}'}
    assert (
        without_names(answer(texts).to_dict())
        == without_names(answer(data).to_dict())
        == without_names(answer(as_json).to_dict())
    )


def test_a_curve_is_a_kind_of_files_only():
    question = {"kind": "tradeoff", "fpr": [0.1, 0.4], "fnr": [0.4, 0.1], "neighbours": "replace-one"}
    assert answer(question).worst_gain.value == pytest.approx(0.5)
    with pytest.raises(dr.ParameterError, match="spec file"):
        command(question)
    listed = json.loads(run_cli("list", "--json").stdout)
    assert "tradeoff" not in listed["releases"]
    assert list(listed["in_files"]) == ["tradeoff"]


# --------------------------------------------------------------------------------------------------------------- limits


@pytest.mark.parametrize(
    "question",
    [
        {"kind": "channel", "matrix": "secret.csv"},
        {"kind": "exponential", "epsilon": 1.0, "utility": "secret.csv"},
        {"kind": "gaussian", "sigma": 1.0, "query": "@secret.csv"},
        {"kind": "register", "file": "secret.toml"},
        {"kind": "grr", "m": 3, "epsilon": 1.0, "prior": "@secret.csv"},
        {"kind": "grr", "m": 3, "epsilon": 1.0, "values": "@secret.csv"},
        {"kind": "grr", "m": 3, "epsilon": 1.0, "records": "secret.csv"},
        {"kind": "grr", "m": 3, "epsilon": 1.0, "knowledge": "labels:@secret.csv"},
        {"kind": "grr", "m": 3, "epsilon": 1.0, "goal": {"labels": "@secret.csv"}},
    ],
    ids=str,
)
def test_no_file_is_read_without_a_folder(question, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("secret.csv", "secret.toml"):
        Path(name).write_text("0.5\n0.5\n")
    with pytest.raises(dr.ParameterError, match="No file is read here"):
        answer(question, PLAIN)


@pytest.mark.parametrize(
    "options",
    [
        {"m": 10_000_000},
        {"m": "10000000"},
        {"values": "0:9999999"},
        {"values": "0:1:1e-7"},
        {"values": "0:1e300"},
        {"prior": "0.1," * 1_000_001 + "0"},
        {"goal": "labels:" + "a," * 1_000_001},
    ],
    ids=lambda options: next(iter(options)) + str(next(iter(options.values())))[:12],
)
def test_ten_million_values_are_refused(options):
    question = {"kind": "zcdp", "rho": 1.0, "neighbours": "add-remove", "m": 3, **options}
    if "values" in options or "prior" in options:
        del question["m"]
    with pytest.raises(dr.ParameterError, match="at most 1,000,000 values"):
        threat_call(question, PLAIN)


def test_long_files_are_refused_before_they_are_read_in_full(tmp_path):
    file = tmp_path / "prior.csv"
    file.write_text("1e-7\n" * 1_500_000)
    with pytest.raises(dr.ParameterError, match="at most 1,000,000 values; got 1,000,001"):
        threat_of({"kind": "grr", "m": 3, "epsilon": 1.0, "prior": f"@{file.name}"}, inside("threat", tmp_path))


def test_a_baseline_of_nothing_is_one():
    assert threat_of({"kind": "grr", "m": 3, "epsilon": 1.0, "baseline": 0.0}).kind == "baseline"
    assert threat_of({"kind": "grr", "m": 3, "epsilon": 1.0, "membership": 0}).level == 0.0
    assert threat_of({"kind": "grr", "m": 3, "epsilon": 1.0, "worst": False}).prior.size == 3


def test_many_values_need_no_prior():
    question = {"kind": "grr", "m": 10**9, "epsilon": 1.0, "worst": True}
    assert threat_of(question, FLAGS).kind == "worst"
    assert release_of(question, FLAGS).m == 10**9


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[0.5, 0.5", "JSON"),
        ("[NaN, 0.5]", "finite"),
        ("[" * 100_000, "JSON"),
        ("0,5;0,5", "decimal comma|not a number"),
        ([True, False], "made of numbers"),
        ({"a": 1}, "list or text"),
        (3, "list or text"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_priors_that_are_none(value, message):
    with pytest.raises(dr.ParameterError, match=message):
        threat_of({"kind": "grr", "m": 2, "epsilon": 1.0, "prior": value})


def test_messages_call_options_as_they_are_called_there():
    question = {"kind": "dp", "epsilon": "0,5", "neighbours": "add-remove"}
    names = {FLAGS: "--epsilon", PLAIN: "epsilon", inside("release[2]", None): "release[2].epsilon"}
    for where, name in names.items():
        with pytest.raises(dr.ParameterError) as caught:
            release_of(question, where)
        assert caught.value.name == name
        assert caught.value.hint.endswith("0.5.")


def test_numbers_of_a_range_are_built_as_they_are_written():
    call = threat_call({"kind": "laplace", "scale": 1.0, "values": "0.1:0.7:0.2"})
    built = call.build().prior.values
    assert built == tuple(eval(call.source(), {"dr": dr}).prior.values)  # noqa: S307 - our own code
    assert np.allclose(built, [0.1, 0.3, 0.5, 0.7])
