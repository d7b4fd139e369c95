"""One table, three engines: the same cells in the same order, the same numbers to 1e-12."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import dpradar as dr
from dpradar.data import prior
from tests.data import tables

ENGINES = ("PostgreSQL", "Spark")


def same(by_engine, columns, weight=None, *, exactly, **settings):
    """Return the prior of DuckDB after comparing all engines with it."""
    reference = prior(by_engine["DuckDB"], columns, weight, **settings)
    for engine in ENGINES:
        other = prior(by_engine[engine], columns, weight, **settings)
        assert other.values == reference.values, engine
        assert float(np.abs(other.probabilities / reference.probabilities - 1.0).max()) < 1e-12, engine
        assert other.measured.distance == pytest.approx(reference.measured.distance, abs=1e-12)
        assert (other.digest == reference.digest) or not exactly
        yield engine, reference, other


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
    by_engine = everywhere("people", pa.table(tables.people(2000, np.random.default_rng(1))))
    columns = ["age", 'Sex, or "not"', "income", "Smokes"]
    for suppress in (1, 4):
        settings = {"bins": bins, "suppress": suppress, "confidence": 0.95, "fixed_weights": True}
        pairs = same(by_engine, columns, weight, **settings, exactly=weight != "weight")
        for _, reference, other in pairs:
            agree(*(assessed(p, ["age", "income"], ["Smokes"]) for p in (reference, other)))


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
    by_engine = everywhere("apart", table)
    for _, reference, _ in same(by_engine, list(columns), bins={"number": "values"}, exactly=True):
        assert reference.columns["number"].count(None) >= 1


def test_decimal_edges_are_the_same_everywhere(everywhere):
    numbers = [k / 10 for k in range(-30, 31)] + [0.1 + 0.2, 0.7 - 0.1, 2.9999999999999996, 1e9 + 0.3]
    by_engine = everywhere("tenths", pa.table({"x": numbers}))
    for _, reference, _ in same(by_engine, ["x"], bins={"x": "width:0.1"}, exactly=True):
        label = tables.width("0.1")
        assert set(reference.columns["x"]) == {label(x) for x in numbers}


def test_not_a_number_among_exact_numbers_is_missing(postgres):
    postgres.raw_sql("CREATE TABLE exact AS SELECT x::numeric AS x, 1 AS w FROM (VALUES ('NaN'), ('1'), ('1')) v(x)")
    postgres.con.commit()
    for bins in ("values", [0], "width:0.5", 3):
        p = prior(postgres.table("exact"), ["x"], bins={"x": bins})
        assert p.columns["x"][-1] is None
        assert p.probabilities.tolist() == pytest.approx([2 / 3, 1 / 3])
    with pytest.raises(dr.ParameterError, match="weight"):
        prior(postgres.table("exact"), ["w"], "x")
    postgres.raw_sql("CREATE TABLE endless AS SELECT x::numeric AS x FROM (VALUES ('Infinity'), ('1'), ('2')) v(x)")
    postgres.con.commit()
    with pytest.raises(dr.ParameterError, match="infinite"):
        prior(postgres.table("endless"), ["x"], bins={"x": "width:1"})
    assert prior(postgres.table("endless"), ["x"], bins={"x": [2]}).probabilities.tolist() == pytest.approx(
        [1 / 3, 2 / 3]
    )


STAMPS = "(VALUES ('2023-12-31 20:00:00.7+00'), ('2023-12-31 23:59:59.9+00'), ('2024-01-01 03:00:00+00')) v(x)"


def test_years_of_time_stamps_are_those_of_utc(postgres):
    postgres.raw_sql(f"CREATE TABLE stamps AS SELECT x::timestamptz AS x FROM {STAMPS}")  # noqa: S608
    for zone in ("UTC", "Asia/Tokyo", "America/Los_Angeles"):
        postgres.raw_sql(f"SET TimeZone = '{zone}'")
        postgres.con.commit()
        p = prior(postgres.table("stamps"), ["x"], bins={"x": "year"})
        assert (p.columns["x"], p.probabilities.tolist()) == ((2023, 2024), pytest.approx([2 / 3, 1 / 3]))
        days = {x.isoformat() for x in prior(postgres.table("stamps"), ["x"]).columns["x"]}
        assert "2024-01-01T03:00:00+00:00" in days
    postgres.raw_sql("SET TimeZone = 'UTC'")
    postgres.con.commit()


def test_a_spark_session_in_another_zone_is_refused(spark):
    stamps = spark.sql(f"SELECT CAST(x AS TIMESTAMP) AS x FROM {STAMPS}")  # noqa: S608
    assert prior(stamps, ["x"], bins={"x": "year"}).columns["x"] == (2023, 2024)
    spark.raw_sql("SET TIME ZONE 'Asia/Tokyo'")
    try:
        with pytest.raises(dr.ParameterError, match="UTC"):
            prior(stamps, ["x"], bins={"x": "year"})
    finally:
        spark.raw_sql("SET TIME ZONE 'UTC'")


@pytest.mark.data
@pytest.mark.parametrize("weight", [None, "fnlwgt"])
def test_adult(everywhere, adult, weight):
    by_engine = everywhere("adult", adult)
    columns = ["age", "sex", "workclass", "hours", "race"]
    for _, reference, other in same(by_engine, columns, weight, bins={"hours": [20, 40, 60]}, exactly=True):
        assert reference.measured.rows == 32_561
        assert reference.measured.missing == ("workclass",)
        agree(*(assessed(p, ["age", "sex"], ["race"]) for p in (reference, other)))


@pytest.mark.data
def test_acs(everywhere, acs):
    by_engine = everywhere("acs", acs)
    columns = ["AGE", "SEX", "SCHL", "MAR", "RAC1P"]
    for _, reference, other in same(by_engine, columns, bins={"AGE": 10}, confidence=0.99, suppress=2, exactly=True):
        assert reference.measured.rows == acs.num_rows > 125_000
        agree(*(assessed(p, ["AGE", "SEX", "SCHL"], ["RAC1P"]) for p in (reference, other)))


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
