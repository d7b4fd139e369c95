"""Logged pairs: what kind the outputs are, how files are read, and an error with a row number for what is not right."""

from __future__ import annotations

import csv
import gzip
import json
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpradar.audits.samples import Samples, normalise
from dpradar.errors import MissingExtra, ParameterError
from tests.every import every

NAN = float("nan")


# ------------------------------------------------------------------------------------------------- kinds of outputs

BOTH = np.array([[1, 0], [0, 1]])
KINDS = {
    # outputs, kind in the question: the kind, the array, the names
    "whole numbers": ([5, -3, 5], "auto", "categorical", [5, -3, 5], None),
    "numpy integers in a list": ([np.int8(5), np.int64(7)], "auto", "categorical", [5, 7], None),
    "booleans": ([True, False], "auto", "categorical", [1, 0], (False, True)),
    "an array of booleans": (np.array([True, True]), "auto", "categorical", [1, 1], (False, True)),
    "booleans and whole numbers": ([True, 3], "auto", "categorical", [1, 3], None),
    "words": (["b", "a", "b"], "auto", "categorical", [1, 0, 1], ("a", "b")),
    "an array of words": (np.array(["b", "a"]), "auto", "categorical", [1, 0], ("a", "b")),
    "an array of objects": (np.array(["b", 3], dtype=object), "auto", "categorical", [1, 0], (3, "b")),
    "words and numbers": (["b", 10, 9, 0.5], "auto", "categorical", [3, 2, 1, 0], (0.5, 9, 10, "b")),
    "very large numbers": ([2**80, 2**80 + 1, 1], "auto", "categorical", [1, 2, 0], (1, 2**80, 2**80 + 1)),
    "large numbers and a negative one": ([2**63, -1], "auto", "categorical", [1, 0], (-1, 2**63)),
    "floats as categories": ([0.5, 0.25, 0.5], "categorical", "categorical", [1, 0, 1], (0.25, 0.5)),
    "rows as categories": ([[3, 1], [2, 5], [3, 1]], "categorical", "categorical", [1, 0, 1], ((2, 5), (3, 1))),
    "an array of rows as categories": (BOTH, "categorical", "categorical", [1, 0], ((0, 1), (1, 0))),
    "sets as categories": ([{2, 1}, {1, 2}], "categorical", "categorical", [0, 0], ((1, 2),)),
    "floats": ([1.0, 2.0], "auto", "real", [1.0, 2.0], None),
    "floats and whole numbers": ([1, 2.5], "auto", "real", [1.0, 2.5], None),
    "fractions": ([Fraction(1, 4), Decimal("0.5")], "auto", "real", [0.25, 0.5], None),
    "infinite ones": ([np.inf, -np.inf], "auto", "real", [np.inf, -np.inf], None),
    "whole numbers as real": ([1, 2], "real", "real", [1.0, 2.0], None),
    "rows of booleans": ([[True, False], [False, False]], "auto", "bits", [[1, 0], [0, 0]], None),
    "rows of 0 and 1": ([[1, 0], (0, 1)], "auto", "bits", [[1, 0], [0, 1]], None),
    "an array of 0 and 1": (BOTH, "auto", "bits", [[1, 0], [0, 1]], None),
    "a list of arrays": ([np.array([1, 0]), np.array([0, 1])], "auto", "bits", [[1, 0], [0, 1]], None),
    "floats as bits": (BOTH.astype(float), "bits", "bits", [[1, 0], [0, 1]], None),
    "words as bits": (["01101", "10000"], "bits", "bits", [[0, 1, 1, 0, 1], [1, 0, 0, 0, 0]], None),
    "sets": ([{7, 1}, frozenset({7}), set()], "auto", "bits", [[1, 1], [0, 1], [0, 0]], (1, 7)),
    "sets of words": ([{"x", "y"}, {"y"}], "auto", "bits", [[1, 1], [0, 1]], ("x", "y")),
    "lists of words": ([["y"], ["x"]], "auto", "bits", [[0, 1], [1, 0]], ("x", "y")),
    "lists of equal length": ([[3, 5], [5, 8]], "auto", "bits", [[1, 1, 0], [0, 1, 1]], (3, 5, 8)),
    "lists of unequal length": ([[0], [], [0, 1]], "auto", "bits", [[1, 0], [0, 0], [1, 1]], (0, 1)),
    "0 and 1 as subsets": ([[0, 1], [1, 0]], "subset", "bits", [[1, 1], [1, 1]], (0, 1)),
    "rows of floats": ([[0.5, 1], [1, 2]], "auto", "vector", [[0.5, 1], [1, 2]], None),
    "an array of whole numbers": (np.array([[3, 5], [5, 8]]), "auto", "vector", [[3, 5], [5, 8]], None),
    "lists with repetition": ([[3, 3], [5, 8]], "auto", "vector", [[3, 3], [5, 8]], None),
    "lists with negative numbers": ([[3, -3], [5, 8]], "auto", "vector", [[3, -3], [5, 8]], None),
    "lists as a vector": ([[3, 5], [5, 8]], "vector", "vector", [[3, 5], [5, 8]], None),
    "bits as a vector": (BOTH, "vector", "vector", [[1, 0], [0, 1]], None),
    "0.0 and 1.0": (BOTH.astype(float), "auto", "vector", [[1, 0], [0, 1]], None),
}


