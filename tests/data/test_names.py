"""Columns whose names only capitals tell apart, in engines that take them for one; and names that may be values."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet
import pytest

import dpradar as dr
from dpradar.data import prior
from tests.data import tables

COLUMNS = {"ill": ["y"] + ["n"] * 99, "Ill": ["y", "n"] * 50}
SHARES = {"ill": [0.99, 0.01], "Ill": [0.5, 0.5]}
RAD = {"ill": 0.0150796, "Ill": 0.3807971}  # 2 p (1 - p) (e^2 - 1) / (e^2 + 1), by hand


def _pandas(_):
    import pandas as pd

    return pd.DataFrame(COLUMNS)


def _arrow(_):
    return pa.table(COLUMNS)


def _memtable(_):
    import ibis
    import pandas as pd

    return ibis.memtable(pd.DataFrame(COLUMNS))


def _csv(folder):
    return tables.put(COLUMNS, folder / "people.csv")


def _parquet(folder):
    return tables.put(COLUMNS, folder / "people.parquet")


def _two_files(folder):
    for name in ("one", "two"):
        tables.put(COLUMNS, folder / f"{name}.parquet")
    return folder / "*.parquet"


@pytest.mark.filterwarnings("ignore")  # of ibis and pandas among themselves
@pytest.mark.parametrize("source", [_pandas, _arrow, _memtable, _csv, _parquet, _two_files])
@pytest.mark.parametrize("name", ["ill", "Ill"])
def test_the_column_that_was_named_is_read(source, name, tmp_path):
    p = prior(source(tmp_path), [name])
    assert p.probabilities.tolist() == SHARES[name]
    a = dr.assess(dr.GRR(m=2, epsilon=2.0), dr.Threat(p))
    assert a.rad.value == pytest.approx(RAD[name], abs=1e-7)


@pytest.mark.parametrize("source", [_pandas, _csv])
def test_both_columns_and_a_weight_that_differ_in_capitals(source, tmp_path):
    p = prior(source(tmp_path), ["Ill", "ill"])
    assert dict(zip(p.values, p.probabilities.tolist(), strict=True)) == {
        ("n", "n"): 0.5,
        ("y", "n"): 0.49,
        ("y", "y"): 0.01,
    }
    weighted = pa.table({"x": ["a", "b"], "w": [1, 1], "W": [3, 1]})
    assert prior(weighted, ["x"], "W").probabilities.tolist() == [0.75, 0.25]


def test_what_cannot_be_told_apart_is_refused(tmp_path):
    other = dict(reversed(COLUMNS.items()))
    for ending in ("csv", "parquet"):
        tables.put(COLUMNS, tmp_path / f"one.{ending}")
        tables.put(other, tmp_path / f"two.{ending}")
        with pytest.raises(dr.ParameterError, match="capitals"):
            prior(tmp_path / f"*.{ending}", ["Ill"])
    # The first file has one of the two columns only; the second would give the other for it.
    pa.parquet.write_table(pa.table({"ill": COLUMNS["ill"]}), tmp_path / "a.pq")
    pa.parquet.write_table(pa.table(other), tmp_path / "b.pq")
    with pytest.raises(dr.ParameterError, match="capitals"):
        prior(tmp_path / "*.pq", ["ill"])
    import ibis

    table = ibis.memtable(pa.table(COLUMNS))
    for expression in (table.filter(table.Ill == "y"), table.mutate(x=1), table[["ill"]]):
        with pytest.raises(dr.ParameterError, match="capitals"):
            prior(expression, ["ill"])


def test_columns_without_names_do_not_matter(tmp_path):
    (tmp_path / "a.csv").write_text(",,x,X\n0,0,a,b\n1,1,b,b\n")
    assert prior(tmp_path / "a.csv", ["x"]).probabilities.tolist() == [0.5, 0.5]
    (tmp_path / "b.csv").write_text("x,x\na,b\nb,b\n")
    with pytest.raises(dr.ParameterError, match="twice"):
        prior(tmp_path / "b.csv", ["x"])


@pytest.mark.parametrize("name", ["rumpelstiltskin", "Rumpelstiltskim"])
def test_the_hint_for_a_csv_file_quotes_nothing_of_it(name, tmp_path):
    (tmp_path / "headless.csv").write_text("Rumpelstiltskin,39\nother,40\n")
    with pytest.raises(dr.ParameterError) as error:
        prior(tmp_path / "headless.csv", [name])
    assert "Rumpelstiltskin" not in str(error.value)
    assert "header" in str(error.value)


def test_the_hint_for_a_data_frame_names_the_column():
    with pytest.raises(dr.ParameterError, match="Did you mean 'ill'"):
        prior(pa.table({"ill": [1, 2]}), ["ILL"])
