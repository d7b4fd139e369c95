"""Numbers as words: what counts as whole, what has a decimal comma, and files that are not CSV as read here."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

import dpradar
from dpradar import Laplace, Prior, Threat, assess
from dpradar.errors import ParameterError
from dpradar.options.reading import PLAIN, Where, columns, number_problem, numbers, whole
from dpradar.params import has_decimal_comma
from dpradar.spec.question import release_of, threat_call, threat_of


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


def test_a_range_of_decimals_is_that_of_the_list():
    """Sums of floats drift: 0.30000000000000004 is more than 0.1 from 0.2, and Laplace noise came out at rad 0.183."""
    listed = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert numbers("0:1:0.1", "values", PLAIN) == listed
    assert numbers("-0.3:0.3:0.1", "values", PLAIN) == [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]
    assert numbers("1e-7:5e-7:2e-7", "values", PLAIN) == [1e-7, 3e-7, 5e-7]
    question = {"kind": "laplace", "scale": 0.5, "goal": "within:0.1"}
    short, long = ({**question, "values": values} for values in ("0:1:0.1", listed))
    assert assess(release_of(short), threat_of(short)).rad == assess(release_of(long), threat_of(long)).rad
    source = threat_call(short).source()
    assert eval(source, {"dr": dpradar}).prior.values == tuple(listed)  # noqa: S307 - our own code


def test_a_range_whose_sums_are_no_floats_is_refused():
    with pytest.raises(ParameterError, match="LOW:HIGH"):
        numbers("0:1.7976931348623157e308:8.98846567431158e307", "values", PLAIN)


@pytest.mark.parametrize("option", ["query", "values"])
def test_large_whole_numbers_as_text_are_not_merged(option):
    """As floats the two are one number, and the risk of telling them apart came out as 0."""
    question = {"kind": "laplace", "scale": 1.0, option: "9007199254740993,9007199254740992"}
    with pytest.raises(ParameterError, match="whole numbers up to 2\\^53"):
        assess(release_of(question), threat_of(question))


@pytest.mark.parametrize("first", ["9007199254740993", Decimal(2**53 + 1), Fraction(2**53 + 1), 2**53 + 1])
def test_large_whole_numbers_of_records_are_not_merged(first):
    prior = Prior.records({"pay": [first, type(first)(2**53)]})
    with pytest.raises(ParameterError, match="whole numbers up to 2\\^53"):
        assess(Laplace(scale=1.0), Threat(prior))
