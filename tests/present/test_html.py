"""The report: one file that needs nothing else, that nobody can break out of, and that everybody can read."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from dpradar.errors import ParameterError
from dpradar.present import html
from dpradar.present.pages import page_of
from dpradar.results import Assessment, AttackRun, AuditResult, Calibration
from dpradar.results.run import RunResult
from tests.present import samples
from tests.present.page_reader import Reader, styles

KINDS = {
    "dpradar/assessment/2": Assessment,
    "dpradar/attack/2": AttackRun,
    "dpradar/audit/2": AuditResult,
    "dpradar/calibration/2": Calibration,
    "dpradar/run/2": RunResult,
}
POISON = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&]]>"


@pytest.fixture(scope="module")
def documents():
    return {name: html.document(result) for name, result in samples.everything().items()}


@pytest.mark.parametrize("name", samples.NAMES)
def test_a_report_needs_nothing_else(documents, name):
    text = documents[name]
    read = Reader(text)
    for tag, attributes in read.elements:
        for key in ("src", "href", "srcset", "action", "poster", "data", "xlink:href", "formaction"):
            value = attributes.get(key)
            assert value is None or value.startswith(("#", "data:")), (tag, key, value)
        assert not [key for key in attributes if key.startswith("on")], tag
    assert not {"link", "iframe", "object", "embed", "base", "form", "img", "video"} & set(read.names())
    assert re.search(r"url\(|@import|expression\(", styles(text)) is None
    assert "http://" not in text
    assert "https://" not in text
    assert [attributes.get("type") for attributes in read.all("script")] == ["application/json"]


@pytest.mark.parametrize("name", samples.NAMES)
def test_a_report_is_small(documents, name):
    assert len(documents[name].encode()) <= 300_000


@pytest.mark.parametrize("name", samples.NAMES)
def test_a_report_is_well_formed_and_can_be_walked(documents, name):
    read = Reader(documents[name])
    assert read.wrong == []
    assert read.open == []
    levels = [int(tag[1]) for tag in read.names() if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert [read.names().count(tag) for tag in ("main", "header", "footer")] == [1, 1, 1]
    assert read.all("html") == [{"lang": "en"}]
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", samples.NAMES)
def test_pictures_and_tables_are_labelled(documents, name):
    read = Reader(documents[name])
    pictures = read.all("svg")
    for picture in pictures:
        assert picture.get("aria-hidden") == "true" or (picture.get("role") == "img" and picture.get("aria-label"))
    drawn = [picture for picture in pictures if picture.get("role") == "img"]
    assert read.names().count("title") == 1 + len(drawn)
    assert read.names().count("table") == read.names().count("caption")
    assert all(cell.get("scope") in ("col", "row") for cell in read.all("th"))
    assert all(region.get("tabindex") == "0" and region.get("aria-label") for region in _regions(read))


def _regions(read):
    return [attributes for attributes in read.all("div") if attributes.get("role") == "region"]


@pytest.mark.parametrize("name", [name for name in samples.NAMES if "compared" not in name])
def test_the_data_come_with_the_report(documents, name):
    data, result = Reader(documents[name]).data(), samples.everything()[name]
    assert KINDS[data["schema"]].from_dict(data) == result


def test_large_data_are_left_out_piece_by_piece(monkeypatch):
    result = samples.run()
    whole = html.document(result)
    bare = len(html.document(result)) - len(html.embedded(result.to_dict()))
    assert RunResult.from_dict(Reader(whole).data()) == result
    monkeypatch.setattr(html, "LARGEST", bare + 60_000)
    smaller = Reader(html.document(result)).data()
    loaded = RunResult.from_dict(smaller)
    assert loaded.releases[0].neighbours_cost[0].assessments[0].others == ()
    assert loaded.releases[0].assessments[0].assessment.rad == result.releases[0].assessments[0].assessment.rad
    monkeypatch.setattr(html, "LARGEST", bare + 2_000)
    text = html.document(result)
    assert "<script" not in text
    assert "too large" in Reader(text).text()
    monkeypatch.setattr(html, "LARGEST", 20_000)
    with pytest.raises(ParameterError, match="report must be at most 20 kB"):
        html.document(result)


def test_many_threats_still_fit():
    one = samples.run().releases[0]
    many = replace(samples.run(), releases=(replace(one, assessments=one.assessments * 20, neighbours_cost=()),))
    text = html.document(many)
    assert len(text.encode()) <= html.LARGEST
    assert Reader(text).names().count("article") == 60


@pytest.mark.parametrize("name", samples.NAMES)
def test_no_text_can_break_out(name):
    result = samples.poisoned(samples.everything()[name], POISON)
    page = page_of(result)
    for text in (html.document(result), f"<main>{html.fragment(page)}</main>"):
        read = Reader(text)
        assert "img" not in read.names()
        assert read.wrong == []
        assert all(attributes.get("type") == "application/json" for attributes in read.all("script"))
        assert "alert(1)" in read.text()
        assert not re.search(r"<script>alert", text)


def test_poison_reaches_every_text():
    poisoned = samples.poisoned(samples.run(), "POISON")
    assert poisoned.title.startswith("POISON")
    assert poisoned.releases[0].assessments[0].assessment.rad.rule.startswith("POISON")
    assert poisoned.decision["assessed_by"].startswith("POISON")


def test_embedded_data_are_json_whatever_they_hold():
    data = html.embedded({"a": float("inf"), "b": [float("nan"), 1.5], "c": "\u2028<!--"})
    assert data == '{"a":"inf","b":["nan",1.5],"c":"\\u2028\\u003c!--"}'


def test_labels_and_frequencies_of_a_prior_are_not_shown(documents):
    for name in ("exact", "kept", "calibration", "attack"):
        assert "label3" not in documents[name]
        shown = Reader(documents[name]).text()
        assert "largest probability" not in shown
        assert "0.05," not in shown


def test_a_fragment_has_no_frame_and_starts_at_the_level_asked_for():
    text = html.fragment(page_of(samples.run()), level=3)
    read = Reader(text)
    assert not {"html", "body", "main", "script", "style", "h1", "h2"} & set(read.names())
    assert "h3" in read.names()
    assert not [attributes for _, attributes in read.elements if "id" in attributes]


def test_every_rule_of_the_style_sheet_is_scoped():
    rules = re.sub(r"/\*.*?\*/|@media[^{]*\{", "", html.stylesheet(), flags=re.S)
    selectors = re.findall(r"([^{}]+)\{", rules)
    assert len(selectors) > 50
    assert all(part.strip().startswith(".dpr") for selector in selectors for part in selector.split(","))


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _palettes() -> list[dict[str, str]]:
    sheets = [html.stylesheet(), *(_template(name) for name in ("page.css", "notebook.css"))]
    blocks = [block for sheet in sheets for block in re.findall(r"\{([^{}]*--back:[^{}]*)\}", sheet)]
    return [dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", block)) for block in blocks]


def _template(name: str) -> str:
    from importlib.resources import files

    return files("dpradar.present").joinpath("templates", name).read_text(encoding="utf-8")


def test_contrast_is_measured_as_the_standard_says():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("palette", _palettes(), ids=lambda palette: palette["back"])
def test_colours_have_enough_contrast(palette):
    backs = [palette["back"], palette.get("panel", palette["back"])]
    for name in ("text", "quiet", "strong", "met", "unmet", "open"):
        assert min(contrast(palette[name], back) for back in backs) >= 4.5, name
    for state in ("met", "unmet", "open"):
        if f"{state}-back" in palette:
            assert contrast(palette[state], palette[f"{state}-back"]) >= 4.5
            assert contrast(palette["text"], palette[f"{state}-back"]) >= 4.5
    for name in ("extra", "anyway", "wrong"):  # what a drawing needs to be understood
        assert contrast(palette[name], palette["back"]) >= 3.0, name
    assert contrast(palette["extra"], palette["anyway"]) >= 1.5


def test_there_are_palettes_for_light_dark_and_paper():
    assert len(_palettes()) == 5


def test_a_report_is_written(tmp_path):
    path = html.report(samples.run(), tmp_path / "risk.html")
    assert Reader(path.read_text(encoding="utf-8")).all("main")
