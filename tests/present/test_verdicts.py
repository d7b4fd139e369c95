"""Noise that hides nothing about a rare trait, in every view: none of them can be read as harmless."""

from __future__ import annotations

import json
import re

import pytest

import dpradar as dr
from dpradar.present import html, sentences
from dpradar.present.markdown import markdown
from dpradar.present.notebook import notebook_html
from dpradar.present.pages import page_of
from dpradar.spec import parse, run, toml
from tests.cli.test_assess import run as command
from tests.console import ROOT

HIV = """title = "Has HIV"
[release]
kind = "laplace"
scale = SCALE
[threat]
values = [0, 1]
prior = [0.99, 0.01]
limits = { LIMITS }
"""
ASKED = ("--values", "0,1", "--prior", ".99,.01")
CEILING = (
    "Publishing the raw data would add 2 of 100; this release adds 100 % as many: publishing the raw data would do "
    "no worse."
)
RAREST = (
    "An attacker who wrongly attributes the rarest value to 1 % of people without it finds at most 100 of 100 with it. "
    "For one person the odds of having it can grow more than a million-fold."
)
WORD = "Limit kept, but publishing the raw data would do no worse"
IDLE = (
    "Even publishing the raw data would keep this limit, so it does not protect: it gives rad 0.0198, the limit is 0.1."
    " A limit that protects lies well below, such as rad 0.0099, half of that."
)
KEPT = (
    "Kept, but publishing the raw data would do no worse: what taking part adds (rad) is 0.019801, the limit 0.1. The "
    "raw data would keep this limit too, so it does not protect."
)
THREAT = dr.Threat(dr.Prior.of([0.99, 0.01]))


def _spec(scale="0.01", limits="rad = 0.1"):
    return parse(HIV.replace("SCALE", scale).replace("LIMITS", limits))


def plain(page):
    """Return a page without its tags, its style and its data."""
    text = re.sub(r"<(style|script|svg)\b.*?</\1>", "", page, flags=re.S)
    return " ".join(re.sub(r"<[^>]*>", " ", text).replace("&lt;", "<").split())


def test_text_of_an_assessment():
    lines = dr.assess(dr.Laplace(scale=0.01), THREAT).explain().splitlines()
    assert lines[0].startswith("PUBLISHING THE RAW DATA WOULD DO NO WORSE. ")
    assert lines[1] == CEILING
    assert f"   {RAREST}" in lines
    assert any(line.split()[:3] == ["ceiling", "–", "0.019800"] for line in lines)


def test_with_everything_known_the_rarest_are_recognised_not_found():
    threat = dr.Threat(THREAT.prior, dr.Knowledge.everything())
    text = dr.assess(dr.Laplace(scale=0.01), threat).explain()
    assert CEILING in text
    assert (
        "An attacker who is wrong about 1 % of people whose record was not used recognises at "
        "most 100 of 100 with the rarest value whose record was."
    ) in text


def test_text_of_a_run():
    lines = run(_spec()).explain().splitlines()
    assert lines[0].startswith(f"{WORD.upper()}. ")
    assert lines[1] == CEILING
    assert f"   {RAREST}" in lines
    assert f"   {KEPT}" in lines


def test_report():
    page = html.document(run(_spec()))
    assert '<div class="verdict open"' in page
    assert 'class="met"' not in page
    for text in (WORD, CEILING, RAREST, KEPT):
        assert text in plain(page)


def test_markdown():
    page = markdown(run(_spec()))
    assert f"> **! {WORD}. " in page
    assert "✓" not in page
    for text in (CEILING, RAREST):
        assert text in page


def test_notebook():
    for result in (run(_spec()), dr.assess(dr.Laplace(scale=0.01), THREAT)):
        page = notebook_html(result)
        assert 'class="word open"' in page
        assert 'class="met"' not in page
        assert CEILING in plain(page)
        assert RAREST in plain(page)


