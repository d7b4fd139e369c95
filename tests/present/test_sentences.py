"""The words people read, word for word."""

# ruff: noqa: E501 - a golden sentence stands on one line

from __future__ import annotations

import re

import pytest
from scipy.stats import uniform

import dpradar as dr
from dpradar.present import attackers, sentences, verdicts
from dpradar.present.pages import page_of
from dpradar.present.text import explain
from dpradar.results import Bound
from dpradar.results.description import text_only
from dpradar.results.limit_result import LimitResult
from dpradar.results.suggested_change import Change
from tests.present import samples

ASSESSMENTS = {
    "exact": (
        "Of 100 people who took part, an attacker who goes by the data guesses 24 correctly. The same guesses "
        "would be right for 13 of 100 people whose data were not used. Taking part adds 11.",
        "Guessing alone: right for 40 of 100. After seeing this release, an attacker who makes the "
        "most correct guesses: 45 of 100.",
        "Of every 100 people, an attacker who goes by the data guesses 11 more correctly because they took part.",
    ),
    "known": (
        "Of 100 people whose record was used, an attacker who knows their record says so for 24; of 100 whose record was not used, wrongly for 13. Taking part adds 11.",
        None,
        "Of every 100 people, an attacker who knows their record recognises 11 more because they took part.",
    ),
    "upper": (
        "Taking part adds at most 14 of 100 people to those that an attacker who goes by the data guesses correctly.",
        "Guessing alone: right for 10 of 100. After seeing this release, an attacker who makes the "
        "most correct guesses: at most 24 of 100.",
        "Of every 100 people, an attacker who goes by the data guesses up to 14 more correctly because they took part.",
    ),
    "membership": (
        "No advantage is given: membership compares taking part with not taking part; the advantage compares two "
        "records (replace-one).",
        "Guessing alone: right for 50 of 100. After seeing this release, an attacker who makes the "
        "most correct guesses: at most 70 of 100.",
        "After seeing this release, an attacker who makes the most correct guesses is right for up to 20 more people in every "
        "100 than by guessing blindly.",
    ),
    "worst": (
        "Taking part adds at most 47 of 100 people to those that an attacker who goes by the data guesses correctly.",
        None,
        "Of every 100 people, an attacker who goes by the data guesses up to 47 more correctly because they took part.",
    ),
    "rare": (
        "Of 100 people who took part, an attacker who goes by the data guesses 12 correctly. The same guesses "
        "would be right for 0 of 100 people whose data were not used. Taking part adds 12.",
        "Guessing alone: right for 3 of 10,000. After seeing this release, an attacker who makes the "
        "most correct guesses: 1,168 of 10,000.",
        "Of every 100 people, an attacker who goes by the data guesses 12 more correctly because they took part.",
    ),
    "tiny": (
        "Of 10,000 people who took part, an attacker who goes by the data guesses at most 1 correctly. The same guesses "
        "would be right for 0 of 10,000 people whose data were not used. Taking part adds at most 1.",
        "Guessing alone: right for less than 1 of 10,000. After seeing this release, an attacker who makes the "
        "most correct guesses: at most 1 of 10,000.",
        "Of every 10,000 people, an attacker who goes by the data guesses up to 1 more correctly because they took part.",
    ),
}


