"""Tests with many cases inside: all are run, and all that fail are named."""

from __future__ import annotations

import inspect

import pytest

from tests.every import every


def test_all_cases_are_run_and_those_that_fail_are_named():
    ran = []

    @every("number", [1, 2])
    @every(("letter", "word"), [("a", "one"), ("b", "two")])
    def check(folder, number, letter, word):
        ran.append((folder, number, letter, word))
        if letter == "b":
            pytest.fail("no b")
        assert number == 1

    assert list(inspect.signature(check).parameters) == ["folder"]
    with pytest.raises(BaseExceptionGroup, match="2 of 2 cases fail: number=1; number=2") as caught:
        check(folder="here")
    assert ran == [("here", n, *pair) for n in (1, 2) for pair in (("a", "one"), ("b", "two"))]
    first, second = caught.value.exceptions
    assert str(first).startswith("1 of 2 cases fail: letter='b', word='two'")
    assert first.exceptions[0].__notes__ == ["in the case letter='b', word='two'"]
    assert str(second).startswith("2 of 2 cases fail: letter='a', word='one'; letter='b', word='two'")


def test_cases_have_the_names_they_are_given():
    @every("number", [1, 2], ids=["first", "other"])
    def check(number):
        assert number == 1

    with pytest.raises(BaseExceptionGroup, match="1 of 2 cases fail: other"):
        check()


def test_cases_that_hold_raise_nothing():
    @every("number", iter([1, 2]))
    def check(number):
        assert number

    check()
    check()
