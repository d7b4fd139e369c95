"""Reports of pipelines and of the linter: complete, escaped, small, without any address."""

from __future__ import annotations

import re
from functools import cache

import pytest
from click.testing import CliRunner

import dpradar as dr
from dpradar.cli.main import app
from dpradar.granularity import (
    Claim,
    Facts,
    Partition,
    Pipeline,
    Practice,
    Step,
    account,
    advise,
    guarantee,
    lint,
    lint_sampler,
)
from dpradar.present.html import fragment
from dpradar.present.pages import page_of

from . import samplers

NASTY = "<script>alert(1)</script>"


def pipeline(**more):
    steps = [
        Step(name=f"count {NASTY}", epsilon=0.5, granularity="bounded", partition="age", cell=c, domain="common")
        for c in ("young", "old")
    ]
    blank = Step(name="grid", practice=Practice(noise_on="present"))
    partitions = [Partition(name="age", kind="value")]
    claim = Claim(granularity="bounded", epsilon=1.0)
    return Pipeline(
        steps=[*steps, blank] if more.pop("blank", False) else steps, partitions=partitions, claim=claim, **more
    )


# Listed, so that tests are collected without computing anything.
NAMES = ("accounting", "accounting with more", "vacuous", "lint", "clean", "sampler")


@cache
def results():
    accounting = account(pipeline(title=f"Ages {NASTY}", facts=Facts(size="private")))
    stream = {u: {t: (u * t) % 3 for t in range(9)} for u in range(1, 4)}
    risk = dr.assess(guarantee(accounting, "bounded"), dr.Threat(dr.Prior.uniform(10)))
    full = accounting.__class__.from_dict(
        {
            **accounting.plain_data(),
            "assessment": risk.plain_data(),
            "advice": advise(stream, granularity="event", epsilon=0.1).plain_data(),
        }
    )
    claim = dr.PureDP(1.0, neighbours="replace-one")
    return {
        "accounting": accounting,
        "accounting with more": full,
        "vacuous": account(pipeline(blank=True)),
        "lint": lint(pipeline(blank=True, title=NASTY)),
        "clean": lint(pipeline()),
        "sampler": lint_sampler(samplers.float_laplace, claim=claim, domain=2, trials=8_000, seed=1),
    }


def test_every_result_has_a_name():
    assert tuple(results()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_pages_as_files(name, tmp_path):
    for suffix in ("html", "md"):
        path = results()[name].report(tmp_path / f"page.{suffix}")
        text = path.read_text(encoding="utf-8")
        assert len(text.encode()) < 300_000
        assert NASTY not in text
        assert page_of(results()[name]).title.split("<")[0].strip() in text
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    links = re.findall(r"(?:href|src)=[\"']?([^\"' >]+)", html)
    assert all(link.startswith(("#", "data:")) for link in links)


@pytest.mark.parametrize("name", NAMES)
def test_pages_in_notebooks(name):
    shown = results()[name]._repr_html_()
    assert len(shown.encode()) <= 20_000
    assert NASTY not in shown


def test_what_pages_say():
    page = page_of(results()["accounting"])
    assert page.verdict.state == "met"
    assert page.verdict.text == "Epsilon 1 under bounded follows: the steps cost epsilon 1 at most."
    assert any("number of records is not protected" in text for text in page.verdict.more)
    assert page.tables[0].rows[0][:1] == ("bounded",)
    assert page_of(results()["vacuous"]).verdict.state == "unmet"  # a step reads data and adds no noise
    more = page_of(results()["accounting with more"])
    assert more.cards
    assert len(more.tables) == 3
    refuted = page_of(results()["lint"])
    assert (refuted.verdict.word, refuted.verdict.state) == ("Refuted", "unmet")
    assert len(refuted.evidence) == len(results()["lint"].findings)
    assert page_of(results()["clean"]).verdict.state == "none"
    shown = fragment(refuted)
    assert ">What is wrong, and how to fix it<" in shown
    assert "attacks and audits" not in shown
    assert page_of(results()["sampler"]).evidence[0].scale is not None


def test_reports_from_the_command_line(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text("[[step]]\nname = 'a'\nepsilon = 0.2\ngranularity = 'bounded'")
    for command in ("account", "lint"):
        page = tmp_path / f"{command}.html"
        done = CliRunner().invoke(app, [command, str(file), "--report", str(page)], standalone_mode=False)
        assert done.return_value == 0
        assert page.exists()
    done = CliRunner().invoke(app, ["lint", str(file), "--report", "x.pdf"], standalone_mode=False)
    assert isinstance(done.exception, dr.ParameterError)


def test_saved_results_are_loaded(tmp_path):
    for name, result in results().items():
        result.save(tmp_path / f"{name}.json")
        assert dr.load(tmp_path / f"{name}.json") == result
