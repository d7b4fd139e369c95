"""What stands in a table stays there: no value and no frequency in errors, chains, reprs, results or reports."""

from __future__ import annotations

import json
import traceback
import warnings

import pyarrow as pa
import pyarrow.parquet
import pytest

import dpradar as dr
from dpradar.cli import main
from dpradar.data import prior

SECRET = "Rumpelstiltskin"  # noqa: S105 (a name)
RARE = 0.073  # a frequency that nothing else has


@pytest.fixture
def table():
    """Return 10,000 rows in which the secret has the rare frequency."""
    rows = round(10_000 * RARE)
    names = [SECRET] * rows + ["rare"] * 3 + ["x", "y", "z"] * 3089
    return pa.table({"name": names, "ill": ["no", "yes"] * 5000})


@pytest.fixture
def bad(tmp_path):
    """Return files whose readers complain about the secret by name."""
    half = pa.table({"name": [SECRET] * 1000})
    pa.parquet.write_table(half, tmp_path / "half.parquet")
    whole = (tmp_path / "half.parquet").read_bytes()
    (tmp_path / "half.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "headless.csv").write_text(f"{SECRET},39\nother,40\n")
    (tmp_path / "ragged.csv").write_text(f'name,age\nx,1\n"{SECRET},2,3,4\ny,2\n')
    for i, column in enumerate(([1, 2], [SECRET, "x"])):
        pa.parquet.write_table(pa.table({"name": column}), tmp_path / f"types-{i}.parquet")
    pa.parquet.write_table(pa.table({"name": [SECRET, "x"]}), tmp_path / "schema-0.parquet")
    pa.parquet.write_table(pa.table({"other": [1, 2]}), tmp_path / "schema-1.parquet")
    return tmp_path


def _chain(error):
    """Return everything that hangs on an error: its text, its parts, and what it came from."""
    texts = []
    while error is not None:
        texts += ["".join(traceback.format_exception(error)), repr(error), repr(vars(error)), str(error.args)]
        error = error.__cause__ or error.__context__
    return "\n".join(texts)


@pytest.mark.parametrize("name", ["half.parquet", "headless.csv", "types-*.parquet", "schema-*.parquet"])
def test_errors_of_readers_are_not_passed_on(bad, name):
    with pytest.raises(dr.ParameterError) as error:
        prior(bad / name, ["name", "age"] if "csv" in name else ["name"])
    assert SECRET not in _chain(error.value)
    assert error.value.__context__ is None


def test_errors_of_an_engine_are_not_passed_on(table):
    # A view that fails while it is read, with the value in the words of the engine.
    import ibis

    connection = ibis.duckdb.connect()
    failing = f"SELECT CAST('{SECRET}' AS INTEGER) AS name, 1 AS ill FROM range(3)"  # noqa: S608
    connection.raw_sql(f"CREATE VIEW people AS {failing}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        people = connection.table("people")
    with pytest.raises(Exception, match=SECRET):
        connection.raw_sql("SELECT name FROM people").fetchall()
    with pytest.raises(dr.ParameterError) as error:
        prior(people, ["name", "ill"])
    assert SECRET not in _chain(error.value)
    assert "ConversionException" in str(error.value)
    connection.disconnect()


def test_a_column_that_is_not_there_does_not_list_the_first_record(bad):
    with pytest.raises(dr.ParameterError) as error:
        prior(bad / "headless.csv", ["age"])
    assert SECRET not in _chain(error.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"bins": {"name": 3}},
        {"most_cells": 2},
        {"suppress": 20_000},
        {"domain": 3},
        {"weight": "name"},
        {"columns": ["nam"]},
    ],
)
def test_errors_about_the_question_name_no_value(table, settings):
    with pytest.raises(dr.ParameterError) as error:
        prior(table, **{"columns": ["name", "ill"], **settings})
    assert SECRET not in _chain(error.value)


def test_errors_of_bad_weights_and_numbers_name_no_value():
    for weights in ([-12345.678, 1.0], [12345.678, None]):
        with pytest.raises(dr.ParameterError) as error:
            prior(pa.table({"a": ["x", "y"], "w": weights}), ["a"], "w")
        assert "12345" not in _chain(error.value)


def _leaks(text):
    return SECRET in text or f"{RARE:.4f}"[1:] in text or str(1 - RARE)[:6] in text


@pytest.mark.parametrize("settings", [{}, {"confidence": 0.95}, {"suppress": 5}])
def test_results_hold_no_value_and_no_frequency_of_a_cell(table, settings, tmp_path):
    p = prior(table, ["name", "ill"], **settings)
    threat = dr.Threat(p, dr.Knowledge.columns("ill"), dr.Goal.columns("name"))
    mechanism = dr.GRR(m=p.size, epsilon=1.0)
    result = dr.assess(mechanism, threat)
    run = dr.attack(mechanism, threat, trials=1000, seed=1)
    calibration = dr.calibrate(dr.GRR, dr.Limit(threat, rad=0.05), m=p.size)
    texts = [repr(p), repr(p.measured), json.dumps(p.measured.to_dict()), repr(threat), repr(result)]
    for one in (result, run, calibration):
        texts += [json.dumps(one.to_dict()), one.explain(), repr(one)]
    for kind in ("html", "md"):
        texts.append(result.report(tmp_path / f"r.{kind}").read_text(encoding="utf-8"))
    for text in texts:
        assert not _leaks(text)
    keys = set(result.to_dict()["prior"])
    assert keys == {"size", "kappa", "skew", "counted"} | ({"region"} if settings else set())
    assert "not themselves differentially private" in result.explain()
    assert "differentially private" in texts[-2]


def test_the_share_of_what_was_left_out_is_told_with_two_digits():
    # One cell is left out, so its share is the frequency of that cell: 7 of 9,007 rows, 0.000777...
    table = pa.table({"a": ["x", "y", "z"] * 3000 + ["rare"] * 7})
    p = prior(table, ["a"], suppress=10)
    counted_part = dr.assess(dr.GRR(m=p.size, epsilon=1.0), dr.Threat(p)).to_dict()["prior"]["counted"]
    assert counted_part["suppressed"] == counted_part["distance"] == 0.00078
    assert counted_part["suppressed"] > 7 / 9007


def test_the_prior_itself_holds_the_cells_for_those_who_ask(table):
    assert SECRET in prior(table, ["name"]).columns["name"]


def test_the_command_line_and_a_report_hold_no_value(table, tmp_path, monkeypatch, capsys):
    pa.parquet.write_table(table, tmp_path / "people.parquet")
    (tmp_path / "people.toml").write_text(
        '[release]\nkind = "grr"\nm = 20\nepsilon = 1.0\n'
        '[threat]\ndata = "people.parquet"\nknown = "ill"\nsensitive = "name"\nlimits = { rad = 0.5 }\n'
    )
    monkeypatch.chdir(tmp_path)
    command = "assess grr --data people.parquet --known ill --epsilon 1 --sensitive"
    for words in (
        f"{command} name --json",
        f"{command} name --all",
        f"{command} nam",
        "run people.toml --report people.html",
    ):
        with pytest.raises(SystemExit):
            main(words.split())
    text = "".join(capsys.readouterr()) + (tmp_path / "people.html").read_text(encoding="utf-8")
    assert "rad" in text
    assert not _leaks(text)
