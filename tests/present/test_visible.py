"""What a reader would not see, yet would be misled by, is shown as an escape, wherever somebody's text goes."""

from __future__ import annotations

import sys

import pytest

from dpradar.cli import main
from dpradar.params import visible
from dpradar.present.html import document
from dpradar.present.markdown import markdown
from dpradar.present.notebook import notebook_html
from dpradar.spec import parse, run

BAD = "\x1b\x07\x9b\u202e\u2066\u200f\u2028\u061c\x7f\U000e0041"
SPEC = """
title = "{text}"
description = "{text}"
[[release]]
kind = "grr"
m = 5
epsilon = 1.0
name = "{text}"
what = "{text}"
[[threat]]
name = "{text}"
"""


def _escaped(text):
    return "".join(f"\\U{ord(sign):08x}" for sign in text)


@pytest.fixture(scope="module")
def result():
    return run(parse(SPEC.format(text=f"name {_escaped(BAD)} end")))


@pytest.mark.parametrize("view", [document, markdown, notebook_html, lambda result: result.explain()])
def test_no_view_shows_them_as_they_are(result, view):
    text = view(result)
    assert [sign for sign in BAD if sign in text] == []
    assert "name" in text
    assert "\\u202e" in text.replace("\\\\", "\\")


def test_errors_of_the_command_line_have_none(capsys, monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # main changes it
    with pytest.raises(SystemExit):
        main(["run", f"no{BAD}.toml"])
    error = capsys.readouterr().err
    assert error.startswith("error: no\\x1b\\x07\\x9b\\u202e")
    assert [sign for sign in BAD if sign in error] == []


@pytest.mark.parametrize("text", ["Zoë", "日本\tx\ny", "עברית", "a\u200db", "👩\u200d🔬"])
def test_writing_stays_as_it_is(text):
    assert visible(text) == text


def test_names_of_files_that_are_no_text():
    assert visible("\udcff.toml").encode() == b"\\udcff.toml"
