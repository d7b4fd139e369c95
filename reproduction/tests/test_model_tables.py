"""[RAD] Table 2 and [SauerThesis] Tables 8.1, 8.2, with few targets: where success is not leakage."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from dpradar.errors import ParameterError
from dpradar_reproduction import figures, model_tables
from dpradar_reproduction.model_tables import ACS, ADULT, ADULT_SEX, QUICK, Size

SHARED = Path(os.environ.get("DPRADAR_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
SOME = Size(known=8_000, targets=300, pairs=25, hidden=(8,), steps=20, imputer_steps=200, tested=1_000)
ADULT_LINE = "39, Private, {n}, HS-grad, 9, Divorced, Sales, Unmarried, {race}, {sex}, 0, 0, 40, ?, {income}"


@pytest.fixture
def data():
    for survey in (ACS, ADULT):
        if not all((SHARED / file).is_file() for file in survey.files):
            pytest.skip(f"{' and '.join(survey.files)} not in the data folder (DPRADAR_DATA, or ../shared/data)")
    return SHARED


# Made-up files in the format of the real ones


def write_adult(folder, count=700, seed=1):
    rng = np.random.default_rng(seed)
    lines = [
        ADULT_LINE.format(
            n=i,
            race=rng.choice(["White", "Black"]),
            sex=rng.choice(["Male", "Female"]),
            income=rng.choice(["<=50K", ">50K"]),
        )
        for i in range(count)
    ]
    (folder / "adult").mkdir(parents=True, exist_ok=True)
    half = count // 2
    parts = {"adult.data.gz": lines[:half], "adult.test.gz": ["|1x3 Cross validator", *(f"{x}." for x in lines[half:])]}
    for name, some in parts.items():
        (folder / "adult" / name).write_bytes(gzip.compress("\n".join([*some, ""]).encode()))


def test_adult_is_read_from_both_files(tmp_path):
    write_adult(tmp_path)
    table = model_tables.survey_columns(ADULT, tmp_path)
    assert {column.size for column in table.values()} == {700}
    assert sorted(set(table["income"])) == ["<=50K", ">50K"]
    assert "fnlwgt" not in table
    assert "relationship" not in model_tables.survey_columns(ADULT_SEX, tmp_path)
    assert table["age"].tolist() == [39.0] * 700


def test_a_table_without_any_leak(tmp_path):
    """All columns are coins: both attacks and imputation are right for half of the time, and nothing leaks."""
    write_adult(tmp_path)
    size = Size(known=400, targets=15, pairs=20, hidden=(4,), steps=5, imputer_steps=20, tested=50)
    progress: list[tuple[int, int]] = []
    table = model_tables.attacks_on_models(
        ADULT_SEX, tmp_path, epsilons=[1.0], size=size, bar=lambda *at: progress.append(at)
    )
    assert [row["attack"] for row in table.rows] == ["imputation", "yeom", "wcai", "csmia"]
    assert progress[-1] == (20, 20)
    assert np.all(table.numbers("rad_low") <= 0.0)
    assert np.all(table.numbers("rad_high") >= 0.0)
    assert np.all(table.numbers("rero_low") < 0.5)
    again = model_tables.attacks_on_models(ADULT_SEX, tmp_path, epsilons=[1.0], size=size)
    assert again == table
    keep = tmp_path / "kept"
    for _ in range(2):
        assert model_tables.attacks_on_models(ADULT_SEX, tmp_path, epsilons=[1.0], size=size, keep=keep) == table
    (file,) = keep.iterdir()
    file.write_text('[{"attack": "imp')  # half a file is made again
    assert model_tables.attacks_on_models(ADULT_SEX, tmp_path, epsilons=[1.0], size=size, keep=keep) == table
    (file,) = keep.iterdir()
    before = file.stat().st_mtime_ns
    both = model_tables.attacks_on_models(ADULT_SEX, tmp_path, epsilons=[1.0, 50.0], size=size, keep=keep)
    assert both.rows[:4] == table.rows
    assert file.stat().st_mtime_ns == before  # what was finished is read, the rest is computed
    assert len(list(keep.iterdir())) == 2
    imputed = model_tables.imputed(tmp_path, surveys=[ADULT], seeds=[1, 2], size=size)
    assert imputed.distinct("seed") == ["1", "2", "all"]
    assert imputed.rows[-1]["targets"] == 30


@pytest.mark.parametrize("survey", [ACS, ADULT])
def test_missing_data_is_said(survey, tmp_path, monkeypatch):
    monkeypatch.delenv("DPRADAR_DATA", raising=False)
    for folder in (None, tmp_path):
        with pytest.raises(ParameterError, match="Give --data FOLDER") as caught:
            model_tables.survey_columns(survey, folder)
        assert survey.files[0] in str(caught.value)


def test_a_broken_file_is_said_without_its_lines(tmp_path):
    write_adult(tmp_path)
    file = tmp_path / "adult" / "adult.data.gz"
    file.write_bytes(gzip.compress(b"39, secret, 1\n"))
    with pytest.raises(ParameterError, match=r"Adult, with 15 columns; got record 1 with 3 of them") as caught:
        model_tables.survey_columns(ADULT, tmp_path)
    assert "secret" not in str(caught.value)
    file.write_bytes(gzip.compress(ADULT_LINE.replace("39", "secret").encode()))
    with pytest.raises(ParameterError, match="with numbers in age") as caught:
        model_tables.survey_columns(ADULT, tmp_path)
    assert "secret" not in str(caught.value)
    write_adult(tmp_path, count=60)
    with pytest.raises(ParameterError, match="a table with more than"):
        model_tables.imputed(tmp_path, surveys=[ADULT], size=QUICK)


# The real tables


@pytest.mark.data
@pytest.mark.parametrize(("survey", "least"), [(ACS, 0.75), (ADULT, 0.8)])
def test_imputation_is_often_right_and_leaks_nothing(data, survey, least):
    table = model_tables.imputed(data, surveys=[survey], seeds=[1, 2], size=SOME)
    last = table.rows[-1]
    assert (last["seed"], last["targets"], last["stand_in"]) == ("all", 600, survey.stand_in)
    assert last["rero_low"] > least
    assert last["rad_low"] < 0.0 < last["rad_high"]
    assert last["rad_high"] - last["rad_low"] < 0.15
    assert last["rad_same_target_high"] < 0.01


@pytest.mark.data
@pytest.mark.parametrize(("name", "stand_in"), [("table8_1", "ACS table"), ("table8.2", "Adult, without relationship")])
def test_attacks_on_private_models(data, name, stand_in, tmp_path, monkeypatch):
    monkeypatch.setattr(model_tables, "QUICK", SOME)
    lines: list[str] = []
    files = figures.reproduce(f"measurement:{name}", tmp_path, data, lines.append, effort=figures.Effort(quick=True))
    assert files == [tmp_path / f"measurement-{name.replace('_', '.')}.csv"]
    header, *rows = (line.split(",") for line in files[0].read_text(encoding="utf-8").splitlines())
    named_rows = [dict(zip(header[:9], row[:9], strict=True)) for row in rows]
    assert [(row["attack"], row["epsilon"]) for row in named_rows] == [
        (attack, epsilon) for epsilon in ("1.0", "50.0") for attack in ("imputation", "yeom", "wcai", "csmia")
    ]
    for row in named_rows:
        assert float(row["rad_low"]) <= 0.0 <= float(row["rad_high"])
        assert float(row["rero_low"]) <= float(row["rero"]) <= float(row["rero_high"])
    assert all(float(row["rad"]) == 0.0 for row in named_rows if row["attack"] == "imputation")
    assert any(stand_in in line for line in lines)


@pytest.mark.data
def test_table_2_by_name(data, tmp_path):
    lines: list[str] = []
    (file,) = figures.reproduce("rad:table2", tmp_path, data, lines.append, effort=figures.Effort(quick=True))
    assert len(file.read_text(encoding="utf-8").splitlines()) == 13
    assert "Census19" in lines[0]
    assert "blind guess" in lines[-1]
