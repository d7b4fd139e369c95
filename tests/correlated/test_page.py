"""Pages of answers about correlated records: the same view model as every other result."""

from __future__ import annotations

import re

import pytest

from dpradar.present.html import LARGEST, document
from dpradar.present.pages import page_of
from tests.correlated.test_answers import NAMES, answers


@pytest.mark.parametrize("name", NAMES)
def test_page(name):
    result = answers()[name]
    page = page_of(result)
    assert page.kind == "correlation"
    assert page.verdict.state == ("met" if result.leakage.value <= result.target else page.verdict.state)
    assert page.verdict.state != "none"
    (card,) = page.cards
    assert card.icons.right_anyway == 50
    assert 0 <= card.icons.extra <= 50
    assert {row[0] for row in page.tables[0].rows} >= {one.rule for one in result.theorems}
    assert all(len(row) == len(table.headings) for table in page.tables for row in table.rows)
    assert len(page.tables) == (2 if result.checks else 1)


@pytest.mark.parametrize("name", NAMES)
def test_report_is_one_small_file_that_loads_nothing(name, tmp_path):
    result = answers()[name]
    text = result.report(tmp_path / "a.html").read_text(encoding="utf-8")
    assert len(text.encode()) < LARGEST
    assert not re.search(r"(?:src|href)=[\"'](?!#|data:)", text)
    for word in ("safe", "anonymous", "guaranteed", "low risk"):
        assert word not in page_words(result)
    assert result._repr_html_()
    page = result.report(tmp_path / "a.md").read_text(encoding="utf-8")
    assert result.leakage.rule in page


def page_words(result) -> str:
    page = page_of(result)
    cells = [cell for table in page.tables for row in table.rows for cell in row]
    words = [
        page.title,
        page.verdict.text,
        *page.verdict.more,
        *page.cards[0].sentences,
        *page.utility.sentences,
        *cells,
    ]
    return " ".join(words).lower()


def test_text_of_users_is_escaped():
    from dataclasses import replace

    odd = replace(answers()["groups"], notes=("<script>alert(1)</script>",))
    assert "<script>alert(1)" not in document(odd)
