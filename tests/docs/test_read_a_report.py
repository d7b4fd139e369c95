"""The lesson on reading a report quotes the page that its own command makes."""

from __future__ import annotations

import re
import shlex

import pytest
from click.testing import CliRunner

from dpradar.cli.main import app
from tests.console import ROOT
from tests.present.page_reader import Reader

LESSON = (ROOT / "docs" / "tutorials" / "read-a-report.md").read_text(encoding="utf-8")
PROSE = re.sub(r"^```.*?^```$", "", LESSON, flags=re.M | re.S)
QUOTES = [line[2:] for line in PROSE.splitlines() if line.startswith("> ")]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PROSE.splitlines() if line.startswith("| ")]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    (command,) = re.findall(r"^\$ dpradar (.*--report.*)$", LESSON, flags=re.M)
    file = tmp_path_factory.mktemp("report") / "risk.html"
    arguments = [str(ROOT / word) if word.endswith(".toml") else word for word in shlex.split(command)]
    answer = CliRunner().invoke(app, [str(file) if word == "risk.html" else word for word in arguments])
    assert answer.exit_code == 0, answer.output
    return re.sub(r"\s+", " ", Reader(file.read_text(encoding="utf-8")).text())


def test_quoted_sentences_are_on_the_page(page):
    sentences = [one.rstrip(".") for quote in QUOTES for one in re.split(r"(?<=[.:]) (?=[A-Z])", quote)]
    assert len(sentences) > 8
    assert [one for one in sentences if one not in page] == []


def test_numbers_are_on_the_page(page):
    """Decimals, and numbers in front of "of 100" or a percent sign, wherever the prose has them."""
    numbers = {*re.findall(r"(?<![\d.-])\d+\.\d+(?![\d.])", PROSE), *re.findall(r"\d+(?= of 100| %)", PROSE)}
    assert len(numbers) > 12
    assert [one for one in sorted(numbers) if not re.search(rf"(?<![\d.]){re.escape(one)}(?!\d)", page)] == []


def test_the_table_of_noise_is_the_one_on_the_page(page):
    rows = [row for row in ROWS if row[0].startswith(("less", "as released", "more"))]
    assert len(rows) == 3
    assert [row for row in rows if " ".join(row) not in page] == []