@every("case", KINDS)
def test_kinds(case):
    outputs, output_kind, kind, array, names = KINDS[case]
    got = normalise(outputs, output_kind)
    assert got[0] == kind
    assert got[1].tolist() == array
    assert got[2] == names
    expected = {"categorical": "iu", "real": "f", "bits": "b", "vector": "f"}[kind]
    assert got[1].dtype.kind in expected
    assert got[1].ndim == (2 if kind in ("bits", "vector") else 1)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(5),
        np.arange(5, dtype=np.uint8),
        np.linspace(0, 1, 5),
        np.linspace(0, 1, 5, dtype=np.float32),
        np.array([True, False]),
        np.array([[True, False]]),
        np.array([[0.5, 2.0]]),
    ],
    ids=str,
)
def test_arrays_are_not_copied(array):
    assert np.shares_memory(normalise(array)[1], array)


def test_what_has_an_array_is_an_array():
    class Series:
        def __array__(self, dtype=None, copy=None):
            return np.array([1.5, 2.5])

    assert normalise(Series())[1].tolist() == [1.5, 2.5]
    assert normalise(iter([1, 2]))[1].tolist() == [1, 2]


def test_names_of_an_earlier_batch_keep_their_codes():
    kind, codes, names = normalise(["b", "d"])
    assert (kind, names) == ("categorical", ("b", "d"))
    kind, codes, names = normalise(["d", "a", "c"], known_names=names)
    assert (codes.tolist(), names) == ([1, 2, 3], ("b", "d", "a", "c"))
    _, bits, values = normalise([{9}, {4}], known_names=(9,))
    assert (bits.astype(int).tolist(), values) == ([[1, 0], [0, 1]], (9, 4))
    assert normalise([True], known_names=(False, True))[1].tolist() == [1]
    assert normalise([7], known_names=("x",))[1:] == (np.array([1]), ("x", 7))


def test_no_output_at_all():
    assert len(normalise([])[1]) == 0


BAD = {
    "a word": "word",
    "a number": 3,
    "a dictionary": {1: 2},
    "a set": {1, 2},
    "three dimensions": np.zeros((2, 2, 2)),
    "no dimension": np.float64(3),
    "complex numbers": np.array([1j]),
    "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
    "words in two dimensions": np.array([["a"]]),
    "objects": [object()],
    "bytes": [b"abc"],
    "lists and numbers": [[1], 2],
    "nested lists": [[[1]], [[2]]],
    "dictionaries in lists": [[{}]],
    "ragged floats": [[0.5], [0.5, 1.0]],
    "ragged booleans": [[True], [True, False]],
    "arrays without dimension": [np.array("a"), {1}, None],
}


@pytest.mark.parametrize("case", BAD)
def test_other_outputs_are_an_error(case):
    with pytest.raises(ParameterError, match="outputs must be"):
        normalise(BAD[case])


@pytest.mark.parametrize(
    ("outputs", "kind"),
    [
        ([1, 2], "bits"),
        ([1, 2], "subset"),
        ([1, 2], "vector"),
        (["a"], "real"),
        (["a"], "vector"),
        (["01", "2x"], "bits"),
        (["01", "011"], "bits"),
        ([2**80], "bits"),
        ([[1], [2]], "real"),
        ([[1, 2], [2, 3]], "bits"),
        ([[1], [2, 3]], "vector"),
        ([[1], [2, 3]], "bits"),
        ([["a"], ["b"]], "vector"),
        ([{1}, {2}], "vector"),
        ([{1}, {2}], "real"),
        (np.eye(2), "real"),
        (np.eye(2), "subset"),
        (np.eye(2) * 2, "bits"),
    ],
)
def test_what_a_kind_cannot_hold(outputs, kind):
    with pytest.raises(ParameterError, match="outputs must be"):
        normalise(outputs, kind)


