"""Every screen answers, for every kind and attacker that it offers, and the address holds the whole state."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

import dpradar as dr
from dpradar.spec.release_kinds import KINDS
from dpradar.web.app import SCREENS
from dpradar.web.forms.fields import Slider
from dpradar.web.forms.question_fields import OFFERED_KINDS
from dpradar.web.screens import learn_screen, start_page
from dpradar.web.screens.assess_screen import read
from dpradar.web.screens.calibrate_screen import CALIBRATE
from tests.every import every
from tests.saved import without_names

from .conftest import sent
from .questions import EVERY, FURTHER

NAMES = [screen.name for screen in SCREENS]


def _address(screen, fields):
    return f"/{screen}?{urlencode(fields)}"


@pytest.mark.parametrize("path", ["/", *(f"/{name}" for name in NAMES)])
def test_screens_open_with_examples_filled_in(client, path):
    got = client.get(path)
    assert got.status_code == 200
    assert "<h1>" in got.text
    assert 'role="alert"' not in got.text


@pytest.mark.parametrize("fields", [*EVERY, *FURTHER], ids=lambda f: "-".join(f.values())[:60])
def test_assess_answers_every_kind_and_attacker(client, fields):
    got = client.get(_address("assess", fields))
    assert got.status_code == 200, re.findall(r'role="alert".*?</div>', got.text, flags=re.S)
    assert 'class="lead"' in got.text
    result = json.loads(client.get(_address("assess/result.json", fields)).text)
    assert result["schema"] == "dpradar/assessment/2"


def test_the_numbers_are_those_of_the_library(client):
    fields = {"kind": "grr", "m": "100", "epsilon": "2", "knowledge": "everything"}
    result = json.loads(client.get(_address("assess/result.json", fields)).text)
    threat = dr.Threat(dr.Prior.uniform(100), dr.Knowledge.everything())
    expected = json.loads(json.dumps(dr.assess(dr.GRR(m=100, epsilon=2.0), threat).to_dict()))
    assert without_names(result) == without_names(expected)


@pytest.mark.parametrize("example", start_page.EXAMPLES, ids=lambda one: one.title)
def test_examples_of_the_start_are_answered(client, example):
    got = sent(client, f"/{example.address}")
    for _ in range(100):
        if "data-running" not in got.text:
            break
        got = client.get(str(got.url))
    assert got.status_code == 200
    assert 'class="lead"' in got.text


@every("fields", [*EVERY, *FURTHER], ids=lambda f: "-".join(f.values())[:60])
def test_the_address_holds_the_whole_state(fields):
    state = read(fields)
    again = read(dict(state.form.pairs))
    assert again.form.pairs == state.form.pairs
    assert again.data == state.data
    for name, text in fields.items():
        assert dict(state.form.pairs).get(name, "") == text


def test_typed_numbers_are_kept_exactly(client):
    got = client.get(_address("assess", {"kind": "grr", "m": "100", "epsilon": "1.2300000000000001"}))
    assert 'value="1.2300000000000001"' in got.text


def test_a_form_is_answered_under_its_short_address(client):
    got = client.get(
        "/assess?was=grr&kind=grr&m=5&epsilon=1&times=1&prior=&values=&who=record&knowledge=nothing&goal=exact"
    )
    pairs = dict(parse_qsl(urlsplit(str(got.url)).query, keep_blank_values=True))
    assert "was" not in pairs
    assert "prior" not in pairs
    assert pairs["m"] == "5"
    assert len(got.history) == 1


def test_what_is_emptied_stays_empty(client):
    got = client.get("/assess?kind=laplace&scale=3&values=")
    assert dict(parse_qsl(urlsplit(str(got.url)).query, keep_blank_values=True))["values"] == ""
    assert got.status_code == 400


def test_another_kind_starts_from_its_own_example(client):
    got = client.get("/assess?was=laplace&kind=grr&scale=3&values=0:100&goal=within&within=5&epsilon=0.7&times=2")
    pairs = dict(parse_qsl(urlsplit(str(got.url)).query, keep_blank_values=True))
    assert got.status_code == 200
    assert pairs["epsilon"] == "0.7"
    assert pairs["times"] == "2"
    assert pairs["goal"] == "exact"
    assert "scale" not in pairs


def test_another_attacker_keeps_no_choice_that_it_does_not_have(client):
    got = client.get("/assess?kind=grr&who=table&knowledge=everything&goal=within&m=10&epsilon=1")
    pairs = dict(parse_qsl(urlsplit(str(got.url)).query, keep_blank_values=True))
    assert got.status_code == 200
    assert (pairs["knowledge"], pairs["goal"]) == ("columns", "columns")
    assert "m" not in pairs  # the table says how many records there are
    assert "GRR(m=4, epsilon=1.0)" in got.text


def test_parts_are_what_the_page_has(client):
    address = "/assess?kind=grr&m=10&epsilon=1"
    whole = client.get(address).text
    answer = client.get(address, headers={"X-Part": "answer"}).text
    screen = client.get(address, headers={"X-Part": "screen"}).text
    assert "<html" not in answer
    assert "<form id" not in answer
    assert answer.strip() in whole
    assert screen.strip() in whole
    assert '<form id="ask"' in screen


@pytest.mark.parametrize("name", ["assess", "calibrate", "compare", "learn"])
@pytest.mark.parametrize("file", ["report.html", "report.md", "result.json"])
def test_every_screen_has_a_report(client, name, file):
    if name == "calibrate":
        sent(client, "/calibrate")
    got = client.get(f"/{name}/{file}")
    assert got.status_code == 200
    kinds = {"report.html": "text/html", "report.md": "text/markdown", "result.json": "application/json"}
    assert got.headers["content-type"].startswith(kinds[file])
    if file == "report.html":
        assert "script-src" not in got.headers["content-security-policy"]
        assert len(got.content) <= 300_000
        assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!#|data:)", got.text)


@pytest.mark.parametrize("kind", [name for name in OFFERED_KINDS if KINDS[name].noise is not None])
def test_every_kind_with_noise_can_be_calibrated(kind):
    state = CALIBRATE.read({"kind": kind, "measure": "", "most": "1"})
    assert state.task == "calibrate" or state.problem
    for field in state.form.fields:
        if field.slider is not None:
            assert field.slider.low < field.slider.high
            assert not field.slider.log or field.slider.low > 0.0
            assert 0 <= field.slider.position(state.form.text(field)) <= 1000


def test_sliders_move_by_ratios():
    slider = Slider(low=0.05, high=12.0, log=True)
    assert slider.position("0.05") == 0
    assert slider.position("12") == 1000
    assert slider.position(str((0.05 * 12.0) ** 0.5)) == 500
    assert slider.position("1e9") == 1000
    assert slider.position("nan") == slider.position("x") == slider.position("-3") == 0


def test_every_slider_over_noise_says_what_its_ends_mean(client):
    for kind in ("grr", "laplace", "dp", "dpsgd"):
        text = client.get(f"/assess?kind={kind}").text
        noise = "epsilon" if kind in ("grr", "dp") else "scale" if kind == "laplace" else "noise_multiplier"
        around = text[text.index(f'id="f-{noise}-slider"') :][:700]
        ends = re.search(r'class="ends"[^>]*><span>(.*?)</span><span>(.*?)</span>', around).groups()
        less, more = "less can be learned", "more can be learned"
        assert ends == ((less, more) if noise == "epsilon" else (more, less))


def test_learn_has_every_word_and_every_rule(client):
    from dpradar.bounds.rules import RULES
    from dpradar.present.glossary import TERMS

    text = client.get("/learn").text
    assert all(f'id="word-{name}"' in text for name in TERMS)
    assert all(f'id="rule-{rule.name}"' in text for rule in RULES)
    assert all(note.needs and note.source for note in learn_screen.rule_notes())


@pytest.mark.parametrize("lesson", learn_screen.LESSONS)
def test_lessons_can_be_tried(client, lesson):
    got = client.get(f"/learn?try={lesson}&epsilon=3&m=4")
    assert got.status_code == 200
    assert 'class="lead"' in got.text
    assert learn_screen.LESSONS[lesson].title in got.text


def test_compare_says_the_difference_in_words(client):
    got = client.get("/compare?columns=2&1.kind=grr&1.epsilon=1&2.kind=grr&2.epsilon=3&m=10")
    assert "smallest for Generalised randomised response, epsilon 1" in got.text
    assert "largest for Generalised randomised response, epsilon 3" in got.text


@pytest.mark.parametrize("count", ["2", "3", "4"])
def test_compare_has_two_to_four_columns(client, count):
    got = client.get(f"/compare?columns={count}")
    assert got.status_code == 200
    assert got.text.count("<legend>Release ") == int(count)
    assert got.text.count('<article class="card"') == int(count)


def test_compare_mixes_local_protocols_and_noise(client):
    query = "columns=3&1.kind=grr&2.kind=laplace&2.scale=3&3.kind=gdp&3.mu=1&m=10&goal=within&within=1"
    got = client.get(f"/compare/result.json?{query}")
    releases = json.loads(got.text)["releases"]
    threat = dr.Threat(dr.Prior.uniform(10, list(range(10))), goal=dr.Goal.within(1.0))
    expected = [dr.GRR(m=10, epsilon=2.0), dr.Laplace(scale=3.0), dr.GDP(1.0, neighbours="replace-one")]
    rads = [one["assessments"][0]["assessment"]["rad"]["value"] for one in releases]
    assert rads == [dr.assess(what, threat).rad.value for what in expected]
