"""``run``, ``new``, ``report``, ``explain``, ``schema``, ``doctor`` as people use them: output, files, exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import dpradar as dr
from dpradar.bounds.rules import RULES
from dpradar.cli.main import COMMANDS, app
from dpradar.present.glossary import TERMS
from dpradar.spec import KINDS
from tests.cli.test_assess import process, run
from tests.every import every
from tests.saved import without_names

SPEC = '[release]\nkind = "grr"\nm = 100\nepsilon = 2.0\n[threat]\nname = "stranger"\nlimits = { rad = LIMIT }\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "met.toml").write_text(SPEC.replace("LIMIT", "0.1"))
    (tmp_path / "unmet.toml").write_text(SPEC.replace("LIMIT", "0.01"))
    (tmp_path / "open.toml").write_text(SPEC.replace("limits = { rad = LIMIT }\n", ""))
    return tmp_path


# ------------------------------------------------------------------------------------------------------------------ run


def test_run_prints_the_same_numbers_as_assess(folder):
    data = json.loads(run("run", "met.toml", "--json").stdout)
    assessed = json.loads(run("assess", "grr", "--m", "100", "--epsilon", "2", "--json").stdout)
    assert data["schema"] == "dpradar/run/2"
    same = data["releases"][0]["assessments"][0]["assessment"]
    assert without_names(same) == without_names(assessed)
    assert (data["met"], data["command"]) == (True, "dpradar run met.toml")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["met.toml"], 0),
        (["unmet.toml"], 0),
        (["open.toml"], 0),
        (["met.toml", "--check"], 0),
        (["unmet.toml", "--check"], 3),
        (["open.toml", "--check"], 2),
        (["missing.toml"], 2),
    ],
)
def test_exit_codes(arguments, code, folder):
    for further in ([], ["--json"]):
        done = run("run", *arguments, *further)
        assert done.returncode == code
        assert "Traceback" not in done.stderr


def test_check_refuses_a_spec_without_limits(folder):
    done = run("run", "open.toml", "--check")
    assert done.stderr == (
        "error: --check must be used with a spec that has limits; got open.toml, which has none. "
        "Add limits = { rad = 0.1 } to a [threat].\n"
    )


def test_only_a_vacuous_bound_exits_4(folder):
    Path("v.toml").write_text('[release]\nkind = "grr"\nm = 3\nepsilon = 1.0\n[threat]\nmembership = 0.5\n')
    assert run("run", "v.toml").returncode == 4


def test_all_problems_are_told_and_are_data(folder):
    Path("bad.toml").write_text('[release]\nkind = "grr"\nm = 1\nepsilon = -1\n[threat]\nlimits = { radd = 1 }\n')
    done = run("run", "bad.toml")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "error: bad.toml has 3 problems:"
    assert done.stderr.count("\n  ") == 3
    answer = json.loads(run("run", "bad.toml", "--json").stdout)
    assert (answer["schema"], answer["exit"]) == ("dpradar/error/1", 2)
    assert [problem["path"] for problem in answer["problems"]] == [
        "release.m",
        "release.epsilon",
        "threat.limits.radd",
    ]
    assert answer["problems"][2] == {
        "path": "threat.limits.radd",
        "message": "is not a key of this table",
        "hint": "Did you mean 'rad'?",
    }


def test_the_smallest_change_is_told(folder):
    text = run("run", "unmet.toml").stdout
    expected = dr.calibrate(dr.GRR, dr.Limit(dr.Threat(dr.Prior.uniform(100)), rad=0.01), m=100)
    line = next(line for line in text.splitlines() if "smallest change" in line)
    shown = float(line.split("epsilon ")[1].split()[0])
    assert shown <= expected.value * 1.001
    assert shown == pytest.approx(expected.value, rel=1e-3)
    assert line.endswith("instead of 2.")


def test_a_sweep_is_part_of_the_result(folder):
    data = json.loads(run("run", "met.toml", "--sweep", "epsilon=1:4:3", "--json").stdout)
    assert [point["value"] for point in data["sweeps"][0]["points"]] == pytest.approx([1.0, 2.0, 4.0])
    assert data["command"] == "dpradar run met.toml --sweep epsilon=1:4:3"


def test_a_sweep_that_is_not_shown_is_mentioned(folder):
    last = run("run", "met.toml", "--sweep", "epsilon=1:4:3").stdout.splitlines()[-1]
    assert last.startswith("The sweep is shown in a report: dpradar run met.toml --sweep epsilon=1:4:3 --report ")
    assert "sweep" not in run("run", "met.toml").stdout


def test_reports_are_written_and_told(folder):
    done = run("run", "met.toml", "--json", "--report", "a.html", "--report", "b.md")
    assert done.stderr == "wrote a.html\nwrote b.md\n"
    assert "stranger" in Path("a.html").read_text(encoding="utf-8")
    assert "stranger" in Path("b.md").read_text(encoding="utf-8")
    Path("saved.json").write_text(done.stdout)
    again = run("report", "saved.json", "--out", "c.html", "--out", "d.md", "--json")
    assert json.loads(again.stdout) == {"schema": "dpradar/report/1", "files": ["c.html", "d.md"]}
    assert Path("c.html").read_text() == Path("a.html").read_text()
    assert Path("d.md").read_text() == Path("b.md").read_text()
    assert run("report", "saved.json").stderr == "wrote saved.html\n"


def test_what_is_missing_for_a_report_is_told_before_the_work(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr("dpradar.spec.read", lambda _: pytest.fail("the work began"))
    done = run("run", "met.toml", "--report", "a.html")
    assert done.returncode == 2
    assert done.stderr == 'error: this needs jinja2, which is not installed. Run: pip install "dpradar[report]"\n'


class Scripts(HTMLParser):
    """Counts the script elements of a page, and the text outside of them."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[dict] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        if tag == "script":
            self.scripts.append(dict(attrs))

    def handle_data(self, data):
        self.text += data