def test_calibration_as_text_page_and_notebook():
    c = dr.calibrate(dr.Laplace, dr.Limit(THREAT, rad=0.1))
    assert c.explain().splitlines()[0] == f"LIMITS KEPT, BUT PUBLISHING THE RAW DATA WOULD DO NO WORSE. {IDLE}"
    assert "o noise is needed" not in c.explain()
    verdict = page_of(c).verdict
    assert (verdict.state, verdict.word) == ("open", "Limits kept, but publishing the raw data would do no worse")
    for page in (html.document(c), notebook_html(c)):
        assert IDLE in plain(page)
        assert 'class="met"' not in page


# ------------------------------------------------------------------------------------------------------- exit codes


@pytest.mark.parametrize(
    ("scale", "limits", "check", "code"),
    [
        ("0.01", "rad = 0.1", True, 3),
        ("0.01", "rad = 0.1", False, 0),
        ("0.01", 'rad = 0.1, acknowledge = "near-ceiling"', True, 0),
        ("0.01", 'rad = 0.01, acknowledge = "near-ceiling"', True, 3),
        ("0.01", "gain = 0.02", True, 3),
        ("0.01", "epsilon = 1000, delta = 0", True, 3),
        ("1.0", "rad = 0.01", True, 0),
    ],
)
def test_a_gate_does_not_pass_what_hardly_protects(scale, limits, check, code, tmp_path):
    (tmp_path / "hiv.toml").write_text(HIV.replace("SCALE", scale).replace("LIMITS", limits))
    done = command("run", str(tmp_path / "hiv.toml"), *(["--check"] if check else []))
    assert done.returncode == code, done.stdout


def test_a_gate_refuses_another_acknowledgement(tmp_path):
    text = HIV.replace("SCALE", "0.01").replace("LIMITS", 'rad = 0.1, acknowledge = "yes"')
    (tmp_path / "hiv.toml").write_text(text)
    done = command("run", str(tmp_path / "hiv.toml"), "--check")
    assert done.returncode == 2
    assert "threat.limits.acknowledge: must be 'near-ceiling'" in done.stderr


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("rad=0.1", 3),
        ("rad=0.0195", 3),
        ("rad=0.0195@acknowledge=near-ceiling", 0),
        ("rad=0.01", 0),
        ("rad=0.1@acknowledge=x", 2),
    ],
)
def test_calibrations_fail_where_they_hardly_protect(limit, code):
    done = command("calibrate", "laplace", *ASKED, "--limit", limit)
    assert done.returncode == code, done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("zcdp", "--rho", "15.29", "--neighbours", "add-remove", "--baseline", "0.1"),
        ("dp", "--epsilon", "9.98", "--neighbours", "replace-one", "--m", "10"),
        ("dp", "--epsilon", "13.69", "--delta", "1e-10", "--neighbours", "add-remove", "--membership", "0.5"),
        ("dp", "--epsilon", "20", "--neighbours", "replace-one", "--m", "10", "--knowledge", "everything"),
    ],
)
def test_near_vacuous_bounds_of_published_deployments_exit_alike(arguments):
    done = command("assess", *arguments)
    assert done.returncode == 4, done.stdout
    assert "This guarantee rules out almost nothing" in done.stdout


def test_a_run_with_one_vacuous_bound_is_not_green(tmp_path):
    text = (
        '[release]\nkind = "dp"\nepsilon = 15\nneighbours = "replace-one"\n'
        "[[threat]]\nm = 10\nlimits = { rad = 0.95 }\n[[threat]]\nm = 10\nlimits = { rad = 0.95 }\n"
    )
    (tmp_path / "spec.toml").write_text(text)
    done = command("run", str(tmp_path / "spec.toml"))
    assert done.returncode == 4
    assert done.stdout.splitlines()[0].startswith("LIMITS KEPT, BUT THIS GUARANTEE RULES OUT ALMOST NOTHING. ")


