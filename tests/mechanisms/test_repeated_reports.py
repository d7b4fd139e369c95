"""Several reports of a local protocol: what is assumed, which epsilon is meant, and limits in the user's units."""

from __future__ import annotations

import math
import re

import pytest

import dpradar as dr
from dpradar.present.html import document

PROTOCOLS = (dr.GRR, dr.SUE, dr.OUE, dr.SubsetSelection, dr.BLH, dr.OLH, dr.HadamardResponse)
FOUR = dr.Threat(dr.Prior.uniform(4))
NOTE = "the person's value stays the same over all 3 reports; epsilon 0.5 per report, at most 1.5 over all 3 reports"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_number_says_that_the_value_stays_the_same(protocol):
    a = dr.assess(dr.Repeated(protocol(4, 0.5), 3), FOUR)
    for bound in (*a.bounds.values(), a.tpr(0.1)):
        assert NOTE in bound.assumes
    assert NOTE in a.explain()
    assert NOTE[1:] in document(a).replace("&#39;", "'").split("Not covered")[0]


def test_one_report_and_other_mechanisms_assume_nothing_more():
    for what in (dr.Repeated(dr.GRR(4, 0.5), 1), dr.GRR(4, 0.5), dr.Repeated(dr.PureDP(0.5, "replace-one"), 3)):
        assert not any("stays the same" in note for note in dr.assess(what, FOUR).rad.assumes)


def test_repetition_keeps_what_the_description_assumes():
    stated = dr.Gaussian(1.0, sensitivity=1.0, neighbours="add-remove")
    assert any("stated sensitivity" in note for note in dr.assess(dr.Repeated(stated, 5), FOUR).rad.assumes)


SPEC = """
[release]
kind = "grr"
m = 100
epsilon = {epsilon}
times = {times}
[threat]
limits = {{ rad = {rad} }}
[utility]
frequency_error = {error}
reports = 1000000
"""


def test_limits_on_frequencies_are_told_in_the_units_of_the_file():
    """The search works with the error of one report; 31.06 against 20 was shown where 0.031 against 0.020 was meant."""
    result = dr.spec.run(dr.spec.parse(SPEC.format(epsilon=1.0, times=1, rad=0.01, error=0.005)))
    change = result.releases[0].change
    assert change.value is None
    needed = dr.calibrate(dr.GRR, dr.Limit(dr.Threat(dr.Prior.uniform(100)), rad=0.01), m=100).value
    e = math.exp(needed)
    one = math.sqrt((e + 98) / (e + 99) / (e + 99)) / ((e - 1) / (e + 99))  # GRR: q (1 - q) over (p - q)^2
    match = re.search(r"frequency_error from 1,000,000 reports is ([0-9.]+), more than 0\.005", change.reason)
    assert float(match.group(1)) == pytest.approx(one / 1e3, rel=1e-3)
    assert one / 1e3 > 0.005


def test_a_limit_on_frequencies_counts_reports():
    one = dr.calibrate(dr.GRR, dr.Limit(frequency_error=20.0), m=10).value
    many = dr.calibrate(dr.GRR, dr.Limit(frequency_error=0.02, reports=10**6), m=10)
    assert many.value == pytest.approx(one, rel=1e-9)
    (achieved,) = many.achieved
    assert achieved.quantity == "frequency_error from 1,000,000 reports"
    assert achieved.value <= 0.02
    assert repr(dr.Limit(frequency_error=0.02, reports=10**6)).startswith(
        "Limit(frequency_error from 1,000,000 reports <= 0.02"
    )


@pytest.mark.parametrize(
    "options", [{"error": 1.0, "reports": 5}, {"frequency_error": 1.0, "reports": 0}, {"reports": 5}]
)
def test_bad_numbers_of_reports(options):
    with pytest.raises(dr.ParameterError, match="reports"):
        dr.Limit(**options)


def test_a_calibrated_epsilon_is_that_of_one_report():
    calibration = dr.calibrate(lambda e: dr.Repeated(dr.GRR(4, e), 3), dr.Limit(FOUR, rad=0.2))
    named = dr.calibrate(dr.GRR, dr.Limit(FOUR, rad=0.2), m=4)
    assert "per report" not in named.explain()
    assert any("per report" in note for note in calibration.assumes)
    result = dr.spec.run(dr.spec.parse(SPEC.format(epsilon=3.0, times=3, rad=0.1, error=0.5)))
    change = result.releases[0].change
    total = 3 * change.value
    assert " per report (" in result.explain()
    total_text = result.explain().split(" per report (")[1].split(" over all 3 reports")[0]
    assert total <= float(total_text) <= total * 1.0001
