"""``dpradar calibrate`` and the new names of ``dpradar assess``."""

from __future__ import annotations

import json

import pytest

from tests.cli.test_assess import answer, process, run

UNIT = ("--sensitivity", "1", "--neighbours", "replace-one")


def calibrated(*arguments):
    done = run("calibrate", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_design_example():
    data = calibrated("grr", "--m", "100", "--limit", "rad=0.1")
    assert data["schema"] == "dpradar/calibration/2"
    assert data["parameter"] == "epsilon"
    assert data["value"] == pytest.approx(2.504379, rel=1e-5)
    assert data["achieved"][0]["quantity"] == "rad"
    assert 0.0 <= data["achieved"][0]["margin"] < 1e-4
    assert data["binding"].startswith("rad <= 0.1")


@pytest.mark.parametrize(
    ("arguments", "parameter", "value"),
    [
        (["laplace", "--values", "0:9", "--limit", "rad=0.1", "--limit", "gain=0.3"], "scale", 9 / 2.120095),
        (["gaussian", *UNIT, "--limit", "epsilon=1@delta=1e-5"], "sigma", 3.730632),
        (["dpsgd", "--sample-rate", "1", "--steps", "9", "--m", "10", "--limit", "rad=0.1"], "noise_multiplier", 6.819),
        (["laplace", *UNIT, "--times", "15", "--baseline", "0.1", "--limit", "gain=0.1976377"], "scale", 5.0),
        (["dp", "--epsilon=1", "--neighbours=replace-one", "--limit", "rad=0.6", "--free", "delta"], "delta", None),
    ],
)  # fmt: skip
def test_answers(arguments, parameter, value):
    data = calibrated(*arguments)
    assert data["parameter"] == parameter
    assert all(one["margin"] >= 0.0 for one in data["achieved"])
    if value is not None:
        assert data["value"] == pytest.approx(value, rel=1e-3)


def test_words():
    done = run("calibrate", "laplace", "--values", "0:9", "--limit", "rad=0.1")
    assert done.returncode == 0
    assert "scale 4.24511 keeps every limit" in done.stdout
    assert "off by less than 12.72 in 95 of 100 releases" in done.stdout


def test_not_met_exits_3():
    done = run("calibrate", "laplace", "--values", "0:9", "--limit", "rad=0", "--json")
    assert done.returncode == 3
    data = json.loads(done.stdout)
    assert data["value"] is None
    assert data["status"] == "unmet"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["grr", "--m", "10", "--limit", "foo"], "NAME=VALUE"),
        (["grr", "--m", "10", "--limit", "risk=0.1"], "about one of"),
        (["grr", "--m", "10", "--limit", "rad=0,1"], "decimal comma"),
        (["grr", "--m", "10"], "--limit"),
        (["grr", "--limit", "rad=0.1"], "--m"),
        (["grr", "--m", "10", "--epsilon", "1", "--limit", "rad=0.1"], "one parameter to choose"),
        (["dpsgd", "--steps", "10", "--limit", "worst_gain=0.1"], "one parameter to choose"),
        (["grr", "--m", "10", "--free", "m", "--limit", "rad=0.1"], "--free"),
        (["gaussian", "--limit", "tpr=0.1"], "fpr"),
        (["channel", "--limit", "rad=0.1"], "cannot calibrate 'channel'"),
        (["grr", "--m", "10", "--limit", "error=1"], "a cost"),
    ],
)
def test_bad_input_exits_2(arguments, part):
    done = run("calibrate", *arguments)
    assert done.returncode == 2, done.stdout
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_dpsgd_rates():
    data = answer(
        "dpsgd", "--noise-multiplier", "0.5715", "--sample-rate", "0.0038010957", "--steps", "789",
        "--neighbours", "add-remove", "--fpr", "0.01",
    )  # fmt: skip
    assert data["worst_gain"]["value"] == pytest.approx(0.1606, rel=1e-3)
    assert 0.03 < data["tpr"]["0.01"]["value"] < 0.05


def test_zcdp_and_rdp():
    zcdp = answer("zcdp", "--rho", "1", "--neighbours", "replace-one", "--baseline", "0.13")
    assert any(other["rule"] == "zcdp" for other in zcdp["others"])
    rdp = answer("rdp", "--orders", "2,4,8", "--epsilons", "2,4,8", "--neighbours", "replace-one", "--baseline", "0.13")
    assert rdp["success"]["value"] >= zcdp["success"]["value"]


def test_repetition_and_register(tmp_path):
    once = answer("laplace", "--scale", "5", *UNIT, "--times", "15", "--baseline", "0.1")
    assert once["gain"]["value"] == pytest.approx(0.1976, rel=1e-3)
    (tmp_path / "r.toml").write_text(
        '[[release]]\nkind = "laplace"\nscale = 5.0\nsensitivity = 1.0\nneighbours = "replace-one"\ntimes = 15\n'
    )
    assert answer("register", "--file", str(tmp_path / "r.toml"), "--baseline", "0.1")["gain"] == once["gain"]


def test_tolerance():
    call = ["dpsgd", "--noise-multiplier", "1", "--sample-rate", "0.05", "--steps", "50", "--neighbours", "add-remove"]
    coarse, fine = (answer(*call, "--tolerance", t)["worst_gain"]["value"] for t in ("0.1", "0.0005"))
    assert fine <= coarse <= 1.02 * fine


def test_a_real_process():
    done = process("calibrate", "grr", "--m", "10", "--limit", "rad=0.2", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["status"] == "met"
    assert done.stderr == ""


def test_options_that_contradict_each_other_are_told_even_if_no_release_keeps_the_limits():
    beside_a_query = ("laplace", "--query", "0,1", "--sensitivity", "1", "--neighbours", "add-remove")
    done = run("calibrate", *beside_a_query, "--m", "2", "--limit", "tpr=0.05@fpr=0.1")
    assert done.returncode == 2
    assert "--sensitivity must be left out beside a query" in done.stderr
