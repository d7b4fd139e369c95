"""`--data` on the command line and in spec files."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import dpradar as dr
from dpradar.cli.main import main
from dpradar.data import prior
from dpradar.options.reading import FLAGS
from dpradar.spec import parse, run, table_prior
from dpradar.spec.table_prior import Bins, cached_prior_of_files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    table = pa.table(
        {
            "age": rng.integers(18, 90, 2000).tolist(),
            "sex": rng.choice(["f", "m"], 2000).tolist(),
            "race": rng.choice(["a", "b", "c"], 2000, p=[0.7, 0.2, 0.1]).tolist(),
            "pay": rng.lognormal(size=2000).tolist(),
            "weight": rng.random(2000).tolist(),
        }
    )
    pa.parquet.write_table(table, tmp_path / "people.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def output_of(*words, capsys, code=0):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    output = capsys.readouterr()
    assert ended.value.code == code, output.err
    return output


BASE = ("--data", "people.parquet", "--known", "age,sex", "--sensitive", "race", "--bins", "age=18:40:65")


def test_the_same_numbers_as_in_python(folder, capsys):
    answer = json.loads(output_of("assess", "grr", *BASE, "--epsilon", 2, "--json", capsys=capsys).out)
    p = prior("people.parquet", ["age", "sex", "race"], bins={"age": [18, 40, 65]})
    threat = dr.Threat(p, dr.Knowledge.columns("age", "sex"), dr.Goal.columns("race"))
    own = dr.assess(dr.GRR(m=p.size, epsilon=2.0), threat)
    assert answer["rad"]["value"] == own.rad.value
    counted = p.measured.to_dict()
    skew = answer["prior"].pop("skew")
    races = np.bincount(threat.goal.partition(p), weights=p.probabilities)
    assert 0 <= skew - races.max() / races.min() < 0.1  # two digits, rounded up
    assert answer["prior"] == {"size": p.size, "kappa": math.ceil(100 * p.collision) / 100, "counted": counted}


def test_a_stated_domain_is_larger_than_what_occurs(folder, capsys):
    answer = json.loads(output_of("assess", "grr", *BASE, "--m", 50, "--epsilon", 2, "--json", capsys=capsys).out)
    assert answer["prior"]["size"] == 50
    error = output_of("assess", "grr", *BASE, "--m", 5, "--epsilon", 2, capsys=capsys, code=2).err
    assert "at least 18, the number of occupied cells" in error


def test_weights_suppression_and_confidence(folder, capsys):
    options = ("--weights", "weight", "--suppress", 3, "--prior-confidence", 0.9, "--columns", "sex,race,age")
    error = output_of("assess", "oue", *BASE, *options, "--epsilon", 2, capsys=capsys, code=2).err
    assert "--fixed-weights" in error
    options = (*options, "--fixed-weights")
    answer = json.loads(output_of("assess", "oue", *BASE, *options, "--epsilon", 2, "--json", capsys=capsys).out)
    asked_for = {"bins": {"age": [18, 40, 65]}, "suppress": 3, "confidence": 0.9, "fixed_weights": True}
    p = prior("people.parquet", ["sex", "race", "age"], "weight", **asked_for)
    assert answer["rad"]["rule"] == "prior-region"
    assert answer["prior"]["region"]["distance"] == p.measured.distance


def test_calibrate_and_attack_take_tables_too(folder, capsys):
    answer = json.loads(output_of("calibrate", "grr", *BASE, "--limit", "rad=0.1", "--json", capsys=capsys).out)
    assert answer["achieved"][0]["value"] <= 0.1
    run_ = json.loads(
        output_of("attack", "grr", *BASE, "--epsilon", 2, "--trials", 500, "--seed", 1, "--json", capsys=capsys).out
    )
    assert run_["rad"]["low"] <= run_["rad"]["estimate"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("assess", "grr", "--epsilon", 2), "Missing option '--m'"),
        (("assess", "ss", *BASE, "--epsilon", 2), "--m must be a whole number at least 2; got nothing"),
        (("assess", "grr", "--data", "people.parquet", "--epsilon", 2), "the columns of a record"),
        (("assess", "grr", "--data", "peopel.parquet", "--known", "age", "--epsilon", 2), "no such file"),
        (("assess", "grr", *BASE, "--prior", "0.5,0.5", "--epsilon", 2), "--data must be the only prior"),
        (("assess", "grr", *BASE, "--goal", "columns:sex", "--epsilon", 2), "--sensitive must be given without --goal"),
        (("assess", "grr", "--m", 5, "--bins", "age=3", "--epsilon", 2), "--bins must be used with --data"),
        (("assess", "grr", *BASE[:-1], "age", "--epsilon", 2), "--bins must be NAME=RULE"),
        (("assess", "grr", *BASE[:-1], "age=0,5", "--epsilon", 2), "--bins must be NAME=RULE"),
        (("assess", "grr", *BASE, "--suppress", 0, "--epsilon", 2), "--suppress must be a whole number at least 1"),
        (
            ("assess", "grr", *BASE, "--prior-confidence", 1, "--epsilon", 2),
            "--prior-confidence must be a number above 0",
        ),
        (("assess", "grr", *BASE[:5], "pay", "--epsilon", 2), "Say how it is cut"),
    ],
)
def test_what_is_wrong_is_said(folder, capsys, words, message):
    assert message in output_of(*words, capsys=capsys, code=2).err


SPEC = """
[release]
kind = "grr"
m = 40
epsilon = 2.0