def test_scripts_in_texts_stay_texts(folder):
    """Text passes through untouched to the JSON, and is escaped in the page."""
    evil = "<script>alert('x')</script><img src=x onerror=alert(1)>"
    keys = {"title": evil, "description": evil}
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    text += f'[release]\nkind = "grr"\nm = 3\nepsilon = 1.0\nname = {json.dumps(evil)}\nwhat = {json.dumps(evil)}\n'
    text += f"date = {json.dumps(evil)}\nnote = {json.dumps(evil)}\n"
    text += f"[threat]\nname = {json.dumps(evil)}\nlimits = {{ rad = 0.001 }}\nlimit_source = {json.dumps(evil)}\n"
    text += "[decision]\n" + "".join(
        f"{key} = {json.dumps(evil)}\n" for key in ("by", "date", "review_by", "outcome", "note")
    )
    Path("evil.toml").write_text(text)
    done = run("run", "evil.toml", "--report", "evil.html", "--report", "evil.md", "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["title"] == data["decision"]["by"] == data["releases"][0]["name"] == evil
    page = Path("evil.html").read_text(encoding="utf-8")
    scripts = Scripts()
    scripts.feed(page)
    assert [script.get("type") for script in scripts.scripts] == ["application/json"]
    assert "onerror" not in [name for tag in scripts.scripts for name in tag]
    assert "<img" not in page
    assert evil in scripts.text  # a reader sees it as it was written
    written = Path("evil.md").read_text(encoding="utf-8")
    assert "<script" not in re.sub(r"^```.*?^```", "", written, flags=re.M | re.S)


# ------------------------------------------------------------------------------------------------------------------ new


@pytest.mark.parametrize("kind", ["grr", "laplace", "zcdp", "dpsgd"])
def test_new_writes_what_run_reads(kind, folder):
    done = run("new", f"{kind}.toml", "--kind", kind)
    assert done.stdout == (f"wrote {kind}.toml\nChange it, then: dpradar run {kind}.toml --report risk.html\n")
    assert run("run", f"{kind}.toml").returncode == 0
    assert run("run", f"{kind}.toml", "--check").returncode in (0, 3)


def test_new_writes_over_nothing(folder):
    before = Path("met.toml").read_text()
    done = run("new", "met.toml")
    assert (done.returncode, Path("met.toml").read_text()) == (2, before)
    assert run("new", "met.toml", "--force", "--json").returncode == 0
    assert Path("met.toml").read_text() != before
    assert run("new").returncode == 0
    assert Path("spec.toml").exists()


# -------------------------------------------------------------------------------------------------------------- explain


@every("word", [*TERMS, "Worst gain", "REPLACE-ONE"])
def test_terms_are_explained(word):
    assert run("explain", word).stdout.startswith(f"{word}: ")


@every("rule", [rule.name for rule in RULES if rule.name not in TERMS and rule.name != "membership"])
def test_rules_are_explained(rule):
    text = run("explain", rule).stdout
    assert text.startswith(f"{rule}: ")
    assert "Speaks about: " in text


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {*TERMS, *(rule.name for rule in RULES)}])
def test_kinds_are_explained(kind):
    text = run("explain", kind).stdout
    assert KINDS[kind].help in text
    for param in KINDS[kind].params:
        assert param.what in text