@pytest.mark.parametrize("name", ASSESSMENTS)
def test_sentences_of_an_assessment(name):
    result = samples.assessments()[name]
    texts = sentences.advantage_sentence(result), sentences.blind_sentence(result), sentences.largest_sentence(result)
    assert texts == ASSESSMENTS[name]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "Kept: what taking part adds (rad) is 0.059454, the limit 0.1."),
        ({"source": "the board"}, "Kept: what taking part adds (rad) is 0.059454, the limit 0.1 (the board)."),
        ({"value": 0.1000000001, "met": False}, "Not kept: what taking part adds (rad) is 0.100001, the limit 0.1."),
        (
            {"value": 0.2, "met": False, "side": "upper"},
            "Not confirmed: what taking part adds (rad) is at most 0.200000, the limit 0.1; the true value may be lower.",
        ),
        (
            {"value": None, "met": False, "reason": "no prior was given"},
            "Not confirmed: what taking part adds (rad) is unknown (no prior was given), the limit 0.1.",
        ),
        (
            {"quantity": "tpr", "at": 0.01, "side": "upper"},
            "Kept: targets found (tpr at fpr 0.01) is at most 0.059454, the limit 0.1.",
        ),
        (
            {"quantity": "epsilon", "at": 1e-5, "value": 1.23456789, "limit": 2.0, "side": "upper"},
            "Kept: epsilon at delta 1e-05 is at most 1.23457, the limit 2.",
        ),
        (
            {"quantity": "frequency_error", "limit": 0.01, "value": 0.004342, "at": 20_000},
            "Kept: error of a frequency from 20,000 reports (frequency_error) is 0.004342, the limit 0.01.",
        ),
    ],
)
def test_sentences_of_a_limit(changes, sentence):
    options = {"quantity": "rad", "limit": 0.1, "value": 0.0594531, "side": "exact", "met": True, **changes}
    assert sentences.limit_sentence(LimitResult(**options)) == sentence


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            Change(parameter="sigma", value=4.5461789, instead_of=2.0, more_private="up"),
            "The smallest change that keeps every limit: sigma 4.54618 instead of 2.",
        ),
        (
            Change(parameter="epsilon", value=None, instead_of=2.0, reason="the baseline is above the limit"),
            "No epsilon keeps every limit: the baseline is above the limit.",
        ),
    ],
)
def test_sentences_of_a_change(change, sentence):
    assert sentences.change_sentence(change) == sentence


@pytest.mark.parametrize(
    ("name", "cost", "sentence"),
    [
        ("error", 8.911, "Each released number is off by less than 8.92 in 95 of 100 releases."),
        ("error", float("inf"), "Each released number is off by less than any number in 95 of 100 releases."),
        (
            "frequency_error",
            1.9,
            "With 10,000 reports the noise alone gives the estimated share of a rare value a standard error of 0.019. It may be larger for a common value, and sampling error comes on top.",
        ),
        ("variance", 2.0, None),
    ],
)
def test_sentences_of_a_cost(name, cost, sentence):
    assert sentences.cost_sentence(name, cost) == sentence


@pytest.mark.parametrize(
    ("quantity", "value", "side", "sentence"),
    [
        ("rad", 0.0999, "exact", "Taking part adds 10 of 100 people to those that an attacker who goes by the data guesses correctly."),
        ("success", 0.301, "upper", "After seeing the release an attacker who makes the most correct guesses is right for at most 31 of 100 people."),
        ("gain", 0.0042, "exact", "An attacker who makes the most correct guesses is right for 42 of 10,000 people more than by guessing blindly."),
        ("worst_gain", 0.2, "upper", "Any attacker is right for at most 20 of 100 people more than by guessing blindly."),
        ("epsilon at delta 0", 1.0, "upper", None),
    ],
)  # fmt: skip
def test_sentences_of_a_quantity(quantity, value, side, sentence):
    assert sentences.quantity_sentence(quantity, value, side) == sentence


