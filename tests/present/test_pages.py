"""What stands on a page: verdicts, cards, the curve, the label, evidence."""

# ruff: noqa: E501 - a golden sentence stands on one line

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest

from dpradar.bounds.rules import RULES
from dpradar.errors import ParameterError
from dpradar.present import citations
from dpradar.present.attack import attack_finding, bound_sentence
from dpradar.present.audit import audit_finding
from dpradar.present.html import document
from dpradar.present.markdown import markdown
from dpradar.present.pages import page_of
from dpradar.present.text import explain
from dpradar.results import AttackRun, Bound, Estimate
from dpradar.results.limit_result import LimitResult
from tests.present import samples

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "state", "word", "text"),
    [
        ("exact", "none", "", "Of every 100 people, an attacker who goes by the data guesses 11 more correctly because they took part."),
        (
            "kept",
            "met",
            "Limits are set for all 3 attackers, and kept",
            "Of every 100 people, an attacker who goes by the data guesses 11 more correctly because they took part (1. A stranger).",
        ),
        (
            "not kept",
            "unmet",
            "Limit not kept",
            "What taking part adds (rad) is 11 of 100 people, the limit 5 of 100 (1. A stranger). 2 more are listed below.",
        ),
        ("one threat", "met", "Limit kept", "Of every 100 people, an attacker who goes by the data guesses 11 more correctly because they took part."),
        ("no limit", "none", "", "Of every 100 people, an attacker who goes by the data guesses 11 more correctly because they took part (1. A stranger)."),
        (
            "refuted",
            "unmet",
            "Refuted",
            "PureDP(epsilon=0.5, neighbours='replace-one') does not hold (a true claim is refuted in at most 5 % of audits).",
        ),
    ],
)  # fmt: skip
def test_verdicts(name, state, word, text):
    verdict = page_of(samples.everything()[name]).verdict
    assert (verdict.state, verdict.word, verdict.text) == (state, word, text)


def test_an_upper_bound_above_the_limit_does_not_show_that_the_limit_is_broken():
    result = samples.run(0.05, 1)
    threat = result.releases[0].assessments[0]
    limit = LimitResult(quantity="rad", limit=0.05, value=0.2, side="upper", met=False)
    changed = replace(result, releases=(replace(result.releases[0], assessments=(replace(threat, limits=(limit,)),)),))
    verdict = page_of(changed).verdict
    assert (verdict.state, verdict.word) == ("open", "Limit not confirmed")


def test_the_verdict_of_a_comparison_says_which_release_keeps_its_limits():
    verdict = page_of(samples.run(0.15, compare=True)).verdict
    assert verdict.more == (
        "survey, less noise: The smallest change that keeps every limit: epsilon 0.612345 instead of 2.",
        "Limits are set for all 6 cards, and kept for 3 of them.",
        "survey keeps every limit.",
        "survey, less noise does not keep every limit, or cannot be shown to.",
        "What taking part adds is smallest for survey and largest for survey, less noise.",
    )


@pytest.mark.parametrize("name", samples.assessments())
def test_cards_are_led_by_what_taking_part_adds(name):
    result = samples.assessments()[name]
    card = page_of(result).cards[0]
    assert card.icons is not None
    if result.rad is None:
        assert card.note.startswith("No advantage is given")
        assert card.sentences[0].startswith("Guessing alone")
    else:
        assert "aking part adds" in card.sentences[0]
        assert card.icons.extra >= result.rad.value * card.icons.total - 1e-6
        assert f"{card.icons.extra:,}" in card.sentences[0]


@pytest.mark.parametrize("name", samples.assessments())
def test_threats_lie_on_or_below_the_curve(name):
    result = samples.assessments()[name]
    curve = page_of(result).curve
    assert curve is not None
    points = curve.lines[0].points
    assert all(y >= x for x, y in points)
    assert [x for x, _ in points] == sorted({x for x, _ in points})
    for mark in curve.marks:
        assert (mark.x, mark.y) == (result.baseline, result.success.value)
        assert mark.y <= max(y for x, y in points if x <= mark.x + 0.02) + 1e-9
    assert bool(curve.marks) != bool(curve.notes)


def test_a_threat_that_the_curve_does_not_speak_of_is_left_out_and_said():
    curve = page_of(samples.assessments()["vacuous"]).curve
    assert curve.marks == ()
    assert curve.notes == ("This threat is not shown: the curve compares other data sets than this question does",)


def test_points_of_the_curve_as_text_are_rounded_up():
    result = samples.assessments()["baseline"]
    rows = dict(page_of(result).curve.rows)
    assert rows["10 of 100"] == "at most 39 of 100"  # 0.389144 at 0.1
    assert rows["1 of 100"] == "at most 10 of 100"  # 0.0923622 at 0.01
    assert rows["10 of 10,000"] == "at most 183 of 10,000"