def test_an_unknown_kind():
    with pytest.raises(ParameterError, match="output_kind must be"):
        normalise([1], "number")


@pytest.mark.parametrize(
    "outputs",
    [
        [1.0, NAN, 2.0],
        np.array([1.0, NAN]),
        np.array([[1.0, 1.0], [1.0, NAN]]),
        [1, None],
        ["a", None],
        ["a", NAN],
        [[1.0], [NAN]],
        [[1], [None]],
        [[1, 2], [3, NAN, 4]],
        [{1}, {NAN}],
        np.ma.array([1, 2], mask=[False, True]),
        np.ma.array([[1, 1], [1, 2]], mask=[[False, False], [False, True]]),
        [np.array([1, 2]), np.ma.array([1, 2], mask=[False, True])],
    ],
    ids=str,
)
def test_a_missing_output_is_named_by_its_row(outputs):
    with pytest.raises(ParameterError, match="a missing value in row 2"):
        normalise(outputs)


def test_too_many_different_values():
    with pytest.raises(ParameterError, match="at most 2000000000 bits"):
        normalise([{i} for i in range(50_000)])


# ------------------------------------------------------------------------------------------------- pairs


@pytest.mark.parametrize(
    ("inputs", "names", "codes"),
    [
        ([10, 9, 10], (9, 10), [1, 0, 1]),
        (np.array([10, 9, 10]), (9, 10), [1, 0, 1]),
        ([0.5, -1, 0.5], (-1, 0.5), [1, 0, 1]),
        (["old", "new", "old"], ("old", "new"), [0, 1, 0]),
        (np.array(["old", "new", "old"]), ("old", "new"), [0, 1, 0]),
        ([True, False, True], (False, True), [1, 0, 1]),
        (["x", 3, "x"], ("x", 3), [0, 1, 0]),
        ([(1, 2), (0, 1), (1, 2)], ((1, 2), (0, 1)), [0, 1, 0]),
        ([np.int64(3), np.int64(1), np.int64(3)], (1, 3), [1, 0, 1]),
    ],
)
def test_inputs(inputs, names, codes):
    samples = Samples.of(inputs, [0.5, 1.5, 2.5])
    assert samples.names == names
    assert samples.inputs.tolist() == codes
    assert samples.inputs.dtype == np.intp
    assert samples.counts.tolist() == [codes.count(0), codes.count(1)]
    assert samples.outputs_of(codes[1]).tolist() == [1.5]
    assert samples.size == 3


def test_categories_are_codes_from_0():
    samples = Samples.of([0, 1, 1], [700, -5, 700])
    assert samples.outputs.tolist() == [1, 0, 1]
    assert samples.output_names == (-5, 700)
    assert Samples.of([0, 1], np.array([False, True])).output_names == (False, True)


def test_the_repr_shows_no_data():
    assert (
        repr(Samples.of(["secret", "other"], ["hidden", "shown"])) == "Samples(2 pairs, 2 inputs, categorical outputs)"
    )


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ([1, 2, 3], [1, 2], "3 inputs and 2 outputs"),
        ([], [], "at least one pair"),
        ([1, 1], [1, 2], "at least two different inputs; got one"),
        ([1, None], [1, 2], "a missing value in row 2"),
        ([1.0, NAN], [1, 2], "a missing value in row 2"),
        (np.array([1.0, NAN]), [1, 2], "a missing value in row 2"),
        (np.ma.array([1, 2], mask=[False, True]), [1, 2], "a missing value in row 2"),
        ([[1], [2]], [1, 2], "hashable"),
        (np.eye(2), [1, 2], "a flat list"),
        ("ab", [1, 2], "inputs must be a list"),
        (7, [1, 2], "inputs must be a list"),
    ],
)
def test_bad_pairs(inputs, outputs, message):
    with pytest.raises(ParameterError, match=message):
        Samples.of(inputs, outputs)


@pytest.mark.parametrize("code", [-1, 2])
def test_an_input_that_is_not_there(code):
    with pytest.raises(ParameterError, match="code must be from 0 to 1"):
        Samples.of([0, 1], [0, 1]).outputs_of(code)


