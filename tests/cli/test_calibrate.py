"""``dpradar calibrate`` and the composed releases of ``dpradar assess``: output, keys and exit codes."""

from __future__ import annotations

import json
import math
import re

import pytest

import dpradar as dr
from tests.cli.test_assess import process, run

ADD, REPLACE = "add-remove", "replace-one"
UNIT = ("--sensitivity", "1", "--neighbours", REPLACE)


def calibrated(*arguments: str, code: int = 0) -> dict:
    done = run("calibrate", *arguments, "--json")
    assert done.returncode == code, done.stderr
    assert len(done.stdout.strip().splitlines()) == 1
    return json.loads(done.stdout)


def assessed(*arguments: str) -> dict:
    done = run("assess", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# ------------------------------------------------------------------------------------------------------------ calibrate


def test_design_example():
    data = calibrated("grr", "--m", "100", "--limit", "rad=0.1")
    assert data["schema"] == "dpradar/calibration/2"
    assert {"parameter", "value", "achieved", "binding", "status", "cost", "release", "reason"} <= set(data)
    assert data["parameter"] == "epsilon"
    assert data["value"] == pytest.approx(2.504379, rel=2e-5)
    assert data["value"] <= 2.5043795
    assert data["binding"].startswith("rad <= 0.1")
    assert data["achieved"][0]["quantity"] == "rad"
    assert 0.0999 < data["achieved"][0]["value"] <= 0.1
    assert data["achieved"][0]["margin"] >= 0.0
    again = assessed("grr", "--m", "100", "--epsilon", repr(data["value"]))
    assert again["rad"]["value"] == data["achieved"][0]["value"]


UNIFORM = dr.Threat(dr.Prior.uniform(10))
AGREE = [
    (["sue", "--m", "10", "--limit", "rad=0.1"], lambda: dr.calibrate(dr.SUE, dr.Limit(UNIFORM, rad=0.1), m=10)),
    (
        ["laplace", "--values", "0:9", "--limit", "rad=0.1"],
        lambda: dr.calibrate(dr.Laplace, dr.Limit(dr.Threat(dr.Prior.uniform(10, list(range(10)))), rad=0.1)),
    ),
    (
        ["exponential", "--m", "10", "--limit", "success=0.3"],
        lambda: dr.calibrate(dr.Exponential, dr.Limit(UNIFORM, success=0.3)),
    ),
    (
        ["dpsgd", "--sample-rate", "1", "--steps", "100", "--m", "10", "--limit", "rad=0.1"],
        lambda: dr.calibrate(dr.DPSGD, dr.Limit(UNIFORM, rad=0.1), sample_rate=1.0, steps=100),
    ),
    (
        ["dpsgd", "--noise-multiplier", "1", "--sample-rate", "0.1", "--neighbours", ADD, "--limit", "worst-gain=0.2"],
        lambda: dr.calibrate(
            dr.DPSGD, dr.Limit(worst_gain=0.2, neighbours=ADD), noise_multiplier=1.0, sample_rate=0.1
        ),
    ),
    (
        ["gdp", "--neighbours", ADD, "--times", "10", "--limit", "tpr=0.05@fpr=0.01"],
        lambda: dr.calibrate(lambda mu: dr.Repeated(dr.GDP(mu, ADD), 10), dr.Limit(tpr=0.05, fpr=0.01)),
    ),
    (
        ["gaussian", "--sensitivity", "1", "--neighbours", ADD, "--limit", "epsilon=1@delta=1e-5"],
        lambda: dr.calibrate(
            dr.Gaussian, dr.Limit(epsilon=1.0, delta=1e-5, neighbours=ADD), sensitivity=1.0, neighbours=ADD
        ),
    ),
    (
        ["dp", "--delta", "1e-5", "--neighbours", REPLACE, "--m", "10", "--limit", "rad=0.1"],
        lambda: dr.calibrate(dr.ApproxDP, dr.Limit(UNIFORM, rad=0.1), delta=1e-5, neighbours=REPLACE),
    ),
    (
        ["dp", "--epsilon", "1", "--free", "delta", "--neighbours", REPLACE, "--m", "10", "--limit", "rad=0.2"],
        lambda: dr.calibrate(dr.ApproxDP, dr.Limit(UNIFORM, rad=0.2), epsilon=1.0, neighbours=REPLACE),
    ),
    (
        ["tv", "--neighbours", ADD, "--membership", "0.5", "--limit", "gain=0.05"],
        lambda: dr.calibrate(dr.TotalVariation, dr.Limit(dr.Threat.membership(0.5), gain=0.05), neighbours=ADD),
    ),
    (["laplace", "--limit", "error=5"], lambda: dr.calibrate(dr.Laplace, dr.Limit(dr.Threat.worst(), error=5.0))),
    (
        [
            "laplace", "--sensitivity", "2", "--neighbours", REPLACE, "--times", "3", "--baseline", "0.1",
            "--limit", "gain=0.2",
        ],
        lambda: dr.calibrate(
            lambda b: dr.Repeated(dr.Laplace(b, sensitivity=2.0, neighbours=REPLACE), 3),
            dr.Limit(dr.Threat.baseline(0.1), gain=0.2),
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "library"), AGREE, ids=[" ".join(a) for a, _ in AGREE])
def test_command_line_and_library_agree(arguments, library):
    data, expected = calibrated(*arguments), library()
    assert data["value"] == pytest.approx(expected.value, rel=2e-5)
    assert data["status"] == expected.status == "met"
    assert [one["quantity"] for one in data["achieved"]] == [one.quantity for one in expected.achieved]
    for one in data["achieved"]:
        if one["limit"] is not None:
            assert one["value"] <= one["limit"]


def test_several_limits_and_which_of_them_decides():
    data = calibrated(
        "laplace", "--values", "0:9", "--limit", "rad=0.1", "--limit", "success=0.9", "--limit", "error=50"
    )
    assert [one["quantity"] for one in data["achieved"]] == ["rad", "success", "error"]
    assert data["binding"].startswith("rad <= 0.1")
    assert data["cost"]["error"] == pytest.approx(math.log(20.0) * data["value"], rel=1e-12)


def test_a_limit_that_no_noise_meets_exits_3():
    data = calibrated("grr", "--m", "100", "--limit", "rad=0", code=3)
    assert (data["value"], data["status"], data["binding"], data["achieved"]) == (None, "unmet", None, [])
    assert "rad is still" in data["reason"]
    done = run("calibrate", "grr", "--m", "100", "--limit", "rad=0")
    assert done.returncode == 3
    assert done.stdout.startswith("LIMITS NOT KEPT. No value of epsilon keeps")


def test_conflicting_limits_exit_3():
    data = calibrated("laplace", "--values", "0:9", "--limit", "rad=0.1", "--limit", "error=5", code=3)
    assert data["value"] is None
    assert "error is 12.72, more than 5" in data["reason"]


def test_no_noise_needed_exits_0():
    data = calibrated("oue", "--m", "10", "--limit", "rad=0.5")
    assert (data["status"], data["binding"]) == ("free", None)
    assert (
        "Every epsilon keeps the limits, even the least noise tried"
        in run("calibrate", "oue", "--m", "10", "--limit", "rad=0.5").stdout
    )


def test_text_leads_with_the_value_rounded_to_more_noise():
    done = run("calibrate", "grr", "--m", "100", "--limit", "rad=0.1")
    assert done.returncode == 0
    assert done.stdout.startswith(
        "LIMITS KEPT. epsilon 2.50437 keeps every limit: the least noise that does."
    )  # 2.504378...
    assert "0.100000" in done.stdout
    assert "10,000 reports" in done.stdout
    done = run("calibrate", "laplace", "--values", "0:9", "--limit", "rad=0.1")
    assert done.stdout.startswith("LIMITS KEPT. scale 4.24511 keeps every limit")  # 4.245104...
    flag, value = re.search(r"(--scale) (\S+)\.", done.stdout).groups()
    assert assessed("laplace", "--values", "0:9", flag, value)["rad"]["value"] <= 0.1


def test_the_release_that_is_shown_has_no_less_noise():
    data = calibrated("laplace", "--values", "0:9", "--limit", "rad=0.1")
    shown = re.search(r"scale=([0-9.]+)", data["release"]["text"]).group(1)
    assert float(shown) >= data["value"]


def test_help_lists_limits_and_parameters():
    done = run("calibrate", "dpsgd", "--help")
    assert done.returncode == 0
    for word in ("--limit", "--free", "--noise-multiplier", "--sample-rate", "--steps", "--times", "tpr=0.05@fpr=0.01"):
        assert word in done.stdout
    assert "grr" in run("calibrate", "--help").stdout


BAD = [
    ([], "Usage"),
    (["grr", "--m", "100"], "--limit"),
    (["grr", "--limit", "rad=0.1"], "--m"),
    (["grr", "--m", "100", "--epsilon", "1", "--limit", "rad=0.1"], "one parameter to choose"),
    (["dpsgd", "--steps", "100", "--m", "10", "--limit", "rad=0.1"], "noise_multiplier, sample_rate"),
    (["grr", "--m", "100", "--free", "m", "--limit", "rad=0.1"], "--free must be one of epsilon"),
    (["grr", "--m", "100", "--free", "sigma", "--limit", "rad=0.1"], "--free must be one of epsilon"),
    (["grr", "--m", "1", "--limit", "rad=0.1"], "at least 2"),
    (["grr", "--m", "100", "--limit", "rad"], "NAME=VALUE"),
    (["grr", "--m", "100", "--limit", "rad="], "not a number"),
    (["grr", "--m", "100", "--limit", "rad=0,1"], "0.1"),
    (["grr", "--m", "100", "--limit", "rad=0.1:0.9"], "not a number"),
    (["grr", "--m", "100", "--limit", "risk=0.1"], "worst_gain"),
    (["grr", "--m", "100", "--limit", "rad=2"], "at most 1"),
    (["grr", "--m", "100", "--limit", "rad=-1"], "at least 0"),
    (["grr", "--m", "100", "--limit", "rad=nan"], "at most 1"),
    (["grr", "--m", "100", "--limit", "tpr=0.1"], "tpr=VALUE@fpr=VALUE"),
    (["grr", "--m", "100", "--limit", "epsilon=1"], "epsilon=1@delta=1e-5, or epsilon=1@delta=0"),
    (["grr", "--m", "100", "--membership", "0.5", "--limit", "rad=0.1"], "membership"),
    (["gaussian", "--limit", "success=0.1"], "without a threat"),
    (["gaussian", "--m", "5", "--limit", "frequency_error=1"], "a cost that the mechanism knows"),
    (["gdp", "--m", "5", "--limit", "rad=0.1"], "--neighbours"),
    (["gr", "--m", "5", "--limit", "rad=0.1"], "Did you mean 'grr'?"),
    (["channel", "--limit", "rad=0.1"], "cannot calibrate 'channel'"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "says"), BAD, ids=[" ".join(a) or "nothing" for a, _ in BAD])
def test_bad_input_exits_2_and_says_what_to_do(arguments, says):
    done = run("calibrate", *arguments)
    assert done.returncode == 2
    assert says in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["laplace", "--m", "5", "--times", "0", "--limit", "rad=0.1"], "at least 1"),
        (["laplace", "--m", "5", "--truncate", "5:1", "--limit", "rad=0.1"], "low below high"),
        (["exponential", "--m", "5", "--interval", "9:0", "--limit", "rad=0.1"], "low below high"),
    ],
)
def test_bad_options_that_are_not_the_noise_exit_2(arguments, says):
    done = run("calibrate", *arguments)
    assert done.returncode == 2
    assert says in done.stderr


