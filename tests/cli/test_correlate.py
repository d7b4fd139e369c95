"""``dpradar correlate``: families and time series from a file, in words, JSON and pages; mistakes and exit codes."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dpradar as dr
from dpradar import correlated as co
from tests.cli.test_assess import run

P = np.array([[0.9, 0.1], [0.3, 0.7]])


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(2)
    common = rng.normal(size=(120, 1))
    heights = 170.0 + 5.0 * common + 5.0 * rng.normal(size=(120, 3))
    lines = ["family,height,role"]
    lines += [f"{k},{heights[k, j]:.2f},{'abc'[j]}" for k in range(120) for j in range(3 if k % 2 else 2)]
    (tmp_path / "families.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    wide = ["a,b,c", *(",".join(f"{x:.2f}" for x in row) for row in heights)]
    (tmp_path / "wide.csv").write_text("\n".join(wide) + "\n", encoding="utf-8")
    steps = [0]
    for u in rng.random(1999):
        active = steps[-1] > 0
        steps.append(int(20 + 10 * u) if u < P[int(active), 1] else 0)
    cells = ["NA" if 500 <= k < 530 else str(s) for k, s in enumerate(steps)]
    (tmp_path / "steps.csv").write_text("steps\n" + "\n".join(cells) + "\n", encoding="utf-8")
    return tmp_path


FAMILY = ("correlate", "families.csv", "--group", "family", "--value", "height", "--clip", "0:254", "--epsilon", "1")
STEPS = ("correlate", "steps.csv", "--markov", "--state", "steps>0", "--epsilon", "10")


def test_families_in_words(folder):
    done = run(*FAMILY, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "The sum of values clipped to [0, 254], Laplace noise of scale 254 (epsilon 1)" in done.stdout
    assert "Gaussian groups of at most 3 records" in done.stdout
    assert "Whatever the dependence within a group: at most 3.0000 (thm-6.3)." in done.stdout
    assert "300 records in 120 groups of at most 3" in done.stdout
    assert done.stdout.splitlines()[-1] == "Machine-readable: --json."


def test_families_as_json(folder):
    done = run(*FAMILY, "--json", cwd=folder)
    answer = json.loads(done.stdout)
    assert answer["schema"] == "dpradar/correlation/2"
    assert set(answer["leakage"]) >= {"value", "side", "rule", "cites", "assumes"}
    assert 1.0 < answer["leakage"]["value"] < 3.0
    assert answer["any_dependence"]["value"] == 3.0
    assert answer["chosen"]["epsilon"] == pytest.approx(1.0 / answer["leakage"]["value"], rel=1e-9)
    assert answer["command"].startswith("dpradar correlate families.csv")
    assert dr.Bound.from_dict(answer["leakage"]).value == answer["leakage"]["value"]


def test_families_equal_the_library(folder):
    table = {"family": [], "height": [], "role": []}
    for line in (folder / "families.csv").read_text(encoding="utf-8").splitlines()[1:]:
        for name, cell in zip(table, line.split(","), strict=True):
            table[name].append(cell)
    fit = co.fit(table, group="family", value="height", role="role", clip=(0.0, 254.0))
    expected = co.leakage(fit, 1.0).leakage.value
    answer = json.loads(run(*FAMILY, "--role", "role", "--json", cwd=folder).stdout)
    assert answer["leakage"]["value"] == expected


def test_one_row_a_group(folder):
    answer = json.loads(
        run(
            "correlate", "wide.csv", "--columns", "a,b,c", "--clip", "100:250", "--epsilon", "1", "--json", cwd=folder
        ).stdout
    )
    assert answer["records"] == 360
    assert {one["name"] for one in answer["checks"]} >= {"normal", "equal-variances", "rho(m-2)<1", "within-clip"}
    assert 1.0 < answer["leakage"]["value"] < 3.0


def test_series_in_words(folder):
    done = run(*STEPS, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "A count with Laplace noise of scale 0.1 (epsilon 10)" in done.stdout
    assert "30 missing entries interrupt the series" in done.stdout
    assert "1,970 records" in done.stdout
    assert "chain-steps" in done.stdout
    assert "thm-6.20" in done.stdout


def test_series_as_json_and_other_treatment_of_gaps(folder):
    answer = json.loads(run(*STEPS, "--json", cwd=folder).stdout)
    assert answer["leakage"]["rule"] == "chain-steps"
    assert answer["leakage"]["side"] == "exact"
    assert 10.0 < answer["leakage"]["value"] < 17.0
    dropped = json.loads(run(*STEPS, "--missing", "drop", "--json", cwd=folder).stdout)
    assert dropped["records"] == 1970
    refused = run(*STEPS, "--missing", "refuse", cwd=folder)
    assert refused.returncode == 2
    assert "30 of them" in refused.stderr


def test_exit_codes(folder):
    assert run(*FAMILY, "--target", "3", cwd=folder).returncode == 0
    assert run(*FAMILY, "--target", "1", cwd=folder).returncode == 3
    vacuous = run(
        "correlate", "families.csv", "--group", "role", "--value", "height", "--epsilon", "1", cwd=folder
    )  # groups of 120: nothing is left
    assert vacuous.returncode == 4
    assert "at most 120.0000" in vacuous.stdout


def test_simulation_with_a_seed(folder):
    one, two = (run(*FAMILY, "--simulate", "500", "--seed", "7", "--json", cwd=folder).stdout for _ in range(2))
    assert one == two
    answer = json.loads(one)["simulated"]
    assert answer["seed"] == 7
    assert answer["error"] == pytest.approx(answer["error_exact"], rel=0.25)
    drawn = json.loads(run(*STEPS, "--simulate", "50", "--json", cwd=folder).stdout)
    assert f"--seed {drawn['simulated']['seed']}" in drawn["command"]


def test_a_page_to_read(folder):
    done = run(*FAMILY, "--report", "risk.html", "--report", "risk.md", cwd=folder)
    assert "wrote risk.html" in done.stderr
    page = (folder / "risk.html").read_text(encoding="utf-8")
    assert "What is given away when records depend on each other" in page
    assert "https://" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "thm-6.14" in page
    assert "Hypotheses, checked on the data" in (folder / "risk.md").read_text(encoding="utf-8")


def test_a_saved_answer_becomes_a_page(folder):
    (folder / "a.json").write_text(run(*STEPS, "--json", cwd=folder).stdout, encoding="utf-8")
    assert run("report", "a.json", cwd=folder).returncode == 0
    assert "chain-steps" in (folder / "a.html").read_text(encoding="utf-8")


_FAMILIES = ("families.csv", "--group", "family", "--value", "height", "--epsilon", "1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("families.csv", "--epsilon", "1"), "given --group and --value"),
        (("families.csv", "--group", "nope", "--value", "height", "--epsilon", "1"), "a column: family, height, role"),
        (("families.csv", "--group", "family", "--value", "role", "--epsilon", "1"), "numbers or empty cells"),
        (
            ("families.csv", "--group", "family", "--value", "height", "--clip", "9:1", "--epsilon", "1"),
            "LOW below HIGH",
        ),
        (("families.csv", "--group", "family", "--value", "height", "--epsilon", "0,5"), "decimal comma"),
        (("nope.csv", "--group", "family", "--value", "height", "--epsilon", "1"), "readable CSV file"),
        (("steps.csv", "--markov", "--epsilon", "1"), "--state must be given"),
        (("steps.csv", "--markov", "--state", "walk>0", "--epsilon", "1"), "a column or COLUMN>NUMBER"),
        (("steps.csv", "--markov", "--state", "steps>x", "--epsilon", "1"), "not a number"),
        (("steps.csv", "--markov", "--state", "steps>0", "--clip", "0:1", "--epsilon", "1"), "left out with --markov"),
        (
            ("families.csv", "--group", "family", "--value", "height", "--state", "x", "--epsilon", "1"),
            "used with --markov",
        ),
        (("families.csv", "--group", "family", "--value", "height", "--epsilon", "1", "--simulate", "9"), "--clip"),
        ((*_FAMILIES, "--clip", "0:254", "--simulate", "9", "--seed", "-1"), "a whole number at least 0"),
        ((*_FAMILIES, "--clip", "-1e308:1e308"), "between 1e-100 and 1e+100 wide"),
        ((*_FAMILIES, "--clip", "0:254", "--targets", "0:1e300"), "between 1e-100 and 1e+100 wide"),
        (("steps.csv", "--markov", "--state", "steps>nan", "--epsilon", "1"), "a finite number"),
        (("huge.csv", "--group", "family", "--value", "height", "--epsilon", "1"), "at most 1e+100"),
        (("twice.csv", "--group", "height", "--value", "height", "--epsilon", "1"), "a different name for each column"),
    ],
)
def test_mistakes(folder, arguments, message):
    (folder / "huge.csv").write_text("family,height\n1,1e308\n1,-1e308\n", encoding="utf-8")
    (folder / "twice.csv").write_text("height,height\n1,2\n3,4\n", encoding="utf-8")
    done = run("correlate", *arguments, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    as_json = run("correlate", *arguments, "--json", cwd=folder)
    assert json.loads(as_json.stdout)["schema"] == "dpradar/error/1"


def test_no_value_of_the_data_in_messages(folder):
    (folder / "odd.csv").write_text("family,height\n1,secret\n1,2\n", encoding="utf-8")
    done = run("correlate", "odd.csv", "--group", "family", "--value", "height", "--epsilon", "1", cwd=folder)
    assert "secret" not in done.stdout + done.stderr


def test_a_file_of_a_spreadsheet(folder):
    """Some begin with a mark, which is no part of the first name."""
    text = (folder / "families.csv").read_text(encoding="utf-8")
    (folder / "marked.csv").write_text(text, encoding="utf-8-sig")
    answers = [
        json.loads(run("correlate", name, *_FAMILIES[1:], "--json", cwd=folder).stdout)["leakage"]
        for name in ("families.csv", "marked.csv")
    ]
    assert answers[0] == answers[1]