RECORDS = dr.Prior.records(
    {"age": [1, 1, 1, 1, 2, 2, 2, 2], "sex": list("abababab"), "zip": list("aabbaabb"), "income": list("xyzwxyzw")}
)
THREATS = {
    dr.Threat(dr.Prior.uniform(10)): (
        "An attacker who knows nothing particular about the target and wants the exact value",
        "Known beforehand: how likely each of 10 possible values is",
    ),
    dr.Threat(dr.Prior.uniform(10), dr.Knowledge.everything()): (
        "An attacker who knows the target's record and wants to find out whether it was used",
        "Known beforehand: how likely each of 10 possible values is",
    ),
    dr.Threat(dr.Prior.continuous(uniform(0.0, 100.0), 0.0, 100.0), goal=dr.Goal.within(5)): (
        "An attacker who knows nothing particular about the target and is right when its guess is within 5",
        "Known beforehand: how likely each number in [0, 100] is",
    ),
    dr.Threat(RECORDS, dr.Knowledge.columns("age", "sex", "zip"), dr.Goal.columns("income")): (
        "An attacker who knows the target's age, sex and zip and wants the target's income",
        "Known beforehand: how likely each of 8 possible values is",
    ),
    dr.Threat(dr.Prior.uniform(4), dr.Knowledge.labels("aabc"), dr.Goal.labels("xxyy")): (
        "An attacker who knows in which of 3 groups the target is and wants to know in which of 2 classes the target is",
        "Known beforehand: how likely each of 4 possible values is",
    ),
    dr.Threat.membership(0.3): (
        "Is the target in the data at all?",
        "Believed beforehand: that the target took part, with probability 0.3",
    ),
    dr.Threat.worst(): ("Any attacker", "Believed beforehand: anything"),
}  # fmt: skip


@pytest.mark.parametrize("threat", THREATS, ids=repr)
def test_attackers_in_words(threat):
    who = attackers.attacker(threat.description)
    assert (who.title, who.believes) == THREATS[threat]


def test_a_threat_of_an_old_file_is_shown_as_its_text():
    who = attackers.attacker(text_only("Threat(Prior(3 values), Knowledge.nothing(), Goal.exact())"))
    assert who.title == "Threat(Prior(3 values), Knowledge.nothing(), Goal.exact())"


def test_a_column_named_like_code_describes_no_other_attacker():
    prior = dr.Prior.records({"a), Goal.labels(2 labels": [1, 2], "b": [1, 2]})
    who = attackers.attacker(dr.Threat(prior, dr.Knowledge.columns("a), Goal.labels(2 labels")).description)
    assert who.wants == "wants the exact value"
    assert who.knows == "knows the target's a), Goal.labels(2 labels"


def test_every_threat_of_the_library_is_told_in_words():
    for result in samples.assessments().values():
        assert attackers.attacker(result.threat).kind != "other"


FORBIDDEN = re.compile(r"\b(safe|safely|anonymous|anonymised|guaranteed|low risk|secure)\b|\b1 in \d|\b1/\d", re.I)


@pytest.mark.parametrize("name", samples.NAMES)
def test_no_word_that_promises_too_much(name):
    result = samples.everything()[name]
    page = page_of(result)
    for text in _texts(page):
        assert FORBIDDEN.search(text) is None, text
    assert FORBIDDEN.search(result.explain()) is None


def test_forbidden_words_are_found():
    assert all(FORBIDDEN.search(text) for text in ("It is safe.", "1 in 50 people", "Low risk", "anonymous data"))


def _texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _texts(one)
    elif hasattr(value, "__slots__") and not isinstance(value, int | float):
        for name in value.__slots__:
            yield from _texts(getattr(value, name))


def test_a_number_below_one_person_is_a_bound():
    sentence = sentences.worst_sentence(Bound(value=1e-7, side="upper", rule="test"))
    assert sentence == "For any attacker: right for up to 1 more person in every 10,000 than by guessing blindly."


def test_a_bound_that_says_nothing_says_so():
    page = page_of(samples.assessments()["vacuous"])
    assert verdicts.VACUOUS in page.cards[0].sentences
    assert (page.verdict.state, page.verdict.word) == ("open", "This guarantee rules out almost nothing")


def test_a_rule_that_was_left_out_for_its_size_is_named():
    prior = dr.Prior.uniform(3100, range(3100))
    text = explain(dr.assess(dr.Laplace(50.0), dr.Threat(prior, goal=dr.Goal.within(1.0))))
    assert "Upper bound only: exact-line was not used (too many values: integrates over at most 3,000)." in text
    assert "Upper bound only" not in explain(dr.assess(dr.Laplace(50.0), dr.Threat(prior)))


