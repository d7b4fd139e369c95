"""The prior of a table against counting in plain Python, and every way a table can be given."""

from __future__ import annotations

import datetime as dt
import math
import warnings
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpradar as dr
from dpradar.data import prior
from tests.data import tables

SEX = 'Sex, or "not"'
NAMES = ["age", SEX, "income", "Smokes"]
RULES = [
    (
        {"age": [30, 60], "income": [0.5, 1, 2]},
        lambda c: {"age": tables.edges(30, 60), "income": tables.edges(0.5, 1, 2)},
    ),
    ({"age": "width:7", "income": "width:0.25"}, lambda c: {"age": tables.width(7), "income": tables.width(0.25)}),
    (
        {"age": 5, "income": 11},
        lambda c: {"age": tables.equal_width(c["age"], 5), "income": tables.equal_width(c["income"], 11)},
    ),
    (
        {"age": "quantiles:3", "income": "quantiles:4"},
        lambda c: {"age": tables.quantiles(c["age"], 3), "income": tables.quantiles(c["income"], 4)},
    ),
    ({"income": "values"}, lambda c: {}),
]


@pytest.fixture(scope="module")
def columns():
    return tables.people(400, np.random.default_rng(7))


@pytest.fixture(scope="module")
def ways(columns, tmp_path_factory):
    """The same table in every form that is taken."""
    folder = tmp_path_factory.mktemp("tables")
    halves = [{name: column[part] for name, column in columns.items()} for part in (slice(150), slice(150, None))]
    for kind in ("csv", "parquet"):
        tables.put(columns, folder / f"all.{kind}")
        for i, half in enumerate(halves):
            tables.put(half, folder / f"part-{i}.{kind}")
    import ibis
    import pandas as pd

    connection = ibis.duckdb.connect()
    arrow = pa.table(columns)
    connection.raw_sql(f"CREATE TABLE people AS FROM '{folder / 'all.parquet'}'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ibis calls an old name of DuckDB
        table = connection.table("people")
    yield {
        "csv": folder / "all.csv",
        "parquet": str(folder / "all.parquet"),
        "csv pattern": str(folder / "part-*.csv"),
        "parquet pattern": folder / "part-?.parquet",
        "pandas": pd.DataFrame(columns),
        "pyarrow": arrow,
        "ibis": table,
        "ibis without backend": ibis.memtable(arrow),
    }
    connection.disconnect()


@pytest.mark.parametrize("rule", range(len(RULES)))
@pytest.mark.parametrize("weight", [None, "weight", "people"])
def test_frequencies_are_those_of_plain_counting(columns, rule, weight):
    bins, code = RULES[rule]
    counted = prior(pa.table(columns), NAMES, weight, bins=bins)
    twin = tables.counted(columns, NAMES, weight, code(columns))
    assert set(counted.values) == set(twin)
    off = [
        abs(p - float(twin[record])) / float(twin[record])
        for p, record in zip(counted.probabilities, counted.values, strict=True)
    ]
    assert max(off) < 1e-12
    assert counted.columns == dict(zip(NAMES, zip(*counted.values, strict=True), strict=True))
    assert counted.measured.rows == 400
    assert counted.measured.missing == (SEX, "income")


@pytest.mark.parametrize(
    "way", ["csv", "parquet", "csv pattern", "parquet pattern", "pandas", "pyarrow", "ibis", "ibis without backend"]
)
def test_every_form_of_the_table_gives_the_same_prior(ways, way):
    for weight in (None, "people"):
        expected = prior(ways["pyarrow"], NAMES, weight, bins=RULES[0][0])
        p = prior(ways[way], NAMES, weight, bins=RULES[0][0])
        assert p.digest == expected.digest
        assert p.values == expected.values
    near = prior(ways[way], NAMES, "weight", bins=RULES[0][0])
    np.testing.assert_allclose(
        near.probabilities, prior(ways["pyarrow"], NAMES, "weight", bins=RULES[0][0]).probabilities, rtol=1e-14
    )


def test_the_order_of_the_rows_does_not_matter(columns):
    import pandas as pd

    table = pd.DataFrame(columns)
    expected = prior(table, NAMES, "weight", bins=RULES[3][0])
    for seed in range(3):
        mixed = table.sample(frac=1.0, random_state=seed)
        assert prior(mixed, NAMES, "weight", bins=RULES[3][0]).digest == expected.digest


small = st.one_of(st.none(), st.sampled_from(["a", "b", "B", "", " ", "ä", "None", "\u0000", "'; DROP", '"']))
whole = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(-2, 2))
decimal = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=False), st.sampled_from([0.0, -0.0, 1.0]))