# ------------------------------------------------------------------------------------------------- files


def written(path, header, rows):
    opened = gzip.open if path.name.endswith(".gz") else open
    with opened(path, "wt", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t" if ".tsv" in path.name else ",")
        writer.writerow(header)
        writer.writerows(rows)
    return path


def sql_type(value):
    if isinstance(value, list):
        return sql_type(value[0]) + "[]"
    return {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}[type(value)]


def saved(path, inputs, outputs):
    """Write the pairs as a file of the type that the name says."""
    if path.suffix == ".parquet":
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect() as connection:
            connection.execute(f"CREATE TABLE log (input {sql_type(inputs[0])}, output {sql_type(outputs[0])})")
            connection.executemany("INSERT INTO log VALUES (?, ?)", list(zip(inputs, outputs, strict=True)))
            connection.execute(f"COPY log TO '{path}' (FORMAT parquet)")
        return path
    cells = [json.dumps(o) if isinstance(o, list) else o for o in outputs]
    return written(path, ["input", "output"], zip(inputs, cells, strict=True))


PAIRS = {
    "whole numbers": ([3, 1, 3], [7, -2, 7]),
    "words": (["old", "new", "old"], ["yes", "no", "no, thanks"]),
    "numbers": ([0.5, 2.5, 0.5], [1.5, 1.0, -3.25]),
    "bits": ([1, 0, 1], [[True, False], [False, False], [True, True]]),
    "subsets": ([1, 0, 1], [[3, 5], [5, 9], [3]]),
    "vectors": ([1, 0, 1], [[0.5, 1.0], [2.5, 2.0], [0.0, 1.0]]),
}


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "tsv.gz", "parquet", "CSV"])
@pytest.mark.parametrize("case", PAIRS)
def test_round_trip(tmp_path, case, suffix):
    inputs, outputs = PAIRS[case]
    direct = Samples.of(inputs, outputs)
    read = Samples.read(saved(tmp_path / f"log.{suffix}", inputs, outputs))
    assert read.names == direct.names
    assert read.inputs.tolist() == direct.inputs.tolist()
    assert read.kind == direct.kind
    assert read.outputs.tolist() == direct.outputs.tolist()
    assert read.output_names == direct.output_names


@pytest.mark.parametrize(
    ("cells", "kind", "expected_kind", "outputs", "names"),
    [
        (["01101", "10000"], "auto", "categorical", [0, 1], ("01101", "10000")),
        (["01101", "10000"], "bits", "bits", [[0, 1, 1, 0, 1], [1, 0, 0, 0, 0]], None),
        (["[0, 1]", "[1,1]"], "bits", "bits", [[0, 1], [1, 1]], None),
        (["[0, 1]", "[1, 0]"], "subset", "bits", [[1, 1], [1, 1]], (0, 1)),
        (["[3, 5]", "[5, 8]"], "vector", "vector", [[3, 5], [5, 8]], None),
        (["[0,10)", "[10,20)"], "categorical", "categorical", [0, 1], ("[0,10)", "[10,20)")),
        (["[1]", "x"], "auto", "categorical", [0, 1], ("[1]", "x")),
        (["1", "2"], "real", "real", [1.0, 2.0], None),
        (["1", "2.0"], "auto", "real", [1.0, 2.0], None),
        (["1e3", "-inf"], "auto", "real", [1000.0, -np.inf], None),
        (["0.5", "0.25"], "categorical", "categorical", [1, 0], (0.25, 0.5)),
        (["007", "7"], "auto", "categorical", [0, 1], ("007", "7")),
        (["1", "NA"], "categorical", "categorical", [0, 1], ("1", "NA")),
        (["NA", "DE"], "auto", "categorical", [1, 0], ("DE", "NA")),
        ([" 5 ", "6"], "auto", "categorical", [0, 1], (5, 6)),
        ([str(2**70), "5"], "auto", "categorical", [1, 0], (5, 2**70)),
    ],
)
def test_cells(tmp_path, cells, kind, expected_kind, outputs, names):
    path = written(tmp_path / "log.csv", ["input", "output"], enumerate(cells))
    samples = Samples.read(path, output_kind=kind)
    assert samples.kind == expected_kind
    assert samples.outputs.tolist() == outputs
    assert samples.output_names == names