def test_calibrations_say_whether_less_noise_might_do():
    exact = dr.calibrate(dr.GRR, dr.Limit(dr.Threat(dr.Prior.uniform(10)), rad=0.1), m=10)
    assert "the least noise that does." in exact.explain()
    assert "at most" not in exact.explain()
    bound = dr.calibrate(dr.Gaussian, dr.Limit(epsilon=1.0, delta=1e-5), query=[0.0, 1.0])
    assert "the least noise that can be shown to." in bound.explain()
    assert "at most 1.000000" in bound.explain()


def test_calibrations_say_what_they_take_for_granted():
    limit = dr.Limit(epsilon=1.0, delta=1e-5)
    stated = {"sensitivity": 1.0, "neighbours": "add-remove"}
    calibration = dr.calibrate(dr.Gaussian, limit, **stated)
    assert "Assumes: Stated sensitivity 1 (L2 norm, add-remove)" in calibration.explain()
    assert dr.Calibration.from_dict(calibration.to_dict()) == calibration
    several = dr.calibrate(lambda scale: dr.Repeated(dr.Laplace(scale, **stated), 3), limit)
    assert "Assumes: Stated sensitivity 1 (L1 norm, add-remove)" in several.explain()
    both = [dr.Limit(dr.Threat(dr.Prior.uniform(5, range(5))), rad=0.3), limit]  # the values say how far apart they are
    assert "Assumes" not in dr.calibrate(dr.Gaussian, both).explain()
    assert "Assumes" not in dr.calibrate(dr.Gaussian, limit, query=[0.0, 1.0]).explain()


def test_releases_are_ranked_by_what_is_known():
    assert "largest for B" in sentences.compared_sentence("A", "B", exact=True)
    sentence = sentences.compared_sentence("A", "B", exact=False)
    assert "can be shown" in sentence
    assert "largest" not in sentence


NOT_COVERED = (
    "Not covered: Other releases about the same people that were not included; flaws in the software that adds the "
    "noise; records that depend on each other; what the release says about whole groups; a prior that is wrong; how much "
    "harm a correct guess does."
)


def test_the_whole_answer_of_an_assessment():
    assert explain(samples.assessments()["upper"]).splitlines() == [
        "Of every 100 people, an attacker who goes by the data guesses up to 14 more correctly because they took part.",
        "",
        "Disclosure risk of ApproxDP(epsilon=1.0, delta=1e-05, neighbours='replace-one')",
        "",
        "An attacker who knows nothing particular about the target and wants the exact value",
        "   Known beforehand: how likely each of 10 possible values is (all equally likely).",
        "   Taking part adds at most 14 of 100 people to those that an attacker who goes by the data guesses correctly.",
        "   Publishing the raw data would add 90 of 100; this release adds at most 15 % as many.",
        "   Guessing alone: right for 10 of 100. After seeing this release, an attacker who makes the "
        "most correct guesses: at most 24 of 100.",
        "",
        "Every bound, with its rule and what it assumes:",
        "  Measure                       Blind guess  Value             Rule             Assumes",
        "  rad, replace-one              –            at most 0.131977  cor-5.6          a",
        "  ceiling                       –            0.900000          raw-data         –",
        "  success, replace-one          0.100000     at most 0.231977  blind-plus-rad   a",
        "  gain, replace-one             0.100000     at most 0.131977  blind-plus-rad   a",
        "  worst_gain, replace-one       –            at most 0.462123  total-variation  a, b",
        "  tpr at fpr 0.01, replace-one  –            at most 0.027193  trade-off        b",
        "  a: (epsilon, delta)-DP, replace-one",
        "  b: neighbours: replace-one",
        "",
        "Attacker: Knows the mechanism, the prior and every other record; knows nothing particular about the target.",
        NOT_COVERED,
    ]