@settings(max_examples=25)
@given(st.lists(st.tuples(small, whole, decimal, st.booleans(), st.floats(0, 1e300)), min_size=2, max_size=25))
def test_any_values_are_counted_as_plain_python_counts_them(rows):
    columns = {name: list(column) for name, column in zip("swdbv", zip(*rows, strict=True), strict=True)}
    table = pa.table(
        {
            "s": pa.array(columns["s"], pa.string()),
            "w": pa.array(columns["w"], pa.int64()),
            "d": pa.array(columns["d"], pa.float64()),
            "b": pa.array(columns["b"], pa.bool_()),
            "v": pa.array(columns["v"], pa.float64()),
        }
    )
    columns["d"] = [None if x is None or math.isnan(x) else x + 0.0 for x in columns["d"]]
    for weight in (None, "v"):
        twin = tables.counted(columns, list("swdb"), weight) if weight is None or sum(columns["v"]) > 0 else {}
        large = max(columns["v"])
        if weight is not None and (large == 0 or any(0 < x < large * 1e-10 for x in columns["v"])):
            continue  # weights are counted in units of 1e-26 of the largest
        if len(twin) < 2:
            with pytest.raises(dr.ParameterError):
                prior(table, list("swdb"), weight, bins={"d": "values"})
            continue
        counted = prior(table, list("swdb"), weight, bins={"d": "values"})
        assert set(counted.values) == set(twin)
        assert max(abs(p - float(twin[r])) for p, r in zip(counted.probabilities, counted.values, strict=True)) < 1e-12


def test_values_of_every_type():
    table = pa.table(
        {
            "date": [dt.date(2020, 1, 2), dt.date(1999, 5, 1), None],
            "time": [dt.time(1), dt.time(2), dt.time(2)],
            "stamp": [dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1), None],
            "money": [Decimal("1.50"), Decimal("2.00"), None],
            "large": pa.array([2**64 - 1, 1, None], pa.uint64()),
            "word": pa.array(["x", "y", "x"]).dictionary_encode(),
            "empty": pa.nulls(3),
        }
    )
    p = prior(table, table.column_names, bins={"money": "values", "date": "year"})
    assert p.columns["date"] == (1999, 2020, None)
    assert p.columns["money"] == (2, Decimal("1.5"), None)
    assert p.columns["large"] == (1, 2**64 - 1, None)
    assert p.columns["empty"] == (None, None, None)
    assert p.measured.rules["date"] == "year"


# ---------------------------------------------------------------------------------------------------------- refusals

