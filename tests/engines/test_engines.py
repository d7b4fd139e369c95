"""One table, three engines: the same cells in the same order, the same numbers to 1e-12."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import dpradar as dr
from dpradar.data import prior
from tests.data import tables

ENGINES = ("PostgreSQL", "Spark")


def same(found, columns, weight=None, *, exactly, **settings):
    """Return the prior of DuckDB after comparing all engines with it."""
    known = prior(found["DuckDB"], columns, weight, **settings)
    for engine in ENGINES:
        other = prior(found[engine], columns, weight, **settings)
        assert other.values == known.values, engine
        assert float(np.abs(other.probabilities / known.probabilities - 1.0).max()) < 1e-12, engine
        assert other.measured.distance == pytest.approx(known.measured.distance, abs=1e-12)
        assert (other.digest == known.digest) or not exactly
        yield engine, known, other


def assessed(p, known, sensitive):
    threat = dr.Threat(p, dr.Knowledge.columns(*known), dr.Goal.columns(*sensitive))
    return dr.assess(dr.GRR(m=p.size, epsilon=5.0), threat)


def agree(one, other):
    for name in ("rad", "success", "gain"):
        assert getattr(one, name).value == pytest.approx(getattr(other, name).value, abs=1e-12)
    assert one.baseline == pytest.approx(other.baseline, abs=1e-12)


@pytest.mark.parametrize("weight", [None, "people", "weight"])
@pytest.mark.parametrize("bins", [{"age": [30, 60], "income": "quantiles:4"}, {"age": "width:7", "income": 6}])
def test_every_rule_and_kind_of_weight(everywhere, weight, bins):
    found = everywhere("people", pa.table(tables.people(2000, np.random.default_rng(1))))
    columns = ["age", 'Sex, or "not"', "income", "Smokes"]
    for suppress in (1, 4):
        pairs = same(found, columns, weight, bins=bins, suppress=suppress, confidence=0.95, exactly=weight != "weight")
        for _, known, other in pairs:
            agree(*(assessed(p, ["age", "income"], ["Smokes"]) for p in (known, other)))


def test_values_that_engines_treat_apart(everywhere):
    columns = {
        "word": ["a", "A", "ä", "a ", "", None, "Z", "z", "_"] * 3,
        "number": [1.5, float("nan"), -0.0, 0.0, None, 2.5, 1e300, -1e-300, 3.0] * 3,
        "large": [2**62, -(2**62), 0, None, 1, 2, 3, 4, 5] * 3,
        "flag": [True, False, None] * 9,
    }
    table = pa.table(columns)
    # The text that PostgreSQL is given cannot tell an empty word from a missing one.
    table = table.set_column(0, "word", pa.array([w or None for w in columns["word"]]))
    found = everywhere("apart", table)
    for _, known, _ in same(found, list(columns), bins={"number": "values"}, exactly=True):
        assert known.columns["number"].count(None) >= 1


@pytest.mark.data
@pytest.mark.parametrize("weight", [None, "fnlwgt"])
def test_adult(everywhere, adult, weight):
    found = everywhere("adult", adult)
    columns = ["age", "sex", "workclass", "hours", "race"]
    for _, known, other in same(found, columns, weight, bins={"hours": [20, 40, 60]}, exactly=True):
        assert known.measured.rows == 32_561
        assert known.measured.missing == ("workclass",)
        agree(*(assessed(p, ["age", "sex"], ["race"]) for p in (known, other)))


@pytest.mark.data
def test_acs(everywhere, acs):
    found = everywhere("acs", acs)
    columns = ["AGE", "SEX", "SCHL", "MAR", "RAC1P"]
    for _, known, other in same(found, columns, bins={"AGE": 10}, confidence=0.99, suppress=2, exactly=True):
        assert known.measured.rows == acs.num_rows > 125_000
        agree(*(assessed(p, ["AGE", "SEX", "SCHL"], ["RAC1P"]) for p in (known, other)))


@pytest.mark.parametrize("engine", ENGINES)
def test_words_of_an_engine_are_not_passed_on(everywhere, engine):
    import ibis

    table = everywhere("people", pa.table(tables.people(2000, np.random.default_rng(1))))[engine]
    text = table['Sex, or "not"'].fill_null("Rumpelstiltskin")
    broken = table.mutate(broken=ibis.ifelse(text == "f", ibis.literal("Rumpelstiltskin"), text).cast("int64"))
    with pytest.raises(dr.ParameterError) as error:
        prior(broken, ["broken"])
    assert "Rumpelstiltskin" not in str(error.value)
    assert error.value.__context__ is None
    # The connection can be used afterwards.
    assert prior(table, ["Smokes"]).size == 2