def test_only_attacks_made_for_success_are_drawn_under_the_curve():
    result = samples.run(None, 1)
    for_rad, for_success = samples.attack(), replace(samples.attack(), maximise="success")
    for attack, drawn in ((for_rad, False), (for_success, True)):
        release = replace(result.releases[0], evidence=(attack,))
        mark = page_of(replace(result, releases=(release,))).curve.marks[0]
        assert (mark.low is not None) == drawn


def test_every_bound_stands_in_the_table_with_its_theorem():
    page = page_of(samples.assessments()["upper"])
    table = page.tables[0]
    rows = {row[0]: row for row in table.rows}
    notes = dict(table.notes)
    cells = rows["what taking part adds (rad), replace-one"]
    assert cells[1:6] == ("–", "at most 0.131977", "upper", "cor-5.6", "[RAD] Corollary 5.6")
    assert [notes[letter] for letter in cells[6].split(", ")] == ["(epsilon, delta)-DP, replace-one"]
    assert rows["right after the release (success), replace-one"][1] == "0.100000"
    assert rows["what publishing the raw data would add (ceiling)"][2] == "0.900000"
    assert len(rows) == 6


def test_rows_that_threats_share_stand_once():
    names = [row[0] for row in page_of(samples.run()).tables[0].rows]
    assert "1, 2, 3 · gain of any attacker (worst_gain), replace-one" in names
    assert "1 · right after the release (success)" in names
    assert "2 · right after the release (success)" in names


def test_lost_rules_are_kept_with_their_reason():
    result = samples.assessments()["upper"]
    table = page_of(result).others[0]
    assert {row[3] for row in table.rows} == {one.why for one in result.others}
    without_bound = {one.why for one in result.others if one.bound is None}
    assert len(table.rows) == sum(one.bound is not None for one in result.others) + len(without_bound)
    assert any("looser than" in row[3] for row in table.rows)
    named = {(rule, quantity) for row in table.rows for rule in row[0].split(", ") for quantity in row[1].split(", ")}
    assert named >= {(one.rule, one.quantity) for one in result.others}


def test_the_label_says_who_what_and_what_not():
    label = {entry.term: entry.text for entry in page_of(samples.run()).label}
    assert list(label) == [
        "Whose risk",
        "Compared",
        "Attacker",
        "Success",
        "Releases included",
        "Not covered",
        "These numbers",
    ]
    assert label["Releases included"] == "GRR(m=10, epsilon=1.0) (2026-05-01)."
    assert "2: knows in which of 2 groups the target is" in label["Attacker"]


def test_half_and_twice_the_noise_stand_beside_the_release():
    utility = page_of(samples.run(0.2, 1)).utility
    assert utility.tables[0].rows == (
        ("less noise (epsilon 2)", "about 0.0061", "0.2756"),
        ("as released", "about 0.019", "0.1037"),
        ("more noise (epsilon 0.5)", "about 0.048", "0.0431"),
    )


def test_frequencies_are_told_for_as_many_reports_as_the_limit_says():
    result = samples.run(0.2, 1)
    cost = result.releases[0].cost["frequency_error"]
    limit = LimitResult(quantity="frequency_error", limit=1.0, value=cost / 200, side="exact", met=True, at=40_000)
    utility = page_of(replace(result, releases=(replace(result.releases[0], utility=(limit,)),))).utility
    assert utility.sentences[0].startswith("With 40,000 reports ")
    assert utility.sentences[0].endswith(
        "a standard error of 0.0095. It may be larger for a common value, and sampling error comes on top."
    )


def test_the_decision_says_who_when_and_which_limits():
    entries = [(entry.term, entry.text) for entry in page_of(samples.run()).decision]
    assert entries[0] == ("Assessed by", "D. Officer")
    limit = "what taking part adds (rad) at most 0.2 (the board, May)"
    assert entries[-1] == ("Limits", f"1, 2, 3: {limit}")
    first, *others = samples.run().releases[0].assessments
    release = replace(samples.run().releases[0], assessments=(first, *(replace(one, limits=()) for one in others)))
    some = page_of(replace(samples.run(), releases=(release,))).decision
    assert some[-1].text == f"1: {limit}; 2, 3: no limit"
    assert page_of(replace(samples.run(), decision={})).decision == ()


def _attack(low: float) -> AttackRun:
    return replace(samples.attack(), rad=Estimate(estimate=low + 0.01, low=low, high=low + 0.02))


