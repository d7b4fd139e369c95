"""What is copied gives exactly the numbers of the screen: pasted into a terminal, into Python, or saved as a spec."""

from __future__ import annotations

import html
import json
import re
import shlex
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

import pytest
from click.testing import CliRunner

from dpradar.cli.main import app
from dpradar.spec import parse
from dpradar.spec.run import run
from tests.saved import without_names

from .conftest import sent
from .questions import EVERY, FURTHER

# Different in every run, or what was typed.
_PASSING = ("command", "made")


def _copies(text):
    """Return the texts to copy that a page shows, by their titles."""
    matches = re.findall(r'<pre id="copy-\d+"[^>]*aria-label="([^"]*)">(.*?)</pre>', text, flags=re.S)
    return {title: html.unescape(code) for title, code in matches}


def _typed(line):
    words = shlex.split(line)
    assert words[0] == "dpradar"
    done = CliRunner().invoke(app, [*words[1:], "--json"], obj={"given": words[1:]})
    assert done.exit_code in (0, 3, 4), done.output
    return json.loads(done.stdout)


def _plain(result):
    """Return a result as a saved file would hold it, without what differs between two runs."""
    plain = {name: value for name, value in json.loads(json.dumps(result)).items() if name not in _PASSING}
    return without_names(plain)


def _executed(code):
    scope: dict[str, object] = {"__name__": "pasted"}
    exec(compile(code.replace("print(", "repr("), "pasted", "exec"), scope)  # noqa: S102 - what we wrote ourselves
    return scope["result"].to_dict()


def _shown(client, screen, fields):
    """Return the copies and the result of a screen."""
    address = urlencode(fields)
    page = sent(client, f"/{screen}?{address}")
    for _ in range(200):
        if "data-running" not in page.text:
            break
        page = client.get(str(page.url))
    assert page.status_code == 200, page.text
    result = client.get(f"/{screen}/result.json?{page.url.query.decode()}")
    return _copies(page.text), json.loads(result.text)


@pytest.mark.parametrize("fields", [*EVERY, *FURTHER], ids=lambda f: "-".join(f.values())[:60])
def test_an_assessment(client, fields):
    copies, result = _shown(client, "assess", fields)
    assert _plain(_typed(copies["Command line"])) == _plain(result)
    assert _plain(_executed(copies["Python"])) == _plain(result)
    spec = replace(parse(copies["Spec (TOML)"]), noise_table=False)
    assessment = run(spec).releases[0].assessments[0].assessment.to_dict()
    assert _plain(assessment) == _plain(result)


CALIBRATED = [
    {"kind": "grr", "m": "20", "risk": "rad", "limit": "0.05"},
    {"kind": "grr", "m": "20", "risk": "rad", "limit": "0.05", "times": "3"},
    {"kind": "oue", "m": "9", "who": "worst", "risk": "gain", "measure": "frequency_error", "most": "2"},
    {"kind": "laplace", "values": "0:10", "risk": "success", "limit": "0.3", "truncate": "0:10"},
    {"kind": "gaussian", "who": "membership", "risk": "tpr", "limit": "0.1", "fpr": "0.01"},
    {"kind": "laplace", "who": "worst", "risk": "epsilon", "limit": "1", "delta_at": "0"},
    {"kind": "dp", "delta": "1e-6", "risk": "rad", "limit": "0.1"},
    {"kind": "gdp", "who": "baseline", "risk": "gain", "limit": "0.1", "neighbours": "add-remove"},
    {"kind": "laplace", "values": "0:10", "risk": "rad", "limit": "", "measure": "error", "most": "5"},
    {"kind": "laplace", "values": "0:10", "risk": "rad", "limit": "0.01", "measure": "error", "most": "5"},
]  # fmt: skip


@pytest.mark.parametrize("fields", CALIBRATED, ids=lambda f: "-".join(f.values())[:60])
def test_a_calibration(client, fields):
    copies, result = _shown(client, "calibrate", fields)
    assert _plain(_typed(copies["Command line"])) == _plain(result)
    assert _plain(_executed(copies["Python"])) == _plain(result)
    if result["value"] is None:
        assert "Spec (TOML)" not in copies
    else:
        assert run(parse(copies["Spec (TOML)"])).met is True


def test_a_comparison(client):
    fields = {"columns": "3", "1.kind": "grr", "2.kind": "laplace", "2.scale": "2", "3.kind": "dp", "m": "5"}
    copies, result = _shown(client, "compare", fields)
    pasted = json.loads(json.dumps(run(parse(copies["Spec (TOML)"])).to_dict()))
    shown = [[one["assessment"] for one in release["assessments"]] for release in result["releases"]]
    again = [[one["assessment"] for one in release["assessments"]] for release in pasted["releases"]]
    assert [[_plain(two) for two in one] for one in again] == [[_plain(two) for two in one] for one in shown]
    typed = [_typed(line) for line in copies["Command line"].splitlines()]
    assert [[_plain(one)] for one in typed] == [[_plain(two) for two in one] for one in shown]


@pytest.mark.parametrize(
    "fields",
    [
        {"mode": "attack", "kind": "grr", "m": "5", "epsilon": "1", "trials": "3000", "seed": "7", "run": "1"},
        {"mode": "attack", "kind": "laplace", "trials": "2000", "seed": "7", "maximise": "success", "run": "1"},
    ],
    ids=["grr", "laplace"],
)
def test_an_attack(client, fields):
    copies, result = _shown(client, "attack", fields)
    assert _plain(_typed(copies["Command line"])) == _plain(result)
    assert _plain(_executed(copies["Python"])) == _plain(result)
    evidence = run(parse(copies["Spec (TOML)"])).releases[0].evidence[0].to_dict()
    assert _plain(evidence) == _plain(result)


@pytest.mark.parametrize("kind", ["grr", "oue", "laplace", "gaussian"])
@pytest.mark.parametrize("defect", ["none", "half"])
def test_an_audit_with_a_mistake_put_in(client, kind, defect):
    fields = {"mode": "audit", "kind": kind, "defect": defect, "trials": "40000", "seed": "1", "run": "1"}
    copies, result = _shown(client, "attack", fields)
    assert result["refuted"] is (defect == "half")
    assert _plain(_executed(copies["Python"])) == _plain(result)


def test_pasted_pairs(client, tmp_path, monkeypatch):
    pairs = sorted((i % 2, (i % 2) if i % 5 else 1 - i % 2) for i in range(1200))
    rows = "\n".join(f"{a},{b}" for a, b in pairs)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(f"input,output\n{rows}\n")
    page = client.post("/attack", data={"mode": "rows", "rows": rows, "claim_epsilon": "0.5", "seed": "1", "run": "1"})
    copies, result = _shown(client, "attack", parse_qsl(page.url.query.decode()))
    words = shlex.split(copies["Command line"])
    typed = json.loads(CliRunner().invoke(app, [*words[1:], "--json"], obj={"given": words[1:]}).stdout)
    assert _plain(typed) == _plain(result)
    assert result["refuted"]