def test_the_whole_answer_of_a_run():
    assert explain(samples.run(0.05, 1)).splitlines() == [
        "LIMIT NOT KEPT. What taking part adds (rad) is 11 of 100 people, the limit 5 of 100.",
        "The smallest change that keeps every limit: epsilon 0.612345 instead of 1.",
        "",
        "Health survey 2026",
        "One question on drinking, answered by randomised response.",
        "",
        "A stranger",
        "   An attacker who knows nothing particular about the target and wants the exact value.",
        "   Known beforehand: how likely each of 10 possible values is (the likeliest 80 times as likely as the rarest).",
        "   Of 100 people who took part, an attacker who goes by the data guesses 24 correctly. The same guesses "
        "would be right for 13 of 100 people whose data were not used. Taking part adds 11.",
        "   Publishing the raw data would add 71 of 100; this release adds 15 % as many.",
        "   An attacker who wrongly attributes the rarest value to 1 % of people without it finds at most 3 of 100 with it. For one person the odds of having it can grow up to 2.8-fold.",
        "   Guessing alone: right for 40 of 100. After seeing this release, an attacker who makes the "
        "most correct guesses: 45 of 100. Both are true: an attacker who goes by the data learns most from them; one who may ignore them and name the likeliest value is right more often.",
        "   Not kept: what taking part adds (rad) is 0.103655, the limit 0.05 (the board, May).",
        "",
        "What does the noise cost?",
        "  With 10,000 reports the noise alone gives the estimated share of a rare value a standard error of 0.019. It may "
        "be larger for a common value, and sampling error comes on top.",
        "",
        "Check of the calculation (simulated here; no software was tested):",
        "  Attack: optimal for rad.",
        "    The simulated attack reaches at least 0.092485, consistent with the calculated 0.103655.",
        "",
        "Audits of software:",
        "  Audit of the claim PureDP(epsilon=2.0, neighbours='replace-one').",
        "    No violation found. Claimed epsilon 2; the outputs show at least 1.9279 (95 % confidence, one look). This does not prove there is none.",
        "",
        "Attacker: Knows the mechanism, the prior and every other record; knows nothing particular about the target.",
        NOT_COVERED,
    ]


def test_two_attackers_have_two_names():
    """One maximises what is learned, the other being right; nobody is "the best" of both on one page."""
    skewed = dr.assess(dr.GRR(m=3, epsilon=1.0), dr.Threat(dr.Prior.of([0.8, 0.1, 0.1])))
    text = explain(skewed)
    assert "an attacker who goes by the data guesses" in text
    assert "an attacker who makes the most correct guesses: " in text
    assert text.count("Both are true: ") == 1
    assert "best attacker" not in text
    assert "people whose data were not used" in text
    assert "who did not" not in text


def test_one_attacker_who_does_both_needs_no_reason():
    uniform = dr.assess(dr.GRR(m=3, epsilon=1.0), dr.Threat(dr.Prior.uniform(3)))
    revealed = dr.assess(dr.Laplace(scale=0.01), dr.Threat(dr.Prior.of([0.99, 0.01])))  # both name the true value
    for result in (uniform, revealed):
        assert "Both are true" not in explain(result)


def test_the_reason_stands_once_on_a_page():
    page = page_of(samples.run())
    texts = [text for text in _texts(page) if sentences.BOTH_TRUE in text]
    assert len(texts) == 1


def test_only_goals_with_classes_speak_of_classes():
    def believed(goal):
        prior = dr.Prior.of([0.5, 0.25, 0.25], values=[0, 1, 2])
        return dr.assess(dr.Laplace(scale=2.0), dr.Threat(prior, goal=goal)).explain()

    assert "the likeliest 2 times as likely" in believed(dr.Goal.within(1))
    assert "class" not in believed(dr.Goal.within(1))
    assert "(all classes equally likely)" in believed(dr.Goal.labels(["a", "b", "b"]))