def test_columns_by_name(tmp_path):
    path = written(tmp_path / "log.csv", ["id", "answer", "truth"], [["a", "x", "5"], ["b", "y", "4"]])
    samples = Samples.read(path, input="truth", output="answer")
    assert (samples.names, samples.output_names) == ((4, 5), ("x", "y"))


@pytest.mark.parametrize(
    ("rows", "kind", "expected_kind", "outputs"),
    [
        ([["a", "1", "0.5"], ["b", "2", "-1"]], "auto", "vector", [[1, 0.5], [2, -1]]),
        ([["a", "1", "0"], ["b", "0", "0"]], "auto", "bits", [[1, 0], [0, 0]]),
        ([["a", "1", "0"], ["b", "0", "0"]], "vector", "vector", [[1, 0], [0, 0]]),
        ([["a", "1", "5"], ["b", "0", "4"]], "categorical", "categorical", [1, 0]),
    ],
)
def test_several_columns(tmp_path, rows, kind, expected_kind, outputs):
    path = written(tmp_path / "log.csv", ["input", "y1", "y2"], rows)
    samples = Samples.read(path, output=["y1", "y2"], output_kind=kind)
    assert samples.kind == expected_kind
    assert samples.outputs.tolist() == outputs


def test_a_mark_at_the_start_and_empty_lines_are_no_matter(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes("\ufeffinput,output\r\n1,é\r\n\r\n2,b\r\n\r\n".encode())
    assert Samples.read(str(path)).output_names == ("b", "é")


def test_many_rows(tmp_path):
    rng = np.random.default_rng(1)
    inputs, outputs = rng.integers(5, size=30_000), rng.normal(size=30_000)
    path = written(tmp_path / "log.csv", ["input", "output"], zip(inputs.tolist(), outputs.tolist(), strict=True))
    samples = Samples.read(path)
    assert np.array_equal(samples.inputs, inputs)
    assert np.array_equal(samples.outputs, outputs)


FILES = {
    "nothing": ("", "the file has: nothing"),
    "a header only": ("input,output\n", "a file with rows below its header; got none"),
    "another header": ("a,b\n1,2\n", "0 columns 'input'; the file has: a, b"),
    "a column twice": ("input,output,output\n1,2,3\n", "2 columns 'output'"),
    "a short row": ("input,output\n1,2\n1\n", "2 cells in each row, as in its header; got 1 in row 2"),
    "a long row": ("input,output\n1,2,secret\n", "got 3 in row 1"),
    "an empty input": ("input,output\n1,secret\n,secret\n", "column 'input' must be complete; got a missing .* row 2"),
    "an empty output": ("input,output\n1,2\n2,\n", "column 'output' must be complete; got a missing value in row 2"),
    "nan": ("input,output\n1,0.5\n2,0.5\n2,nan\n", "a missing value in row 3"),
    "NA": ("input,output\n1,5\n2,5\n2,NA\n", "column 'output' must be complete; got a missing value in row 3"),
    "NA as input": ("input,output\n1,5\nNA,5\n2,1\n", "column 'input' must be complete; got a missing value in row 2"),
    "one input": ("input,output\n1,2\n1,3\n", "at least two different inputs"),
    "an open quote": ('input,output\n1,"secret\n', "a readable file"),
    "no JSON": ('input,output\n1,"[1, 2]"\n2,[secret]\n', "JSON lists; got something else in row 2"),
    "null in a list": ('input,output\n1,"[1, 2]"\n2,"[1, 2]"\n2,[null]\n', "a missing value in row 3"),
    "ragged vectors": ('input,output\n1,"[0.5]"\n2,[0.5]\n2,"[0.5, 1]"\n', "2 entries in row 3 and 1 in row 1"),
}


@pytest.mark.parametrize("case", FILES)
def test_bad_files(tmp_path, case):
    text, message = FILES[case]
    path = tmp_path / "log.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError, match=message) as caught:
        Samples.read(path)
    assert "secret" not in str(caught.value)


def test_bits_of_another_length_are_named_by_row(tmp_path):
    path = written(tmp_path / "log.csv", ["input", "output"], [[1, "01"], [2, "01"], [2, "011"]])
    with pytest.raises(ParameterError, match="2 bits in each row; got another text in row 3"):
        Samples.read(path, output_kind="bits")


# Compressed without a time, so that the name of the test stays the same.
CUT_SHORT = gzip.compress(b"input,output\n1,2\n" * 50, mtime=0)[:-20]


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz", "log.parquet"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00garbage\n", CUT_SHORT])
def test_damaged_files(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ParameterError, match="path must be"):
        Samples.read(path)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("absent.csv", {}, "a file that exists"),
        ("log.xlsx", {}, "a file that ends with .csv"),
        ("log.csv", {"output": []}, "output must be"),
        ("log.csv", {"output": ["y", "y"]}, "columns that differ"),
        ("log.csv", {"output": "input"}, "columns that differ"),
        ("log.csv", {"output": 3}, "output must be"),
        ("log.csv", {"output_kind": "text"}, "output_kind must be"),
        ("log.csv", {"output": ["y", "word"]}, "'word', a column of words"),
        ("log.csv", {"output": ["y", "output"], "output_kind": "real"}, "for several columns"),
        ("log.csv", {"output": "word", "output_kind": "real"}, "words"),
    ],
)
def test_bad_arguments(tmp_path, name, options, message):
    for file in ("log.csv", "log.xlsx"):
        written(tmp_path / file, ["input", "output", "y", "word"], [[1, 2, 3, "a"], [2, 3, 4, "b"]])
    with pytest.raises(ParameterError, match=message):
        Samples.read(tmp_path / name, **options)