[[threat]]
name = "neighbour"
data = "people.parquet"
known = ["age", "sex"]
sensitive = "race"
bins = { age = [18, 40, 65] }
limits = { rad = 0.5 }

[[threat]]
name = "stranger"
data = "people.parquet"
columns = "age,sex,race"
bins = "age=18:40:65"
knowledge = "nothing"
goal = "columns:race"
"""


def test_a_spec_file_counts_a_table_once(folder, monkeypatch):
    counted = []
    from dpradar import data

    monkeypatch.setattr(data, "prior", lambda *a, real=data.prior, **k: counted.append(a) or real(*a, **k))
    table_prior._counted_prior.cache_clear()
    result = run(parse(SPEC, folder=folder))
    assert len(counted) == 2  # two threats, which write the bins in two ways
    assert result.met
    first, second = (one.assessment for one in result.releases[0].assessments)
    assert first.prior == second.prior
    assert first.prior["size"] == 40


def test_a_changed_file_is_counted_again(folder):
    first = cached_prior_of_files("people.parquet", ["sex"])
    assert cached_prior_of_files("people.parquet", ["sex"]) is first
    pa.parquet.write_table(pa.table({"sex": ["f", "m", "x"]}), folder / "people.parquet")
    assert cached_prior_of_files("people.parquet", ["sex"]).size == 3


def test_spec_files_say_all_that_is_wrong():
    with pytest.raises(dr.SpecError) as error:
        parse(SPEC.replace("[18, 40, 65]", "3").replace('"age=18:40:65"', "7").replace("rad = 0.5", "rad = 5"))
    paths = {problem.path for problem in error.value.problems}
    assert {"threat[1].limits.rad", "threat[2].bins"} <= paths


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ('data = "people.parquet"\nknown', 'data = "peopel.parquet"\nknown', "threat[1].data"),
        ("limits =", 'weights = "race"\nlimits =', "threat[1].weights"),
        ("limits =", "suppress = 1000000\nlimits =", "threat[1].suppress"),
    ],
)
def test_spec_files_say_which_key_of_a_table_is_wrong(folder, old, new, path):
    with pytest.raises(dr.SpecError) as error:
        run(parse(SPEC.replace(old, new), folder=folder))
    assert path in {problem.path for problem in error.value.problems}


def test_a_spec_without_a_folder_reads_no_table():
    with pytest.raises(dr.SpecError, match="given without a file"):
        parse(SPEC)


def test_bins_as_text_and_as_json():
    assert Bins().read('{"a": [1, 2], "b": "year"}', "bins", FLAGS) == {"a": [1, 2], "b": "year"}
    assert Bins().read("a=-1.5:2,b=x:3,c=4", "bins", FLAGS) == {"a": [-1.5, 2.0], "b": "x:3", "c": 4}


def test_without_ibis_it_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "ibis", None)
    with pytest.raises(dr.MissingExtra, match=r"dpradar\[data\]"):
        prior(pa.table({"a": [1]}), ["a"])


def test_help_names_the_options():
    from dpradar.cli.assess import group

    text = CliRunner().invoke(group(), ["grr", "--help"]).output
    for flag in ("--data", "--known", "--sensitive", "--bins", "--suppress", "--prior-confidence"):
        assert flag in text