def test_bad_input_as_json_is_one_object():
    done = run("calibrate", "grr", "--m", "100", "--limit", "risk=0.1", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["schema"] == "dpradar/error/1"


def test_hints_name_options_that_exist():
    done = run("calibrate", "dpsgd", "--steps", "100", "--m", "10", "--limit", "rad=0.1")
    for flag in re.findall(r"--[a-z_-]+", done.stderr):
        assert flag in run("calibrate", "dpsgd", "--help").stdout


def test_a_real_process_ends_as_documented():
    done = process("calibrate", "grr", "--m", "5", "--limit", "rad=0", "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["value"] is None
    assert done.stderr == ""


# -------------------------------------------------------------------------------- assess: training runs and repetitions

COMPOSED = [
    (["dpsgd", "--noise-multiplier", "1", "--sample-rate", "0.01", "--steps", "100"], dr.DPSGD(1.0, 0.01, 100)),
    (["zcdp", "--rho", "0.1", "--neighbours", REPLACE], dr.ZCDP(0.1, REPLACE)),
    (["zcdp", "--rho", "0.1", "--neighbours", REPLACE, "--times", "3"], dr.Repeated(dr.ZCDP(0.1, REPLACE), 3)),
    (["rdp", "--orders", "2,4", "--epsilons", "0.1,0.3", "--neighbours", ADD], dr.RDP([2, 4], [0.1, 0.3], ADD)),
    (["gdp", "--mu", "0.5", "--neighbours", ADD, "--times", "4"], dr.Repeated(dr.GDP(0.5, ADD), 4)),
    (["dp", "--epsilon", "0.5", "--neighbours", REPLACE, "--times", "10"], dr.Repeated(dr.PureDP(0.5, REPLACE), 10)),
    (
        ["dp", "--epsilon", "0.5", "--delta", "1e-4", "--neighbours", REPLACE, "--times", "2"],
        dr.Repeated(dr.ApproxDP(0.5, 1e-4, REPLACE), 2),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "release"), COMPOSED, ids=[" ".join(a) for a, _ in COMPOSED])
def test_composed_releases_agree_with_the_library(arguments, release):
    expected = dr.assess(release, dr.Threat(dr.Prior.uniform(7)))
    data = assessed(*arguments, "--m", "7", "--fpr", "0.01,0.3")
    assert data["release"]["text"] == repr(release)
    for name in ("rad", "success", "gain", "worst_gain"):
        assert data[name]["value"] == getattr(expected, name).value
    assert set(data["tpr"]) == {"0.01", "0.3"}
    for fpr, bound in data["tpr"].items():
        assert bound["value"] == expected.tpr(float(fpr)).value
        assert bound["side"] == "upper"


def test_case_study_on_the_command_line():
    arguments = ["laplace", "--scale", "5", *UNIT, "--baseline", "0.1", "--times"]
    assert assessed(*arguments, "15")["gain"]["value"] == pytest.approx(0.1976, rel=1e-3)
    assert assessed(*arguments, "16")["gain"]["value"] == pytest.approx(0.2065, rel=1e-3)


def test_gaussian_repetition_on_the_command_line():
    data = assessed("gdp", "--mu", "0.5", "--neighbours", ADD, "--times", "4", "--fpr", "0.01")
    assert data["tpr"]["0.01"]["value"] == pytest.approx(0.0923622, abs=5e-8)


def test_a_smaller_tolerance_narrows_the_note():
    def width(tolerance):
        data = assessed("laplace", "--scale", "5", *UNIT, "--times", "15", "--tolerance", tolerance)
        note = next(text for text in data["worst_gain"]["assumes"] if "lies in" in text)
        low, high = map(float, re.search(r"\[([^,]+), ([^\]]+)\]", note).groups())
        return high - low

    assert width("1e-4") <= 1e-4 < width("0.1")


def test_rates_are_told_in_people():
    done = run("assess", "gdp", "--mu", "1", "--neighbours", ADD, "--fpr", "0.01,0.001")
    assert "An attack that wrongly flags 1 % of non-members finds at most 9.3 % of members" in done.stdout
    assert "wrongly flags 0.1 % of non-members finds at most 1.9 %" in done.stdout
    assert "tpr at most 0.092363 at fpr 0.01" in done.stdout


WRONG = [
    (["dpsgd", "--noise-multiplier", "1", "--sample-rate", "2", "--steps", "5"], "at most 1"),
    (["dpsgd", "--noise-multiplier", "0", "--sample-rate", "0.1", "--steps", "5"], "at least 1e-100"),
    (["dpsgd", "--noise-multiplier", "1", "--sample-rate", "0.1", "--steps", "1.5"], "whole number"),
    (["dpsgd", "--noise-multiplier", "1", "--sample-rate", "0.1"], "--steps"),
    (["zcdp", "--rho", "-1", "--neighbours", ADD], "at least 0"),
    (["rdp", "--orders", "2,4", "--epsilons", "0.1", "--neighbours", ADD], "2 orders and 1 epsilons"),
    (["rdp", "--orders", "0.5", "--epsilons", "0.1", "--neighbours", ADD], "at least 1"),
    (["gdp", "--mu", "1", "--neighbours", ADD, "--times", "0"], "at least 1"),
    (["gdp", "--mu", "1", "--neighbours", ADD, "--times", "1.5"], "whole number"),
    (["gdp", "--mu", "1", "--neighbours", ADD, "--fpr", "0.01,2"], "at most 1"),
    (["gdp", "--mu", "1", "--neighbours", ADD, "--fpr", "few"], "not a number"),
    (["gdp", "--mu", "1", "--neighbours", ADD, "--tolerance", "0"], "above 0"),
    (["gdp", "--mu", "1", "--neighbours", ADD, "--tolerance", "0.9"], "at most 0.5"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "says"), WRONG, ids=[" ".join(a) for a, _ in WRONG])
def test_bad_composed_releases_exit_2(arguments, says):
    done = run("assess", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
