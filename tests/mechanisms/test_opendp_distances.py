"""At which distance an OpenDP privacy map is read; the distances need no OpenDP."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import dpradar as dr
from dpradar.mechanisms.adapters.measurement import _distance


def measurement(metric):
    """Return the part of a measurement that names its input metric."""
    return SimpleNamespace(input_metric=SimpleNamespace(type=metric), input_distance_type="u32")


ADDED = ("SymmetricDistance", "InsertDeleteDistance", "SymmetricIdDistance")
REPLACED = ("ChangeOneDistance", "HammingDistance", "ChangeOneIdDistance", "DiscreteDistance")


@pytest.mark.parametrize("metric", [*ADDED, *REPLACED])
def test_no_distance_is_guessed(metric):
    for relation in (None, "replace-one"):
        with pytest.raises(dr.ParameterError, match=r"from_opendp\.d_in"):
            _distance(measurement(metric), relation, None)


@pytest.mark.parametrize("metric", ADDED)
def test_a_replaced_record_is_one_removed_and_one_added(metric):
    with pytest.raises(dr.ParameterError, match="at least 2 for replace-one"):
        _distance(measurement(metric), "replace-one", 1)
    for records in (2, 6):
        assert _distance(measurement(metric), "replace-one", records) == ("replace-one", records)
    for records in (1, 3):
        assert _distance(measurement(metric), "add-remove", records) == ("add-remove", records)
    assert _distance(measurement(metric), None, 1) == ("add-remove", 1)
    with pytest.raises(dr.ParameterError, match="stated when d_in = 2"):
        _distance(measurement(metric), None, 2)


@pytest.mark.parametrize("metric", REPLACED)
def test_metrics_that_replace(metric):
    for relation in (None, "replace-one"):
        assert _distance(measurement(metric), relation, 1) == ("replace-one", 1)
    with pytest.raises(dr.ParameterError, match="'replace-one' with"):
        _distance(measurement(metric), "add-remove", 1)
