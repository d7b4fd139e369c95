"""Mistakes get a message that says what to do, at the field they are about; nothing that is typed is ever executed."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import urlencode

import pytest

from dpradar.web.app import SCREENS
from dpradar.web.guard import MOST_BODY, MOST_QUERY

from .conftest import sent
from .questions import EVERY, FURTHER

SCRIPT = '"><script>alert(1)</script>'

# fields, what the message says, and the field that is marked
MISTAKES = [
    ({"kind": "grr", "epsilon": "-1"}, "epsilon must be a number at least 0; got -1.0", "epsilon"),
    ({"kind": "grr", "epsilon": "0,5"}, "'0,5' has a decimal comma. Write it with a point: 0.5.", "epsilon"),
    ({"kind": "grr", "epsilon": "two"}, "epsilon must be made of numbers; got 'two'", "epsilon"),
    ({"kind": "grr", "epsilon": ""}, "epsilon must be a number at least 0; got nothing", "epsilon"),
    ({"kind": "grr", "epsilon": "nan"}, "epsilon must be", "epsilon"),
    ({"kind": "grr", "epsilon": "inf"}, "epsilon must be", "epsilon"),
    ({"kind": "grr", "m": "2.5"}, "m must be a whole number; got '2.5'", "m"),
    ({"kind": "grr", "m": "1"}, "m must be a whole number at least 2; got 1", "m"),
    ({"kind": "grr", "m": "1000000000000"}, "m must be at most 100,000 values", "m"),
    ({"kind": "gauss"}, "kind must be one of grr, sue", "kind"),
    ({"kind": "register"}, "kind must be one of grr, sue", "kind"),
    ({"kind": "grr", "m": "4", "prior": "0.5,0.5"}, "m must be 2, as the prior has that many values", "m"),
    ({"kind": "grr", "m": "2", "prior": "0.5,0.6"}, "numbers that sum to 1", "prior"),
    ({"kind": "grr", "prior": "@/etc/passwd"}, "No file is read here", "prior"),
    ({"kind": "channel", "matrix": "/etc/passwd"}, "matrix must be", "matrix"),
    ({"kind": "channel", "matrix": "[[1,2],[3]]"}, "rows of equal length", "matrix"),
    ({"kind": "channel", "matrix": "[" * 2000}, "matrix must be a JSON list", "matrix"),
    ({"kind": "exponential", "utility": "@x"}, "utility must be", "utility"),
    ({"kind": "oue", "who": "table", "records": "/etc/passwd"}, "records must be a table with a header", "records"),
    ({"kind": "oue", "who": "table", "records": "a,b\n1"}, "records must be a table with a header", "records"),
    ({"kind": "laplace", "values": "0:1000000000"}, "values must be at most 100,000 values", "values"),
    ({"kind": "laplace", "values": "5:1"}, "values must be LOW:HIGH", "values"),
    ({"kind": "laplace", "within": ""}, "within must be given", "within"),
    ({"kind": "grr", "knowledge": "labels"}, "known must be given", "known"),
    ({"kind": "grr", "knowledge": "labels", "known": "@/etc/passwd"}, "known must be a list of names", "known"),
    ({"kind": "grr", "knowledge": "omniscient"}, "knowledge must be one of nothing, everything", "knowledge"),
    ({"kind": "dp", "neighbours": "both"}, "neighbours must be one of replace-one, add-remove", "neighbours"),
    ({"kind": "dpsgd", "steps": "0"}, "steps must be", "steps"),
    ({"kind": "rdp", "orders": "2,4", "epsilons": "1"}, "RDP", ""),
    ({"kind": "dp", "who": "baseline", "baseline": "2"}, "baseline must be a number", "baseline"),
]  # fmt: skip


def _problem(text):
    match = re.search(r'<div class="problem" role="alert">(.*?)</div>', text, flags=re.S)
    return html.unescape(re.sub(r"<[^>]*>", " ", match.group(1))) if match else ""


@pytest.mark.parametrize(("fields", "message", "field"), MISTAKES, ids=lambda x: str(x)[:50])
def test_mistakes_are_explained_where_they_are(client, fields, message, field):
    got = client.get(f"/assess?{urlencode(fields)}")
    assert got.status_code == 400
    assert message in _problem(got.text)
    if field:
        assert re.search(rf'name="{field}"[^>]*aria-invalid="true"', got.text)
        assert f'href="#f-{field}"' in got.text
    answer = client.get(f"/assess/result.json?{urlencode(fields)}")
    assert answer.status_code == 400
    assert message in json.loads(answer.text)["error"]


@pytest.mark.parametrize(
    "address",
    ["/compare?columns=2&1.kind=zcdp&2.kind=gaussian&who=%0D%0A", "/calibrate?risk=%09", "/assess?goal=+&who=+"],
)
def test_a_choice_of_blanks_is_the_first_one(client, address):
    assert client.get(address).status_code == 200


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("/calibrate?kind=grr&limit=&most=", "limit must be given, for the risk or for the accuracy"),
        ("/calibrate?kind=grr&limit=2", "must be a number at least 0 and at most 1; got 2"),
        ("/calibrate?kind=channel", "kind must be one of grr"),
        ("/calibrate?kind=gaussian&risk=tpr&limit=0.1&fpr=", "fpr must be given"),
        ("/compare?columns=2&1.kind=grr&1.epsilon=-3", "Release 1: epsilon must be"),
        ("/compare?1.kind=nothing", "1.kind must be one of"),
        ("/compare?2.epsilon=0,3", "has a decimal comma"),
        ("/attack?mode=dance", "mode must be one of attack, audit, rows"),
        ("/attack?mode=attack&kind=dp", "kind must be one of"),
        ("/attack?mode=attack&trials=1.5e0&run=1", "trials must be a whole number"),
        ("/attack?mode=attack&trials=99999999999&run=1", "trials must be at most 10,000,000"),
        ("/attack?mode=attack&seed=-4&run=1", "seed must be a whole number at least 0"),
        ("/attack?mode=audit&kind=olh", "kind must be one of"),
        ("/attack?mode=audit&defect=all", "defect must be one of"),
        ("/attack?mode=audit&significance=0&run=1", "significance must be"),
        ("/attack?mode=rows&rows=abc&run=1", "rows must be rows of an input, an output"),
        ("/attack?mode=rows&rows=0,1,99999999999%0A1,0,1&run=1", "rows must be at most 1,000,000 pairs"),
        ("/attack?mode=rows&rows=0,1,-5%0A1,0,1&run=1", "rows must be at most 1,000,000 pairs"),
        ("/attack?mode=rows&rows=0,1,5%0A0,0,7&run=1", "at least two different inputs"),
        ("/learn?epsilon=-1", "epsilon must be"),
        ("/learn?try=flying", "try must be one of"),
    ],
)  # fmt: skip
def test_mistakes_on_other_screens(client, address, message):
    got = sent(client, address)
    for _ in range(100):
        if "data-running" not in got.text:
            break
        got = client.get(str(got.url))
    assert got.status_code == 400
    assert message in _problem(got.text)


def _every_field():
    """Yield every text field of every screen, with the fields beside it that make it appear."""
    seen = set()
    questions = [("assess", fields) for fields in (*EVERY, *FURTHER)]
    questions += [(screen.name, {}) for screen in SCREENS]
    questions += [
        ("attack", {"mode": "audit"}),
        ("attack", {"mode": "audit", "kind": "laplace"}),
        ("attack", {"mode": "rows"}),
    ]
    questions += [("calibrate", {"kind": "laplace", "risk": risk}) for risk in ("tpr", "epsilon")]
    questions += [("compare", {"goal": "within"}), ("compare", {"who": "baseline"})]
    by_name = {screen.name: screen for screen in SCREENS}
    for screen, fields in questions:
        for field in by_name[screen].read(fields).form.fields:
            if (screen, field.name) not in seen:
                seen.add((screen, field.name))
                yield screen, {**fields, field.name: SCRIPT}


@pytest.mark.parametrize(
    ("screen", "fields"), list(_every_field()), ids=lambda x: x if isinstance(x, str) else list(x)[-1]
)
def test_no_field_can_carry_a_script(client, screen, fields):
    further = {"run": "1"} if screen == "attack" else {}
    got = sent(client, f"/{screen}?{urlencode({**fields, **further})}")
    assert "<script>alert" not in got.text
    assert got.text.count("<script") == 1  # our own
    assert got.status_code in (200, 400)
    for file in ("report.html", "report.md", "result.json"):
        result = client.get(f"/{screen}/{file}?{urlencode({**fields, **further})}")
        assert result.headers["x-content-type-options"] == "nosniff"
        if result.headers["content-type"].startswith("text/html"):
            assert "<script>alert" not in result.text


def test_names_of_fields_cannot_carry_a_script_either(client):
    got = client.get(f"/assess?{urlencode({SCRIPT: SCRIPT, 'kind': 'grr'})}")
    assert "alert(1)" not in got.text
    assert got.status_code == 200


def test_control_characters_and_other_signs_do_no_harm(client):
    for text in ("\x00", "\x1b[31m", "\u202e", "\U0001f4a5" * 50, "%", "a\r\nSet-Cookie: x=1", "{{7*7}}", "${7*7}"):
        got = client.get(f"/assess?{urlencode({'kind': 'grr', 'epsilon': text})}")
        assert got.status_code == 400
        assert "set-cookie" not in got.headers
        assert "49" not in _problem(got.text)


def test_long_addresses_are_refused(client):
    got = client.get(f"/assess?prior={'1' * MOST_QUERY}")
    assert got.status_code == 414
    assert "at most 8,192 characters" in got.text
    prior = ",".join(["1e-7"] * 10**7)
    got = client.post("/assess", content=f"prior={prior}")
    assert got.status_code == 413
    assert client.get("/assess").status_code == 200


def test_long_bodies_are_refused_even_without_saying_how_long(client):
    def chunks():
        for _ in range(1000):
            yield b"rows=" + b"0" * 10_000

    got = client.post("/attack", content=chunks())
    assert got.status_code == 413
    assert f"{MOST_BODY:,}" in got.text


def test_many_different_pairs_are_refused_with_a_reason(client):
    rows = "\n".join(f"{i % 2},{i}" for i in range(6000))
    got = client.post("/attack", data={"mode": "rows", "rows": rows, "run": "1"})
    assert got.status_code == 413
    assert "too many different pairs" in got.text


def test_unknown_addresses(client):
    for path in ("/nothing", "/assess/nothing", "/static/../app.py", "/static/..%2fapp.py", "/static/app.py", "/.env"):
        got = client.get(path)
        assert got.status_code == 404
        assert "Page not found" in got.text
