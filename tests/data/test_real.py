"""Real tables against plain counting: Adult, and a table in the style of the American Community Survey."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path

import pytest

import dpradar as dr
from dpradar.data import prior
from tests.data import tables

DATA = Path(os.environ.get("DPRADAR_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))


def _table(path, names=None):
    if not path.exists():
        pytest.skip(f"needs {path.parent.name}/{path.name} below DPRADAR_DATA")
    with gzip.open(path, "rt") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if row]
    names, rows = (rows[0], rows[1:]) if names is None else (names, rows)
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.data
def test_adult(tmp_path):
    names = ["age", "workclass", "fnlwgt", "education", "years", "marital", "occupation", "relationship", "race", "sex"]
    columns = _table(DATA / "adult" / "adult.data.gz", [*names, "gain", "loss", "hours", "country", "income"])
    for name in ("age", "fnlwgt", "hours"):
        columns[name] = [int(x) for x in columns[name]]
    file = tables.put(columns, tmp_path / "adult.csv")
    for weight in (None, "fnlwgt"):
        counted = prior(file, ["age", "sex", "race", "hours"], weight, bins={"hours": [20, 40]})
        twin = tables.counted(columns, ["age", "sex", "race", "hours"], weight, {"hours": tables.edges(20, 40)})
        assert set(counted.values) == set(twin)
        assert max(abs(p - float(twin[r])) for p, r in zip(counted.probabilities, counted.values, strict=True)) < 1e-15
    p = prior(file, ["age", "sex", "race"])
    a = dr.assess(
        dr.GRR(m=p.size, epsilon=2.0), dr.Threat(p, dr.Knowledge.columns("age", "sex"), dr.Goal.columns("race"))
    )
    # The baseline of a counted prior is kept to two digits, so that a saved result does not tell the counts.
    assert (p.size, a.baseline, round(a.rad.value, 6)) == (546, 0.85, 0.011394)


@pytest.mark.data
def test_acs():
    columns = _table(DATA / "census" / "acs.csv.gz")
    names = ["AGE", "SEX", "SCHL", "RAC1P"]
    columns = {name: [int(x) for x in columns[name]] for name in names}
    p = prior(DATA / "census" / "acs.csv.gz", names, bins={"AGE": "quantiles:10"})
    order = sorted(columns["AGE"])
    below = {x: i for i, x in reversed(list(enumerate(order)))}
    code = {"AGE": lambda x: f"bin {below[x] * 10 // len(order) + 1} of 10"}
    twin = tables.counted(columns, names, None, code)
    assert dict(zip(p.values, p.probabilities, strict=True)) == pytest.approx({r: float(x) for r, x in twin.items()})