def test_saved_results_are_explained(folder):
    Path("run.json").write_text(run("run", "met.toml", "--json").stdout)
    assert run("explain", "run.json").stdout.startswith("ALL") or "stranger" in run("explain", "run.json").stdout
    Path("a.json").write_text(run("assess", "grr", "--m", "3", "--epsilon", "1", "--json").stdout)
    expected = dr.assess(dr.GRR(3, 1.0), dr.Threat(dr.Prior.uniform(3))).explain()
    assert run("explain", "a.json").stdout == expected + "\n"
    data = json.loads(run("explain", "a.json", "--json").stdout)
    assert (data["kind"], data["text"]) == ("result", expected)


# ----------------------------------------------------------------------------------------------- list, schema, doctor


def test_the_list_of_commands_loads_none_and_tells_the_truth():
    text = run("--help").stdout
    for name, (_, _, line) in COMMANDS.items():
        assert name in text
        command = app.get_command(None, name)
        assert " ".join((command.help or "").split()).startswith(line), name


def test_help_is_quick_because_nothing_is_loaded():
    code = (
        "import sys\nfrom dpradar.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numpy', 'scipy', 'pydantic', 'jinja2', 'rich', 'starlette') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_schema_is_one_object():
    assert json.loads(run("schema").stdout) == json.loads(run("schema", "--json").stdout)
    assert len(run("schema", "--json").stdout.splitlines()) == 1


def test_the_doctor_knows_versions_extras_and_what_works():
    data = json.loads(run("doctor", "--json").stdout)
    assert data["schema"] == "dpradar/doctor/1"
    assert data["versions"]["dpradar"] == dr.__version__
    assert {"numpy", "scipy", "click", "rich", "annotated-types"} <= set(data["versions"])
    assert None not in data["versions"].values()
    assert data["extras"]["accounting"]["dp-accounting"]
    assert set(data["works"].values()) == {"yes"}
    text = run("doctor").stdout
    assert 'pip install "dpradar[' in text or "installed" in text


def test_the_doctor_notices_a_wrong_number(monkeypatch):
    real = dr.assess

    def wrong(*arguments, **settings):
        from dataclasses import replace

        assessment = real(*arguments, **settings)
        return replace(assessment, rad=replace(assessment.rad, value=0.0))

    monkeypatch.setattr(dr, "assess", wrong)
    done = run("doctor", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["works"]["assess"] == "no: a wrong number"


def test_a_real_process_gates_a_build(folder):
    assert process("run", str(folder / "met.toml"), "--check").returncode == 0
    done = process("run", str(folder / "unmet.toml"), "--check")
    assert done.returncode == 3
    assert done.stdout
    assert os.linesep in done.stdout