def test_a_path_that_is_no_path():
    with pytest.raises(ParameterError, match="the name of a file"):
        Samples.read(3)


# ------------------------------------------------------------------------------------------------- Parquet


@pytest.fixture
def parquet(tmp_path):
    duckdb = pytest.importorskip("duckdb")

    def write(query, name="log.parquet"):
        with duckdb.connect() as connection:
            connection.execute(f"COPY ({query}) TO '{tmp_path / name}' (FORMAT parquet)")
        return tmp_path / name

    return write


def test_parquet_types(parquet):
    path = parquet('SELECT i % 2 AS input, i::FLOAT AS y1, i % 3 = 0 AS "y""2" FROM range(4) t(i)')
    assert Samples.read(path, output="y1").kind == "real"
    assert Samples.read(path, output='y"2').output_names == (False, True)
    assert Samples.read(path, output=["y1", 'y"2']).outputs.tolist() == [[0, 1], [1, 0], [2, 0], [3, 1]]


def test_parquet_decimals_without_fraction_are_whole(parquet):
    path = parquet("SELECT i AS input, i::DECIMAL(10, 0) AS whole, i::DECIMAL(10, 1) AS part FROM range(3) t(i)")
    assert Samples.read(path, output="whole").output_names == (0, 1, 2)
    assert Samples.read(path, output="part").kind == "real"


def test_a_path_with_signs_for_patterns_is_one_file(parquet):
    parquet("SELECT 5 AS input, 6 AS output", "log1.parquet")
    path = parquet("SELECT i AS input, i AS output FROM range(2) t(i)", "log[1]*?.parquet")
    assert Samples.read(path).size == 2


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT i AS input, CASE WHEN i <> 1 THEN i END AS output FROM range(3) t(i)", "missing value in row 2"),
        ("SELECT CASE WHEN i <> 1 THEN i END AS input, i AS output FROM range(3) t(i)", "missing value in row 2"),
        ("SELECT i AS input, CASE WHEN i <> 1 THEN 'a' END AS output FROM range(3) t(i)", "missing value in row 2"),
        ("SELECT i AS input, CASE WHEN i <> 1 THEN [1] END AS output FROM range(3) t(i)", "missing value in row 2"),
        ("SELECT i AS input, [i, CASE WHEN i <> 1 THEN 1 END] AS output FROM range(3) t(i)", "missing value in row 2"),
        ("SELECT i AS input, {'a': i} AS output FROM range(3) t(i)", "got dict in row 1"),
        ("SELECT 1 AS input, 2 AS output WHERE false", "a file with rows"),
        ("SELECT 1 AS input, 2 AS answer", "the file has: input, answer"),
        ("SELECT 1 AS input, 2 AS output", "at least two different inputs"),
        ("SELECT i AS input, DATE '2020-01-01' AS output FROM range(3) t(i)", "datetime64"),
    ],
)
def test_bad_parquet(parquet, query, message):
    with pytest.raises(ParameterError, match=message):
        Samples.read(parquet(query))


def test_parquet_without_its_extra(tmp_path, monkeypatch):
    path = tmp_path / "log.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtra, match=r"dpradar\[data\]"):
        Samples.read(path)
