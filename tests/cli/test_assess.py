"""The command line as people use it: a real process, its output and its exit code."""

from __future__ import annotations

import contextlib
import io
import json
import math
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

import dpradar as dr
from dpradar.cli import main

if TYPE_CHECKING:
    from pathlib import Path


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str, cwd: Path | None = None) -> Done:
    """Run in this process, which is a hundred times quicker; `process` runs a real one."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        if cwd is not None:
            stack.enter_context(contextlib.chdir(cwd))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        stopped = stack.enter_context(pytest.raises(SystemExit))
        main(arguments)
    return Done(int(stopped.value.code or 0), out.getvalue(), err.getvalue())


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dpradar", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def answer(*arguments: str) -> dict:
    done = run("assess", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_design_example_grr():
    data = answer("grr", "--m", "100", "--epsilon", "2", "--knowledge", "everything")
    assert data["schema"] == "dpradar/assessment/2"
    p = 2.718281828459045**2 / (2.718281828459045**2 + 99)
    q = 1 / (2.718281828459045**2 + 99)
    assert data["rad"]["value"] == pytest.approx((p - q) * 0.99, abs=1e-12)
    assert data["rad"]["side"] == "exact"
    assert data["baseline"] == 1.0
    assert set(data["rad"]) >= {"value", "side", "rule", "cites", "assumes"}


def test_design_example_laplace():
    data = answer(
        "laplace",
        "--scale",
        "100",
        "--values",
        "0:100",
        "--prior",
        "uniform",
        "--goal",
        "within:40",
        "--truncate",
        "0:100",
    )
    assert data["rad"]["value"] == pytest.approx(0.11028, abs=5e-6)
    assert data["success"]["value"] == pytest.approx(0.86793, abs=5e-6)
    assert data["baseline"] == pytest.approx(81 / 101, abs=1e-12)


def test_design_example_guarantee():
    data = answer("dp", "--epsilon", "1", "--delta", "1e-5", "--neighbours", "replace-one", "--m", "10")
    assert data["rad"]["value"] == pytest.approx(0.1319770, abs=5e-8)
    assert data["rad"]["side"] == "upper"


def test_guarantee_without_m_is_the_worst_threat():
    data = answer("dp", "--epsilon", "1", "--neighbours", "replace-one")
    assert data["rad"]["value"] == pytest.approx(math.tanh(0.25), rel=1e-9)
    assert data["worst_gain"]["value"] == pytest.approx(math.tanh(0.5), rel=1e-9)
    assert data["success"] is None
    assert "success" in data["reason"]


def test_membership_has_no_rad_but_a_reason():
    data = answer("gdp", "--mu", "1", "--neighbours", "add-remove", "--membership", "0.5")
    assert data["rad"] is None
    assert "replace-one" in data["reason"]["rad"]
    assert data["success"]["value"] == pytest.approx(0.691462, abs=1e-6)  # Phi(1/2)


@pytest.mark.parametrize(
    ("arguments", "mechanism"),
    [
        (["sue", "--m", "5", "--epsilon", "1"], dr.SUE(5, 1.0)),
        (["oue", "--m", "5", "--epsilon", "1"], dr.OUE(5, 1.0)),
        (["ss", "--m", "5", "--epsilon", "1"], dr.SubsetSelection(5, 1.0)),
        (["gaussian", "--sigma", "2", "--m", "5"], dr.Gaussian(2.0)),
        (["geometric", "--scale", "2", "--m", "5"], dr.Geometric(2.0)),
        (["discrete-gaussian", "--sigma", "2", "--m", "5"], dr.DiscreteGaussian(2.0)),
        (["exponential", "--epsilon", "2", "--m", "5"], dr.Exponential(2.0)),
        (["tv", "--tv", "0.2", "--neighbours", "replace-one", "--m", "5"], dr.TotalVariation(0.2, "replace-one")),
    ],
)
def test_command_line_and_library_agree(arguments, mechanism):
    expected = dr.assess(mechanism, dr.Threat(dr.Prior.uniform(5)))
    data = answer(*arguments)
    assert data["rad"]["value"] == expected.rad.value
    assert data["success"]["value"] == expected.success.value


def test_files_for_matrix_query_records(tmp_path):
    (tmp_path / "p.csv").write_text("0.9,0.1\n0.2,0.8\n", encoding="utf-8-sig")  # as spreadsheets write it
    channel = answer("channel", "--matrix", str(tmp_path / "p.csv"))
    assert channel["rad"]["value"] == pytest.approx(0.35, abs=1e-12)  # TV 0.7 times 1 - 1/2
    (tmp_path / "q.csv").write_text("1,0\n0,1\n")
    vectors = answer("gaussian", "--sigma", "1", "--query", f"@{tmp_path / 'q.csv'}")
    expected = dr.assess(dr.Gaussian(1.0, query=[[1, 0], [0, 1]]), dr.Threat(dr.Prior.uniform(2)))
    assert vectors["rad"]["value"] == expected.rad.value
    (tmp_path / "r.csv").write_text("age,ill,n\nold,yes,3\nold,no,1\nyoung,no,6\n")
    records = answer(
        "grr", "--m", "3", "--epsilon", "1", "--records", str(tmp_path / "r.csv"), "--weights", "n",
        "--knowledge", "columns:age", "--goal", "columns:ill",
    )  # fmt: skip
    assert records["prior"]["size"] == 3
    assert records["baseline"] == pytest.approx(0.9, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["assess", "grr", "--m", "100", "--epsilon", "2", "--knowledge", "everything", "--json"], 0),
        (["assess", "grr", "--m", "1", "--epsilon", "2"], 2),
        (["assess"], 2),
        (["--help"], 0),
        (["--version"], 0),
    ],
)
def test_a_real_process_ends_as_documented(arguments, code):
    done = process(*arguments)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert done.stdout or done.stderr.startswith("error: ")


BAD = [
    (["grr", "--m", "1", "--epsilon", "1"], "at least 2"),
    (["grr", "--m", "0", "--epsilon", "1"], "at least 2"),
    (["grr", "--m", "10", "--epsilon", "-1"], "at least 0"),
    (["grr", "--m", "10", "--epsilon", "nan"], "finite"),
    (["grr", "--m", "10", "--epsilon", "inf"], "finite"),
    (["grr", "--m", "10", "--epsilon", "0,5"], "0.5"),
    (["grr", "--m", "10", "--epsilon", "one"], "not a number"),
    (["grr", "--m", "2.5", "--epsilon", "1"], "whole number"),
    (["grr", "--m", "3", "--epsilon", "1", "--prior", "0.5,0.3,0.1"], "sum"),
    (["grr", "--m", "3", "--epsilon", "1", "--prior", "0.5,0.6,-0.1"], "at least 0"),
    (["grr", "--m", "3", "--epsilon", "1", "--prior", "0.5,0.5"], "2"),
    (["grr", "--m", "3", "--epsilon", "1", "--goal", "within:-1"], "at least 0"),
    (["grr", "--m", "3", "--epsilon", "1", "--goal", "near"], "exact"),
    (["grr", "--m", "3", "--epsilon", "1", "--knowledge", "labels:a,b"], "3 labels"),
    (["grr", "--m", "3", "--epsilon", "1", "--knowledge", "columns:age"], "records"),
    (["grr", "--m", "3", "--epsilon", "1", "--prior", "@nowhere.csv"], "readable"),
    (["gaus", "--sigma", "1"], "Did you mean 'gaussian'?"),
    (["gaussian", "--sigma", "0", "--m", "3"], "above 0"),
    (["gaussian", "--sigma", "1", "--query", "0,1", "--sensitivity", "2"], "query"),
    (["laplace", "--scale", "1", "--m", "3", "--truncate", "5:1"], "low below high"),
    (["dp", "--epsilon", "1"], "--neighbours"),
    (["dp", "--epsilon", "1", "--neighbours", "replace-one", "--baseline", "1.5"], "at most 1"),
    (["dp", "--epsilon", "1", "--neighbours", "replace-one", "--baseline", "0.5", "--membership", "0.5"], "one of"),
    (["dp", "--epsilon", "1", "--delta", "2", "--neighbours", "replace-one"], "at most 1"),
    (["dp", "--epsilon", "1", "--neighbours", "replace-one", "--goal", "within:1"], "prior"),
    (["channel", "--matrix", "nowhere.csv"], "readable"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "says"), BAD, ids=[" ".join(a) for a, _ in BAD])
def test_bad_input_exits_2_and_says_what_to_do(arguments, says, tmp_path):
    done = run("assess", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_bad_input_as_json_is_one_object():
    done = run("assess", "grr", "--m", "1", "--epsilon", "1", "--json")
    data = json.loads(done.stdout)
    assert (data["schema"], data["exit"], done.returncode) == ("dpradar/error/1", 2, 2)


def test_ragged_matrix_is_an_error(tmp_path):
    (tmp_path / "p.csv").write_text("0.9,0.1\n0.2\n")
    done = run("assess", "channel", "--matrix", str(tmp_path / "p.csv"))
    assert done.returncode == 2
    assert "equal length" in done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("dp --epsilon 1e-5 --delta 1 --neighbours replace-one --m 10", 4),  # swapped
        ("dp --epsilon 1 --delta 1 --neighbours replace-one", 4),
        ("laplace --scale 5 --values 0:3100", 0),
        ("grr --m 10 --epsilon 800", 0),  # everything is known of it, and it is bad
        ("dp --epsilon 1 --delta 0.5 --neighbours replace-one --m 10", 0),
    ],
)
def test_bounds_that_say_nothing_exit_4_whatever_their_rule(words, code):
    assert run("assess", *words.split()).returncode == code


def test_only_a_vacuous_bound_exits_4():
    # A local report has no add/remove guarantee, so nothing is known about membership.
    done = run("assess", "grr", "--m", "5", "--epsilon", "1", "--membership", "0.5", "--json")
    assert done.returncode == 4
    assert json.loads(done.stdout)["success"]["rule"] == "trivial"


def test_text_leads_with_the_advantage_and_rounds_up():
    done = run("assess", "grr", "--m", "100", "--epsilon", "2", "--knowledge", "everything")
    assert (
        "Of 100 people whose record was used, an attacker who knows their record says so for 7; of 100 "
        "whose record was not used, wrongly for 1. Taking part adds 6." in done.stdout
    )
    assert "0.059454" in done.stdout  # 0.0594531...
    assert "--all" in done.stdout.splitlines()[-1]


def test_all_shows_why_others_lost():
    done = run("assess", "dp", "--epsilon", "1", "--delta", "1e-5", "--neighbours", "replace-one", "--m", "10", "--all")
    assert "looser than" in done.stdout
    assert "thesis-thm-7" in done.stdout


def test_list_names_every_mechanism_and_rule():
    data = json.loads(run("list", "--json").stdout)
    assert "grr" in data["releases"]
    assert {"thm-4.2", "black-box-pure"} <= {rule["name"] for rule in data["rules"]}


def test_internal_errors_exit_1_without_traceback():
    code = (
        "import dpradar.cli.assess as module\n"
        "from dpradar.cli import main\n"
        "def boom(*_, **__): raise RuntimeError('secret 42')\n"
        "module.assess = boom\n"
        "main(['assess', 'grr', '--m', '3', '--epsilon', '1'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "secret" not in done.stderr
    assert "internal error (RuntimeError)" in done.stderr


def test_a_contradiction_exits_1_and_names_both_rules(monkeypatch):
    def contradict(*_, **__):
        message = "rad is at least 0.5 by one rule but at most 0.4 by another"
        raise dr.InconsistentEvidence(message)

    monkeypatch.setattr("dpradar.cli.assess.assess", contradict)
    done = run("assess", "grr", "--m", "3", "--epsilon", "1")
    assert done.returncode == 1
    assert "at most 0.4" in done.stderr