@pytest.mark.parametrize(
    ("low", "state", "text"),
    [
        (0.05, "open", "The simulated attack reaches at least 0.050000, consistent with the calculated bound, at most 0.100000."),
        (0.1, "open", "The simulated attack reaches at least 0.100000, consistent with the calculated bound, at most 0.100000."),
        (0.1000001, "unmet", "Violation found: this attack shows at least 0.100000100000, but the bound is at most 0.100000000000. Either the release is not what it is said to be, or one of the two numbers is wrong."),
        (-0.01, "open", "The simulated attack reaches at least 0.000000, consistent with the calculated bound, at most 0.100000."),
    ],
)  # fmt: skip
def test_attacks_are_told_under_the_bound(low, state, text):
    finding = attack_finding(_attack(low), Bound(value=0.1, side="upper", rule="test"))
    assert (finding.state, finding.text) == (state, text)


def test_a_measured_attack_that_finds_nothing_proves_nothing():
    run = replace(_attack(0.05), release=None)
    finding = attack_finding(run, Bound(value=0.1, side="upper", rule="test"))
    assert finding.text == (
        "No violation found: this attack shows at least 0.050000, the bound is at most 0.100000. This does not prove "
        "there is none."
    )


VIEWS = {
    "text": explain,
    "markdown": markdown,
    "html": document,
    "notebook": lambda result: result._repr_html_(),
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_simulation_is_not_taken_for_a_test_of_software(view):
    result = samples.run(0.05, 1)
    release = replace(result.releases[0], evidence=(samples.attack(),))
    text = " ".join(html.unescape(VIEWS[view](replace(result, releases=(release,)))).replace("\\", "").split())
    checked = text.index("Check of the calculation (simulated here; no software was tested)")
    none = text.index("None supplied: the software that adds the noise was not tested.")
    assert (
        checked
        < text.index("The simulated attack reaches at least", checked)
        < text.index("Audits of software", checked)
        < none
    )
    assert "No violation found" not in text


def test_audits_have_a_section_of_their_own():
    checked, audits = page_of(samples.run()).sections
    assert [one.section for one in checked.findings] == [checked.title]
    assert (audits.title, audits.text, len(audits.findings)) == ("Audits of software", "", 1)


def test_an_attack_without_a_bound_shows_a_lower_one():
    optimal, other = _attack(0.05), replace(_attack(0.05), maximise=None)
    shown = "This attack shows that taking part adds at least 0.050000."
    assert bound_sentence(optimal, None) == shown
    assert bound_sentence(other, None) == f"{shown} Another attacker may do better."
    assert bound_sentence(_attack(-0.01), None).startswith("These trials do not show")


def test_audits_say_what_they_do_not_prove():
    refuted, unrefuted = (audit_finding(samples.audit(refuted=flag)) for flag in (True, False))
    assert (
        refuted.text
        == "Claim refuted. Claimed epsilon 0.5; the outputs show at least 1.9279 (95 % confidence, one look)."
    )
    assert unrefuted.text.startswith("No violation found. Claimed epsilon 2; the outputs show at least 1.9279")
    assert unrefuted.text.endswith("This does not prove there is none.")
    assert (refuted.state, unrefuted.state) == ("unmet", "open")


def test_attacks_are_told_beside_the_threat_they_were_run_against():
    titles = [finding.title for finding in page_of(samples.run()).evidence]
    assert titles == ["1. Attack: optimal for rad", "Audit of the claim PureDP(epsilon=2.0, neighbours='replace-one')"]


def test_a_varied_parameter_is_drawn_and_listed():
    chart = page_of(samples.sweep()).charts[0]
    assert chart.title == "What if epsilon were different?"
    assert [row[0] for row in chart.table.rows] == ["0.1", "0.5", "1", "2", "5"]
    assert chart.table.rows[2][1:] == ("0.1037", "0.1037", "0.1037", "about 0.019")
    assert chart.lines[0].points[2] == (1.0, samples.assessments()["exact"].rad.value)


def test_something_else_has_no_page():
    with pytest.raises(ParameterError, match="page_of must be given a result; got str"):
        page_of("something")


def test_every_citation_of_a_rule_has_an_entry():
    for rule in RULES:
        for cite in rule.cites:
            assert cite == "dpradar derivation" or citations.keys_of([cite]), cite


def test_entries_are_those_of_the_bibliography():
    text = (ROOT / "references.bib").read_text(encoding="utf-8")
    keys = [key for rule in RULES for key in citations.keys_of(rule.cites)]
    assert len(set(keys)) >= 6
    for key in set(keys):
        entry = re.search(rf"^@\w+\{{{key},.*?^\}}$", text, flags=re.M | re.S).group(0)
        assert entry in citations.bibtex([f"[{key}]"], "1.0")


def test_bibtex_names_the_version_and_only_what_is_cited():
    text = citations.bibtex(["[UNIFY] Theorem 3.4"], "1.2.3")
    assert re.findall(r"^@\w+\{(\w+),", text, flags=re.M) == ["dpradar", "UNIFY"]
    assert "version = {1.2.3}" in text
