"""Results in a notebook, as Markdown, as figures and as files."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import dpradar as dr
from dpradar.errors import MissingExtra, ParameterError
from dpradar.present import html
from dpradar.present.markdown import markdown, plain
from dpradar.present.notebook import LARGEST, notebook_html
from tests.present import samples
from tests.present.page_reader import Reader, styles

POISON = "</style></div><script>alert(1)</script><img src=x>|`*_[a](b)"


@pytest.mark.parametrize("name", samples.NAMES)
def test_a_notebook_shows_a_little_static_html(name):
    text = samples.everything()[name]._repr_html_()
    read = Reader(text)
    assert len(text.encode()) <= 20_000
    assert read.wrong == []
    assert read.open == []
    assert not {"script", "img", "link", "iframe"} & set(read.names())
    assert not [attributes for _, attributes in read.elements if "id" in attributes]
    assert re.search(r"url\(|@import|https?://", text) is None
    selectors = re.findall(r"([^{}]+)\{", re.sub(r"@media[^{]*\{", "", styles(text)))
    assert all(part.strip().startswith(".dprn") for selector in selectors for part in selector.split(","))


def test_a_notebook_shows_the_sentence_the_icons_and_the_table():
    read = Reader(samples.assessments()["exact"]._repr_html_())
    assert (
        "Of every 100 people, an attacker who goes by the data guesses 11 more correctly because they took part."
        in read.text()
    )
    assert len(read.all("svg")) == 1
    assert read.all("svg")[0]["role"] == "img"
    assert read.names().count("details") == 1


def test_what_does_not_fit_into_a_notebook_is_left_out_and_said():
    from dataclasses import replace

    one = samples.run().releases[0]
    many = replace(samples.run(), releases=(replace(one, assessments=one.assessments * 20),))
    text = many._repr_html_()
    assert len(text.encode()) <= LARGEST
    assert re.search(r"\d+ more: see the report\.", text)


def test_without_jinja2_a_notebook_shows_the_text(monkeypatch):
    def missing():
        raise MissingExtra("jinja2", "report")

    monkeypatch.setattr("dpradar.present.notebook.environment", missing)
    assert notebook_html(samples.assessments()["exact"]) is None


def test_without_jinja2_a_report_says_what_to_install(monkeypatch, tmp_path):
    html.environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtra, match=r'pip install "dpradar\[report\]"'):
        samples.assessments()["exact"].report(tmp_path / "risk.html")
    html.environment.cache_clear()


@pytest.mark.parametrize("name", samples.NAMES)
def test_no_text_can_break_out(name):
    result = samples.poisoned(samples.everything()[name], POISON)
    read = Reader(result._repr_html_())
    assert not {"script", "img"} & set(read.names())
    assert read.wrong == []
    text = markdown(result)
    outside = re.sub(r"^(`{3,})text\n.*?^\1$", "", text, flags=re.M | re.S)
    assert "<" not in outside
    assert "alert(1)" in outside
    assert not re.search(r"(?<!\\)`", outside)
    assert not re.search(r"(?<!\\)\]\(", outside)


@pytest.mark.parametrize("name", samples.NAMES)
def test_rows_of_a_table_have_as_many_cells_as_its_head(name):
    rows = [
        re.findall(r"(?<!\\)\|", line) for line in markdown(samples.everything()[name]).splitlines() if line[:1] == "|"
    ]
    blocks = markdown(samples.everything()[name]).split("\n\n")
    for block in blocks:
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines() if line.startswith("|")}
        assert len(cells) <= 1
    assert all(rows)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# a", r"\# a"),
        ("1. a", r"1\. a"),
        ("0.5", "0.5"),
        ("2026-05-04", "2026-05-04"),
        ("- a\nb", r"\- a b"),
        ("a_b", r"a\_b"),
        ("<i>", "&lt;i&gt;"),
        ("&lt;", "&amp;lt;"),
    ],
)
def test_text_is_never_read_as_markdown(text, shown):
    assert plain(text) == shown


def test_markdown_says_what_the_report_says():
    text = markdown(samples.run(0.05))
    headings = [line for line in text.splitlines() if re.match(r"#{1,2} ", line)]
    assert headings == [
        "# Health survey 2026",
        "## What could someone learn about one person?",
        "## How much better than guessing?",
        "## What these numbers cover",
        "## Every number and where it comes from",
        "## What does the noise cost?",
        "## Check of the calculation (simulated here; no software was tested)",
        "## Audits of software",
        "## Decision record, as it was entered",
        "## Reproduce",
    ]
    assert "✕ Limit not kept. What taking part adds (rad) is 11 of 100 people, the limit 5 of 100" in text


@pytest.mark.parametrize("suffix", [".html", ".md", ".HTML"])
def test_every_result_can_be_written(suffix, tmp_path):
    for result in (
        samples.assessments()["exact"],
        samples.attack(),
        samples.audit(),
        samples.calibration(),
        samples.run(),
    ):
        path = result.report(tmp_path / f"risk{suffix}")
        assert path.stat().st_size > 900


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"ends in \.html or \.md; got .*risk\.pdf"):
        samples.audit().report(tmp_path / "risk.pdf")


def test_a_figure_can_be_drawn_on_given_axes():
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    result = samples.assessments()["upper"]
    assert result.plot(ax=axes) is axes
    assert [line.get_label() for line in axes.get_lines()] == [
        "nothing learned",
        "no attacker can be above",
        "this threat",
    ]
    x, y = axes.get_lines()[2].get_data()
    assert (x[0], y[0]) == (result.baseline, result.success.value)
    curve = axes.get_lines()[1]
    assert all(after >= before for before, after in zip(curve.get_xdata(), curve.get_ydata(), strict=True))


def test_the_curve_is_above_every_threat():
    release = dr.GRR(m=10, epsilon=1.0)
    for baseline in (0.05, 0.3, 0.7):
        result = dr.assess(release, dr.Threat.baseline(baseline))
        curve = dict(result.plot().get_lines()[1].get_xydata().tolist())
        assert min(abs(x - baseline) for x in curve) < 0.02
        assert result.success.value <= max(y for x, y in curve.items() if x <= baseline + 0.02)


def test_nothing_heavy_is_imported_until_it_is_needed():
    code = (
        "import sys, dpradar, dpradar.present.text, dpradar.present.page\n"
        "print([m for m in ('jinja2', 'matplotlib', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
