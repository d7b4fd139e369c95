"""Numbers as words: what counts as whole, what has a decimal comma, and files that are not CSV as read here."""

from __future__ import annotations

import pytest

from dpradar.errors import ParameterError
from dpradar.options.reading import Where, columns, number_problem, whole
from dpradar.params import has_decimal_comma


@pytest.mark.parametrize(
    ("text", "value"),
    [("7", 7), ("-3", -3), ("1e5", 100_000), ("2.5e1", 25), ("4.0", 4), ("1e23", 10**23), ("-1E2", -100)],
)
def test_a_whole_number_is_exact(text, value):
    assert whole(text, "--trials") == value


@pytest.mark.parametrize("text", ["1.5", "1e-1", "ten", "", "nan", "inf", "1e400", "1e999999999", "1e-" + "9" * 30])
def test_what_is_no_whole_number(text):
    with pytest.raises(ParameterError, match="--trials must be a whole number"):
        whole(text, "--trials")


@pytest.mark.parametrize("text", ["0,5", "-0,5", "12,75", "1,5e-3", " 1,5 "])
def test_a_decimal_comma(text):
    assert has_decimal_comma(text)
    assert "Write it with a point" in number_problem(text, "number")


@pytest.mark.parametrize("text", ["1,delta=1e-5", "1,2,3", "a,b", "1,", ",", "1.5", "0,5;0,5", "1,5kg", 1.5, None])
def test_no_decimal_comma(text):
    assert not has_decimal_comma(text)


def test_semicolons_are_told_before_rows_of_unequal_length(tmp_path):
    (tmp_path / "a.csv").write_text("\ufeffname;height\nann;1,70\nbob;1,80\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("what;why,height\nx,1\n", encoding="utf-8")
    where = Where(str, tmp_path)
    with pytest.raises(ParameterError, match=r"FILE must be a CSV file with commas .* a header with ; and no comma"):
        columns("a.csv", "FILE", where)
    assert columns("b.csv", "FILE", where) == {"what;why": ["x"], "height": ["1"]}