MANY = {"n": list(range(5000)), "x": [0.5 * i for i in range(5000)], "w": [1.0] * 5000, "s": ["a", "b"] * 2500}
REFUSED = {
    "no such column": (["constnt"], {}, "Did you mean 'constant'"),
    "another case": (["S"], {}, "Did you mean 's'"),
    "twice": (["s", "s"], {}, "different names"),
    "no list": ("s", {}, "a list of one or more"),
    "decimal numbers": (["x"], {}, "Say how it is cut: bins={'x': 10}"),
    "many numbers": (["n"], {}, "at most 1,000 different numbers"),
    "too many cells": (["n"], {"bins": {"n": "values"}, "most_cells": 100}, "at most 100 occupied cells"),
    "bins of words": (["s"], {"bins": {"s": 3}}, "'values' for a column of type string"),
    "bins of another column": (["s"], {"bins": {"n": 3}}, "about columns that are counted"),
    "one bin": (["n"], {"bins": {"n": 1}}, "2 to 10,000 bins"),
    "falling edges": (["n"], {"bins": {"n": [3, 1]}}, "that rise"),
    "no width": (["n"], {"bins": {"n": "width:0"}}, "above 0"),
    "no rule": (["n"], {"bins": {"n": "deciles"}}, "a number of bins"),
    "a single record": (["constant"], {}, "at least 2 different records"),
    "weight that is no number": (["s"], {"weight": "s2"}, "columns of the table"),
    "weight of words": (["n"], {"weight": "s", "bins": {"n": 3}}, "a column of numbers"),
    "weight that is counted": (["s"], {"weight": "s"}, "another column"),
    "suppress everything": (["n"], {"bins": {"n": "values"}, "suppress": 2}, "some cell has 2 rows"),
    "a small domain": (["s"], {"domain": 2, "bins": {}, "columns": ["s", "n"]}, "at least"),
    "a huge domain": (["s"], {"domain": 10**9}, "at most 5,000,000"),
    "a huge product": (["s", "n"], {"domain": "product", "bins": {"n": "values"}, "most_cells": 5000}, "a product of"),
    "a strange domain": (["s"], {"domain": "all"}, "a number, 'product' or None"),
    "smoothing without names": (["s"], {"domain": 9, "smooth": 0.5}, "without a number for domain"),
    "certainty": (["s"], {"confidence": 1.0}, "below 1"),
    "strange memory": (["s"], {"memory": "much"}, "such as '2GB'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_counted_is_said(case):
    columns, settings, message = REFUSED[case]
    if "columns" in settings:
        columns, settings = settings["columns"], {"domain": 2, "bins": {"n": "values"}}
    with pytest.raises(dr.ParameterError) as error:
        prior(pa.table({**MANY, "constant": ["x"] * 5000}), columns, **settings)
    assert message in str(error.value)


@pytest.mark.parametrize("bad", [None, -1.0, float("inf"), float("nan")])
def test_bad_weights(bad):
    with pytest.raises(dr.ParameterError, match="missing, negative or infinite"):
        prior(pa.table({"a": ["x", "y"], "w": [1.0, bad]}), ["a"], "w")


@pytest.mark.parametrize("zero", [0, 0.0])
def test_weights_that_are_all_zero(zero):
    with pytest.raises(dr.ParameterError, match="not all are 0"):
        prior(pa.table({"a": ["x", "y"], "w": [zero, zero]}), ["a"], "w")


def test_infinite_numbers_have_no_bin_of_equal_width_but_lie_beyond_edges():
    table = pa.table({"a": [1.0, float("inf"), -float("inf"), None]})
    for rule in (3, "width:2"):
        with pytest.raises(dr.ParameterError, match="an infinite value"):
            prior(table, ["a"], bins={"a": rule})
    assert prior(table, ["a"], bins={"a": [0]}).columns["a"] == ("below 0", "at least 0", None)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no table PAR1")
    (tmp_path / "x.txt").write_text("a\n1\n")
    (tmp_path / "x[1].csv").write_text("a,b\n1,2\n2,3\n")
    for name, message in {
        "none.csv": "no such file",
        "none*.csv": "matches no file",
        "": "the folder",
        "x.txt": "end with",
        "bad.parquet": "can read and count",
    }.items():
        with pytest.raises(dr.ParameterError, match=message):
            prior(tmp_path / name if name else tmp_path, ["a"])
    assert prior(tmp_path / "x[1].csv", ["a"]).size == 2
    for what in ("s3://bucket/x.parquet", {"a": [1]}, None):
        with pytest.raises(dr.ParameterError, match=r"data\.table"):
            prior(what, ["a"])


def test_types_are_found_from_all_rows_of_a_csv_file(tmp_path):
    file = tmp_path / "late.csv"
    file.write_text("a\n" + "1\n" * 30_000 + "late\n")
    assert prior(file, ["a"]).columns["a"] == ("1", "late")


# ------------------------------------------------------------------------------------- domains, suppression, smoothing


def test_records_that_were_not_seen_have_probability_zero():
    table = pa.table({"a": ["x", "x", "y"], "b": [1, 2, 1]})
    product = prior(table, ["a", "b"], domain="product")
    assert product.values == (("x", 1), ("x", 2), ("y", 1), ("y", 2))
    np.testing.assert_allclose(product.probabilities, [1 / 3, 1 / 3, 1 / 3, 0.0])
    wider = prior(table, ["a", "b"], domain=7)
    assert (wider.size, wider.measured.cells) == (7, 3)
    np.testing.assert_allclose(wider.probabilities, [1 / 3] * 3 + [0.0] * 4)


def test_a_larger_domain_is_never_riskier():
    table = pa.table(tables.people(300, np.random.default_rng(3)))
    knowledge = dr.Knowledge.columns("age")
    for mechanism, goal in ((dr.GRR, dr.Goal.columns(SEX)), (dr.OUE, dr.Goal.exact()), (dr.OLH, dr.Goal.exact())):
        last = None
        for domain in (None, 40, 60, 200):
            p = prior(table, ["age", SEX], bins={"age": 6}, domain=domain)
            a = dr.assess(mechanism(m=p.size, epsilon=2.0), dr.Threat(p, knowledge, goal))
            if last is not None:
                assert a.rad.value <= last.rad.value + 1e-12
                assert a.success.value <= last.success.value + 1e-12
                assert a.baseline == pytest.approx(last.baseline, abs=1e-12)
            last = a


def test_small_cells_stay_in_the_engine():
    table = pa.table({"a": ["x"] * 5 + ["y"] * 3 + ["z"] + ["u"], "w": [1.0] * 8 + [4.0, 6.0]})
    p = prior(table, ["a"], suppress=3)
    assert p.columns["a"] == ("x", "y")
    np.testing.assert_allclose(p.probabilities, [5 / 8, 3 / 8])
    assert (p.measured.rows, p.measured.cells, p.measured.fewest) == (10, 2, 3)
    assert 0.2 <= p.measured.suppressed == p.measured.distance <= 0.21
    weighted = prior(table, ["a"], "w", suppress=3)
    assert (
        weighted.measured.suppressed == weighted.measured.distance == 0.56
    )  # rounded up, so that a report does not tell the share of one cell


def test_smoothing_adds_rows_to_every_cell():
    table = pa.table({"a": ["x", "x", "y"], "b": [1, 2, 1]})
    p = prior(table, ["a", "b"], smooth=0.5, domain="product")
    np.testing.assert_allclose(p.probabilities, [1.5 / 5, 1.5 / 5, 1.5 / 5, 0.5 / 5])
    assert p.measured.smoothing == "0.5 rows added to each of 4 cells"
    weighted = pa.table({"a": ["x", "y"], "w": [30.0, 10.0]})
    np.testing.assert_allclose(prior(weighted, ["a"], "w", smooth=1).probabilities, [50 / 80, 30 / 80])


def test_what_is_measured_is_plain_data():
    measured = prior(pa.table({"a": ["x", "y"]}), ["a"], confidence=0.9).measured
    assert dr.data.Measured(**{**measured.to_dict(), "missing": tuple(measured.missing)}) == measured


@pytest.mark.parametrize("step", ["0.1", "0.7", "0.05", "1e-3", "12.5", "3", "0.0000001"])
def test_bins_of_one_width_have_decimal_edges(step):
    # Every edge and its neighbours among the doubles. An edge is the double nearest to the decimal, by Python's float.
    width = Decimal(step)
    edges = [float(width * k) for k in (*range(-40, 41), 12_345, 999_999)]
    numbers = [x for edge in edges for x in (math.nextafter(edge, -math.inf), edge, math.nextafter(edge, math.inf))]
    expected = Counter()
    for x in numbers:
        near = math.floor(Fraction(x) / Fraction(step))
        k = max(k for k in range(near - 2, near + 3) if float(width * k) <= x)
        expected[tuple(float(width * end) for end in (k, k + 1))] += 1
    p = prior(pa.table({"x": numbers}), ["x"], bins={"x": f"width:{step}"})
    ends = [tuple(map(float, label[1:-1].split(", "))) for label in p.columns["x"]]
    counts = (p.probabilities * len(numbers)).round(9).tolist()
    assert dict(zip(ends, counts, strict=True)) == expected


def test_three_tenths_are_not_below_three_tenths():
    p = prior(pa.table({"x": [0.3, 0.1 + 0.2, 0.2]}), ["x"], bins={"x": "width:0.1"})
    assert p.columns["x"] == ("[0.2, 0.3)", "[0.3, 0.4)")
    assert p.probabilities.tolist() == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.parametrize(
    "rule", ["width:0", "width:-1", "width:nan", "width:x", "width:1.234567890123456", "width:1e-30"]
)
def test_a_width_that_doubles_do_not_hold_is_refused(rule):
    with pytest.raises(dr.ParameterError, match="width:W"):
        prior(pa.table({"x": [1.0, 2.0]}), ["x"], bins={"x": rule})


def test_numbers_too_large_for_narrow_bins_are_refused():
    with pytest.raises(dr.ParameterError, match="too large"):
        prior(pa.table({"x": [1.0, 1e17]}), ["x"], bins={"x": "width:0.1"})


@pytest.mark.filterwarnings("ignore")  # of ibis and DuckDB among themselves
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/Los_Angeles"])
def test_years_of_time_stamps_are_those_of_utc(zone):
    import ibis

    connection = ibis.duckdb.connect()
    connection.raw_sql(f"SET TimeZone = '{zone}'")
    stamps = "('2023-12-31 20:00:00.7+00'), ('2023-12-31 23:59:59.9+00'), ('2024-01-01 03:00:00+00')"
    connection.raw_sql(f"CREATE TABLE stamps AS SELECT x::TIMESTAMPTZ AS x FROM (VALUES {stamps}) v(x)")  # noqa: S608
    p = prior(connection.table("stamps"), ["x"], bins={"x": "year"})
    assert p.columns["x"] == (2023, 2024)
    assert p.probabilities.tolist() == pytest.approx([2 / 3, 1 / 3])
    assert p.measured.rules == {"x": "year (UTC)"}
    assert all(x.utcoffset() == dt.timedelta(0) for x in prior(connection.table("stamps"), ["x"]).columns["x"])
    connection.disconnect()