# ----------------------------------------------------------------------------------------------------- verdict line

THREE = """[release]
kind = "laplace"
scale = 20
[[threat]]
values = "0:9"
limits = { rad = 0.2 }
[[threat]]
values = "0:9"
knowledge = "everything"
limits = { rad = 0.3 }
[[threat]]
membership = 0.5
"""


def _verdict(text):
    return page_of(run(parse(text))).verdict


def test_attackers_and_accuracy_are_counted_apart():
    verdict = _verdict(THREE + "[utility]\nerror = 100.0\n")
    assert (
        verdict.word == "Limits are set for 2 of 3 attackers, and kept. No limit is set for attacker 3. Accuracy: kept"
    )
    assert verdict.state == "open"


def test_a_verdict_is_green_if_every_attacker_has_a_limit_that_the_raw_data_would_break():
    green = _verdict(THREE + "limits = { gain = 0.4 }\n")
    assert (green.state, green.word) == ("met", "Limits are set for all 3 attackers, and kept")
    idle = _verdict(THREE + "limits = { gain = 0.5 }\n")  # the raw data gain 0.5
    assert (idle.state, idle.word) == ("open", "Limits kept, but the raw data would keep one too")


def test_accuracy_alone_is_not_green():
    verdict = _verdict('[release]\nkind = "grr"\nm = 10\nepsilon = 1\n[threat]\n[utility]\nfrequency_error = 5.0\n')
    assert (verdict.state, verdict.word) == ("open", "No limit on the risk is set. Accuracy: kept")


def test_the_json_of_a_run_says_whether_it_passes():
    data = json.loads(json.dumps(run(_spec()).to_dict()))
    assert (data["met"], data["passes"]) == (True, False)
    limit = data["releases"][0]["assessments"][0]["limits"][0]
    assert limit["raw"]["most"] == pytest.approx(0.0198, abs=1e-14)
    assert dr.RunResult.from_dict(data) == run(_spec(), made=data["made"])


def test_acknowledgements_survive_writing_a_spec():
    spec = _spec(limits='rad = 0.1, acknowledge = "near-ceiling"')
    assert parse(toml(spec)).threats == spec.threats


# ----------------------------------------------------------------------------------------------------------- the label


def test_the_label_lists_what_the_documentation_does():
    text = (ROOT / "docs" / "explanation" / "reading-the-numbers.md").read_text(encoding="utf-8")
    listed = text.partition("**Not covered:**")[2].partition("\nA number computed")[0]
    assert tuple(re.findall(r"^- \*\*(.*?)\*\*", listed, flags=re.M)) == sentences.NOT_COVERED_LIST
    assert len(re.findall(r"^- ", listed, flags=re.M)) == len(sentences.NOT_COVERED_LIST)


def test_the_prior_is_described_by_its_skew():
    page = page_of(run(_spec()))
    assert page.cards[0].who[-1] == (
        "Known beforehand: how likely each of 2 possible values is (the likeliest 99 times as likely as the rarest)."
    )
    uniform = page_of(dr.assess(dr.GRR(m=3, epsilon=1.0), dr.Threat(dr.Prior.uniform(3))))
    assert uniform.cards[0].who[-1] == "Known beforehand: how likely each of 3 possible values is (all equally likely)."


def test_who_assessed_and_who_decides_are_two_fields():
    text = HIV.replace("SCALE", "1").replace("LIMITS", "rad = 0.01") + '[decision]\nassessed_by = "A"\n'
    entries = {entry.term: entry.text for entry in page_of(run(parse(text))).decision}
    assert (entries["Assessed by"], entries["Decided by"]) == ("A", "not stated")
    entries = {entry.term: entry.text for entry in page_of(run(parse(text + 'decided_by = "B"\n'))).decision}
    assert (entries["Assessed by"], entries["Decided by"]) == ("A", "B")
